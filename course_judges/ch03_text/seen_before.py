"""Judges 03/seen-before: how much has been seen before."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch03_text.sections import SPLITS
from course_judges.judging import mistake
from course_judges.observations import Numbers, exchanged, in_percent, lies, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"seen_4": (0.948, 0.968), "seen_8": (0.498, 0.508), "seen_16": (0.014, 0.016)},
    "play": {"seen_4": (0.986, 1.006), "seen_8": (0.831, 0.848), "seen_16": (0.301, 0.307)},
}

_percent = in_percent(RANGES, "seen_4", "seen_8", "seen_16")
_exchanged = exchanged(RANGES, "seen_4", "seen_16")


@mistake(
    "You counted the pieces that are new instead of those seen before.",
    lambda e: (
        f"Your `seen_8` is {number(noted(e, 'seen_8'))}, but the share of pieces that occur in "
        f"training is one minus that, {number(1 - noted(e, 'seen_8'))}."
    ),
    recognized=lambda e: all(
        lies(RANGES, name, 1 - noted(e, name), e) for name in ("seen_4", "seen_16")
    ),
)
def _new_ones() -> Numbers:
    return {
        name: value if isinstance(value, str) else 1 - value
        for name, value in middle(RANGES).items()
    }


TASK = observations.experiment(
    "How much has been seen before?", RANGES, SPLITS, {"seen_4": 1, "seen_8": 2, "seen_16": 1}
)
