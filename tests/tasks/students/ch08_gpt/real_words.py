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


def words_that_are_not_real():
    return {"text": "shakespeare", "cool": 0.4471, "hot": 0.8829}


# "the share of real words at temperature 0.5 (cool) and at 1.5 (hot)"
def hot_and_cool_exchanged():
    return {"text": "shakespeare", "cool": 0.1171, "hot": 0.5529}


# "the share of real words": in percent.
def percents():
    return {"text": "shakespeare", "cool": 55.29, "hot": 11.71}


def pieces_of_the_text():
    """Asked whether a word is in the text, a string, so that pieces of words are real as well."""
    return {"text": "shakespeare", "cool": 0.8273, "hot": 0.2554}


def looks_in_the_text():
    """Asks whether a word is in the text as a string, so that any part of a word counts as real."""
    return {"text": "shakespeare", "cool": 0.7885, "hot": 0.2512}


def without_punctuation_and_capitals():
    """Strips punctuation and lowers capitals in both, the words written and those of the text."""
    return {"text": "shakespeare", "cool": 0.5639, "hot": 0.1572}


def set_of_symbols():
    """Forgets split() for the training text: its set holds symbols, so only they are real words."""
    return {"text": "shakespeare", "cool": 0.0171, "hot": 0.0416}


def words_found_in_the_string():
    """Asks `word in text` of the training string, so every piece of a longer word is real too."""
    return {
        "text": "shakespeare",
        "cool": 0.7885,
        "hot": 0.2512,
    }


def split_at_single_spaces():
    """Uses split(" ") for both: words at a line break stay glued to the word behind it."""
    return {
        "text": "shakespeare",
        "cool": 0.5342,
        "hot": 0.0980,
    }


def looked_up_in_the_text():
    """Asks whether a word occurs anywhere in the training text as a string, inside others too."""
    return {
        "text": "shakespeare",
        "cool": 0.8436,
        "hot": 0.2851,
    }


UNLISTED = {
    2: [(words_that_are_not_real, None)],
    4: [(hot_and_cool_exchanged, None)],
    5: [(percents, None)],
    12: [(pieces_of_the_text, None)],
    13: [(looks_in_the_text, None), (set_of_symbols, None)],
    14: [(words_found_in_the_string, None)],
    16: [(looked_up_in_the_text, None)],
}
ACCEPTED = {
    13: [(without_punctuation_and_capitals, "Its numbers lie where those of right runs do.")],
    15: [(split_at_single_spaces, "Its numbers lie where those of right runs do.")],
}
