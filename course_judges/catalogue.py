"""What the judges know of each task: `chNN_name/` of this package, one module a task."""

from __future__ import annotations

import importlib

import numpy as np

from course_judges.judging import Task
from course_tasks import catalogue
from course_tasks.errors import UnknownTaskError
from course_tasks.probing import Inputs


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
    chapter, short = catalogue.split(name)
    package = catalogue.chapters()[chapter].rpartition(".")[2]
    tasks: dict[str, Task] = importlib.import_module(f"course_judges.{package}").TASKS
    if short not in tasks:
        raise UnknownTaskError(catalogue.unknown(name))
    return tasks[short]


def inputs(name: str, rng: np.random.Generator) -> Inputs:
    """Fresh inputs of a task, with what only its judge may see.

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    draw = task(name).inputs or catalogue.probe(name).inputs
    return draw(rng)
