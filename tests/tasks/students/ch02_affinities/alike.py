"""Students' answers to 02/alike: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {"text": "shakespeare", "words": 4.807, "dot": 8.13, "cosine": 4.613},
    "the lowest": lambda: {"text": "shakespeare", "words": 4.759, "dot": 8.049, "cosine": 4.567},
    "the highest, as text": lambda: {
        "text": "shakespeare",
        "words": "4.855",
        "dot": "8.211",
        "cosine": "4.659",
    },
    "on the play": lambda: {"text": "play", "words": 5.1265, "dot": 7.61, "cosine": 4.96},
}

WRONG = {
    "with-itself": lambda: {"text": "shakespeare", "words": 4.807, "dot": 8.13, "cosine": 4.807},
    "exchanged": lambda: {"text": "shakespeare", "words": 4.807, "dot": 4.613, "cosine": 8.13},
    "dot-for-words": lambda: {"text": "shakespeare", "words": 8.13, "dot": 4.807, "cosine": 4.613},
    "letters-once": lambda: {"text": "shakespeare", "words": 4.807, "dot": 6.35, "cosine": 4.573},
    "short-words-too": lambda: {
        "text": "shakespeare",
        "words": 4.353,
        "dot": 7.797,
        "cosine": 4.157,
    },
    "filtered-last": lambda: {"text": "shakespeare", "words": 4.707, "dot": 7.989, "cosine": 4.51},
    "capitals-cut": lambda: {"text": "shakespeare", "words": 4.313, "dot": 6.54, "cosine": 4.307},
}

ODD = [
    (
        lambda: {"text": "shakespeare", "words": -7.5, "dot": 8.13, "cosine": 4.613},
        "not-what-runs-give",
    ),
    (lambda: {"text": "shakespeare", "words": float("nan"), "dot": 8.13, "cosine": 4.613}, "error"),
    (lambda: {"text": "my diary", "words": 4.807, "dot": 8.13, "cosine": 4.613}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "error"),
    (lambda: {"text": "shakespeare", "words": "a lot", "dot": 8.13, "cosine": 4.613}, "error"),
    (lambda: [1, 2, 3], "error"),
]
