"""Quotes one number of an answer beside the right one."""

from __future__ import annotations

import numpy as np

from course_judges.equality import close
from course_judges.evidence import Evidence
from course_judges.wording import index as place
from course_judges.wording import numbers_apart
from course_tasks.answers import Array


def farthest(evidence: Evidence, value: str) -> str:
    """A sentence on the entry that is farthest from right: where, yours, expected; empty where all
    are right.
    """
    mine, right = evidence.yours(value), evidence.right(value)
    if close(mine, right).all():
        return ""
    index = farthest_index(mine, right)
    where = f" at index {place(index)}" if index else ""
    one, other = numbers_apart(float(mine[index]), float(right[index]))
    return f"Farthest off{where}: yours {one}, expected {other}."


def farthest_index(mine: Array, right: Array) -> tuple[int, ...]:
    """Where two arrays of one shape part most; NaN is farther than any number."""
    gap = np.nan_to_num(np.abs(mine.astype(float) - right.astype(float)), nan=np.inf)
    return tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))


def ratio(evidence: Evidence, value: str) -> float:
    """How many times as large as the right values yours are, root mean square."""
    mine, right = evidence.yours(value), evidence.right(value)
    return float(np.sqrt((mine.astype(float) ** 2).mean() / (right.astype(float) ** 2).mean()))
