"""What 02/alike asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("words", "dot", "cosine")
