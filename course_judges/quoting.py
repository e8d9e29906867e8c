"""Quotes one number of an answer beside the right one."""

from __future__ import annotations

import numpy as np

from course_judges.equality import close
from course_judges.evidence import Evidence
from course_judges.wrong_arrays.differences import farthest_index, largest

__all__ = ["farthest", "farthest_index", "ratio"]


def farthest(evidence: Evidence, value: str) -> str:
    """A sentence on the entry that is farthest off; empty where all are right."""
    mine, right = evidence.yours(value), evidence.right(value)
    return "" if close(mine, right).all() else largest(mine, right)


def ratio(evidence: Evidence, value: str) -> float:
    """How many times as large as the right values yours are, root mean square."""
    mine, right = evidence.yours(value), evidence.right(value)
    return float(np.sqrt((mine.astype(float) ** 2).mean() / (right.astype(float) ** 2).mean()))
