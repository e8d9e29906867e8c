"""Quotes one number of an answer next to the right one, as a person reads it."""

from __future__ import annotations

from course_judges.equality import close
from course_judges.judging import Evidence
from course_judges.quoting import farthest_index
from course_judges.wording import index, numbers_apart, row
from course_tasks.answers import Array

# A number this small is what rounding leaves of 0.
_NOISE = 1e-12

# Weights are solved for from numbers in single precision: later digits are rounding, too.
_DIGITS_OF_A_WEIGHT = 6


def row_of_weights(weights: Array) -> str:
    """Weights that were read off, without what rounding left of 0: "[0.4, 0.6, 0]"."""
    return row(weights.round(_DIGITS_OF_A_WEIGHT))


def farthest(evidence: Evidence, name: str, result: str = "") -> str:
    """A sentence on the number that is farthest from right: where, yours and the right one; empty
    if there is none. If a task returns several results, it says which one this is.
    """
    mine, right = evidence.yours(name), evidence.right(name)
    if close(mine, right).all():
        return ""
    place = farthest_index(mine, right)
    one, other = (
        "about 0" if 0 < abs(value) < _NOISE else shown
        for value, shown in zip(
            (mine[place], right[place]),
            numbers_apart(float(mine[place]), float(right[place])),
            strict=True,
        )
    )
    which = f" in the {result} you return" if result else ""
    return (
        f"The largest difference{which} is at {index(place)}, where you have {one} instead of "
        f"{other}."
    )
