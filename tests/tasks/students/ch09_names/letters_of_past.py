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
    "last-exchanged": lambda: {
        "text": "names",
        "one": 2.4595,
        "two": 2.2485,
        "three": 2.5575,
        "four": 2.2595,
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
}

ODD = [
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
    (lambda: {"text": "names"}, "error"),
    (
        lambda: {"text": "names", "one": "a lot", "two": 2.2485, "three": 2.2595, "four": 2.5575},
        "error",
    ),
    (lambda: [1, 2, 3], "error"),
]
