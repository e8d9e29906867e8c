"""Students' answers to 03/seen-before: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {
        "text": "shakespeare",
        "seen_4": 0.958,
        "seen_8": 0.503,
        "seen_16": 0.015,
    },
    "the lowest": lambda: {
        "text": "shakespeare",
        "seen_4": 0.948,
        "seen_8": 0.498,
        "seen_16": 0.014,
    },
    "the highest, as text": lambda: {
        "text": "shakespeare",
        "seen_4": "0.968",
        "seen_8": "0.508",
        "seen_16": "0.016",
    },
    "on the play": lambda: {"text": "play", "seen_4": 0.996, "seen_8": 0.8395, "seen_16": 0.304},
}

WRONG = {
    "rounded": lambda: {"text": "shakespeare", "seen_4": 1.0, "seen_8": 0.5, "seen_16": 0.0},
    "other-text": lambda: {
        "text": "shakespeare",
        "seen_4": 0.9958,
        "seen_8": 0.8395,
        "seen_16": 0.3036,
    },
    "percent": lambda: {"text": "shakespeare", "seen_4": 95.8, "seen_8": 50.3, "seen_16": 1.5},
    "exchanged": lambda: {
        "text": "shakespeare",
        "seen_4": 0.015,
        "seen_8": 0.503,
        "seen_16": 0.958,
    },
    "new-ones": lambda: {"text": "shakespeare", "seen_4": 0.042, "seen_8": 0.497, "seen_16": 0.985},
    "distinct": lambda: {
        "text": "shakespeare",
        "seen_4": 0.8909,
        "seen_8": 0.4133,
        "seen_16": 0.01304,
    },
    "every-nth": lambda: {
        "text": "shakespeare",
        "seen_4": 0.9194,
        "seen_8": 0.2474,
        "seen_16": 0.001345,
    },
    "splits-exchanged": lambda: {
        "text": "shakespeare",
        "seen_4": 0.8328,
        "seen_8": 0.1971,
        "seen_16": 0.001955,
    },
    "one-symbol-longer": lambda: {
        "text": "shakespeare",
        "seen_4": 0.89883,
        "seen_8": 0.36382,
        "seen_16": 0.0090294,
    },
    "one-symbol-shorter": lambda: {
        "text": "shakespeare",
        "seen_4": 0.98608,
        "seen_8": 0.65201,
        "seen_16": 0.02568,
    },
    "distinct-hits": lambda: {
        "text": "shakespeare",
        "seen_4": 0.15903,
        "seen_8": 0.31681,
        "seen_16": 0.012831,
    },
    "share-of-training": lambda: {
        "text": "shakespeare",
        "seen_4": 0.36544,
        "seen_8": 0.063154,
        "seen_16": 0.0014712,
    },
    "lower-case": lambda: {
        "text": "shakespeare",
        "seen_4": 0.97525,
        "seen_8": 0.5186,
        "seen_16": 0.015718,
    },
    "same-place": lambda: {"text": "shakespeare", "seen_4": 0.00043932, "seen_8": 0, "seen_16": 0},
    "begins-of-training": lambda: {
        "text": "shakespeare",
        "seen_4": 0.79984,
        "seen_8": 0.18145,
        "seen_16": 0.0010491,
    },
    "earlier-validation": lambda: {
        "text": "shakespeare",
        "seen_4": 0.98052,
        "seen_8": 0.55032,
        "seen_16": 0.028532,
    },
    "whole-text": lambda: {"text": "shakespeare", "seen_4": 1, "seen_8": 1, "seen_16": 1},
}

ODD = [
    (
        # Pieces of the validation split that don't overlap.
        lambda: {"text": "shakespeare", "seen_4": 0.9581, "seen_8": 0.5035, "seen_16": 0.0132},
        "nearly-right",
    ),
    (
        lambda: {"text": "shakespeare", "seen_4": -7.5, "seen_8": 0.503, "seen_16": 0.015},
        "not-what-runs-give",
    ),
    (
        lambda: {"text": "shakespeare", "seen_4": float("nan"), "seen_8": 0.503, "seen_16": 0.015},
        "error",
    ),
    (
        lambda: {"text": "my diary", "seen_4": 0.958, "seen_8": 0.503, "seen_16": 0.015},
        "unknown-text",
    ),
    (lambda: {"text": "shakespeare"}, "type"),
    (
        lambda: {"text": "shakespeare", "seen_4": "a lot", "seen_8": 0.503, "seen_16": 0.015},
        "type",
    ),
    (lambda: [1, 2, 3], "type"),
]
