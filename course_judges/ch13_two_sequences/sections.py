"""The sections of chapter 13 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("13-two-sequences", heading)


BATCH = _section("Two texts in one batch")
POSITIONS = _section("Sinusoidal positions")
ATTENTION = _section("One attention for three places")
MODEL = _section("Encoder and decoder")
LOOKS = _section("Where it looks")
LONGER = _section("Longer than trained")
BEAM = _section("Beam search")
