"""Students' answers to 10/traces."""

from course_judges.ch10_jax.traces import RANGES
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
    "percent": lambda: middle(RANGES, waste=100 * middle(RANGES)["waste"]),
    "exchanged": lambda: middle(
        RANGES, as_they_are=middle(RANGES)["padded"], padded=middle(RANGES)["as_they_are"]
    ),
    "calls": lambda: middle(RANGES, as_they_are=300, padded=300),
    "of-symbols": lambda: middle(
        RANGES, waste=middle(RANGES)["waste"] / (1 - middle(RANGES)["waste"])
    ),
}

ODD = [
    (lambda: middle(RANGES, as_they_are=-7.5), "not-what-runs-give"),
    (lambda: middle(RANGES, as_they_are=float("nan")), "error"),
    (lambda: {**middle(RANGES), "text": "my diary"}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "error"),
    (lambda: {**middle(RANGES), "as_they_are": "a lot"}, "error"),
    (lambda: [1, 2, 3], "error"),
]
