"""What 11/copying asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("one", "three", "found")
