"""The sections of chapter 11 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("11-looking-inside", heading)


BUILD = _section("Building the circuit by hand")
FIND = _section("Finding the heads")
CIRCUITS = _section("What a head matches, and what it copies")
LENS = _section("Reading the stream: the logit lens")
ABLATE = _section("Breaking it: three kinds of ablation")
PATCH = _section("Patching one run into another")
PLAY = _section("Which head carries what in the play")
