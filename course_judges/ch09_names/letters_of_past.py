"""Judges 09/letters-of-past: how many letters should a table know."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch09_names.sections import SAME_PAST
from course_judges.observations import as_perplexity, exchanged, in_bits, measured_otherwise

RANGES = {
    "names": {
        "one": (2.435, 2.484),
        "two": (2.226, 2.271),
        "three": (2.237, 2.282),
        "four": (2.532, 2.583),
    }
}

SLIPS = {
    "measured-where-counted": {
        "names": {
            "one": (2.43, 2.479),
            "two": (2.191, 2.235),
            "three": (2.09, 2.132),
            "four": (2.211, 2.256),
        }
    },
    "measured-where-counted (whole text)": {
        "names": {
            "one": (2.432, 2.481),
            "two": (2.193, 2.237),
            "three": (2.094, 2.136),
            "four": (2.205, 2.249),
        }
    },
    "validation-counted": {
        "names": {
            "one": (2.43, 2.479),
            "two": (2.237, 2.282),
            "three": (2.303, 2.35),
            "four": (2.456, 2.506),
        }
    },
    "next-among-n": {
        "names": {
            "one": (2.799, 2.855),
            "two": (2.435, 2.484),
            "three": (2.226, 2.271),
            "four": (2.237, 2.282),
        }
    },
}

_measured_where_counted = measured_otherwise(
    RANGES,
    "You probably measured the loss on text that you also counted.",
    "The longer the context, the better a table fits the text that it was counted on, and "
    "that says little about new text. Count in `corpus.train` only, and measure on "
    "`corpus.validation`.",
    SLIPS["measured-where-counted"],
    SLIPS["measured-where-counted (whole text)"],
)

_validation_counted = measured_otherwise(
    RANGES,
    "You probably counted in the validation split, and measured the loss there as well.",
    "The validation split is short, so it fills a large table badly, and its text isn't new "
    "to your tables. Count in `corpus.train`, and measure on `corpus.validation`.",
    SLIPS["validation-counted"],
)

_next_among_n = measured_otherwise(
    RANGES,
    "You probably counted the next letter as one of the n letters.",
    "Your table `two`, for example, knows only one letter of the past. A context has n "
    "letters and the next one comes after it, so you count n + 1 neighbors at a time.",
    SLIPS["next-among-n"],
)


_bits = in_bits(RANGES, "one", "two", "three", "four")
_perplexity = as_perplexity(RANGES, "one", "two", "three", "four")
_exchanged = exchanged(RANGES, "one", "two")
_last_exchanged = exchanged(RANGES, "three", "four")


TASK = observations.experiment(
    "How many letters should a table know?",
    RANGES,
    SAME_PAST,
    {"one": 1, "two": 1, "three": 1, "four": 1},
)
