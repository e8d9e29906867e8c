"""Students' answers to 11/copying: what they wrote down after the run."""

RIGHT = {
    "of seed 0": lambda: {"text": "shakespeare", "one": 0.126, "three": 0.453, "found": 0.047},
    "as text": lambda: {"text": "shakespeare", "one": "0.128", "three": "0.46", "found": "0.045"},
    "on the play": lambda: {"text": "play", "one": 0.134, "three": 0.595, "found": 0.068},
}

WRONG = {
    "percent": lambda: {"text": "shakespeare", "one": 12.6, "three": 45.3, "found": 4.7},
    "exchanged": lambda: {"text": "shakespeare", "one": 0.453, "three": 0.126, "found": 0.047},
    "of-all-places": lambda: {"text": "shakespeare", "one": 0.076, "three": 0.0213, "found": 0.047},
    "first-place": lambda: {
        "text": "shakespeare",
        "one": 0.1432,
        "three": 0.4575,
        "found": 0.04725,
    },
    "finds-itself": lambda: {"text": "shakespeare", "one": 1, "three": 1, "found": 0.9688},
    "later-places": lambda: {
        "text": "shakespeare",
        "one": 0.1468,
        "three": 0.4553,
        "found": 0.09021,
    },
    "symbol-itself": lambda: {
        "text": "shakespeare",
        "one": 0.0245,
        "three": 0.02017,
        "found": 0.04725,
    },
}

ODD = [
    (
        lambda: {"text": "shakespeare", "one": 0.3, "three": 0.6, "found": 0.2},
        "not-what-runs-give",
    ),
    (
        lambda: {"text": "shakespeare", "one": 0.874, "three": 0.453, "found": 0.047},
        "one-minus",
    ),
    (
        lambda: {"text": "my diary", "one": 0.126, "three": 0.453, "found": 0.047},
        "unknown-text",
    ),
    (lambda: {"text": "shakespeare", "one": 0.126, "three": 0.453}, "error"),
]
