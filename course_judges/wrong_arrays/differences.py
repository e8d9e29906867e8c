"""What is said of two arrays that differ, and where they differ most."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from course_judges.equality import close
from course_judges.wording import index, numbers_apart
from course_tasks.answers import Array

# Among fewer different numbers a simple relation may hold by chance.
FEW = 3


class Difference(NamedTuple):
    """What was seen: its name, a headline, and an explanation with numbers."""

    name: str
    what: str
    effect: str


Comparison: TypeAlias = Callable[[Array, Array], Difference | None]


def varied(right: Array) -> bool:
    """True if an array has so many different numbers that no simple relation holds by chance."""
    return len(np.unique(np.round(right.astype(float), 6))) >= FEW


def largest(mine: Array, right: Array, begin: str = "") -> str:
    """A sentence on where two arrays differ most, with as many digits as it takes to see it."""
    if mine.shape != right.shape:
        return shapes_apart(mine, right)
    place = farthest_index(mine, right)
    one, other = numbers_apart(float(mine[place]), float(right[place]))
    if not place:
        return f"You have {one} instead of {other}."
    if begin:
        return f"{begin} is at {index(place)}, where you have {one} instead of {other}."
    return f"For example, at {index(place)} you have {one} instead of {other}."


def farthest_index(mine: Array, right: Array) -> tuple[int, ...]:
    """Where two arrays of one shape differ most; NaN is farther off than any number."""
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(np.abs(mine.astype(float) - right.astype(float)), nan=np.inf)
    gap = np.where(close(mine, right), 0, gap)
    return tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))


def shapes_apart(mine: Array, right: Array) -> str:
    """A sentence on two different shapes; empty where they are the same."""
    if mine.shape == right.shape:
        return ""
    return f"Your answer has shape {mine.shape} instead of {right.shape}."
