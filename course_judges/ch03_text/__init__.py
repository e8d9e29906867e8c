"""How the tasks of chapter 03 are judged: right answers, and the wrong ones that people give.

One module a task. Answers stand there as a student writes them: without annotations, and free to
ignore what they are given.
"""

from course_judges.ch03_text import (
    batch,
    evaluation,
    sequential,
    split,
    vocabulary,
    windows,
)
from course_judges.judging import Task

TASKS: dict[str, Task] = {
    "vocabulary": vocabulary.TASK,
    "windows": windows.TASK,
    "split": split.TASK,
    "batch": batch.TASK,
    "sequential": sequential.TASK,
    "evaluation": evaluation.TASK,
}
