"""Judges 08/real-words: how many words are real."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.judging import mistake
from course_judges.observations import (
    Numbers,
    exchanged,
    in_percent,
    lies,
    measured_otherwise,
    middle,
    noted,
)
from course_judges.wording import number

RANGES = {
    "shakespeare": {"cool": (0.472, 0.786), "hot": (0.056, 0.187)},
    "play": {"cool": (0.404, 0.56), "hot": (0.081, 0.171)},
}

SLIPS = {
    "in-the-text": {
        "shakespeare": {"cool": (0.781, 0.868), "hot": (0.219, 0.364)},
        "play": {"cool": (0.509, 0.748), "hot": (0.156, 0.267)},
    },
    "distinct": {
        "shakespeare": {"cool": (0.208, 0.336), "hot": (0.055, 0.131)},
        "play": {"cool": (0.078, 0.168), "hot": (0.055, 0.06)},
    },
}

_in_the_text = measured_otherwise(
    RANGES,
    "You probably asked whether the training text contains the word anywhere.",
    "`word in text` also finds *the* within *other*, so parts of words pass for words. Split "
    "the training text, and ask whether the word is among its words.",
    SLIPS["in-the-text"],
)

_distinct = measured_otherwise(
    RANGES,
    "You probably counted each word only once, however often the model wrote it.",
    "The words that a model writes again and again are mostly real, so they lose most of "
    "their weight in a set. Count every word that was written.",
    SLIPS["distinct"],
)


_percent = in_percent(RANGES, "cool", "hot")
_exchanged = exchanged(RANGES, "cool", "hot")


@mistake(
    "You counted the words that aren't real.",
    lambda e: (
        f"Your `cool` is {number(noted(e, 'cool'))}, so the share of real words is 1 minus "
        f"that, {number(1 - noted(e, 'cool'))}."
    ),
    recognized=lambda e: (
        lies(RANGES, "hot", 1 - noted(e, "hot"), e) and not lies(RANGES, "hot", noted(e, "hot"), e)
    ),
)
def _invented() -> Numbers:
    return {
        name: value if isinstance(value, str) else 1 - value
        for name, value in middle(RANGES).items()
    }


TASK = observations.experiment("How many words are real?", RANGES, CHOICE, {"cool": 2, "hot": 2})
