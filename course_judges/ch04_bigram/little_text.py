"""Judges 04/little-text: how much text does a table need."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch04_bigram.sections import COUNTING
from course_judges.observations import as_perplexity, exchanged, in_bits, measured_otherwise

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

SLIPS = {
    "part-itself": {
        "shakespeare": {
            "one_percent": (2.463, 2.513),
            "ten_percent": (2.371, 2.419),
            "everything": (2.43, 2.479),
        },
        "play": {
            "one_percent": (2.535, 2.587),
            "ten_percent": (2.4, 2.449),
            "everything": (2.384, 2.432),
        },
    },
    "training-loss": {
        "shakespeare": {
            "one_percent": (2.688, 2.742),
            "ten_percent": (2.555, 2.607),
            "everything": (2.43, 2.479),
        },
        "play": {
            "one_percent": (2.615, 2.668),
            "ten_percent": (2.416, 2.465),
            "everything": (2.384, 2.432),
        },
    },
    "last-part": {
        "shakespeare": {
            "one_percent": (2.586, 2.638),
            "ten_percent": (2.454, 2.503),
            "everything": (2.457, 2.507),
        },
        "play": {
            "one_percent": (2.615, 2.668),
            "ten_percent": (2.414, 2.463),
            "everything": (2.383, 2.431),
        },
    },
}

_part_itself = measured_otherwise(
    RANGES,
    "You probably measured the loss on the same part of the text that you counted.",
    "A table fits the pairs that it was counted on better than new ones, most of all if they "
    "are few. Measure all three losses on the whole validation split.",
    SLIPS["part-itself"],
)

_training_loss = measured_otherwise(
    RANGES,
    "You probably measured the loss on the training split.",
    "A table fits the pairs that it was counted on better than new ones. Measure all three "
    "losses on the whole validation split.",
    SLIPS["training-loss"],
)

_last_part = measured_otherwise(
    RANGES,
    "You probably counted the last part of the training split instead of the first.",
    "The text isn't the same throughout, so another part gives another table. Of N tokens, "
    "the first 1 % are the first N // 100.",
    SLIPS["last-part"],
)


_bits = in_bits(RANGES, "one_percent", "ten_percent", "everything")
_perplexity = as_perplexity(RANGES, "one_percent", "ten_percent", "everything")
_exchanged = exchanged(RANGES, "one_percent", "everything")


TASK = observations.experiment(
    "How much text does a table need?",
    RANGES,
    COUNTING,
    {"one_percent": 2, "ten_percent": 1, "everything": 1},
)
