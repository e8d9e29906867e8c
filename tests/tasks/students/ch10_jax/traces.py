"""Students' answers to 10/traces: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {
        "text": "shakespeare",
        "as_they_are": 48.0,
        "padded": 4.0,
        "waste": 0.1685,
    },
    "the lowest": lambda: {
        "text": "shakespeare",
        "as_they_are": 47.52,
        "padded": 3.96,
        "waste": 0.167,
    },
    "the highest, as text": lambda: {
        "text": "shakespeare",
        "as_they_are": "48.48",
        "padded": "4.04",
        "waste": "0.17",
    },
    "on the play": lambda: {"text": "play", "as_they_are": 88.0, "padded": 9.0, "waste": 0.163},
}

WRONG = {
    "rounded": lambda: {"text": "shakespeare", "as_they_are": 48.0, "padded": 4.0, "waste": 0.2},
    "other-text": lambda: {
        "text": "shakespeare",
        "as_they_are": 88.0,
        "padded": 9.0,
        "waste": 0.163,
    },
    "one-function": lambda: {
        "text": "shakespeare",
        "as_they_are": 48.0,
        "padded": 1.0,
        "waste": 0.1686,
    },
    "lines-padded": lambda: {
        "text": "shakespeare",
        "as_they_are": 48.0,
        "padded": 4.0,
        "waste": 0.9533,
    },
    "with-newlines": lambda: {
        "text": "shakespeare",
        "as_they_are": 48.0,
        "padded": 4.0,
        "waste": 0.1596,
    },
    "to-other-lengths": lambda: {
        "text": "shakespeare",
        "as_they_are": 48.0,
        "padded": 8.0,
        "waste": 0.0965,
    },
    "percent": lambda: {"text": "shakespeare", "as_they_are": 48.0, "padded": 4.0, "waste": 16.85},
    "exchanged": lambda: {
        "text": "shakespeare",
        "as_they_are": 4.0,
        "padded": 48.0,
        "waste": 0.1685,
    },
    "calls": lambda: {"text": "shakespeare", "as_they_are": 300, "padded": 300, "waste": 0.1685},
    "of-symbols": lambda: {
        "text": "shakespeare",
        "as_they_are": 48.0,
        "padded": 4.0,
        "waste": 0.20265,
    },
    "mean-of-lines": lambda: {
        "text": "shakespeare",
        "as_they_are": 48,
        "padded": 4,
        "waste": 0.1905,
    },
    "empty-lines-too": lambda: {
        "text": "shakespeare",
        "as_they_are": 45,
        "padded": 5,
        "waste": 0.1659,
    },
    "empty-lines-counted": lambda: {
        "text": "shakespeare",
        "as_they_are": 44,
        "padded": 4,
        "waste": 0.1659,
    },
    "to-the-longest": lambda: {
        "text": "shakespeare",
        "as_they_are": 48,
        "padded": 1,
        "waste": 0.4206,
    },
    "always-padded": lambda: {
        "text": "shakespeare",
        "as_they_are": 48,
        "padded": 4,
        "waste": 0.1834,
    },
    "counted-on": lambda: {"text": "shakespeare", "as_they_are": 48, "padded": 52, "waste": 0.1686},
}

ODD = [
    (
        lambda: {"text": "shakespeare", "as_they_are": -7.5, "padded": 4.0, "waste": 0.1685},
        "not-what-runs-give",
    ),
    (
        lambda: {
            "text": "shakespeare",
            "as_they_are": float("nan"),
            "padded": 4.0,
            "waste": 0.1685,
        },
        "error",
    ),
    (
        lambda: {"text": "my diary", "as_they_are": 48.0, "padded": 4.0, "waste": 0.1685},
        "unknown-text",
    ),
    (lambda: {"text": "shakespeare"}, "type"),
    (
        lambda: {"text": "shakespeare", "as_they_are": "a lot", "padded": 4.0, "waste": 0.1685},
        "type",
    ),
    (lambda: [1, 2, 3], "type"),
]


# --- Answers that no list names ---


def waste_as_the_share_of_symbols():
    return {"text": "shakespeare", "as_they_are": 48, "padded": 4, "waste": 0.8314}


UNLISTED = {
    2: [(waste_as_the_share_of_symbols, "one-minus")],
}
