"""Cells of private tasks, put into a chapter's notebook with examples in the place of a judge."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grader import private_tasks
from course_grader.assignment import Assignment, read
from course_grader.cell_source import called_check
from course_grader.errors import PrivateTaskError
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode


def with_private_cells(assignment: str, solution: NotebookNode) -> NotebookNode:
    """A solution with the cells of the private tasks of its chapter below those of the others.

    Parameters
    ----------
    assignment : str
        Its full name.
    solution : NotebookNode
        The course's own; not changed, and returned itself where there is no private task.

    Raises
    ------
    PrivateTaskError
        If a task has no cells, or cells no task, or its examples are not there or go wrong.
    """
    from course_tasks import catalogue

    where = private_tasks.folder()
    path = where / "solutions" / assignment / f"{assignment}.ipynb" if where else None
    tasks = _tasks_of(catalogue.chapter_of(assignment))
    if path is None or not path.is_file():
        if tasks:
            raise PrivateTaskError(
                f"{', '.join(sorted(tasks))} has no cells: {path} is missing, the notebook with "
                "text, answer and check of each private task"
            )
        return solution
    whole = copy.deepcopy(solution)
    cells = _cells(path, tasks)
    checks = [n for n, cell in enumerate(whole.cells) if called_check(str(cell.source))]
    after = checks[-1] + 1 if checks else len(whole.cells)
    whole.cells[after:after] = cells
    return whole


def _tasks_of(chapter: str) -> frozenset[str]:
    """Private tasks of a chapter: "05/capped-scores"."""
    return frozenset(
        f"{chapter}/{path.stem.replace('_', '-')}"
        for path, _ in private_tasks.probes()
        if path.parent.name.startswith(f"ch{chapter}_") and _is_task(path)
    )


def _is_task(path: Path) -> bool:
    from importlib import import_module

    from course_tasks.probing import Probe

    module = import_module(f"course_tasks.{path.parent.name}.{path.stem}")
    return isinstance(getattr(module, "PROBE", None), Probe)


def _cells(path: Path, tasks: frozenset[str]) -> list[NotebookNode]:
    """The cells of a private notebook; each check gets examples, and a cell that holds them."""
    own = read(path)
    asked = {check.task for check in Assignment.of(own).checks}
    for task in sorted(asked - tasks, key=str):
        raise PrivateTaskError(
            f"{path} checks {task!r}, which is not a private task of its chapter"
        )
    for task in sorted(tasks - asked):
        raise PrivateTaskError(f"{path} has no check of {task!r}: add its cells")
    cells = []
    for cell in own.cells:
        called = called_check(str(cell.source)) if cell.cell_type == "code" else None
        if called is None:
            cells.append(cell)
            continue
        task, answer = called
        name = f"{str(task)[3:].replace('-', '_')}_examples"
        cells.append(_examples_cell(str(task), name))
        cell.source = f'check("{task}", {answer}, examples={name})'
        cell.outputs, cell.execution_count = [], None
        cells.append(cell)
    return cells


def _examples_cell(task: str, name: str) -> NotebookNode:
    from nbformat.v4 import new_code_cell

    source = (
        "# Examples to try your answer on; your course's grader uses others.\n"
        "from course_tasks.given_examples import given_examples\n\n"
        f'{name} = given_examples("""\n{_examples(task)}\n""")'
    )
    short = task[3:]
    cell = new_code_cell(source, id=f"examples-{short}"[:64])
    cell.metadata["nbgrader"] = {
        "grade": False,
        "grade_id": f"examples-{short}",
        "locked": True,
        "schema_version": 3,
        "solution": False,
        "task": False,
    }
    return cell


def _examples(task: str) -> str:
    """Calls that the task's module names, with what its right answer makes of them."""
    from importlib import import_module

    from course_judges import catalogue as judges
    from course_tasks import catalogue
    from course_tasks.given_examples import Example, write_examples

    module = import_module(catalogue.module_of(task))
    calls: Any = getattr(module, "EXAMPLES", ())
    if not calls:
        raise PrivateTaskError(
            f"{task} has no examples for its students: {module.__file__} needs EXAMPLES, a tuple "
            "of the arguments of a few calls"
        )
    right = judges.task(task).answer
    found = []
    for number, arguments in enumerate(calls, start=1):
        try:
            found.append(Example(tuple(arguments), right(*arguments)))
        except CourseError as error:
            found.append(Example(tuple(arguments), raises=type(error).__name__))
        except (ValueError, TypeError) as error:
            if not isinstance(error, ValueError):
                raise PrivateTaskError(
                    f"{task}: its right answer cannot be called with example {number}: {error}"
                ) from error
            found.append(Example(tuple(arguments), raises="ValueError"))
    try:
        return write_examples(found)
    except CourseError as error:
        raise PrivateTaskError(f"{task}: {error}") from error
