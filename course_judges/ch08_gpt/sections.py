"""The sections of chapter 08 that a finding can recommend."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("08-gpt", heading)


SETTINGS = _section("Checking the settings")
START = _section("Where it starts")
RATE = _section("A rate that rises and falls")
PAST = _section("The training loop")
CHOICE = _section("Choosing the next symbol")
WRITING = _section("Writing to the end")
