"""What the judges know of each task: `chNN_name/` of this package, one module a task."""

from __future__ import annotations

import importlib

from course_judges.judging import Task
from course_tasks.catalogue import chapters, split, unknown
from course_tasks.errors import UnknownTaskError


def task(name: str) -> Task:
    """How the answers to a task are judged.

    Parameters
    ----------
    name : str
        Chapter and name, for example "01/window".

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    chapter, short = split(name)
    package = chapters()[chapter].rpartition(".")[2]
    tasks: dict[str, Task] = importlib.import_module(f"course_judges.{package}").TASKS
    if short not in tasks:
        raise UnknownTaskError(unknown(name))
    return tasks[short]
