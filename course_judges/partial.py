"""Mistakes that an answer makes only at some places, such as the rows without a successor.

An answer that is right at the other places equals no wrong answer as a whole. But where it is
wrong, it may hold what a named mistake gives there, or what would be right with another argument.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_judges.equality import close
from course_judges.evidence import Evidence
from course_tasks.answers import Answers

# Fewer different numbers may agree by chance.
_FEW = 3


def explained(evidence: Evidence, wrong: Answers, cases: Sequence[str]) -> bool:
    """True if every number that is wrong in these cases is the one that `wrong` has there, and
    there are enough of them to say so.

    Parameters
    ----------
    evidence : Evidence
        One draw.
    wrong : Answers
        What a mistake gives for the same inputs.
    cases : sequence of str
        In which the two are compared.
    """
    agreed: list[float] = []
    for name, right in evidence.expected.values.items():
        if name.split(".")[0] not in cases:
            continue
        mine, other = evidence.answers.values.get(name), wrong.values.get(name)
        if isinstance(right, str) or isinstance(mine, str) or isinstance(other, str):
            return False
        if mine is None or other is None or not mine.shape == other.shape == right.shape:
            return False
        off = ~close(mine, right)
        if not close(mine[off], other[off]).all():
            return False
        agreed += np.asarray(mine[off], dtype=float).tolist()
    return len(np.unique(np.round(agreed, 6))) >= _FEW


def share_wrong(evidence: Evidence, cases: Sequence[str]) -> str:
    """How many numbers are wrong in these cases, in words: "12 of 40 numbers"."""
    off = of = 0
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if name.split(".")[0] in cases and not isinstance(mine, str) and mine is not None:
            off += int((~close(mine, np.asarray(right))).sum())
            of += int(np.asarray(right).size)
    return f"{off} of {of} numbers"
