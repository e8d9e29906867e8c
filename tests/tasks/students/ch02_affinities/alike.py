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
    "rounded": lambda: {"text": "shakespeare", "words": 4.8, "dot": 8.1, "cosine": 4.6},
    "other-text": lambda: {"text": "shakespeare", "words": 5.1267, "dot": 7.61, "cosine": 4.96},
    "with-itself": lambda: {"text": "shakespeare", "words": 4.807, "dot": 8.13, "cosine": 4.807},
    "exchanged": lambda: {"text": "shakespeare", "words": 4.807, "dot": 4.613, "cosine": 8.13},
    "letters-once": lambda: {"text": "shakespeare", "words": 4.807, "dot": 6.35, "cosine": 4.573},
    "short-words-too": lambda: {
        "text": "shakespeare",
        "words": 4.353,
        "dot": 7.797,
        "cosine": 4.157,
    },
    "filtered-last": lambda: {"text": "shakespeare", "words": 4.707, "dot": 7.989, "cosine": 4.51},
    "capitals-cut": lambda: {"text": "shakespeare", "words": 4.313, "dot": 6.54, "cosine": 4.307},
    "chosen-once": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 6.5397,
        "cosine": 4.6685,
    },
    "cosine-keeps-lengths": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 8.13,
        "cosine": 8.1133,
    },
    "norm-of-channels": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 8.13,
        "cosine": 7.3367,
    },
    "another-length": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 8.13,
        "cosine": 3.4433,
    },
    "least-alike": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 3.0633,
        "cosine": 3.0633,
    },
    "second-best": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 7.4267,
        "cosine": 4.7133,
    },
    "second-of-each-row": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 6.74,
        "cosine": 4.6267,
    },
    "only-earlier-words": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 6.51,
        "cosine": 4.1667,
    },
    "shares-compared": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 3.4433,
        "cosine": 4.6133,
    },
    "distances-compared": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 4.05,
        "cosine": 4.6133,
    },
    "similarities-averaged": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 5.7867,
        "cosine": 0.8436,
    },
    "averaged-by-softmax": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 6.1375,
        "cosine": 4.8521,
    },
    "differences-of-lengths": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 3.3233,
        "cosine": -0.1933,
    },
    "both-words-averaged": lambda: {
        "text": "shakespeare",
        "words": 4.8067,
        "dot": 6.4683,
        "cosine": 4.71,
    },
    "weighed-by-frequency": lambda: {
        "text": "shakespeare",
        "words": 4.052,
        "dot": 7.9183,
        "cosine": 4.3814,
    },
    "vector-lengths": lambda: {
        "text": "shakespeare",
        "words": 2.3236,
        "dot": 3.5204,
        "cosine": 2.3046,
    },
    "medians": lambda: {
        "text": "shakespeare",
        "words": 4.0,
        "dot": 9.0,
        "cosine": 4.0,
    },
    "four-letters": lambda: {
        "text": "shakespeare",
        "words": 5.34,
        "dot": 8.65,
        "cosine": 5.3367,
    },
    "first-words": lambda: {
        "text": "shakespeare",
        "words": 5.55,
        "dot": 9.3433,
        "cosine": 5.4367,
    },
    "split-at-spaces": lambda: {
        "text": "shakespeare",
        "words": 4.48,
        "dot": 6.8467,
        "cosine": 4.4233,
    },
    "another-number-of-words": lambda: {
        "text": "shakespeare",
        "words": 3.95,
        "dot": 4.64,
        "cosine": 3.89,
    },
    "mean-of-other-words": lambda: {
        "text": "shakespeare",
        "words": 4.0819,
        "dot": 8.13,
        "cosine": 4.6133,
    },
}

ODD = [
    (lambda: {"text": "shakespeare", "words": 8.13, "dot": 4.807, "cosine": 4.613}, "exchanged"),
    (
        lambda: {"text": "shakespeare", "words": -7.5, "dot": 8.13, "cosine": 4.613},
        "other-numbers",
    ),
    (lambda: {"text": "shakespeare", "words": float("nan"), "dot": 8.13, "cosine": 4.613}, "error"),
    (lambda: {"text": "my diary", "words": 4.807, "dot": 8.13, "cosine": 4.613}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "type"),
    (lambda: {"text": "shakespeare", "words": "a lot", "dot": 8.13, "cosine": 4.613}, "type"),
    (lambda: [1, 2, 3], "type"),
]


# --- Answers that no list names ---


# "the *other* word that is most like it": a word is its own best match
def words_found_themselves():
    return {"text": "shakespeare", "words": 4.807, "dot": 7.22, "cosine": 4.807}


UNLISTED = {
    5: [(words_found_themselves, "with-itself")],
}
