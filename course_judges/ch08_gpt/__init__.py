"""How the tasks of chapter 08 are judged: right answers, and wrong ones by name.

One module a task; `TASKS` has them in the order of the assignment. `sections` says where a finding
sends its reader.
"""

from __future__ import annotations

from course_judges.ch08_gpt import (
    config,
    generate,
    initialise,
    schedule,
    top_k,
    top_p,
    train,
)
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "config": config.TASK,
    "initialise": initialise.TASK,
    "schedule": schedule.TASK,
    "top-k": top_k.TASK,
    "top-p": top_p.TASK,
    "generate": generate.TASK,
    "train": train.TASK,
}
