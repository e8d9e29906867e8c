"""What 09/letters-of-past asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("one", "two", "three", "four")
