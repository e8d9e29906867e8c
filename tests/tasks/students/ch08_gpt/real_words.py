"""Students' answers to 08/real-words: what they wrote down after the run."""

RIGHT = {
    "the middle": lambda: {"text": "shakespeare", "cool": 0.629, "hot": 0.1215},
    "the lowest": lambda: {"text": "shakespeare", "cool": 0.472, "hot": 0.056},
    "the highest, as text": lambda: {"text": "shakespeare", "cool": "0.786", "hot": "0.187"},
    "on the play": lambda: {"text": "play", "cool": 0.482, "hot": 0.126},
}

WRONG = {
    "rounded": lambda: {"text": "shakespeare", "cool": 0.6, "hot": 0.1},
    "other-text": lambda: {"text": "play", "cool": 0.6195, "hot": 0.1543},
    "percent": lambda: {"text": "shakespeare", "cool": 62.9, "hot": 12.15},
    "exchanged": lambda: {"text": "shakespeare", "cool": 0.1215, "hot": 0.629},
    "invented": lambda: {"text": "shakespeare", "cool": 0.371, "hot": 0.8785},
    "in-the-text": lambda: {"text": "shakespeare", "cool": 0.8273, "hot": 0.2554},
    "distinct": lambda: {"text": "shakespeare", "cool": 0.2966, "hot": 0.08896},
    "symbols-known": lambda: {"text": "shakespeare", "cool": 0.01712, "hot": 0.0416},
    "untrained": lambda: {"text": "shakespeare", "cool": 0.006369, "hot": 0.00641},
}

ODD = [
    (lambda: {"text": "shakespeare", "cool": -7.5, "hot": 0.1215}, "not-what-runs-give"),
    (lambda: {"text": "shakespeare", "cool": float("nan"), "hot": 0.1215}, "error"),
    (lambda: {"text": "my diary", "cool": 0.629, "hot": 0.1215}, "unknown-text"),
    (lambda: {"text": "shakespeare"}, "type"),
    (lambda: {"text": "shakespeare", "cool": "a lot", "hot": 0.1215}, "type"),
    (lambda: [1, 2, 3], "type"),
]


# --- Answers that no list names ---


def without_punctuation_and_capitals():
    """Strips punctuation and lowers capitals in both, the words written and those of the text."""
    return {"text": "shakespeare", "cool": 0.5639, "hot": 0.1572}


def split_at_single_spaces():
    """Uses split(" ") for both: words at a line break stay glued to the word behind it."""
    return {
        "text": "shakespeare",
        "cool": 0.5342,
        "hot": 0.0980,
    }


ACCEPTED = {
    13: [(without_punctuation_and_capitals, "Its numbers lie where those of right runs do.")],
    15: [(split_at_single_spaces, "Its numbers lie where those of right runs do.")],
}
