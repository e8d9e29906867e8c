"""Students' answers to 04/little-text."""

from course_judges.ch04_bigram.little_text import RANGES
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
        RANGES, one_percent=middle(RANGES)["everything"], everything=middle(RANGES)["one_percent"]
    ),
}

ODD = [
    (lambda: middle(RANGES, one_percent=-7.5), "not-what-runs-give"),
    (lambda: middle(RANGES, one_percent=float("nan")), "error"),
    (lambda: {**middle(RANGES), "text": "my diary"}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "error"),
    (lambda: {**middle(RANGES), "one_percent": "a lot"}, "error"),
    (lambda: [1, 2, 3], "error"),
]
