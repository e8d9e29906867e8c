"""What 02/find-fault asks."""

from __future__ import annotations

from course_tasks.inputs import on
from course_tasks.probing import Probe, drawn_by_the_judge

SUSPECTS = ("one", "two", "three", "four", "five", "six", "seven")


PROBE = Probe(drawn_by_the_judge, {name: on("x", name) for name in SUSPECTS})
