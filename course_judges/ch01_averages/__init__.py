"""How the tasks of chapter 01 are judged: weights that sum to 1, on the past, along the right axis.

One module a task. Reference answers and mistakes are written as a student would write them.
"""

from __future__ import annotations

from course_judges.ch01_averages import (
    decay,
    find_fault,
    masked_softmax,
    past_mean,
    running_sum,
    window,
)
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "running-sum": running_sum.TASK,
    "past-mean": past_mean.TASK,
    "window": window.TASK,
    "decay": decay.TASK,
    "masked-softmax": masked_softmax.TASK,
    "find-fault": find_fault.TASK,
}
