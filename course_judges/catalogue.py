"""What the judges know of each task: a module of `chNN_name/` that holds a `TASK`."""

from __future__ import annotations

import importlib
from functools import cache

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
        Names the nearest task there is, or the module that should judge this one.
    """
    _, _, module = catalogue.module_of(name).partition(".")
    return _in_module(f"course_judges.{module}", name)


@cache
def _in_module(module: str, name: str) -> Task:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise UnknownTaskError(f"nothing judges {name}: there is no module {module}") from error
    known: Task = found.TASK
    return known.with_mistakes(vars(found))


def look_again() -> None:
    """Forget which judges there are: a chapter's folders are others now."""
    _in_module.cache_clear()


def inputs(name: str, rng: np.random.Generator) -> Inputs:
    """Fresh inputs of a task, with what only its judge may see.

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    draw = task(name).inputs or catalogue.probe(name).inputs
    return draw(rng)
