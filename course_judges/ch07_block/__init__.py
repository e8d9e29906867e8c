"""How the tasks of chapter 07 are judged: right answers, and wrong ones by name.

One module a task; `TASKS` has them in the order of the assignment. `sections` says where a finding
sends its reader, `numbers` quotes what is off in an answer.
"""

from __future__ import annotations

from course_judges.ch07_block import (
    feed_forward,
    find_fault,
    layer_norm,
    parameter_count,
    pre_norm_block,
    residual,
)
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "layer-norm": layer_norm.TASK,
    "feed-forward": feed_forward.TASK,
    "residual": residual.TASK,
    "pre-norm-block": pre_norm_block.TASK,
    "parameter-count": parameter_count.TASK,
    "find-fault": find_fault.TASK,
}
