"""Students' answers to 05/choosing."""

from course_judges.ch05_head.choosing import RANGES
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
    "bits": lambda: {
        "text": "shakespeare",
        **{name: sum(pair) / 2 / 0.6931 for name, pair in RANGES["shakespeare"].items()},
    },
    "perplexity": lambda: {
        "text": "shakespeare",
        **{name: 2.71828 ** (sum(pair) / 2) for name, pair in RANGES["shakespeare"].items()},
    },
    "exchanged": lambda: middle(
        RANGES, chosen=middle(RANGES)["equal"], equal=middle(RANGES)["chosen"]
    ),
    "queries-trained": lambda: middle(RANGES, equal=middle(RANGES)["chosen"]),
}

ODD = [
    (lambda: middle(RANGES, chosen=-7.5), "not-what-runs-give"),
    (lambda: middle(RANGES, chosen=float("nan")), "error"),
    (lambda: {**middle(RANGES), "text": "my diary"}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "error"),
    (lambda: {**middle(RANGES), "chosen": "a lot"}, "error"),
    (lambda: [1, 2, 3], "error"),
]
