"""What 01/vowels asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("last_1", "last_4", "all")
