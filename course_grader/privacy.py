"""What the course keeps of people: how one is forgotten, and a class without names for research."""

from __future__ import annotations

import ast
import random
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from course_grader import locks
from course_grader.assignment import Assignment, read
from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.errors import (
    GradebookError,
    NotWrittenError,
    StudentNotFoundError,
    UnreadableNotebookError,
)
from course_grader.gradebook import people
from course_grader.gradebook.database import database_url
from course_grader.gradebook.standing import StudentGrades, standing
from course_grader.lms import records, sheets
from course_grader.options import CourseGrade
from course_lib.errors import ConfigError

_WORD = re.compile(r"[^\W\d]\w*")

# Where files are made of a whole class: nobody can be taken out of them, so they are named.
_OF_A_CLASS = ("exports", "reports")


@dataclass(frozen=True)
class Traces:
    """Where something of a student is.

    Attributes
    ----------
    student : str
    folders : tuple of Path
        Of theirs alone.
    assignments : tuple of str
        Of which `course collect` noted where it came from.
    in_gradebook : bool
    mentioned : tuple of Path
        Files of a class that hold the name: to be made again, or deleted by hand.
    """

    student: str
    folders: tuple[Path, ...]
    assignments: tuple[str, ...]
    in_gradebook: bool
    mentioned: tuple[Path, ...]


def traces(course: Course, student: str, url: str | None = None) -> Traces:
    """Find all that is kept of a student in the course's folder and in its gradebook.

    Raises
    ------
    StudentNotFoundError
        If there is nothing; names who comes near.
    GradebookError, NothingToCollectError
        If the gradebook, or what `course collect` noted, cannot be read.
    """
    shelves = [course.submitted, course.submitted / ".replaced"]
    shelves += [course.autograded, course.feedback]
    exports = course.root / "exports"
    shelves += sorted(path for path in exports.glob("*/") if path.is_dir())
    one_name = student not in ("", ".", "..") and "/" not in student and "\0" not in student
    folders = [shelf / student for shelf in shelves] if one_name else []
    noted = [name for name in course.assignments if student in records.read(course, name)]
    known = _known(course, url)
    names = _Names.of(course, student, noted, known, url)
    found = tuple(path for path in folders if path.is_dir() or path.is_symlink())
    if not found and not noted and student not in known:
        raise StudentNotFoundError(_nobody(course, student, known))
    return Traces(student, found, tuple(noted), student in known, tuple(_mentioning(course, names)))


def forget(course: Course, student: str, url: str | None = None) -> Traces:
    """Delete all that is kept of a student; the class's reports are made anew without them.

    Parameters
    ----------
    course : Course
    student : str
        The name of their folder.
    url : str, optional
        Of the gradebook.

    Returns
    -------
    Traces
        What was found; `mentioned` is what is left to be deleted by hand.

    Raises
    ------
    StudentNotFoundError, GradebookError, NothingToCollectError, NotWrittenError
        What could not be deleted is named; run the command again when it is mended.
    """
    with locks.folder(course):
        found = traces(course, student, url)
        names = _Names.of(course, student, found.assignments, _known(course, url), url)
        # The gradebook first: it is what can be locked, and then nothing is gone yet.
        if found.in_gradebook:
            people.forget(course, student, url)
        for name in found.assignments:
            known = records.read(course, name)
            records.write(course, name, {who: r for who, r in known.items() if who != student})
        for folder in found.folders:
            _delete(folder)
        for path in (course.root / "reports").glob("*.html"):
            if path.stem in course.assignments:
                _report_anew(course, path.stem, url)
        left = tuple(_mentioning(course, names))
    return Traces(student, found.folders, found.assignments, found.in_gradebook, left)


def _delete(folder: Path) -> None:
    try:
        if folder.is_symlink():
            folder.unlink()
        else:
            shutil.rmtree(folder)
    except OSError as error:
        raise NotWrittenError(
            f"{folder} cannot be deleted: {error.strerror}. Check your rights and whether a file "
            "is open, then run the command again"
        ) from error


def _report_anew(course: Course, assignment: str, url: str | None) -> None:
    from course_grader.reports import report

    report.write(course, assignment, url)


