"""Quotes losses of an answer beside the right ones, as a person reads them."""

from __future__ import annotations

from course_judges.wording import row
from course_tasks.answers import Array


def losses_apart(mine: Array, right: Array) -> tuple[str, str]:
    """Two rows of losses with as many digits as it takes that every wrong one is seen to be so."""
    off = [not abs(one - other) < 1e-4 * other for one, other in zip(mine, right, strict=True)]
    for digits in range(2, 17):
        shown = row(mine, digits), row(right, digits)
        pairs = zip(*(side[1:-1].split(", ") for side in shown), strict=True)
        if all(one != other for wrong, (one, other) in zip(off, pairs, strict=True) if wrong):
            break
    return shown
