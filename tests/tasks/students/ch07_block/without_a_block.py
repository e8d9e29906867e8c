"""Students' answers to 07/without-a-block: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {
        "text": "shakespeare",
        "all_four": 2.335,
        "without_first": 4.8605,
        "without_last": 2.454,
    },
    "the lowest": lambda: {
        "text": "shakespeare",
        "all_four": 2.292,
        "without_first": 3.454,
        "without_last": 2.33,
    },
    "the highest, as text": lambda: {
        "text": "shakespeare",
        "all_four": "2.378",
        "without_first": "6.267",
        "without_last": "2.578",
    },
    "on the play": lambda: {
        "text": "play",
        "all_four": 2.215,
        "without_first": 4.3585,
        "without_last": 2.3175,
    },
}

WRONG = {
    "rounded": lambda: {
        "text": "shakespeare",
        "all_four": 2.4,
        "without_first": 5.2,
        "without_last": 2.5,
    },
    "other-text": lambda: {
        "text": "shakespeare",
        "all_four": 2.2379,
        "without_first": 3.7182,
        "without_last": 2.3681,
    },
    "bits": lambda: {
        "text": "shakespeare",
        "all_four": 3.36892,
        "without_first": 7.0127,
        "without_last": 3.54061,
    },
    "perplexity": lambda: {
        "text": "shakespeare",
        "all_four": 10.32944,
        "without_first": 129.08831,
        "without_last": 11.63477,
    },
    "exchanged": lambda: {
        "text": "shakespeare",
        "all_four": 2.335,
        "without_first": 2.454,
        "without_last": 4.8605,
    },
    "never-cut": lambda: {
        "text": "shakespeare",
        "all_four": 2.335,
        "without_first": 2.335,
        "without_last": 2.335,
    },
    "trained-afresh": lambda: {
        "text": "shakespeare",
        "all_four": 2.335,
        "without_first": 2.33,
        "without_last": 2.33,
    },
    "both-cut": lambda: {
        "text": "shakespeare",
        "all_four": 2.335,
        "without_first": 4.728,
        "without_last": 4.402,
    },
    "trained-in-each-round": lambda: {
        "text": "shakespeare",
        "all_four": 2.351,
        "without_first": 2.26,
        "without_last": 2.214,
    },
    "default-rate": lambda: {
        "text": "shakespeare",
        "all_four": 2.283,
        "without_first": 2.991,
        "without_last": 2.311,
    },
    "untrained": lambda: {
        "text": "shakespeare",
        "all_four": 4.18,
        "without_first": 4.179,
        "without_last": 4.178,
    },
}

ODD = [
    (
        lambda: {
            "text": "shakespeare",
            "all_four": -7.5,
            "without_first": 4.8605,
            "without_last": 2.454,
        },
        "one-loss-off",
    ),
    (
        lambda: {
            "text": "shakespeare",
            "all_four": 2.3515,
            "without_first": 2.9,
            "without_last": 2.5162,
        },
        "one-loss-off",
    ),
    (
        lambda: {
            "text": "shakespeare",
            "all_four": 2.335,
            "without_first": 2.9,
            "without_last": 3.1,
        },
        "not-what-runs-give",
    ),
    (
        lambda: {
            "text": "shakespeare",
            "all_four": float("nan"),
            "without_first": 4.8605,
            "without_last": 2.454,
        },
        "error",
    ),
    (
        lambda: {
            "text": "my diary",
            "all_four": 2.335,
            "without_first": 4.8605,
            "without_last": 2.454,
        },
        "unknown-text",
    ),
    (lambda: {"text": "shakespeare"}, "type"),
    (
        lambda: {
            "text": "shakespeare",
            "all_four": "a lot",
            "without_first": 4.8605,
            "without_last": 2.454,
        },
        "type",
    ),
    (lambda: [1, 2, 3], "type"),
]


# --- Answers that no list names ---


def losses_as_differences():
    return {
        "text": "shakespeare",
        "all_four": 2.351,
        "without_first": 2.820,
        "without_last": 0.165,
    }


def takes_out_attention_only():
    """Takes only the attention branch out of the first or last block; its network remains."""
    return {
        "text": "shakespeare",
        "all_four": 2.3515,
        "without_first": 3.9170,
        "without_last": 2.3926,
    }


UNLISTED = {
    2: [(losses_as_differences, "differences-noted")],
}
ACCEPTED = {
    13: [(takes_out_attention_only, "Its numbers lie where those of right runs do.")],
}
