"""Judges 02/alike: which word is most like which."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch02_affinities.sections import ANGLE
from course_judges.judging import mistake
from course_judges.observations import Numbers, exchanged, lies, measured_otherwise, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"words": (4.759, 4.855), "dot": (8.049, 8.211), "cosine": (4.567, 4.659)},
    "play": {"words": (5.075, 5.178), "dot": (7.534, 7.686), "cosine": (4.91, 5.01)},
}

SLIPS = {
    "letters-once": {
        "shakespeare": {"words": (4.759, 4.855), "dot": (6.286, 6.413), "cosine": (4.528, 4.619)},
        "play": {"words": (5.075, 5.178), "dot": (6.864, 7.003), "cosine": (5.036, 5.138)},
    },
    "letters-once (lengths too)": {
        "shakespeare": {"words": (4.359, 4.447), "dot": (5.811, 5.929), "cosine": (4.214, 4.299)},
        "play": {"words": (4.613, 4.707), "dot": (6.376, 6.504), "cosine": (4.577, 4.67)},
    },
    "short-words-too": {
        "shakespeare": {"words": (4.31, 4.397), "dot": (7.719, 7.875), "cosine": (4.115, 4.198)},
        "play": {"words": (4.521, 4.612), "dot": (7.286, 7.434), "cosine": (4.287, 4.373)},
    },
    "filtered-last": {
        "shakespeare": {"words": (4.66, 4.754), "dot": (7.909, 8.068), "cosine": (4.464, 4.555)},
        "play": {"words": (4.946, 5.046), "dot": (7.41, 7.56), "cosine": (4.757, 4.853)},
    },
    "capitals-cut": {
        "shakespeare": {"words": (4.27, 4.356), "dot": (6.475, 6.605), "cosine": (4.264, 4.35)},
        "play": {"words": (4.825, 4.922), "dot": (7.303, 7.45), "cosine": (4.762, 4.858)},
    },
}

_letters_once = measured_otherwise(
    RANGES,
    "You probably noted only whether a word contains a letter, and not how often.",
    "The task describes a word by how often it contains each letter, so *letter* has a 2 for "
    "t and a 2 for e. Add 1 for each letter of the word.",
    SLIPS["letters-once"],
    SLIPS["letters-once (lengths too)"],
)

_short_words_too = measured_otherwise(
    RANGES,
    "You probably kept words of one and two letters.",
    "Words such as *a* and *of* are frequent, so they take up many of the 300 places. Leave "
    "them out before you look for the 300 most frequent words.",
    SLIPS["short-words-too"],
)

_filtered_last = measured_otherwise(
    RANGES,
    "You probably took the 300 most frequent words first and left out the short ones afterwards.",
    "You are left with fewer than 300 words, and the rarer and longer ones are missing. Leave "
    "out words of one and two letters before you look for the 300 most frequent ones.",
    SLIPS["filtered-last"],
)

_capitals_cut = measured_otherwise(
    RANGES,
    "You probably looked for the letters a to z without making the text lower case first.",
    "Capitals are then cut off, so that *What* becomes *hat*. Make the text lower case before "
    "you look for its words.",
    SLIPS["capitals-cut"],
)


@mistake(
    "You compared each word with itself, too.",
    lambda e: (
        "By the cosine a word is most like itself, so the chosen words are as long as all "
        f"words, {number(noted(e, 'cosine'))} letters on average. Leave out the diagonal."
    ),
    recognized=lambda e: (
        abs(noted(e, "cosine") - noted(e, "words")) < 0.05
        and lies(RANGES, "words", noted(e, "words"), e)
    ),
)
def _with_itself() -> Numbers:
    return middle(RANGES, cosine=float(middle(RANGES)["words"]))


_exchanged = exchanged(RANGES, "dot", "cosine")
_dot_for_words = exchanged(RANGES, "words", "dot")


TASK = observations.experiment(
    "Which word is most like which?", RANGES, ANGLE, {"words": 1, "dot": 2, "cosine": 1}
)
