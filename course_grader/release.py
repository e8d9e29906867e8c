"""From solutions to exercises: nbgrader's own conversion, between two inspections.

What goes in is inspected, so that no task is released that cannot be graded; what comes out is
inspected, so that no solution leaves with it. The exercises are files of the course: made here,
never edited by hand, the same bytes for the same solutions.
"""

from __future__ import annotations

import ast
import fnmatch
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grader.assignment import Assignment, Check, read
from course_grader.course import Course
from course_grader.errors import FaultyAssignmentError
from course_grader.new_task import unwritten

if TYPE_CHECKING:
    from nbformat import NotebookNode

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"

# nbgrader's other regions that a student must not see; none may outlive a release.
_HIDDEN = (BEGIN, END, "BEGIN HIDDEN TESTS", "END HIDDEN TESTS", "BEGIN MARK", "END MARK SCHEME")

# Shorter lines (`return x`, `B, T, C = x.shape`) are everybody's; a longer one that stands both in
# a solution and in what is released has leaked.
_TELLING_CHARACTERS = 28

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
    files = _released(course, assignment)
    folder = course.exercises / assignment
    if gradebook:
        _enter_into_gradebook(course, assignment, url)
    changed = []
    for path, content in files.items():
        if not path.is_file() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            _replace(path, content)
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


def faults(notebook: NotebookNode, name: str) -> list[str]:
    """Why a solution cannot be released.

    Parameters
    ----------
    notebook : NotebookNode
        The solution.
    name : str
        The assignment's, for example "01-averages"; its tasks belong to chapter "01".

    Returns
    -------
    list of str
        One sentence a fault, with the cell and the remedy; empty if there is none.
    """
    assignment = Assignment.of(notebook)
    found = [*_repeated_ids(notebook), *_regions(notebook), *unwritten(notebook)]
    for answer in assignment.answers:
        where = f"cell {answer.number} ({answer.grade_id or 'no grade_id'})"
        if BEGIN not in answer.source:
            found.append(
                f"{where} has no solution region: put the body of the answer between "
                f"`### {BEGIN}` and `### {END}`"
            )
        defined = answer.defines
        checked = {check.answer for check in assignment.checks if check.number > answer.number}
        if not checked & set(defined):
            names = " or ".join(f"`{one}`" for one in defined) or "it"
            found.append(f"{where} has no check: add a graded cell `check(…)` of {names} below it")
    for check in assignment.checks:
        found += _faults_of(check, assignment, chapter=name[:2])
    asked = {check.task for check in assignment.checks}
    found += [
        f"task {task!r} has no check in the notebook: add its cells, or take it out of the chapter"
        for task in _tasks_of(name[:2])
        if task not in asked
    ]
    for question in assignment.questions:
        if not question.points or question.points <= 0:
            found.append(
                f"cell {question.number} ({question.grade_id}) is graded by hand and has "
                "no points: give it some in its nbgrader metadata"
            )
    return found


def leaks(released: NotebookNode, solution: NotebookNode, text_stub: str) -> list[str]:
    """What a released notebook still gives away, or broke.

    Parameters
    ----------
    released, solution : NotebookNode
        What release made, and of what.
    text_stub : str
        What must stand in every question that a person grades.

    Returns
    -------
    list of str
        One sentence each; empty if it can go out.
    """
    found = []
    secret = dict(_secret_lines(solution))
    for number, cell in enumerate(released.cells, start=1):
        where = f"released cell {number}"
        if cell.get("outputs") or cell.get("execution_count"):
            found.append(f"{where} keeps the solution's output")
        found += [f"{where} still holds {mark!r}" for mark in _HIDDEN if mark in cell.source]
        for line in map(_squeezed, cell.source.splitlines()):
            if line in secret:
                found.append(
                    f"{where} holds a line of the solution in cell {secret[line]}: `{line}`; "
                    "change one of the two"
                )
        if cell.cell_type == "code":
            try:
                ast.parse(cell.source)
            except SyntaxError as error:
                found.append(
                    f"{where} is not valid Python without its solution (line {error.lineno}: "
                    f"{error.msg}): keep the `def` line and its docstring outside the region"
                )
    for question in Assignment.of(released).questions:
        if question.source.strip() != text_stub:
            found.append(
                f"released cell {question.number} ({question.grade_id}) holds more than "
                f"{text_stub!r}"
            )
        if released.cells[question.number - 1].get("attachments"):
            found.append(
                f"released cell {question.number} ({question.grade_id}) keeps a picture "
                "of the model answer"
            )
    return found


