"""What 10/traces asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("as_they_are", "padded", "waste")
