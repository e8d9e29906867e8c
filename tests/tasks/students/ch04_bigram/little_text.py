"""Students' answers to 04/little-text: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {
        "text": "shakespeare",
        "one_percent": 2.7455,
        "ten_percent": 2.619,
        "everything": 2.482,
    },
    "the lowest": lambda: {
        "text": "shakespeare",
        "one_percent": 2.718,
        "ten_percent": 2.593,
        "everything": 2.457,
    },
    "the highest, as text": lambda: {
        "text": "shakespeare",
        "one_percent": "2.773",
        "ten_percent": "2.645",
        "everything": "2.507",
    },
    "on the play": lambda: {
        "text": "play",
        "one_percent": 2.6405,
        "ten_percent": 2.4385,
        "everything": 2.407,
    },
}

WRONG = {
    "rounded": lambda: {
        "text": "shakespeare",
        "one_percent": 2.7,
        "ten_percent": 2.6,
        "everything": 2.5,
    },
    "other-text": lambda: {
        "text": "shakespeare",
        "one_percent": 2.6406,
        "ten_percent": 2.4387,
        "everything": 2.4072,
    },
    "bits": lambda: {
        "text": "shakespeare",
        "one_percent": 3.96119,
        "ten_percent": 3.77868,
        "everything": 3.58101,
    },
    "perplexity": lambda: {
        "text": "shakespeare",
        "one_percent": 15.57237,
        "ten_percent": 13.72197,
        "everything": 11.96515,
    },
    "exchanged": lambda: {
        "text": "shakespeare",
        "one_percent": 2.482,
        "ten_percent": 2.619,
        "everything": 2.7455,
    },
    "part-itself": lambda: {
        "text": "shakespeare",
        "one_percent": 2.488,
        "ten_percent": 2.395,
        "everything": 2.455,
    },
    "training-loss": lambda: {
        "text": "shakespeare",
        "one_percent": 2.715,
        "ten_percent": 2.581,
        "everything": 2.455,
    },
    "share-of-validation": lambda: {
        "text": "shakespeare",
        "one_percent": 2.8186,
        "ten_percent": 2.6578,
        "everything": 2.4819,
    },
    "pairs-from-everywhere": lambda: {
        "text": "shakespeare",
        "one_percent": 2.6548,
        "ten_percent": 2.4999,
        "everything": 2.4819,
    },
    "every-nth-symbol": lambda: {
        "text": "shakespeare",
        "one_percent": 3.4084,
        "ten_percent": 3.3317,
        "everything": 2.4819,
    },
    "less-added": lambda: {
        "text": "shakespeare",
        "one_percent": 2.7304,
        "ten_percent": 2.6883,
        "everything": 2.4838,
    },
    "counted-in-validation": lambda: {
        "text": "shakespeare",
        "one_percent": 3.1554,
        "ten_percent": 2.5967,
        "everything": 2.3965,
    },
    "table-turned": lambda: {
        "text": "shakespeare",
        "one_percent": 3.9856,
        "ten_percent": 4.3956,
        "everything": 4.7162,
    },
    "current-ignored": lambda: {
        "text": "shakespeare",
        "one_percent": 3.4369,
        "ten_percent": 3.3575,
        "everything": 3.3475,
    },
    "symbols-for-pairs": lambda: {
        "text": "shakespeare",
        "one_percent": 4.9216,
        "ten_percent": 5.6891,
        "everything": 6.2518,
    },
    "two-apart": lambda: {
        "text": "shakespeare",
        "one_percent": 3.7057,
        "ten_percent": 3.8189,
        "everything": 3.746,
    },
    "nothing-added": lambda: {
        "text": "shakespeare",
        "one_percent": float("inf"),
        "ten_percent": "inf",
        "everything": float("inf"),
    },
    "sign-forgotten": lambda: {
        "text": "shakespeare",
        "one_percent": -2.7455,
        "ten_percent": -2.619,
        "everything": -2.482,
    },
    "logarithm-of-the-mean": lambda: {
        "text": "play",
        "one_percent": 2.0936,
        "ten_percent": 1.8449,
        "everything": 1.7991,
    },
    "last-part": lambda: {
        "text": "shakespeare",
        "one_percent": 2.612,
        "ten_percent": 2.478,
        "everything": 2.482,
    },
}

ODD = [
    (
        lambda: {
            "text": "shakespeare",
            "one_percent": 7.5,
            "ten_percent": 7.5,
            "everything": 7.5,
        },
        "not-what-runs-give",
    ),
    (
        lambda: {
            "text": "shakespeare",
            "one_percent": float("nan"),
            "ten_percent": 2.619,
            "everything": 2.482,
        },
        "error",
    ),
    (
        lambda: {
            "text": "my diary",
            "one_percent": 2.7455,
            "ten_percent": 2.619,
            "everything": 2.482,
        },
        "unknown-text",
    ),
    (lambda: {"text": "shakespeare"}, "type"),
    (
        lambda: {
            "text": "shakespeare",
            "one_percent": "a lot",
            "ten_percent": 2.619,
            "everything": 2.482,
        },
        "type",
    ),
    (lambda: [1, 2, 3], "type"),
]
