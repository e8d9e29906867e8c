"""Quotes one number of an answer beside the right one, as a person reads it."""

from __future__ import annotations

import numpy as np

from course_judges.equality import close
from course_judges.judging import Evidence
from course_judges.quoting import farthest_index
from course_judges.wording import numbers_apart
from course_tasks.answers import Array


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


def weights_on(values: Array, found: Array) -> Array | None:
    """The weights (n,) with which vectors (n, D) make up what was found (D,); None if they do not,
    or if they may in more than one way.
    """
    values, found = values.astype(float), found.astype(float)
    if len(values) > values.shape[1] or not np.isfinite(found).all():
        return None
    weights: Array = np.linalg.lstsq(values.T, found, rcond=None)[0]
    return weights if np.allclose(weights @ values, found, rtol=1e-3, atol=1e-3) else None
