"""Judges 01/vowels: does a vowel follow a vowel."""

from __future__ import annotations

import math

from course_judges import observations
from course_judges.ch01_averages.sections import LETTERS
from course_judges.judging import mistake
from course_judges.observations import Numbers, exchanged, lies, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"last_1": (0.638, 0.651), "last_4": (0.303, 0.309), "all": (0.235, 0.239)},
    "play": {"last_1": (0.598, 0.61), "last_4": (0.3, 0.306), "all": (0.231, 0.235)},
}


@mistake(
    "You compared each guess with the letter at its own position.",
    "With a memory of one letter, the guess is then the truth itself, so its error is 0. "
    "Compare position t with the letter at t + 1.",
    recognized=lambda e: abs(noted(e, "last_1")) < 1e-6,
)
def _own_letter() -> Numbers:
    return middle(RANGES, last_1=0.0)


@mistake(
    "You took the root of the mean squared error.",
    lambda e: (
        f"The square of your {number(noted(e, 'all'))} is {number(noted(e, 'all') ** 2)}, "
        "which is what runs give, because the task asks for the error before the root."
    ),
    recognized=lambda e: lies(RANGES, "all", noted(e, "all") ** 2, e),
)
def _rooted() -> Numbers:
    return {
        name: value if isinstance(value, str) else math.sqrt(value)
        for name, value in middle(RANGES).items()
    }


_exchanged = exchanged(RANGES, "last_1", "all")


TASK = observations.experiment(
    "Does a vowel follow a vowel?", RANGES, LETTERS, {"last_1": 1, "last_4": 1, "all": 2}
)
