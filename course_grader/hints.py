"""The folded hints of a task, as its exercise holds them."""

from __future__ import annotations

from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.assignment import Assignment
from course_grader.errors import NothingToCheckError

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Hint:
    """One step of help with a task.

    Attributes
    ----------
    number, of : int
        Which it is, from 1, and how many the task has.
    text : str
        Its words, code in backticks.
    """

    number: int
    of: int
    text: str


def hints_of(notebook: NotebookNode, task: str, path: Path) -> tuple[Hint, ...]:
    """Read the hints that are folded away above the check of a task.

    Parameters
    ----------
    notebook : NotebookNode
        The exercise, filled or not.
    task : str
        For example "05/scores".
    path : Path
        Of the notebook, for messages.

    Raises
    ------
    NothingToCheckError
        If no cell of the notebook checks the task.
    """
    checks = Assignment.of(notebook).checks
    numbers = [check.number for check in checks]
    own = next((check.number for check in checks if check.task == task), None)
    if own is None:
        tasks = ", ".join(check.task for check in checks if check.task) or "no task at all"
        raise NothingToCheckError(f"{path} does not check {task}: it has {tasks}.")
    above = max((number for number in numbers if number < own), default=0)
    texts: list[str] = []
    for cell in notebook.cells[above : own - 1]:
        if cell.cell_type == "markdown":
            texts += _folded(str(cell.source))
    return tuple(Hint(number, len(texts), text) for number, text in enumerate(texts, start=1))


def _folded(source: str) -> list[str]:
    reader = _Details()
    reader.feed(source)
    return [" ".join(text.split()) for text in reader.texts]


class _Details(HTMLParser):
    """What stands in each `<details>` whose summary begins with "Hint", below that summary."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._inside = self._summary = False
        self._name = self._text = ""

    def handle_starttag(self, tag: str, _: object) -> None:
        if tag == "details":
            self._inside, self._name, self._text = True, "", ""
        elif tag == "summary":
            self._summary = True
        elif tag == "code":
            self._text += "`"

    def handle_endtag(self, tag: str) -> None:
        if tag == "summary":
            self._summary = False
        elif tag == "code":
            self._text += "`"
        elif tag == "details":
            if self._name.startswith("Hint"):
                self.texts.append(self._text)
            self._inside = False

    def handle_data(self, data: str) -> None:
        if self._summary:
            self._name += data
        elif self._inside:
            self._text += data
