"""What 02/find-fault asks."""

from __future__ import annotations

from course_tasks.inputs import on
from course_tasks.probing import Probe, drawn_by_the_judge

SUSPECTS = ("one", "two", "three", "four", "five", "six", "seven")
# The same seven of two vectors, the fewest for which all faults differ.
OF_TWO = tuple(f"{name}_of_two" for name in SUSPECTS)


PROBE = Probe(
    drawn_by_the_judge,
    {name: on("x", name) for name in SUSPECTS} | {name: on("x_of_two", name) for name in OF_TWO},
)
