"""How the tasks of chapter 09 are judged: right answers, and wrong ones by name.

One module a task; `TASKS` has them in the order of the assignment. Answers stand there as a student
writes them: without annotations, and free to ignore what they are given.
"""

from course_judges.ch09_names import (
    by_letter,
    carried,
    last,
    one_cycle,
    spell,
    split,
    stream,
)
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "split": split.TASK,
    "stream": stream.TASK,
    "carried": carried.TASK,
    "last": last.TASK,
    "by-letter": by_letter.TASK,
    "one-cycle": one_cycle.TASK,
    "spell": spell.TASK,
}
