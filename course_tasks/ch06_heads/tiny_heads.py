"""What 06/tiny-heads asks: the numbers of an experiment."""

from __future__ import annotations

from course_tasks.observing import observation

PROBE = observation("heads_1", "heads_32")
