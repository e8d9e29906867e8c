"""How the tasks of chapter 02 are judged: affinities, what a softmax makes of them, and how wide a
row looks.

One module a task. Reference answers and mistakes are written as a student would write them.
"""

from __future__ import annotations

from course_judges.ch02_affinities import (
    cosine,
    evenness,
    find_fault,
    safe_softmax,
    smoother,
    variance,
)
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "cosine": cosine.TASK,
    "safe-softmax": safe_softmax.TASK,
    "variance": variance.TASK,
    "evenness": evenness.TASK,
    "smoother": smoother.TASK,
    "find-fault": find_fault.TASK,
}
