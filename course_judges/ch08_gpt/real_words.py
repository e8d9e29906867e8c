"""Judges 08/real-words: how many words are real."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.judging import mistake
from course_judges.observations import Numbers, lies, measured, measured_otherwise, middle, noted
from course_judges.wording import number

RANGES, SLIPS = measured(__file__)


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


_symbols_known = measured_otherwise(
    RANGES,
    "You probably compared the words with the symbols of the training text.",
    "A set made of a text holds its symbols, so only words of one letter are in it. Split the text "
    "first: `set(text.split())`.",
    SLIPS["symbols-known"],
)

_untrained = measured_otherwise(
    RANGES,
    "You probably let a model write that was never trained.",
    "It draws symbols at random, which hardly ever make a word. Call `fit` first.",
    SLIPS["untrained"],
)


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
