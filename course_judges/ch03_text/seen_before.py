"""Judges 03/seen-before: how much has been seen before."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch03_text.sections import SPLITS
from course_judges.judging import mistake
from course_judges.observations import (
    Numbers,
    exchanged,
    in_percent,
    lies,
    measured_otherwise,
    middle,
    noted,
)
from course_judges.wording import number

RANGES = {
    "shakespeare": {"seen_4": (0.948, 0.968), "seen_8": (0.498, 0.508), "seen_16": (0.014, 0.016)},
    "play": {"seen_4": (0.986, 1.006), "seen_8": (0.831, 0.848), "seen_16": (0.301, 0.307)},
}

SLIPS = {
    "distinct": {
        "shakespeare": {
            "seen_4": (0.882, 0.9),
            "seen_8": (0.409, 0.417),
            "seen_16": (0.012, 0.014),
        },
        "play": {"seen_4": (0.964, 0.983), "seen_8": (0.722, 0.737), "seen_16": (0.258, 0.264)},
    },
    "every-nth": {
        "shakespeare": {"seen_4": (0.91, 0.929), "seen_8": (0.245, 0.25), "seen_16": (0.0, 0.002)},
        "play": {"seen_4": (0.973, 0.993), "seen_8": (0.579, 0.59), "seen_16": (0.072, 0.074)},
    },
    "splits-exchanged": {
        "shakespeare": {
            "seen_4": (0.824, 0.841),
            "seen_8": (0.195, 0.199),
            "seen_16": (0.001, 0.003),
        },
        "play": {"seen_4": (0.941, 0.96), "seen_8": (0.55, 0.561), "seen_16": (0.105, 0.108)},
    },
    "whole-text": {
        "shakespeare": {"seen_4": (0.99, 1.01), "seen_8": (0.99, 1.01), "seen_16": (0.99, 1.01)},
        "play": {"seen_4": (0.99, 1.01), "seen_8": (0.99, 1.01), "seen_16": (0.99, 1.01)},
    },
}

_distinct = measured_otherwise(
    RANGES,
    "You probably counted each piece of the validation split only once.",
    "Pieces that occur often are the ones that the training split is most likely to have, and "
    "the task counts them each time. Keep the pieces that you ask for in a list instead of a "
    "set.",
    SLIPS["distinct"],
)

_every_nth = measured_otherwise(
    RANGES,
    "You probably cut the training split into pieces that don't overlap.",
    "A piece may begin at any symbol, but yours begin only at every n-th. Let one begin at "
    "each symbol of the training split.",
    SLIPS["every-nth"],
)

_splits_exchanged = measured_otherwise(
    RANGES,
    "You probably looked for pieces of the training split in the validation split.",
    "The validation split is much shorter, so it holds fewer different pieces. Take the "
    "pieces of the validation split, and look for them in the training split.",
    SLIPS["splits-exchanged"],
)

_whole_text = measured_otherwise(
    RANGES,
    "You probably looked for the pieces in a text that includes the validation split.",
    "Every piece occurs there, since that is where you took it from. Look only in `corpus.train`.",
    SLIPS["whole-text"],
)


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
