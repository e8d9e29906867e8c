"""Students' answers to 01/vowels: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {"text": "shakespeare", "last_1": 0.6445, "last_4": 0.306, "all": 0.237},
    "the lowest": lambda: {"text": "shakespeare", "last_1": 0.638, "last_4": 0.303, "all": 0.235},
    "the highest, as text": lambda: {
        "text": "shakespeare",
        "last_1": "0.651",
        "last_4": "0.309",
        "all": "0.239",
    },
    "on the play": lambda: {"text": "play", "last_1": 0.604, "last_4": 0.303, "all": 0.233},
}

WRONG = {
    "percent": lambda: {"text": "shakespeare", "last_1": 64.5, "last_4": 30.6, "all": 23.7},
    "rounded": lambda: {"text": "shakespeare", "last_1": 0.6, "last_4": 0.3, "all": 0.2},
    "other-text": lambda: {
        "text": "shakespeare",
        "last_1": 0.6042,
        "last_4": 0.3029,
        "all": 0.2332,
    },
    "own-letter": lambda: {"text": "shakespeare", "last_1": 0, "last_4": 0.306, "all": 0.237},
    "rooted": lambda: {"text": "shakespeare", "last_1": 0.80281, "last_4": 0.55317, "all": 0.48683},
    "exchanged": lambda: {"text": "shakespeare", "last_1": 0.237, "last_4": 0.306, "all": 0.6445},
    "small-vowels": lambda: {
        "text": "shakespeare",
        "last_1": 0.6194,
        "last_4": 0.2994,
        "all": 0.2328,
    },
    "all-symbols": lambda: {
        "text": "shakespeare",
        "last_1": 0.5196,
        "last_4": 0.2761,
        "all": 0.2094,
    },
    "without-its-letter": lambda: {
        "text": "shakespeare",
        "last_1": 0.4822,
        "last_4": 0.2654,
        "all": 0.2365,
    },
    "divided-by-width": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 0.306,
        "all": 0.286,
    },
    "absolute-errors": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 0.5168,
        "all": 0.4743,
    },
    "signed-errors": lambda: {
        "text": "shakespeare",
        "last_1": -0.0003,
        "last_4": -0.0002,
        "all": 0.0045,
    },
    "errors-added-up": lambda: {
        "text": "shakespeare",
        "last_1": 2579.0,
        "last_4": 1223.7361,
        "all": 947.7491,
    },
    "y-a-vowel": lambda: {
        "text": "shakespeare",
        "last_1": 0.6574,
        "last_4": 0.3103,
        "all": 0.2428,
    },
    "spaces-kept": lambda: {
        "text": "shakespeare",
        "last_1": 0.5631,
        "last_4": 0.2839,
        "all": 0.2192,
    },
    "one-letter-more": lambda: {
        "text": "shakespeare",
        "last_1": 0.4025,
        "last_4": 0.2926,
        "all": 0.237,
    },
    "looks-ahead": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 0.2321,
        "all": 0.2363,
    },
    "rows-not-divided": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 2.1413,
        "all": 791675.9375,
    },
    "columns-divided": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 0.306,
        "all": 0.381,
    },
    "weights-turned": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 0.2322,
        "all": 0.3824,
    },
    "guesses-rounded": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 0.4219,
        "all": 0.3833,
    },
    "from-the-start": lambda: {
        "text": "shakespeare",
        "last_1": 0.3833,
        "last_4": 0.2543,
        "all": 0.237,
    },
    "weights-fall": lambda: {
        "text": "shakespeare",
        "last_1": 0.6449,
        "last_4": 0.3432,
        "all": 0.237,
    },
}

ODD = [
    (
        lambda: {"text": "shakespeare", "last_1": -7.5, "last_4": 0.306, "all": 0.237},
        "other-numbers",
    ),
    (
        lambda: {"text": "shakespeare", "last_1": float("nan"), "last_4": 0.306, "all": 0.237},
        "error",
    ),
    (lambda: {"text": "my diary", "last_1": 0.6445, "last_4": 0.306, "all": 0.237}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "type"),
    (lambda: {"text": "shakespeare", "last_1": "a lot", "last_4": 0.306, "all": 0.237}, "type"),
    (lambda: [1, 2, 3], "type"),
]
