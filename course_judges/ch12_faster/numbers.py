"""Quotes one number of an answer beside the right one, as a person reads it."""

from __future__ import annotations

from course_judges.equality import close
from course_judges.judging import Evidence
from course_judges.quoting import farthest_index
from course_judges.wording import numbers_apart


def farthest(evidence: Evidence, value: str, result: str = "") -> str:
    """A sentence on the entry that is farthest from right: where, yours, expected; empty where all
    are right. Where a task returns several results, it says which one this is.
    """
    mine, right = evidence.yours(value), evidence.right(value)
    if close(mine, right).all():
        return ""
    index = farthest_index(mine, right)
    where = f" at index {index[0] if len(index) == 1 else index}" if index else ""
    one, other = numbers_apart(float(mine[index]), float(right[index]))
    which = f" in the {result} you return" if result else ""
    return f"Farthest off{which}{where}: yours {one}, expected {other}."