def _known(course: Course, url: str | None) -> tuple[str, ...]:
    """Students in the gradebook; none where there is no gradebook yet."""
    address = url or database_url(course)
    file = address.removeprefix("sqlite:///")
    if address != file and not Path(file).exists():
        return ()
    return people.known(course, url)


def _nobody(course: Course, student: str, known: Sequence[str]) -> str:
    import difflib

    there = {*known, *(path.name for path in course.submitted.glob("[!.]*/"))}
    near = difflib.get_close_matches(student, there, n=3)
    hint = f"; did you mean {' or '.join(near)}?" if near else ""
    return f"nothing is kept of anybody named {student!r}{hint}"


@dataclass(frozen=True)
class _Names:
    """By what a file can name a student: one of `each`, or all of `together`."""

    student: str
    each: tuple[bytes, ...]
    together: tuple[bytes, ...]

    @classmethod
    def of(
        cls,
        course: Course,
        student: str,
        noted: Sequence[str],
        known: Sequence[str],
        url: str | None,
    ) -> _Names:
        said = [records.read(course, name)[student].name for name in noted]
        first, last, email, _ = people.names(course, student, url) if student in known else [""] * 4
        each = [word for word in (student, email, *said) if word]
        together = [first, last] if first and last else []
        return cls(student, *(tuple(map(str.encode, words)) for words in (each, together)))

    def in_text(self, text: bytes) -> bool:
        """Whether a text names the student."""
        if any(word in text for word in self.each):
            return True
        return bool(self.together) and all(word in text for word in self.together)


def _mentioning(course: Course, names: _Names) -> Iterator[Path]:
    """Files made of a whole class, or written by hand, that hold the name or are not text."""
    places = [path for name in _OF_A_CLASS for path in (course.root / name).rglob("*")]
    # What a regrading left that was killed.
    places += course.root.glob(".regrade-*/**/*")
    if extensions := CourseGrade.of(course).extensions:
        places.append(course.root / extensions)
    # A roster, times, a platform's own tables: whatever an instructor put beside the settings.
    places += course.root.glob("*.csv")
    for path in sorted(set(places)):
        if not path.is_file() or path.is_symlink() or path.parent.name == names.student:
            continue
        if path.suffix == ".zip" or names.in_text(path.read_bytes()):
            yield path


@dataclass(frozen=True)
class Anonymized:
    """What was written of a class without names.

    Attributes
    ----------
    path : Path
        The folder.
    students : int
    assignments : tuple of str
    """

    path: Path
    students: int
    assignments: tuple[str, ...]


def anonymize(
    course: Course,
    target: Path,
    assignments: Sequence[str],
    *,
    answers: bool = False,
    url: str | None = None,
) -> Anonymized:
    """Write what a class earned and which mistakes it made, without anything that names anybody.

    Numbers stand for students, drawn anew each time; which is whose is written nowhere. There are
    no names, times, comments, written answers, outputs or files of theirs.

    Parameters
    ----------
    course : Course
    target : Path
        A folder that is not there yet, or empty.
    assignments : sequence of str
        Full names. Those that the gradebook does not hold are left out.
    answers : bool
        Also the code of answers, without comments, with every text in it replaced, and with
        numbers for names that neither the course nor a library uses.
    url : str, optional
        Of the gradebook.

    Raises
    ------
    ConfigError
        If the folder holds something.
    GradebookError
        If no assignment is in the gradebook.
    NotWrittenError
    """
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise ConfigError(f"{target} is there already: name a folder that is not, or an empty one")
    classes = []
    for name in assignments:
        try:
            classes.append(standing(course, name, url))
        except GradebookError as error:
            if "is not in the gradebook" not in str(error):
                raise
    if not classes:
        raise GradebookError("no assignment is in the gradebook: there is nothing to write")
    everybody = sorted({one.student for each in classes for one in each.handed_in})
    order = list(range(1, len(everybody) + 1))
    random.SystemRandom().shuffle(order)
    number = dict(zip(everybody, (f"student-{n:04}" for n in order), strict=True))
    public = _public_names(course) if answers else frozenset()
    points: list[list[Any]] = []
    findings: list[list[Any]] = []
    codes: list[list[Any]] = []
    for each in classes:
        for one in each.handed_in:
            who = [each.assignment, number[one.student]]
            points += [[*who, *row] for row in _points(one)]
            findings += [[*who, *row] for row in _findings(one)]
            if answers:
                rows = _answers(course, each.assignment, one.student, public)
                codes += [[*who, *row] for row in rows]
    head = ["assignment", "student"]
    sheets.write(
        target / "points.csv",
        [*head, "cell", "points", "out_of", "by_hand", "waits", "late", "penalty"],
        sorted(points),
    )
    sheets.write(
        target / "findings.csv",
        [*head, "task", "state", "points", "out_of", "finding"],
        sorted(findings),
    )
    if answers:
        import json

        text = "".join(
            json.dumps(dict(zip((*head, "cell", "code"), row, strict=True))) + "\n"
            for row in sorted(codes)
        )
        write_atomically(target / "answers.jsonl", text)
    return Anonymized(target, len(everybody), tuple(each.assignment for each in classes))