def _faults_of(check: Check, assignment: Assignment, chapter: str) -> Iterator[str]:
    from course_judges import catalogue
    from course_tasks.errors import UnknownTaskError

    where = f"cell {check.number} ({check.grade_id or 'no grade_id'})"
    if check.task is None or check.answer is None:
        yield f'{where} is graded but is not one call like `check("01/window", window_weights)`'
        return
    if not check.grade_id:
        yield f"{where} calls `check` but is not graded: give it nbgrader metadata and points"
    elif check.points is None or check.points <= 0:
        yield f"{where} has no points: set `points` in its nbgrader metadata"
    if assignment.answer_to(check) is None:
        yield (
            f"{where} checks `{check.answer}`, which no answer cell above it defines: "
            "is the cell above marked as a solution?"
        )
    if not check.task.startswith(f"{chapter}/"):
        yield f"{where} asks for {check.task!r}, a task of another chapter than {chapter}"
        return
    try:
        task = catalogue.task(check.task)
    except UnknownTaskError as error:
        yield f"{where}: {error}"
        return
    if check.points and check.points != task.points:
        yield (
            f"{where} has {check.points:g} points, but the parts of {check.task!r} "
            f"are worth {task.points:g}"
        )


def _tasks_of(chapter: str) -> Iterator[str]:
    from course_tasks import catalogue

    return (task for task in catalogue.names() if task.startswith(f"{chapter}/"))


def _repeated_ids(notebook: NotebookNode) -> Iterator[str]:
    ids = [
        cell.metadata["nbgrader"].get("grade_id")
        for cell in notebook.cells
        if "nbgrader" in cell.metadata
    ]
    for grade_id, times in Counter(ids).items():
        if not grade_id:
            yield f"{times} cell(s) with nbgrader metadata have no grade_id"
        elif times > 1:
            yield f"grade_id {grade_id!r} is given to {times} cells: each needs its own"
    tasks = Counter(check.task for check in Assignment.of(notebook).checks if check.task)
    for task, times in tasks.items():
        if times > 1:
            yield f"task {task!r} is checked {times} times: its points would count as often"


def _regions(notebook: NotebookNode) -> Iterator[str]:
    for number, cell in enumerate(notebook.cells, start=1):
        marks = re.findall(f"{BEGIN}|{END}", cell.source)
        if not marks:
            continue
        if marks != [BEGIN, END] * (len(marks) // 2):
            yield (
                f"cell {number} has solution marks that do not match: "
                f"{', '.join(marks)}; every {BEGIN} needs one {END} after it"
            )
        if not cell.metadata.get("nbgrader", {}).get("solution"):
            yield (
                f"cell {number} holds a solution region but is not marked as a solution: "
                "it would be released as it is"
            )


def _secret_lines(solution: NotebookNode) -> Iterator[tuple[str, int]]:
    """Telling lines of every solution, with the number of their cell."""
    questions = {question.number for question in Assignment.of(solution).questions}
    for number, cell in enumerate(solution.cells, start=1):
        inside = number in questions
        for line in cell.source.splitlines():
            if BEGIN in line or END in line:
                inside = BEGIN in line or number in questions
            elif inside and _tells(line):
                yield _squeezed(line), number


def _tells(line: str) -> bool:
    """True if a line is long enough to be somebody's, and more than a signature."""
    line = _squeezed(line)
    common = ("def ", "class ", "import ", "from ", '"""', "super().__init__")
    return len(line.replace(" ", "")) >= _TELLING_CHARACTERS and not line.startswith(common)


def _squeezed(line: str) -> str:
    return " ".join(line.split())


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
    from course_grader.notebooks import normalize

    solution = read(path)
    _refuse(path, faults(solution, assignment))
    released, text_stub = _converted(course, assignment, path)
    _refuse(path, leaks(released, solution, text_stub))
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder, path.name)
        draft.write_text(json.dumps(released), encoding="utf-8")
        normalize(draft)
        return draft.read_bytes()


def _converted(course: Course, assignment: str, path: Path) -> tuple[NotebookNode, str]:
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
        text, _ = exporter.from_filename(str(path), resources=resources)
    except Exception as error:  # nbgrader's steps raise RuntimeError, ValueError, ValidationError …
        raise FaultyAssignmentError(f"{path}: nbgrader cannot release it: {error}") from error
    return nbformat.reads(text, as_version=4), ClearSolutions(config=settings).text_stub


def _enter_into_gradebook(course: Course, assignment: str, url: str | None) -> None:
    """Let nbgrader's own command record the assignment; what it writes beside that is dropped."""
    programs = str(Path(sys.executable).parent)  # where nbgrader finds alembic
    path = os.pathsep.join([programs, os.environ.get("PATH", "")])
    database = [f"--CourseDirectory.db_url={_from_anywhere(url)}"] if url else []
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "nbgrader", "generate_assignment", assignment),
                f"--CourseDirectory.release_directory={folder}",
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


def _replace(path: Path, content: bytes) -> None:
    """Write a file so that nobody ever sees a part of it."""
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".release-")
    with os.fdopen(handle, "wb") as stream:
        stream.write(content)
    if path.exists():
        shutil.copymode(path, draft)
    else:
        os.chmod(draft, 0o644)
    os.replace(draft, path)
