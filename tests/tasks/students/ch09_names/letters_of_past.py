"""Students' answers to 09/letters-of-past: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {
        "text": "names",
        "one": 2.4595,
        "two": 2.2485,
        "three": 2.2595,
        "four": 2.5575,
    },
    "the lowest": lambda: {
        "text": "names",
        "one": 2.435,
        "two": 2.226,
        "three": 2.237,
        "four": 2.532,
    },
    "the highest, as text": lambda: {
        "text": "names",
        "one": "2.484",
        "two": "2.271",
        "three": "2.282",
        "four": "2.583",
    },
}

WRONG = {
    "rounded": lambda: {"text": "names", "one": 2.5, "two": 2.2, "three": 2.3, "four": 2.6},
    "bits": lambda: {
        "text": "names",
        "one": 3.54855,
        "two": 3.24412,
        "three": 3.25999,
        "four": 3.68994,
    },
    "perplexity": lambda: {
        "text": "names",
        "one": 11.69894,
        "two": 9.4735,
        "three": 9.57828,
        "four": 12.9035,
    },
    "exchanged": lambda: {
        "text": "names",
        "one": 2.2485,
        "two": 2.4595,
        "three": 2.2595,
        "four": 2.5575,
    },
    "measured-where-counted": lambda: {
        "text": "names",
        "one": 2.455,
        "two": 2.213,
        "three": 2.111,
        "four": 2.233,
    },
    "validation-counted": lambda: {
        "text": "names",
        "one": 2.454,
        "two": 2.26,
        "three": 2.326,
        "four": 2.481,
    },
    "next-among-n": lambda: {
        "text": "names",
        "one": 2.827,
        "two": 2.459,
        "three": 2.249,
        "four": 2.259,
    },
    "list-counted": lambda: {
        "text": "names",
        "one": 2.4563,
        "two": 2.2216,
        "three": 2.1472,
        "four": 2.3487,
    },
    "other-ones": lambda: {
        "text": "names",
        "one": 2.459,
        "two": 2.2504,
        "three": 2.2875,
        "four": 2.6405,
    },
    "contexts-averaged": lambda: {
        "text": "names",
        "one": 2.2441,
        "two": 2.2423,
        "three": 2.4503,
        "four": 2.7362,
    },
    "within-names": lambda: {
        "text": "names",
        "one": 2.4592,
        "two": 2.2471,
        "three": 2.2239,
        "four": 2.3969,
    },
    "mean-before-log": lambda: {
        "text": "names",
        "one": 2.0667,
        "two": 1.7706,
        "three": 1.7774,
        "four": 2.1261,
    },
    "unseen-contexts-left-out": lambda: {
        "text": "names",
        "one": 2.4592,
        "two": 2.2482,
        "three": 2.2499,
        "four": 2.499,
    },
    "columns-divided": lambda: {
        "text": "names",
        "one": 2.4593,
        "two": 4.7361,
        "three": 7.6071,
        "four": 11.802,
    },
    "counted-once": lambda: {
        "text": "names",
        "one": 3.2688,
        "two": 3.1587,
        "three": 3.0263,
        "four": 3.0054,
    },
}

ODD = [
    (
        lambda: {"text": "names", "one": 2.459, "two": 2.259, "three": 2.249, "four": 2.557},
        "exchanged",
    ),
    (
        lambda: {"text": "names", "one": -7.5, "two": 2.2485, "three": 2.2595, "four": 2.5575},
        "not-what-runs-give",
    ),
    (
        lambda: {
            "text": "names",
            "one": float("nan"),
            "two": 2.2485,
            "three": 2.2595,
            "four": 2.5575,
        },
        "error",
    ),
    (
        lambda: {"text": "my diary", "one": 2.4595, "two": 2.2485, "three": 2.2595, "four": 2.5575},
        "unknown-text",
    ),
    (lambda: {"text": "names"}, "type"),
    (
        lambda: {"text": "names", "one": "a lot", "two": 2.2485, "three": 2.2595, "four": 2.5575},
        "type",
    ),
    (lambda: [1, 2, 3], "type"),
]
