"""Which cells of a released notebook belong to which task, as a page needs to know it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from course_page.errors import PageError


@dataclass(frozen=True)
class PageTask:
    """A task as a page offers it.

    Attributes
    ----------
    task : str
        "05/scores".
    title : str
        "Task 1 · Scores".
    answer : str
        The `grade_id` of the cell that defines what is checked.
    cells : tuple of str
        Those of all cells that a student writes for it, in order.
    check : str
        That of the cell that checks it.
    call : str
        What that cell says.
    points : float
        What the check awards at most.
    """

    task: str
    title: str
    answer: str
    cells: tuple[str, ...]
    check: str
    call: str
    points: float


@dataclass(frozen=True)
class Question:
    """A question that a person grades: the cell's `grade_id`, and the heading above it."""

    cell: str
    title: str


@dataclass(frozen=True)
class PageAssignment:
    """An assignment as a page offers it.

    Attributes
    ----------
    setup : tuple of str
        What the code cells above the first task say.
    order : tuple of str
        The `grade_id` of each cell of code that a student writes, in the notebook's order.
    tasks : tuple of PageTask
    questions : tuple of Question
    names : tuple of str
        What the first cells import, for whoever completes a word.
    """

    setup: tuple[str, ...]
    order: tuple[str, ...]
    tasks: tuple[PageTask, ...]
    questions: tuple[Question, ...]
    names: tuple[str, ...]


def read(notebook: Mapping[str, Any]) -> PageAssignment:
    """Find the tasks of a released notebook.

    Parameters
    ----------
    notebook : mapping
        The notebook's JSON.

    Returns
    -------
    PageAssignment

    Raises
    ------
    PageError
        If a cell that checks names no task, or nothing above it defines what it checks.
    """
    setup: list[str] = []
    order: list[str] = []
    tasks: list[PageTask] = []
    questions: list[Question] = []
    waiting: list[tuple[str, str]] = []  # the answers since the last check
    title = ""
    for cell in notebook["cells"]:
        text = "".join(cell["source"])
        said = cell.get("metadata", {}).get("nbgrader", {})
        name = str(said.get("grade_id", ""))
        if cell["cell_type"] == "markdown":
            if said.get("solution"):
                questions.append(Question(name, title))
            else:
                title = _heading(text) or title
        elif said.get("solution"):
            waiting.append((name, text))
            order.append(name)
        elif said.get("grade"):
            tasks.append(_task(name, text, title, waiting, float(said.get("points", 0))))
            waiting = []
        elif not order:
            setup.append(text)
    imported = tuple(sorted({name for text in setup for name in _imported(text)}))
    return PageAssignment(tuple(setup), tuple(order), tuple(tasks), tuple(questions), imported)


def _task(
    check: str, call: str, title: str, waiting: list[tuple[str, str]], points: float
) -> PageTask:
    found = re.match(r'\s*check\("(?P<task>[\w/-]+)",\s*(?P<name>\w+)\)\s*$', call)
    if not found:
        raise PageError(f'cell {check} should be one call `check("05/scores", …)`, not {call!r}')
    defines = [
        cell
        for cell, text in waiting
        if re.search(rf"^(?:def|class)\s+{found['name']}\b", text, re.MULTILINE)
    ]
    if not defines:
        raise PageError(f"no cell between the last check and {check} defines {found['name']}")
    cells = tuple(cell for cell, _ in waiting)
    return PageTask(found["task"], title, defines[-1], cells, check, call, points)


def _heading(text: str) -> str:
    """The last heading of a cell, without the dots, minutes and points that follow it."""
    found = re.findall(r"^#{1,6}\s+(.+?)\s*$", text, re.MULTILINE)
    return re.split(r"\s+[●○]", found[-1])[0] if found else ""


def _imported(text: str) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield alias.asname or alias.name.partition(".")[0]
