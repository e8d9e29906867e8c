"""How the tasks of chapter 04 are judged: right answers, and wrong ones by name.

One module a task; `TASKS` has them in the order of the assignment. `sections` says where a finding
sends its reader, `outcomes` what came back from an answer.
"""

from __future__ import annotations

from course_judges.ch04_bigram import (
    cross_entropy,
    generate,
    nll,
    probabilities,
    sample,
    sgd_step,
)
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "probabilities": probabilities.TASK,
    "nll": nll.TASK,
    "cross-entropy": cross_entropy.TASK,
    "sgd-step": sgd_step.TASK,
    "sample": sample.TASK,
    "generate": generate.TASK,
}
