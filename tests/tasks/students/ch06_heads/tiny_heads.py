"""Students' answers to 06/tiny-heads: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {"text": "shakespeare", "heads_1": 2.4485, "heads_32": 2.3245},
    "the lowest": lambda: {"text": "shakespeare", "heads_1": 2.42, "heads_32": 2.285},
    "the highest, as text": lambda: {
        "text": "shakespeare",
        "heads_1": "2.477",
        "heads_32": "2.364",
    },
    "on the play": lambda: {"text": "play", "heads_1": 2.3815, "heads_32": 2.2045},
}

WRONG = {
    "rounded": lambda: {"text": "shakespeare", "heads_1": 2.4, "heads_32": 2.3},
    "other-text": lambda: {"text": "shakespeare", "heads_1": 2.3886, "heads_32": 2.182},
    "bits": lambda: {"text": "shakespeare", "heads_1": 3.53268, "heads_32": 3.35377},
    "perplexity": lambda: {"text": "shakespeare", "heads_1": 11.57096, "heads_32": 10.22155},
    "exchanged": lambda: {"text": "shakespeare", "heads_1": 2.3245, "heads_32": 2.4485},
    "first-evaluation": lambda: {"text": "shakespeare", "heads_1": 2.795, "heads_32": 2.694},
    "default-batch": lambda: {"text": "shakespeare", "heads_1": 2.53, "heads_32": 2.44},
    "default-steps": lambda: {"text": "play", "heads_1": 2.33, "heads_32": 2.11},
    "one-channel-each": lambda: {"text": "shakespeare", "heads_1": 3.09, "heads_32": 2.308},
    "default-rate": lambda: {"text": "shakespeare", "heads_1": 2.601, "heads_32": 2.551},
}

ODD = [
    (lambda: {"text": "shakespeare", "heads_1": -7.5, "heads_32": 2.3245}, "not-what-runs-give"),
    (lambda: {"text": "shakespeare", "heads_1": float("nan"), "heads_32": 2.3245}, "error"),
    (lambda: {"text": "my diary", "heads_1": 2.4485, "heads_32": 2.3245}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "type"),
    (lambda: {"text": "shakespeare", "heads_1": "a lot", "heads_32": 2.3245}, "type"),
    (lambda: [1, 2, 3], "type"),
]
