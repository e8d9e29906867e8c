"""Students' answers to 01/vowels."""

from course_judges.ch01_averages.vowels import RANGES
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
    "own-letter": lambda: middle(RANGES, last_1=0),
    "rooted": lambda: {
        "text": "shakespeare",
        **{name: sum(pair) ** 0.5 / 2**0.5 for name, pair in RANGES["shakespeare"].items()},
    },
    "exchanged": lambda: middle(RANGES, last_1=middle(RANGES)["all"], all=middle(RANGES)["last_1"]),
}

ODD = [
    (lambda: middle(RANGES, last_1=-7.5), "not-what-runs-give"),
    (lambda: middle(RANGES, last_1=float("nan")), "error"),
    (lambda: {**middle(RANGES), "text": "my diary"}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "error"),
    (lambda: {**middle(RANGES), "last_1": "a lot"}, "error"),
    (lambda: [1, 2, 3], "error"),
]
