"""From solutions to exercises: nbgrader's own conversion, between two inspections.

What goes in is inspected, so that no task is released that cannot be graded; what comes out is
inspected, so that no solution leaves with it. The exercises are files of the course: made here,
never edited by hand, the same bytes for the same solutions.
"""

from __future__ import annotations

import copy
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grader import private_notebook, private_tasks
from course_grader.assignment import read
from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.errors import FaultyAssignmentError
from course_grader.release_inspection import faults, leaks

if TYPE_CHECKING:
    from nbformat import NotebookNode

# What surrounds an assignment and is no part of it, beside nbgrader's own list.
_IGNORED = (".*", "__pycache__", "*.pyc")


@dataclass(frozen=True)
class Difference:
    """A file of the exercises that is not what release makes.

    Attributes
    ----------
    path : Path
        In the exercises.
    what : str
        "missing", "differs" or "has no solution".
    """

    path: Path
    what: str


def release(
    course: Course, assignment: str, *, gradebook: bool = False, url: str | None = None
) -> list[Path]:
    """Make the exercises of an assignment from its solution.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name, for example "01-averages".
    gradebook : bool
        Also enter the assignment into the gradebook, as `nbgrader generate_assignment` does;
        grading needs that once a class.
    url : str, optional
        Of the gradebook's database; what `nbgrader_config.py` says by default.

    Returns
    -------
    list of Path
        The files that changed; the others were already what they should be.

    Raises
    ------
    FaultyAssignmentError
        If the solution cannot be graded, or would give itself away; names every fault. Nothing is
        written then.
    UnreadableNotebookError
        If the solution is no notebook.
    """
    with private_tasks.of(course):
        files = _released(course, assignment)
        if gradebook:
            _enter_into_gradebook(course, assignment, url)
    folder = course.exercises / assignment
    changed = []
    for path, content in files.items():
        if not path.is_file() or path.read_bytes() != content:
            write_atomically(path, content)
            changed.append(path)
    for stale in set(_files(folder)) - set(files):
        stale.unlink()
        changed.append(stale)
    return sorted(changed)


def differences(course: Course, assignment: str) -> list[Difference]:
    """Where the exercises of an assignment are not what release would make; writes nothing.

    Raises
    ------
    FaultyAssignmentError, UnreadableNotebookError
        As `release`.
    """
    with private_tasks.of(course):
        files = _released(course, assignment)
    found = [
        Difference(path, "differs" if path.is_file() else "missing")
        for path, content in files.items()
        if not path.is_file() or path.read_bytes() != content
    ]
    stale = set(_files(course.exercises / assignment)) - set(files)
    return found + [Difference(path, "has no solution") for path in sorted(stale)]


def orphans(course: Course) -> list[Difference]:
    """Folders of exercises whose assignment has no solution any more."""
    return [
        Difference(folder, "has no solution")
        for folder in sorted(course.exercises.glob("*/"))
        if folder.name not in course.assignments and _files(folder)
    ]


def _released(course: Course, assignment: str) -> dict[Path, bytes]:
    """Every file of the exercises of one assignment, as it should be."""
    source, target = course.solutions / assignment, course.exercises / assignment
    files: dict[Path, bytes] = {}
    for path in _files(source):
        if path.suffix == ".ipynb":
            content = _released_notebook(course, assignment, path)
        else:
            content = path.read_bytes()
        files[target / path.relative_to(source)] = content
    return files


def _released_notebook(course: Course, assignment: str, path: Path) -> bytes:
    solution = inspected_solution(assignment, path)
    released, text_stub = _converted(course, assignment, path, solution)
    return inspected_exercise(path, released, solution, text_stub)


def inspected_solution(assignment: str, path: Path) -> NotebookNode:
    """A solution as it is released: with the cells of private tasks that are known in this process.

    Parameters
    ----------
    assignment : str
        Its full name.
    path : Path
        Of its notebook.

    Raises
    ------
    FaultyAssignmentError
        If it cannot be graded; names every fault.
    PrivateTaskError, UnreadableNotebookError
    """
    solution = read(path)
    if path.stem == assignment:
        solution = private_notebook.with_private_cells(assignment, solution)
    _refuse(path, faults(solution, assignment))
    return solution


