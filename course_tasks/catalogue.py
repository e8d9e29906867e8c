"""Which tasks there are: each module of a `chNN_name/` that holds a `PROBE` is one.

A project belongs to no chapter: its folder is `project_name/`, and its tasks are `name/task`.

There is no list of them. A task is named after its module, with `-` instead of `_`, and modules
without a `PROBE` hold what several tasks of the chapter share.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.util
import pkgutil
from functools import cache
from typing import TYPE_CHECKING

from course_tasks.errors import UnknownTaskError

if TYPE_CHECKING:  # it needs NumPy, and whoever builds the book asks for names alone
    from course_tasks.probing import Probe

_PROJECT = "project_"


def probe(task: str) -> Probe:
    """The questions of a task.

    Parameters
    ----------
    task : str
        Chapter and name, for example "01/window".

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    found: Probe = importlib.import_module(module_of(task)).PROBE
    return found


def module_of(task: str) -> str:
    """The module that asks a task: "course_tasks.ch02_affinities.safe_softmax" of
    "02/safe-softmax".

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    chapter, name = split(task)
    package = chapters()[chapter]
    module = f"{package}.{name.replace('-', '_')}"
    if "_" in name or module not in _modules(package) or not _asks(module):
        raise UnknownTaskError(unknown(task))
    return module


def missing(task: str) -> tuple[str, ...]:
    """Packages that answers to a task are written with, but that are not installed here.

    Most chapters need none beyond the course's own; a chapter that does names them in `REQUIRES`.

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    return _lacking(split(task)[0])


def lacking() -> dict[str, tuple[str, ...]]:
    """Chapters whose answers cannot be written or graded here, and the packages that they lack.

    This runs no code of those packages, and imports neither probes nor judges. A grader asks it
    once, before the first submission.
    """
    found = {chapter: _lacking(chapter) for chapter in sorted(chapters())}
    return {chapter: names for chapter, names in found.items() if names}


def _lacking(chapter: str) -> tuple[str, ...]:
    return tuple(name for name in _required(chapter) if not _installed(name))


def _required(chapter: str) -> tuple[str, ...]:
    package = importlib.import_module(chapters()[chapter])
    required: tuple[str, ...] = getattr(package, "REQUIRES", ())
    return required


def _installed(package: str) -> bool:
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # It was imported already, but not by a finder.
        return True


def names() -> tuple[str, ...]:
    """All tasks, by chapter and name; the order of an assignment is that of its notebook."""
    return tuple(
        f"{chapter}/{module.rpartition('.')[2].replace('_', '-')}"
        for chapter, package in sorted(chapters().items())
        for module in _modules(package)
        if _asks(module)
    )


@cache
def _modules(package: str) -> tuple[str, ...]:
    path = importlib.import_module(package).__path__
    return tuple(module.name for module in pkgutil.iter_modules(path, f"{package}."))


def _asks(module: str) -> bool:
    from course_tasks.probing import Probe

    return isinstance(getattr(importlib.import_module(module), "PROBE", None), Probe)


def look_again() -> None:
    """Forget which modules there are, because a chapter's folders have changed."""
    _modules.cache_clear()


def requires(task: str) -> tuple[str, ...]:
    """Packages beyond the course's own that answers to a task are written with.

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    return _required(split(task)[0])


@cache
def chapters() -> dict[str, str]:
    """Chapter number to package: "01" to "course_tasks.ch01_averages"; and projects by their names:
    "my-gpt" to "course_tasks.project_my_gpt".
    """
    package = importlib.import_module("course_tasks")
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        if module.ispkg and module.name.startswith("ch") and module.name[2:4].isdigit():
            found[module.name[2:4]] = f"course_tasks.{module.name}"
        elif module.ispkg and module.name.startswith(_PROJECT):
            name = module.name.removeprefix(_PROJECT).replace("_", "-")
            found[name] = f"course_tasks.{module.name}"
    return found


def chapter_of(assignment: str) -> str:
    """What the tasks of an assignment begin with: "05" of "05-head", "my-gpt" of "my-gpt"."""
    return assignment if assignment in chapters() else assignment[:2]


def is_project(chapter: str) -> bool:
    """Whether what `chapters` names is a project, such as "my-gpt", and no chapter."""
    return chapters()[chapter].startswith(f"course_tasks.{_PROJECT}")


def split(task: str) -> tuple[str, str]:
    """Chapter and short name of a task: "05" and "scores" of "05/scores".

    Raises
    ------
    UnknownTaskError
        Names the nearest task there is.
    """
    chapter, slash, name = str(task).partition("/")
    if not slash or chapter not in chapters():
        raise UnknownTaskError(unknown(task))
    return chapter, name


def unknown(task: str) -> str:
    """Words that say that there is no such task, and which one has the most similar name."""
    near = difflib.get_close_matches(str(task), names(), n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names())}"
    return f"there is no task {task!r}{hint}"
