"""The cells of an assignment that count: answers, checks, and questions that a person grades."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from course_grader.cell_source import called_check, defined_names
from course_grader.errors import UnreadableNotebookError
from course_grader.file_names import is_notebook

if TYPE_CHECKING:
    from nbformat import NotebookNode


@dataclass(frozen=True)
class Answer:
    """A cell in which a student defines something.

    Attributes
    ----------
    number : int
        Place of the cell in the notebook, from 1, text cells included.
    grade_id : str
        The name under which nbgrader knows the cell.
    source : str
        What stands in it.
    """

    number: int
    grade_id: str
    source: str

    @property
    def defines(self) -> tuple[str, ...]:
        """Names of the functions and classes that the cell defines; empty if it does not parse."""
        return defined_names(self.source)


@dataclass(frozen=True)
class Check:
    """A cell that awards the points of a task.

    Attributes
    ----------
    number, grade_id, source
        As of an answer.
    points : float or None
        What nbgrader awards at most; None if the cell does not say.
    task : str or None
        For example "01/window"; None if the cell calls nothing of the kind.
    answer : str or None
        The name of what is checked.
    """

    number: int
    grade_id: str
    source: str
    points: float | None
    task: str | None
    answer: str | None


@dataclass(frozen=True)
class Question:
    """A cell that a person grades.

    Attributes
    ----------
    number, grade_id, source
        As of an answer.
    points : float or None
        What can be awarded.
    title : str
        The heading above the cell.
    changed : bool
        Whether the cell differs from what was released; True where that is not known.
    """

    number: int
    grade_id: str
    source: str
    points: float | None
    title: str
    changed: bool


@dataclass(frozen=True)
class Assignment:
    """What counts in an assignment notebook, in the order in which it stands there."""

    answers: tuple[Answer, ...]
    checks: tuple[Check, ...]
    questions: tuple[Question, ...]

    @classmethod
    def of(cls, notebook: NotebookNode) -> Assignment:
        """Find the cells that count, by nbgrader's metadata and, for checks, by what they call."""
        answers: list[Answer] = []
        checks: list[Check] = []
        questions: list[Question] = []
        title = ""
        for number, cell in enumerate(notebook.cells, start=1):
            source = str(cell.source)
            said = _nbgrader(cell)
            grade, solution = bool(said.get("grade")), bool(said.get("solution"))
            grade_id = str(said.get("grade_id") or "")
            if grade and solution:
                changed = said.get("checksum") is None or not _as_released(cell)
                questions.append(Question(number, grade_id, source, _points(said), title, changed))
            elif solution:
                answers.append(Answer(number, grade_id, source))
            elif cell.cell_type == "code" and (grade or called_check(source)):
                task, answer = called_check(source) or (None, None)
                checks.append(Check(number, grade_id, source, _points(said), task, answer))
            elif cell.cell_type == "markdown":
                title = _heading(source) or title
        return cls(tuple(answers), tuple(checks), tuple(questions))

    def answer_to(self, check: Check) -> Answer | None:
        """The last answer cell above a check that defines what it checks."""
        fitting = [a for a in self.answers if a.number < check.number and check.answer in a.defines]
        return fitting[-1] if fitting else None


def read(path: str | Path) -> NotebookNode:
    """Read a notebook that anyone may have made.

    Parameters
    ----------
    path : path
        An `.ipynb` file of nbformat 4, or of an older one, which is brought up to date in memory.

    Raises
    ------
    UnreadableNotebookError
        Says what the file is instead.
    """
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8-sig")
        content = json.loads(text) if text.strip() else None
    except FileNotFoundError as error:
        raise UnreadableNotebookError(f"there is no file {path}") from error
    except IsADirectoryError as error:
        inside = ", ".join(sorted(p.name for p in path.glob("*.ipynb")))
        raise UnreadableNotebookError(
            f"{path} is a folder; give the notebook in it" + (f": {inside}" if inside else "")
        ) from error
    except OSError as error:
        raise UnreadableNotebookError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # other bytes, broken JSON, endless numbers
        other = _what_it_is(path)
        if other:
            raise UnreadableNotebookError(f"{path} {other}") from error
        if isinstance(error, UnicodeDecodeError):
            raise UnreadableNotebookError(
                f"{path} is not a notebook: it is not UTF-8 text"
            ) from error
        kind = "it is not JSON" if is_notebook(path.name) else f"its name ends in {path.suffix!r}"
        raise UnreadableNotebookError(
            f"{path} is not a notebook, or only a part of one: {kind} ({error})"
        ) from error
    if content is None:
        raise UnreadableNotebookError(f"{path} is empty: was it saved?")
    if not isinstance(content, dict) or not isinstance(content.get("nbformat"), int):
        raise UnreadableNotebookError(f"{path} is JSON, but not a notebook: it has no nbformat")
    import nbformat
    import nbformat.reader

    try:
        notebook = nbformat.convert(nbformat.reader.reads(text), 4)
        fit = all(isinstance(cell.source, str) and cell.cell_type for cell in notebook.cells)
    except MemoryError:  # the reader's limit, not the file's format
        raise
    except Exception as error:  # whatever nbformat trips over in a file that anyone made
        raise UnreadableNotebookError(f"{path} is a broken notebook: {error!r}") from error
    if not fit:
        raise UnreadableNotebookError(f"{path} is a broken notebook: a cell of it has no text")
    return notebook


