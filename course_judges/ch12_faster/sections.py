"""The sections of chapter 12 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("12-faster", heading)


COST = _section("What generation costs")
ROW = _section("The last row of the triangle")
GROUPS = _section("Fewer keys than queries")
STREAM = _section("A softmax that never sees the whole row")
SLIDE = _section("Positions that can slide")
DRAFTS = _section("Drafts")
BITS = _section("Weights in 8 bits")