def _points(one: StudentGrades) -> Iterator[list[Any]]:
    late = "yes" if one.late else "no"
    for cell in one.cells:
        by_hand, waits = ("yes" if said else "no" for said in (cell.by_hand, cell.waits))
        yield [cell.name, cell.points, cell.out_of, by_hand, waits, late, round(one.penalty, 4)]


def _findings(one: StudentGrades) -> Iterator[list[Any]]:
    for found in one.findings:
        row = [found.task, str(found.verdict.get("state", "")), found.points, found.out_of]
        names = [str(each["name"]) for each in found.verdict.get("findings", ())]
        for name in names or [""]:
            yield [*row, name]


def _answers(
    course: Course, assignment: str, student: str, public: frozenset[str]
) -> Iterator[list[str]]:
    """The code of a student's answers, as it was graded."""
    path = course.autograded / student / assignment / f"{assignment}.ipynb"
    try:
        graded = Assignment.of(read(path))
    except UnreadableNotebookError:  # set aside, or deleted: there is no code to give
        return
    for answer in graded.answers:
        if code := without_words(answer.source, public):
            yield [answer.grade_id, code]


def _public_names(course: Course) -> frozenset[str]:
    """Names that say nothing about a student: Python's, those of the libraries that notebooks of
    the course use, and those in the course's own notebooks.
    """
    import builtins
    import math

    import numpy as np
    import torch
    from torch import nn
    from torch.nn import functional

    libraries = (builtins, math, np, np.ndarray, torch, torch.Tensor, nn, nn.Module, functional)
    known = {name for one in (*libraries, str, list, dict, set, tuple) for name in dir(one)}
    for path in (*course.solutions.glob("*/*.ipynb"), *course.exercises.glob("*/*.ipynb")):
        for cell in read(path).cells:
            known.update(_WORD.findall(cell.source))
    return frozenset(known)


class _Wordless(ast.NodeTransformer):
    """Empties texts, and numbers names that are not public."""

    def __init__(self, public: frozenset[str] | None):
        self._public, self._given = public, dict[str, str]()

    def visit(self, node: ast.AST) -> Any:
        for field, value in ast.iter_fields(node):
            if isinstance(node, ast.Constant):
                break
            if isinstance(value, str) and field != "type_comment":
                setattr(node, field, ".".join(map(self._named, value.split("."))))
            elif isinstance(value, list) and value and all(isinstance(one, str) for one in value):
                setattr(node, field, list(map(self._named, value)))
        return super().visit(node)

    def _named(self, name: str) -> str:
        if self._public is None or name in self._public or name == "":
            return name
        return self._given.setdefault(name, f"name_{len(self._given) + 1}")

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, str | bytes):
            return ast.copy_location(ast.Constant(type(node.value)()), node)
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.copy_location(ast.Constant(""), node)


def without_words(source: str, public: frozenset[str] | None = None) -> str:
    """Python without comments, and with every text in it empty; nothing if it is no Python.

    Parameters
    ----------
    source : str
    public : frozenset of str, optional
        Names that stay. Others are numbered, in each source anew; without it, all stay.

    >>> without_words("x = 'Ada'  # by Ada")
    "x = ''"
    >>> without_words("ada = torch.ones(3)", frozenset(("torch", "ones")))
    'name_1 = torch.ones(3)'
    """
    try:
        return ast.unparse(_Wordless(public).visit(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
