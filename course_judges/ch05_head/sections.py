"""The sections of chapter 05 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("05-head", heading)


ASKS = _section("What a position asks for")
SCORES = _section("Scores")
SCALE = _section("Why the scale is the head size")
FUTURE = _section("Nothing from the future")
PASSED = _section("What is passed on")
MODULE = _section("One head as a module")
PLACE = _section("Where a symbol is")
TWO = _section("Two sequences")
