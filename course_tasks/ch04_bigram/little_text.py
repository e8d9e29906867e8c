"""What 04/little-text asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("one_percent", "ten_percent", "everything")
