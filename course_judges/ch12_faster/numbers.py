"""Quotes one number of an answer beside the right one."""

from __future__ import annotations

import numpy as np

from course_judges.judging import Evidence
from course_judges.wording import number


def farthest(evidence: Evidence, value: str) -> str:
    """A sentence on the entry that is farthest from right: where, yours, expected."""
    mine, right = evidence.yours(value), evidence.right(value)
    gap = np.nan_to_num(np.abs(mine.astype(float) - right.astype(float)), nan=np.inf)
    index = tuple(int(i) for i in np.unravel_index(int(gap.argmax()), gap.shape))
    where = f" at index {index[0] if len(index) == 1 else index}" if index else ""
    return f"Farthest off{where}: yours {number(mine[index])}, expected {number(right[index])}."
