"""Students' answers to 09/letters-of-past."""

from course_judges.ch09_names.letters_of_past import RANGES
from course_judges.observations import middle


def lowest():
    return {"text": "names", **{name: low for name, (low, _) in RANGES["names"].items()}}


def highest_as_text():
    return {"text": "names", **{name: str(high) for name, (_, high) in RANGES["names"].items()}}


RIGHT = {
    "the middle": lambda: middle(RANGES, "names"),
    "the lowest": lowest,
    "the highest, as text": highest_as_text,
}

WRONG = {
    "bits": lambda: {
        "text": "names",
        **{name: sum(pair) / 2 / 0.6931 for name, pair in RANGES["names"].items()},
    },
    "perplexity": lambda: {
        "text": "names",
        **{name: 2.71828 ** (sum(pair) / 2) for name, pair in RANGES["names"].items()},
    },
    "exchanged": lambda: middle(
        RANGES, one=middle(RANGES, "names")["two"], two=middle(RANGES, "names")["one"]
    ),
    "last-exchanged": lambda: middle(
        RANGES, three=middle(RANGES, "names")["four"], four=middle(RANGES, "names")["three"]
    ),
}

ODD = [
    (lambda: middle(RANGES, one=-7.5), "not-what-runs-give"),
    (lambda: middle(RANGES, one=float("nan")), "error"),
    (lambda: {**middle(RANGES, "names"), "text": "my diary"}, "unknown-text"),
    (lambda: {"text": "names"}, "error"),
    (lambda: {**middle(RANGES, "names"), "one": "a lot"}, "error"),
    (lambda: [1, 2, 3], "error"),
]