# How files of other kinds begin that have been handed in under a notebook's name.
_BEGINNINGS = (
    (b"%PDF-", "is a PDF of a notebook: the file that ends in .ipynb is needed"),
    (b"PK\x03\x04", "is a zip archive with a notebook's name: unpack it"),
    (b"\x1f\x8b", "is a compressed archive with a notebook's name: unpack it"),
    (b"\x89PNG", "is a picture: the notebook itself is needed"),
    (
        b"version https://git-lfs.github.com/spec/",
        "is a large-file pointer: Git LFS keeps the notebook elsewhere, and `git lfs pull` fetches "
        "it",
    ),
)
_WEB_PAGE = re.compile(rb"\s*(?:<\?xml[^>]{0,200}>\s*)?<(?:!doctype\s+html|html)\b", re.IGNORECASE)


def _what_it_is(path: Path) -> str:
    """What a file is that is no JSON, and what helps; empty where nobody can tell."""
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    for beginning, what in _BEGINNINGS:
        if content.lstrip()[: len(beginning)] == beginning:
            return what
    if _WEB_PAGE.match(content[:2000]):
        return (
            "is an HTML page, as a browser saves what it shows: the notebook itself is needed, "
            "from File → Download"
        )
    lines = b"\n" + content.replace(b"\r", b"")
    if all(mark in lines for mark in (b"\n<<<<<<< ", b"\n=======\n", b"\n>>>>>>> ")):
        line = content[: (b"\n" + content).index(b"\n<<<<<<< ")].count(b"\n") + 1
        return (
            f"holds a merge conflict in line {line}: Git has left two versions between `<<<<<<<` "
            "and `>>>>>>>`. Keep one of them, delete the three marks, and hand it in again"
        )
    return ""


def _nbgrader(cell: Any) -> Mapping[str, Any]:
    said = cell.get("metadata", {}).get("nbgrader")
    return said if isinstance(said, Mapping) else {}


def _points(said: Mapping[str, Any]) -> float | None:
    try:
        return float(said["points"])
    except (KeyError, TypeError, ValueError):
        return None


def _as_released(cell: NotebookNode) -> bool:
    return bool(cell.metadata.nbgrader["checksum"] == checksum(cell))


def checksum(cell: NotebookNode) -> str:
    """What nbgrader notes of a cell when it is released, so that a change of it is seen.

    The same as `nbgrader.utils.compute_checksum`, whose import takes half a second and is not
    needed for anything else by a process that reads submissions.
    """
    said = cell.metadata.nbgrader
    grade, solution = said.get("grade", False), said.get("solution", False)
    locked = not solution and (bool(grade) or said.get("locked", False))
    parts = [cell.source, cell.cell_type, grade, solution, locked, said["grade_id"]]
    parts += [float(said["points"])] if grade else []
    words = "".join(map(str, parts)).encode("utf-8")
    return hashlib.md5(words, usedforsecurity=False).hexdigest()


def _heading(source: str) -> str:
    """The last heading of a text cell, without the dots, minutes and points that follow it."""
    found = re.findall(r"^#{1,6}\s+(.+?)\s*$", source, re.MULTILINE)
    return re.split(r"\s+[●○]", found[-1])[0] if found else ""
