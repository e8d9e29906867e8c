"""Judges 01/vowels: does a vowel follow a vowel."""

from __future__ import annotations

import math

from course_judges import observations
from course_judges.ch01_averages.sections import LETTERS
from course_judges.judging import mistake
from course_judges.observations import Numbers, exchanged, lies, measured_otherwise, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"last_1": (0.638, 0.651), "last_4": (0.303, 0.309), "all": (0.235, 0.239)},
    "play": {"last_1": (0.598, 0.61), "last_4": (0.3, 0.306), "all": (0.231, 0.235)},
}

SLIPS = {
    "small-vowels": {
        "shakespeare": {"last_1": (0.613, 0.626), "last_4": (0.296, 0.302), "all": (0.23, 0.235)},
        "play": {"last_1": (0.548, 0.559), "last_4": (0.281, 0.287), "all": (0.221, 0.225)},
    },
    "all-symbols": {
        "shakespeare": {"last_1": (0.514, 0.525), "last_4": (0.273, 0.279), "all": (0.207, 0.211)},
        "play": {"last_1": (0.482, 0.492), "last_4": (0.262, 0.267), "all": (0.201, 0.205)},
    },
    "without-its-letter": {
        "shakespeare": {"last_1": (0.477, 0.487), "last_4": (0.263, 0.268), "all": (0.234, 0.239)},
        "play": {"last_1": (0.504, 0.514), "last_4": (0.268, 0.273), "all": (0.231, 0.235)},
    },
    "divided-by-width": {
        "shakespeare": {"last_1": (0.638, 0.651), "last_4": (0.303, 0.309), "all": (0.283, 0.289)},
        "play": {"last_1": (0.598, 0.61), "last_4": (0.3, 0.306), "all": (0.274, 0.279)},
    },
}

_small_vowels = measured_otherwise(
    RANGES,
    "You probably counted capital vowels as consonants.",
    "A capital A is a vowel, too, so look for capitals as well, or make the letters lower "
    "case first.",
    SLIPS["small-vowels"],
)

_all_symbols = measured_otherwise(
    RANGES,
    "You probably kept spaces and punctuation.",
    "Spaces and punctuation count as 0 then, which makes 0 easier to guess. Keep only the "
    "letters of the text, and then take the first 4,000 of them.",
    SLIPS["all-symbols"],
)

_without_its_letter = measured_otherwise(
    RANGES,
    "You probably left out one letter between the memory and the letter that it guesses.",
    "The memory of position t ends with letter t itself, and the truth is letter t + 1. Look "
    "again at where your two slices begin and end.",
    SLIPS["without-its-letter"],
)

_divided_by_width = measured_otherwise(
    RANGES,
    "You probably divided by `width` even where there are fewer letters.",
    "At position t there are only t + 1 letters so far, so the memory of all letters has to "
    "divide its sum by t + 1. Divided by 4,000, its guesses are far too small at first.",
    SLIPS["divided-by-width"],
)


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
