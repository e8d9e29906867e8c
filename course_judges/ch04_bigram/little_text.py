"""Judges 04/little-text: how much text does a table need."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch04_bigram.sections import COUNTING
from course_judges.observations import as_perplexity, exchanged, in_bits

RANGES = {
    "shakespeare": {
        "one_percent": (2.718, 2.773),
        "ten_percent": (2.593, 2.645),
        "everything": (2.457, 2.507),
    },
    "play": {
        "one_percent": (2.614, 2.667),
        "ten_percent": (2.414, 2.463),
        "everything": (2.383, 2.431),
    },
}

_bits = in_bits(RANGES, "one_percent", "ten_percent", "everything")
_perplexity = as_perplexity(RANGES, "one_percent", "ten_percent", "everything")
_exchanged = exchanged(RANGES, "one_percent", "everything")


TASK = observations.experiment(
    "How much text does a table need?",
    RANGES,
    COUNTING,
    {"one_percent": 2, "ten_percent": 1, "everything": 1},
)
