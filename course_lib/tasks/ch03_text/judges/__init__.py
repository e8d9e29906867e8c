"""How the tasks of chapter 03 are judged: right answers, and the wrong ones that people give.

One module a task. Answers stand there as a student writes them: without annotations, and free to
ignore what they are given.
"""

from course_lib.tasks.ch03_text.judges import (
    batch,
    evaluation,
    sequential,
    split,
    vocabulary,
    windows,
)
from course_lib.tasks.judging import Task

TASKS: dict[str, Task] = {
    "vocabulary": vocabulary.TASK,
    "windows": windows.TASK,
    "split": split.TASK,
    "batch": batch.TASK,
    "sequential": sequential.TASK,
    "evaluation": evaluation.TASK,
}
