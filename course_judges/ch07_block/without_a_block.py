"""Judges 07/without-a-block: one block less."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch07_block.sections import STREAM
from course_judges.judging import mistake
from course_judges.observations import (
    Numbers,
    as_perplexity,
    exchanged,
    in_bits,
    lies,
    middle,
    noted,
)

RANGES = {
    "shakespeare": {
        "all_four": (2.292, 2.378),
        "without_first": (3.454, 6.267),
        "without_last": (2.33, 2.578),
    },
    "play": {
        "all_four": (2.169, 2.261),
        "without_first": (3.078, 5.639),
        "without_last": (2.18, 2.455),
    },
}

_bits = in_bits(RANGES, "all_four", "without_first", "without_last")
_perplexity = as_perplexity(RANGES, "all_four", "without_first", "without_last")
_exchanged = exchanged(RANGES, "without_first", "without_last")


@mistake(
    "All three of your losses are those of the whole model.",
    "Slicing the list of blocks doesn't change the model, so assign the shorter stack to "
    "`model.blocks` before you evaluate.",
    recognized=lambda e: all(
        lies(RANGES, "all_four", noted(e, name), e)
        for name in ("all_four", "without_first", "without_last")
    ),
)
def _never_cut() -> Numbers:
    full = float(middle(RANGES)["all_four"])
    return middle(RANGES, without_first=full, without_last=full)


TASK = observations.experiment(
    "One block less", RANGES, STREAM, {"all_four": 1, "without_first": 2, "without_last": 1}
)
