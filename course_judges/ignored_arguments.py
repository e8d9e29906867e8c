"""An argument that makes no difference to a wrong answer, although it should.

Two calls of a check often differ in one argument only. Where the right results of the two differ
and those of an answer don't, the answer has not used that argument.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from course_judges.equality import same_value
from course_judges.evidence import Evidence
from course_judges.wording import number
from course_tasks.verdict import Finding, Section


def ignored(evidence: Evidence, section: Section) -> Finding | None:
    """The first argument in which two calls differ, and that changes nothing in the answer."""
    for name, other in combinations(evidence.expected.values, 2):
        if name.partition(".")[2] != other.partition(".")[2]:
            continue
        mine = evidence.answers.values.get(name), evidence.answers.values.get(other)
        if mine[0] is None or mine[1] is None or not _telling(mine[0]):
            continue
        right = evidence.expected.values[name], evidence.expected.values[other]
        if same_value(*right) or not same_value(mine[0], mine[1]):
            continue
        given = evidence.given(name), evidence.given(other)
        apart = [one for one in given[0] if not _equal(given[0][one], given[1].get(one))]
        if given[0].keys() != given[1].keys() or len(apart) != 1:
            continue
        values = [_said(side[apart[0]]) for side in given]
        with_values = f" with {values[0]} and with {values[1]}" if all(values) else ""
        return Finding(
            "argument-ignored",
            f"`{apart[0]}` makes no difference to your answer, but it should.",
            f"You return the same{with_values} when everything else is equal. "
            f"{evidence.called_with(name)}",
            section,
        )
    return None


def _telling(value: Any) -> bool:
    """True unless two calls may well return this, whatever they are given."""
    return not isinstance(value, str) and value.size > 1 and bool((value != value.flat[0]).any())


def _equal(one: Any, other: Any) -> bool:
    if hasattr(one, "__array__") or hasattr(other, "__array__"):
        return other is not None and one is not None and np.array_equal(one, other)
    return bool(one == other)


def _said(value: Any) -> str:
    if isinstance(value, bool | int):
        return str(value)
    return number(value) if isinstance(value, float) else ""
