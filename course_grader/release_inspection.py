"""What a solution must be before it is released, and what a release must not give away."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from course_grader.assignment import Assignment, Check
from course_grader.new_task import unwritten

if TYPE_CHECKING:
    from nbformat import NotebookNode

BEGIN, END = "BEGIN SOLUTION", "END SOLUTION"

# nbgrader's other regions that a student must not see; none may outlive a release.
_HIDDEN = (BEGIN, END, "BEGIN HIDDEN TESTS", "END HIDDEN TESTS", "BEGIN MARK", "END MARK SCHEME")

# Many notebooks share shorter lines (`return x`, `B, T, C = x.shape`). A longer one that stands
# both in a solution and in what is released has leaked.
_TELLING_CHARACTERS = 28


def faults(notebook: NotebookNode, name: str) -> list[str]:
    """Why a solution cannot be released.

    Parameters
    ----------
    notebook : NotebookNode
        The solution.
    name : str
        The assignment's, for example "01-averages"; its tasks belong to chapter "01", and those
        of a project to itself.

    Returns
    -------
    list of str
        One sentence a fault, with the cell and the remedy; empty if there is none.
    """
    from course_tasks import catalogue

    assignment, chapter = Assignment.of(notebook), catalogue.chapter_of(name)
    found = [*_repeated_ids(notebook), *_regions(notebook), *unwritten(notebook)]
    tried = _tried_in_experiments(notebook)
    for answer in assignment.answers:
        where = f"cell {answer.number} ({answer.grade_id or 'no grade_id'})"
        if BEGIN not in answer.source:
            found.append(
                f"{where} has no solution region: put the body of the answer between "
                f"`### {BEGIN}` and `### {END}`"
            )
        defined = answer.defines
        checked = {check.answer for check in assignment.checks if check.number > answer.number}
        if not (checked | tried) & set(defined):
            names = " or ".join(f"`{one}`" for one in defined) or "it"
            found.append(f"{where} has no check: add a graded cell `check(…)` of {names} below it")
    for check in assignment.checks:
        found += _faults_of(check, assignment, chapter=chapter)
    asked = {check.task for check in assignment.checks}
    found += [
        f"task {task!r} has no check in the notebook: add its cells, or take it out of the chapter"
        for task in _tasks_of(chapter)
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


def _tried_in_experiments(notebook: NotebookNode) -> set[str]:
    """Functions that a cell hands to `experiment`: what is checked is what was seen, not they."""
    calls = re.compile(r"^experiment\((\w+), (\w+), ", re.MULTILINE)
    found = (calls.findall(cell.source) for cell in notebook.cells if cell.cell_type == "code")
    return {name for pairs in found for pair in pairs for name in pair}


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
    """Whether a line is long enough to give a solution away, and more than a signature."""
    line = _squeezed(line)
    common = ("def ", "class ", "import ", "from ", '"""', "super().__init__")
    return len(line.replace(" ", "")) >= _TELLING_CHARACTERS and not line.startswith(common)


def _squeezed(line: str) -> str:
    return " ".join(line.split())
