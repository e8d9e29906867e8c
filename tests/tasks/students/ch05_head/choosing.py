"""Students' answers to 05/choosing: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {"text": "shakespeare", "chosen": 2.433, "equal": 2.8435},
    "the lowest": lambda: {"text": "shakespeare", "chosen": 2.403, "equal": 2.81},
    "the highest, as text": lambda: {"text": "shakespeare", "chosen": "2.463", "equal": "2.877"},
    "on the play": lambda: {"text": "play", "chosen": 2.36, "equal": 2.79},
}

WRONG = {
    "rounded": lambda: {"text": "shakespeare", "chosen": 2.4, "equal": 2.8},
    "other-text": lambda: {"text": "shakespeare", "chosen": 2.3667, "equal": 2.7886},
    "bits": lambda: {"text": "shakespeare", "chosen": 3.51032, "equal": 4.10258},
    "perplexity": lambda: {"text": "shakespeare", "chosen": 11.39299, "equal": 17.17574},
    "exchanged": lambda: {"text": "shakespeare", "chosen": 2.8435, "equal": 2.433},
    "queries-trained": lambda: {"text": "shakespeare", "chosen": 2.433, "equal": 2.433},
    "first-evaluation": lambda: {"text": "shakespeare", "chosen": 2.759, "equal": 2.995},
    "zeroed-afterwards": lambda: {"text": "shakespeare", "chosen": 2.436, "equal": 3.061},
    "default-rate": lambda: {"text": "shakespeare", "chosen": 2.62, "equal": 2.95},
    "default-batch": lambda: {"text": "shakespeare", "chosen": 2.51, "equal": 2.88},
    "longer-context": lambda: {"text": "shakespeare", "chosen": 2.57, "equal": 3.11},
    "nothing-passed-on": lambda: {"text": "shakespeare", "chosen": 2.436, "equal": 3.356},
}

ODD = [
    (lambda: {"text": "shakespeare", "chosen": -7.5, "equal": 2.8435}, "not-what-runs-give"),
    (lambda: {"text": "shakespeare", "chosen": float("nan"), "equal": 2.8435}, "error"),
    (lambda: {"text": "my diary", "chosen": 2.433, "equal": 2.8435}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "type"),
    (lambda: {"text": "shakespeare", "chosen": "a lot", "equal": 2.8435}, "type"),
    (lambda: [1, 2, 3], "type"),
]
