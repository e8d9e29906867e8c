"""Students' answers to 11/copying: what they wrote down after the run."""

RIGHT = {
    "of seed 0": lambda: {"text": "shakespeare", "one": 0.126, "three": 0.453, "found": 0.047},
    "as text": lambda: {"text": "shakespeare", "one": "0.128", "three": "0.46", "found": "0.045"},
    "on the play": lambda: {"text": "play", "one": 0.134, "three": 0.595, "found": 0.068},
}

WRONG = {
    "rounded": lambda: {"text": "shakespeare", "one": 0.1, "three": 0.5, "found": 0.0},
    "other-text": lambda: {"text": "shakespeare", "one": 0.1336, "three": 0.5968, "found": 0.0704},
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
    "every-pair": lambda: {"text": "shakespeare", "one": 0.1170, "three": 0.4549, "found": 0.0472},
    "found-of-known": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 0.4525,
        "found": 0.0785,
    },
    "found-of-one": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 0.4525,
        "found": 0.6017,
    },
    "windows-counted": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 0.4525,
        "found": 0.8220,
    },
    "found-if-right": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 0.4525,
        "found": 0.0214,
    },
    "pairs-found": lambda: {"text": "shakespeare", "one": 0.1264, "three": 0.4525, "found": 0.0008},
    "two-symbols": lambda: {"text": "shakespeare", "one": 0.1264, "three": 0.2902, "found": 0.1528},
    "four-symbols": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 0.5169,
        "found": 0.0211,
    },
    "following-symbols": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 1.0000,
        "found": 0.0472,
    },
    "any-order": lambda: {"text": "shakespeare", "one": 0.1264, "three": 0.1776, "found": 0.1135},
    "not-found-counted": lambda: {
        "text": "shakespeare",
        "one": 0.1012,
        "three": 0.0856,
        "found": 0.0472,
    },
    "of-known-places": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 0.0355,
        "found": 0.0472,
    },
    "compared-with-x": lambda: {
        "text": "shakespeare",
        "one": 0.0445,
        "three": 0.0213,
        "found": 0.0472,
    },
    "one-too-far": lambda: {"text": "shakespeare", "one": 0.0955, "three": 0.0561, "found": 0.0472},
    "any-place": lambda: {"text": "shakespeare", "one": 0.2621, "three": 0.4669, "found": 0.0472},
    "most-frequent": lambda: {
        "text": "shakespeare",
        "one": 0.1471,
        "three": 0.4550,
        "found": 0.0472,
    },
    "mean-of-windows": lambda: {
        "text": "shakespeare",
        "one": 0.1255,
        "three": 0.3117,
        "found": 0.0472,
    },
    "end-of-window": lambda: {
        "text": "shakespeare",
        "one": 0.1438,
        "three": 0.5040,
        "found": 0.1240,
    },
    "three-places": lambda: {
        "text": "shakespeare",
        "one": 0.1264,
        "three": 0.2252,
        "found": 0.6017,
    },
    "shorter-windows": lambda: {
        "text": "shakespeare",
        "one": 0.1105,
        "three": 0.4282,
        "found": 0.0180,
    },
    "longer-windows": lambda: {
        "text": "shakespeare",
        "one": 0.1416,
        "three": 0.4845,
        "found": 0.0978,
    },
}

ODD = [
    (
        lambda: {"text": "shakespeare", "one": 0.126, "three": 0.453, "found": 0.3},
        "right-in-part",
    ),
    (
        lambda: {"text": "shakespeare", "one": 0.126, "three": 0.35, "found": 0.12},
        "right-in-part",
    ),
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
    (lambda: {"text": "shakespeare", "one": 0.126, "three": 0.453}, "type"),
]


# --- Answers that no list names ---


# "the share of all places": as the two others, between 0 and 1
def found_in_percent():
    return {"text": "shakespeare", "one": 0.126, "three": 0.453, "found": 4.7}


UNLISTED = {
    4: [(found_in_percent, "percent")],
}
