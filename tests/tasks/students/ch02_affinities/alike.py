"""Students' answers to 02/alike."""

from course_judges.ch02_affinities.alike import RANGES
from course_judges.observations import middle


def lowest():
    return {
        "text": "shakespeare",
        **{name: low for name, (low, _) in RANGES["shakespeare"].items()},
    }


def highest_as_text():
    return {
        "text": "shakespeare",
        **{name: str(high) for name, (_, high) in RANGES["shakespeare"].items()},
    }


def on_the_play():
    return middle(RANGES, "play")


RIGHT = {
    "the middle": lambda: middle(RANGES),
    "the lowest": lowest,
    "the highest, as text": highest_as_text,
    "on the play": on_the_play,
}

WRONG = {
    "with-itself": lambda: middle(RANGES, cosine=middle(RANGES)["words"]),
    "exchanged": lambda: middle(RANGES, dot=middle(RANGES)["cosine"], cosine=middle(RANGES)["dot"]),
    "dot-for-words": lambda: middle(
        RANGES, dot=middle(RANGES)["words"], words=middle(RANGES)["dot"]
    ),
}

ODD = [
    (lambda: middle(RANGES, words=-7.5), "not-what-runs-give"),
    (lambda: middle(RANGES, words=float("nan")), "error"),
    (lambda: {**middle(RANGES), "text": "my diary"}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "error"),
    (lambda: {**middle(RANGES), "words": "a lot"}, "error"),
    (lambda: [1, 2, 3], "error"),
]
