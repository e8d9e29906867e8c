"""Judges 01/vowels: does a vowel follow a vowel."""

from __future__ import annotations

import math
from dataclasses import replace

from course_judges import observations
from course_judges.ch01_averages.sections import LETTERS
from course_judges.judging import mistake
from course_judges.observations import Numbers, lies, measured, measured_otherwise, middle, noted
from course_judges.right_numbers import told_by_the_right_ones
from course_judges.wording import number

RANGES, SLIPS = measured(__file__)


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


_y_a_vowel = measured_otherwise(
    RANGES,
    "You probably counted y as a vowel.",
    "The five vowels are a, e, i, o and u.",
    SLIPS["y-a-vowel"],
)

_spaces_kept = measured_otherwise(
    RANGES,
    "You probably kept the spaces.",
    "Spaces count as 0 then, which makes 0 easier to guess. Keep only the letters of the text, "
    "and then take the first 4,000 of them.",
    SLIPS["spaces-kept"],
)

_absolute_errors = measured_otherwise(
    RANGES,
    "You probably took absolute errors instead of squared ones.",
    "With one letter, each error is 0 or 1, which is its own square, so `last_1` doesn't show it. "
    "The error is the mean of (guess − truth)².",
    SLIPS["absolute-errors"],
)

_signed_errors = measured_otherwise(
    RANGES,
    "You probably didn't square the differences.",
    "Guesses that are too high and too low then cancel. The error is the mean of (guess − truth)².",
    SLIPS["signed-errors"],
)

_errors_added_up = measured_otherwise(
    RANGES,
    "You probably added up the squared errors instead of taking their mean.",
    "Divide by the number of guesses, which is 3,999, or use `mean()`.",
    SLIPS["errors-added-up"],
)

_one_letter_more = measured_otherwise(
    RANGES,
    "You probably made the memories longer by one letter.",
    "A memory of one letter holds letter t alone. In a triangle, `diagonal=1 - width` keeps "
    "`width` diagonals.",
    SLIPS["one-letter-more"],
)

_looks_ahead = measured_otherwise(
    RANGES,
    "Your memory of four letters probably already knows the letter that it guesses.",
    "This happens if the window reaches beyond t, or if you compare with letter t − 1, which lies "
    "in the window, instead of t + 1. `last_1` doesn't show it, because two neighbors differ as "
    "often in one direction as in the other. Compare `guess[:-1]` with `vowels[1:]`, and let the "
    "window of position t end with t.",
    SLIPS["looks-ahead"],
    SLIPS["looks-ahead (window around)"],
)

_rows_not_divided = measured_otherwise(
    RANGES,
    "You probably added up the vowels of the memory instead of taking their share.",
    "A guess is a share, so it lies between 0 and 1. Divide each row of weights by its sum.",
    SLIPS["rows-not-divided"],
)

_columns_divided = measured_otherwise(
    RANGES,
    "You probably divided the weights by the sums of their columns instead of their rows.",
    "Row t makes the guess of position t, so each row has to sum to 1: `sum(dim=1, keepdim=True)`.",
    SLIPS["columns-divided"],
)

_weights_turned = measured_otherwise(
    RANGES,
    "You probably multiplied by the weights from the wrong side.",
    "Row t of the weights makes the guess of position t, so it's `weights @ vowels`. With "
    "`vowels @ weights` each position collects what later ones give to it.",
    SLIPS["weights-turned"],
)

_guesses_rounded = measured_otherwise(
    RANGES,
    "You probably rounded the guesses to 0 or 1.",
    "A guess is a share of vowels, such as 0.25, and the error is taken from it as it is.",
    SLIPS["guesses-rounded"],
    SLIPS["guesses-rounded (half is 1)"],
)

_from_the_start = measured_otherwise(
    RANGES,
    "You probably averaged the first letters of the text instead of the last ones up to t.",
    "The window moves along with t: position t sees the letters t − width + 1 … t.",
    SLIPS["from-the-start"],
)

_weights_fall = measured_otherwise(
    RANGES,
    "You probably gave the newest letters of a memory more weight than the older ones.",
    "All letters of a memory count the same: the guess is the share of vowels among them.",
    SLIPS["weights-fall"],
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


# What the numbers that are right say about those that are not.
_RIGHT_ONES = {
    (
        "last_1",
    ): "So your letters and vowels are right, and so is what you compare each guess with. "
    "With one letter, an error is 0 or 1. Longer memories need the share of vowels among the "
    "letters that they hold, and the square of guess − truth.",
    ("last_1", "last_4"): "So letters, truths and errors are right. What is left is the memory of "
    "all letters: position t averages letters 0 … t, and divides by t + 1.",
    ("last_1", "all"): "So letters, truths and errors are right. What is left is the memory of "
    "four letters: position t averages letters t − 3 … t, or as many as there are.",
    ("all",): "So your share of vowels is right, as the memory of all letters hardly depends on "
    "where it ends. The short ones do: the memory of position t ends with letter t itself, holds "
    "one letter or four, and guesses letter t + 1.",
    ("last_4", "all"): "So letters, truths and errors are right. What is left is the memory of "
    "one letter: position t guesses what letter t is itself.",
    (): "So what all three share may be wrong: which letters you take (the first 4,000 letters, "
    "without spaces and punctuation), what a vowel is (a, e, i, o and u, capitals as well), or the "
    "error (the mean of the squared differences between guess t and letter t + 1).",
}

_NEARLY = (
    "That is close, so you probably do the right thing with other letters. Leave out spaces and "
    "punctuation first, and then take the first 4,000 letters of the text. The vowels are a, e, i, "
    "o and u, capitals as well."
)

_EXPERIMENT = observations.experiment(
    "Does a vowel follow a vowel?", RANGES, LETTERS, {"last_1": 1, "last_4": 1, "all": 2}
)
TASK = replace(
    _EXPERIMENT,
    properties=(
        # First, since `last_1` minus `last_4` is nearly `last_4`.
        told_by_the_right_ones(RANGES, {}, LETTERS, _NEARLY),
        *_EXPERIMENT.properties[:-1],
        told_by_the_right_ones(RANGES, _RIGHT_ONES, LETTERS),
        _EXPERIMENT.properties[-1],
    ),
)
