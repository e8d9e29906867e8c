"""What 07/without-a-block asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("all_four", "without_first", "without_last")
