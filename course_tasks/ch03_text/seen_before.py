"""What 03/seen-before asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("seen_4", "seen_8", "seen_16")
