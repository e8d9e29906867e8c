"""Which parts of a task are earned, which are not, and of which nothing is known.

What a part claims may hold of an answer that does not earn it: its condition compares values, and
these may be wrong for another part's reason, or be missing. Nobody is told then that the claim
fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from course_judges.evidence import ODD_DATA, Evidence
from course_judges.rubric import Part
from course_tasks.answers import Array
from course_tasks.verdict import PartResult


def results(
    parts: Sequence[Part], draws: Sequence[Evidence], earned: Sequence[bool]
) -> tuple[PartResult, ...]:
    """What each part of a task came to.

    Parameters
    ----------
    parts : sequence of Part
    draws : sequence of Evidence
        All that is known of the answer, draw by draw.
    earned : sequence of bool
        For each part, whether it holds in all draws.
    """
    known: set[str] = set()
    made = []
    for part, got in zip(parts, earned, strict=True):
        own: set[str] = set()
        for draw in () if got else draws:
            own |= _wrong_with(part, _repaired(draw, known))
        made.append(PartResult(part.name, part.points, got, looked_at=got or bool(own)))
        known |= own
    return tuple(made)


def _repaired(draw: Evidence, names: set[str]) -> Evidence:
    """The same draw, as if these values were right."""
    right = {name: value for name, value in draw.expected.values.items() if name in names}
    if not right:
        return draw
    return replace(draw, answers=replace(draw.answers, values={**draw.answers.values, **right}))


@dataclass(frozen=True)
class _Read(Evidence):
    """Evidence that keeps the names of the cases and values that a condition asks for."""

    names: set[str] = field(default_factory=set, compare=False)

    def same(self, *cases: str) -> bool:
        self.names.update(cases)
        return super().same(*cases)

    def comparable(self, name: str) -> bool:
        self.names.add(name)
        return super().comparable(name)

    def yours(self, name: str) -> Array:
        self.names.add(name)
        return super().yours(name)

    def shaped(self, name: str, shape: tuple[int, ...]) -> Array:
        self.names.add(name)
        return super().shaped(name, shape)


def _wrong_with(part: Part, draw: Evidence) -> set[str]:
    """What is wrong with a part in a draw, by the names of values; empty if it holds there, or if
    it could not be looked at.
    """
    read = _Read(**{one.name: getattr(draw, one.name) for one in fields(draw)})
    try:
        if part.holds(read):
            return set()
    except ODD_DATA:
        return set()
    right, mine = draw.expected, draw.answers
    cases = {name.split(".")[0] for name in read.names}
    if any(case in mine.errors and case not in right.errors for case in cases):
        return set()
    asked = {
        value
        for value in right.values
        if any(value == name or value.startswith(f"{name}.") for name in read.names)
    }
    if any(
        value not in mine.values or np.shape(mine.values[value]) != np.shape(right.values[value])
        for value in asked
    ):
        return set()
    silent = {case for case in cases if case in right.errors and case not in mine.errors}
    return asked & set(draw.wrong_values) | silent or {part.name}
