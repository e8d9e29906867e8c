"""How the tasks of chapter 10 are judged: right answers, and wrong ones by name.

One module a task; `TASKS` has them in the order of the assignment. References and mistakes are
written in torch or NumPy and wrapped in `InTorch`, so that judging does not need JAX. `sections`
says where a finding sends its reader, `wording` how numbers of a run are told, `stepping` holds the
training step, `seeds` the draws of a tree.
"""

from __future__ import annotations

from course_judges.ch10_jax import convert, head, heads, keys, mask, step
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "head": head.TASK,
    "heads": heads.TASK,
    "step": step.TASK,
    "keys": keys.TASK,
    "mask": mask.TASK,
    "convert": convert.TASK,
}
