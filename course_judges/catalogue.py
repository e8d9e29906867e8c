"""What the judges know of each task: a module of `chNN_name/` that holds a `TASK`."""

from __future__ import annotations

import importlib
from functools import cache

import numpy as np

from course_judges.edits import table
from course_judges.rubric import Task
from course_tasks import catalogue
from course_tasks.errors import UnknownTaskError
from course_tasks.probing import Inputs, both

# There are few sizes to draw from, and two draws of the same sizes would hide what goes wrong with
# others. Where the same sizes are wanted, it takes more tries than there are sizes to choose from.
_TRIES = 8
_TRIES_FOR_THE_SAME = 1000


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
    return _with_variants(name)


@cache
def _with_variants(name: str) -> Task:
    return table.with_variants(as_written(name))


def as_written(name: str) -> Task:
    """The same, without the variants of its answer that some mistakes stand for."""
    _, _, module = catalogue.module_of(name).partition(".")
    return _in_module(f"course_judges.{module}", name)


@cache
def _in_module(module: str, name: str) -> Task:
    try:
        found = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if not f"{module}.".startswith(f"{error.name}."):
            raise
        raise UnknownTaskError(
            f"{name} has no judge, because there is no module {module}"
        ) from error
    known: Task = found.TASK
    return known.with_mistakes(vars(found))


def look_again() -> None:
    """Forget which judges there are, because a chapter's folders have changed."""
    _in_module.cache_clear()
    _with_variants.cache_clear()


def inputs(name: str, rng: np.random.Generator) -> Inputs:
    """Fresh inputs of a task, with what only its judge may see.

    There are two draws of different sizes, if the task's sizes differ at all. Where the probe gives
    a reason, there are two of the same sizes, or only one.

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    probe = catalogue.probe(name)
    draw = as_written(name).inputs or probe.inputs
    first = draw(rng)
    if probe.one_draw:
        return first
    draw = probe.second or draw
    second = draw(rng)
    same = bool(probe.same_sizes)
    for _ in range(_TRIES_FOR_THE_SAME if same else _TRIES):
        if (_sizes(second) == _sizes(first)) is same:
            break
        second = draw(rng)
    return both(first, second)


def _sizes(inputs: Inputs) -> tuple[tuple[int, ...] | int, ...]:
    return tuple(
        int(value) if value.ndim == 0 and value.dtype.kind == "i" else value.shape
        for key, value in inputs.items()
        if "seed" not in key
    )
