"""Judges 09/letters-of-past: how many letters should a table know."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch09_names.sections import SAME_PAST
from course_judges.observations import as_perplexity, exchanged, in_bits

RANGES = {
    "names": {
        "one": (2.435, 2.484),
        "two": (2.226, 2.271),
        "three": (2.237, 2.282),
        "four": (2.532, 2.583),
    }
}

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
