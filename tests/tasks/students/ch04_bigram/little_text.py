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
            "one_percent": -7.5,
            "ten_percent": 2.619,
            "everything": 2.482,
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
    (lambda: {"text": "shakespeare"}, "error"),
    (
        lambda: {
            "text": "shakespeare",
            "one_percent": "a lot",
            "ten_percent": 2.619,
            "everything": 2.482,
        },
        "error",
    ),
    (lambda: [1, 2, 3], "error"),
]
