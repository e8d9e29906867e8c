"""How the tasks of chapter 06 are judged: right answers, and wrong ones by name.

One module a task; `TASKS` has them in the order of the assignment. `sections` says where a finding
sends its reader, `wording` how numbers of a run are told, `attention` holds the head that tasks
build on, `drops` and `variants` the answers of the last two, `draws` what became of dropped heads.
"""

from __future__ import annotations

from course_judges.ch06_heads import concat, dropout, fused, merge, projection, split
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "concat": concat.TASK,
    "projection": projection.TASK,
    "split": split.TASK,
    "merge": merge.TASK,
    "dropout": dropout.TASK,
    "fused": fused.TASK,
}
