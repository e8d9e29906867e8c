"""How the tasks of chapter 05 are judged: right answers, and wrong ones by name.

One module a task; `TASKS` has them in the order of the assignment. `sections` says where a finding
sends its reader.
"""

from __future__ import annotations

from course_judges.ch05_head import cross, distance, head, positions, scores, weights
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "scores": scores.TASK,
    "weights": weights.TASK,
    "head": head.TASK,
    "positions": positions.TASK,
    "distance": distance.TASK,
    "cross": cross.TASK,
}
