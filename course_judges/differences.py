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
    """What was seen: its name, the sentence of it, and the numbers."""

    name: str
    what: str
    effect: str


Comparison: TypeAlias = Callable[[Array, Array], Difference | None]


def varied(right: Array) -> bool:
    """True if an array has numbers enough that no simple relation holds by chance."""
    return len(np.unique(np.round(right.astype(float), 6))) >= FEW


def largest(mine: Array, right: Array, begin: str = "The largest difference") -> str:
    """Where two arrays of one shape part most, with both numbers, so that they differ as shown."""
    if mine.shape != right.shape:
        return f"Yours has shape {mine.shape}, the right one {right.shape}."
    with np.errstate(invalid="ignore"):
        gap = np.abs(mine.astype(float) - right.astype(float))
    gap[close(mine, right)] = 0
    place = np.unravel_index(int(np.argmax(np.nan_to_num(gap, nan=np.inf))), gap.shape)
    at = f" is at {index(tuple(int(i) for i in place))}" if gap.ndim else " is"
    one, other = numbers_apart(float(mine[place]), float(right[place]))
    return f"{begin}{at}: yours {one}, expected {other}."