def inspected_exercise(
    path: Path, released: NotebookNode, solution: NotebookNode, text_stub: str
) -> bytes:
    """The file that students get.

    Parameters
    ----------
    path : Path
        Of the solution.
    released : NotebookNode
        What nbgrader's steps made of it.
    solution : NotebookNode
        From `inspected_solution`.
    text_stub : str
        What stands where a written answer stood.

    Raises
    ------
    FaultyAssignmentError
        If it would give an answer away; names every place.
    """
    from course_grader.notebook_form import normalize

    _refuse(path, leaks(released, solution, text_stub))
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, path.name)
        draft.write_text(json.dumps(released), encoding="utf-8")
        normalize(draft)
        return draft.read_bytes()


def _converted(
    course: Course, assignment: str, path: Path, solution: NotebookNode
) -> tuple[NotebookNode, str]:
    """What nbgrader's own steps make of a solution, without touching a gradebook; and the text
    that stands where a written answer stood.
    """
    import nbformat
    from nbconvert.exporters import NotebookExporter
    from nbgrader.converters import GenerateAssignment
    from nbgrader.preprocessors import ClearSolutions, SaveCells
    from traitlets.config import Config

    settings = Config({"Exporter": {"default_preprocessors": []}})
    settings.merge(course.settings)
    exporter = NotebookExporter(config=settings)
    for step in GenerateAssignment(config=settings).preprocessors:
        if step is not SaveCells:
            exporter.register_preprocessor(step)
    resources: dict[str, Any] = {
        "unique_key": path.stem,
        "nbgrader": {"student": ".", "assignment": assignment, "notebook": path.stem},
        "metadata": {"path": str(path.parent)},
    }
    try:
        text, _ = exporter.from_notebook_node(copy.deepcopy(solution), resources=resources)
    except Exception as error:  # nbgrader's steps raise RuntimeError, ValueError, ValidationError …
        raise FaultyAssignmentError(f"{path}: nbgrader cannot release it: {error}") from error
    return nbformat.reads(text, as_version=4), ClearSolutions(config=settings).text_stub


def _enter_into_gradebook(course: Course, assignment: str, url: str | None) -> None:
    """Let nbgrader's own command record the assignment; what it writes beside that is dropped."""
    programs = str(Path(sys.executable).parent)  # where nbgrader finds alembic
    path = os.pathsep.join([programs, os.environ.get("PATH", "")])
    database = [f"--CourseDirectory.db_url={_from_anywhere(url)}"] if url else []
    # Private tasks are entered too, also where the course's settings are of an earlier release.
    exporter = "--GenerateAssignment.exporter_class=course_grader.preprocess.WithPrivateTasks"
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "nbgrader", "generate_assignment", assignment),
                f"--CourseDirectory.release_directory={folder}",
                exporter,
                *database,
            ],
            cwd=course.root,
            env={**os.environ, "PATH": path},
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "ERROR" in line or "Error" in line]
        said = "\n".join(lines[:5]) or done.stderr.strip()
        raise FaultyAssignmentError(f"{assignment} cannot be entered into the gradebook:\n{said}")


def _from_anywhere(url: str) -> str:
    """The address of a database, with a file that is named from here named in full."""
    import sqlalchemy as sql

    try:
        parts = sql.engine.make_url(url)
    except sql.exc.ArgumentError:  # nbgrader says what is wrong with it
        return url
    file = parts.database
    if parts.get_backend_name() == "sqlite" and file and file != ":memory:":
        parts = parts.set(database=str(Path(file).absolute()))
    return parts.render_as_string(hide_password=False)


def _refuse(path: Path, found: list[str]) -> None:
    if found:
        listed = "\n".join(f"  - {fault}" for fault in found)
        raise FaultyAssignmentError(f"{path} cannot be released:\n{listed}")


def _files(folder: Path) -> list[Path]:
    """All files of an assignment, without what editors and Python leave behind."""
    return sorted(
        path
        for path in folder.rglob("*")
        if path.is_file()
        and not any(
            fnmatch.fnmatch(part, pattern)
            for part in path.relative_to(folder).parts
            for pattern in _IGNORED
        )
    )
