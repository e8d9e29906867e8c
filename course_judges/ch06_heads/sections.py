"""The sections of chapter 06 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("06-heads", heading)


AVERAGE = _section("One average is not enough")
SUBSPACES = _section("Subspaces")
LIST = _section("Heads in a list")
PROJECTION = _section("The output projection")
DROPOUT = _section("Dropout on weights")
STACK = _section("One projection for all heads")
VIEW = _section("What view alone does")
SAME = _section("The same numbers")
LEAK = _section("A loss too good to be true")
LOOK = _section("What heads look at")
