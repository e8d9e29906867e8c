"""The sections of chapter 09 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("09-names", heading)


SPLIT = _section("A split by name")
ROWS = _section("Rows that go on")
CYCLE = _section("One cycle by hand")
CARRIED = _section("Carried and detached")
POSITION = _section("Loss by position")
SAME_PAST = _section("The same past for both")
BOUNDARY = _section("Until the boundary")
