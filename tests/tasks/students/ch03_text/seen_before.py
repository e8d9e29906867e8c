"""Students' answers to 03/seen-before."""

from course_judges.ch03_text.seen_before import RANGES
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
    "percent": lambda: {
        "text": "shakespeare",
        **{name: 50 * sum(pair) for name, pair in RANGES["shakespeare"].items()},
    },
    "exchanged": lambda: middle(
        RANGES, seen_4=middle(RANGES)["seen_16"], seen_16=middle(RANGES)["seen_4"]
    ),
    "new-ones": lambda: {
        "text": "shakespeare",
        **{name: 1 - sum(pair) / 2 for name, pair in RANGES["shakespeare"].items()},
    },
}

ODD = [
    (lambda: middle(RANGES, seen_4=-7.5), "not-what-runs-give"),
    (lambda: middle(RANGES, seen_4=float("nan")), "error"),
    (lambda: {**middle(RANGES), "text": "my diary"}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "error"),
    (lambda: {**middle(RANGES), "seen_4": "a lot"}, "error"),
    (lambda: [1, 2, 3], "error"),
]
