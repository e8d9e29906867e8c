"""Tasks whose judges students never see: a folder outside of the course, of the same shape.

    FOLDER/course_tasks/ch05_head/capped_scores.py    what is asked, and examples for students
    FOLDER/course_judges/ch05_head/capped_scores.py   what is right, on the grader's machine alone
    FOLDER/solutions/05-head/05-head.ipynb            their cells, which `course release` puts in

The modules join those of the chapter, here and in every process that is started from here: an
environment variable names the folder. Only what is asked is copied into the sandbox.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from course_grader.course import Course
from course_grader.errors import PrivateTaskError

VARIABLE = "COURSE_PRIVATE_TASKS"
"""Names the folder in the environment; on a worker of a cluster it is set by hand."""

_ASKS, _JUDGES = "course_tasks", "course_judges"


@contextlib.contextmanager
def of(course: Course) -> Iterator[Path | None]:
    """Let a course's private tasks be found in the block; none where it names no folder.

    Yields
    ------
    Path or None
        The folder.

    Raises
    ------
    PrivateTaskError
        If the folder is not there, lies in the course's own, or holds a module that the course has
        already, or one of a chapter that it has not.
    """
    from course_grader.options import CourseGrade

    said = CourseGrade.of(course).private_tasks
    before = os.environ.get(VARIABLE)
    where = _checked(course, course.root / said) if said else None
    if where is None:
        os.environ.pop(VARIABLE, None)
    else:
        os.environ[VARIABLE] = str(where)
    try:
        join_chapters()
        yield where
    finally:
        _leave_chapters(where)
        os.environ.pop(VARIABLE, None)
        if before is not None:
            os.environ[VARIABLE] = before


def folder() -> Path | None:
    """The folder whose tasks can be found now, in this process."""
    said = os.environ.get(VARIABLE)
    return Path(said) if said else None


def probes() -> Iterator[tuple[Path, str]]:
    """Files that ask private tasks' questions, and where they belong beside student code."""
    where = folder()
    for path in sorted(where.glob(f"{_ASKS}/ch*/*.py")) if where else ():
        yield path, path.relative_to(where or path).as_posix()


def join_chapters() -> None:
    """Let the modules of the folder be imported as those of their chapters.

    Raises
    ------
    PrivateTaskError
        If one of them has the name of a module of the course, or its chapter is none.
    """
    where = folder()
    for place, package in _chapters(where) if where else ():
        if str(place) in package.__path__:
            continue
        own = {path.name for each in package.__path__ for path in Path(each).glob("*.py")}
        for path in place.glob("*.py"):
            if path.name in own:
                raise PrivateTaskError(
                    f"{path} has the name of a module of the course: give the private task a name "
                    "of its own"
                )
        package.__path__.append(str(place))
    _look_again()


def _leave_chapters(where: Path | None) -> None:
    for place in where.glob("course_*/ch*/") if where else ():
        package = sys.modules.get(f"{place.parent.name}.{place.name}")
        if package is None or str(place) not in package.__path__:
            continue
        package.__path__.remove(str(place))
        for path in place.glob("*.py"):
            sys.modules.pop(f"{package.__name__}.{path.stem}", None)
            if hasattr(package, path.stem):
                delattr(package, path.stem)
    _look_again()


def _chapters(where: Path) -> Iterator[tuple[Path, ModuleType]]:
    for name in (_ASKS, _JUDGES):
        for place in sorted(where.glob(f"{name}/ch*/")):
            try:
                yield place, importlib.import_module(f"{name}.{place.name}")
            except ModuleNotFoundError as error:
                if error.name != f"{name}.{place.name}":
                    raise
                raise PrivateTaskError(
                    f"{place} is of no chapter of the course: private tasks belong to one that "
                    "there is"
                ) from error
    importlib.invalidate_caches()


def _look_again() -> None:
    for name in (_ASKS, _JUDGES):
        catalogue = sys.modules.get(f"{name}.catalogue")
        if catalogue is not None:
            catalogue.look_again()


def _checked(course: Course, said: Path) -> Path:
    where = said.resolve()
    setting = "c.CourseGrade.private_tasks in nbgrader_config.py"
    if not where.is_dir():
        raise PrivateTaskError(
            f"{setting} names {said}, but there is no such folder: correct the name"
        )
    if where.is_relative_to(course.root.resolve()):
        raise PrivateTaskError(
            f"{setting} names {where}, which lies in the course's own folder and would be "
            "published and shared with it: move it out"
        )
    asked = {path.relative_to(where / _ASKS) for path in where.glob(f"{_ASKS}/ch*/*.py")}
    judged = {path.relative_to(where / _JUDGES) for path in where.glob(f"{_JUDGES}/ch*/*.py")}
    if not asked:
        raise PrivateTaskError(
            f"{setting} names {where}, which holds no task: expected "
            f"{_ASKS}/ch05_head/NAME.py and {_JUDGES}/ch05_head/NAME.py, as in "
            "examples/private_tasks"
        )
    if lonely := sorted(asked - judged):
        raise PrivateTaskError(f"{where / _ASKS / lonely[0]} is asked, and nothing there judges it")
    return where
