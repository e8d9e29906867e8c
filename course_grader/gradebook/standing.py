"""How a class stands in one assignment, read from the gradebook and from nowhere else.

The class report and every export start here, so that they cannot disagree.
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import sqlalchemy as sql
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Gradebook,
    GradeCell,
    Notebook,
    SolutionCell,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

from course_grader.course import Course
from course_grader.errors import GradebookError
from course_grader.gradebook.database import (
    FINDINGS,
    RUNS,
    database_url,
    entering,
    gradebook,
)
from course_grader.outcome import Status, remarks


@dataclass(frozen=True)
class Cell:
    """One graded cell of one student.

    Attributes
    ----------
    name : str
        Its grade id.
    points, out_of : float
        A hand's where there is one, else the judge's.
    waits : bool
        Whether a person has to look.
    by_hand : bool
        Whether a person has.
    """

    name: str
    points: float
    out_of: float
    waits: bool
    by_hand: bool


@dataclass(frozen=True)
class Finding:
    """The judge's words on one task of one student; `verdict` is empty without evidence, `waits`
    where no person has to look.
    """

    grade_id: str
    task: str
    points: float
    out_of: float
    verdict: Mapping[str, Any]
    reason: str
    waits: str = ""


@dataclass(frozen=True)
class Run:
    """How the run of one submission went; `graded_by` is the course's release, if it is known, and
    `failed_cell` the first cell that an error ended.
    """

    status: Status
    reason: str
    notes: tuple[str, ...]
    seconds: Mapping[str, float]
    sandboxed: bool
    graded_at: datetime
    graded_by: str = ""
    failed_cell: str = ""

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of its page should know first."""
        return remarks(self.reason, self.failed_cell, self.notes)


@dataclass(frozen=True)
class StudentGrades:
    """One student in one assignment.

    Attributes
    ----------
    student, last_name, first_name, email, lms_user_id : str
        Empty where the gradebook does not say.
    submitted : bool
        Whether the gradebook holds a submission.
    timestamp : datetime or None
        When it was handed in, in UTC.
    due : datetime or None
        When it was due for this student, in UTC.
    extension : timedelta or None
        By how much that is later than for the others.
    cells : tuple of Cell
    penalty : float
        For being late.
    comments : tuple of (str, str)
        Grade ids, and what a person or nbgrader wrote about the answer.
    run : Run or None
        None if nbgrader graded it, or nobody.
    findings : tuple of Finding
    """

    student: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_user_id: str = ""
    submitted: bool = False
    timestamp: datetime | None = None
    due: datetime | None = None
    extension: timedelta | None = None
    cells: tuple[Cell, ...] = ()
    penalty: float = 0.0
    comments: tuple[tuple[str, str], ...] = ()
    run: Run | None = None
    findings: tuple[Finding, ...] = ()

    @property
    def points(self) -> float:
        """Points before the penalty."""
        return sum(cell.points for cell in self.cells)

    @property
    def score(self) -> float:
        """Points after the penalty, as nbgrader counts them."""
        return max(self.points - self.penalty, 0.0)

    @property
    def late(self) -> timedelta:
        """How long after its due date it was handed in; nothing where one of the two is unknown."""
        if self.timestamp is None or self.due is None:
            return timedelta()
        return max(self.timestamp - self.due, timedelta())

    @property
    def waiting(self) -> tuple[str, ...]:
        """Grade ids of the cells that a person has to look at."""
        return tuple(cell.name for cell in self.cells if cell.waits)

    @property
    def unfinished(self) -> str:
        """Why there is no final score yet; empty if there is one."""
        if self.run is not None and self.run.status is Status.FAILED:
            return f"the run failed: {self.run.reason}"
        if not self.submitted:
            return "nothing was handed in"
        if self.run is not None and self.run.status is Status.SET_ASIDE and self.waiting:
            return f"set aside: {self.run.reason}"
        if self.waiting:
            return f"waits for a person: {', '.join(self.waiting)}"
        return ""


@dataclass(frozen=True)
class Waiting:
    """What waits for a person in a class: how many students do, and how many of their answers.

    What was set aside as a whole counts as a student and not as answers.
    """

    students: int
    answers: int


@dataclass(frozen=True)
class ClassStanding:
    """A class in one assignment.

    Attributes
    ----------
    assignment : str
    out_of : float
    cells : mapping of str to float
        Graded cells by grade id, and their points.
    due : datetime or None
        In UTC.
    students : tuple of StudentGrades
        All that the gradebook knows, by id.
    """

    assignment: str
    out_of: float
    cells: Mapping[str, float]
    due: datetime | None
    students: tuple[StudentGrades, ...] = field(default=())

    @property
    def waiting(self) -> Waiting:
        """Who and what waits for a person."""
        those = [one for one in self.students if one.waiting]
        whole = [one for one in those if one.run and one.run.status is Status.SET_ASIDE]
        return Waiting(len(those), sum(len(o.waiting) for o in those if o not in whole))

    @functools.cached_property
    def handed_in(self) -> tuple[StudentGrades, ...]:
        """Those of whom there is a submission or a run."""
        return tuple(one for one in self.students if one.submitted or one.run)


def standing(course: Course, assignment: str, url: str | None = None) -> ClassStanding:
    """Read how a class stands; eight queries, however large it is.

    Raises
    ------
    GradebookError
        If the gradebook cannot be read, or does not hold the assignment.
    """
    with gradebook(course, url) as book:
        found = book.db.query(Assignment).filter_by(name=assignment).one_or_none()
        if found is None:
            remedy = entering(course, url or database_url(course), assignment)
            raise GradebookError(f"{assignment} is not in the gradebook: {remedy}")
        # In one query: a notebook's own list of its cells asks for each of them.
        rows = (
            book.db.query(GradeCell.name, GradeCell.max_score)
            .join(Notebook, GradeCell.notebook_id == Notebook.id)
            .filter(Notebook.assignment_id == found.id)
            .order_by(Notebook.name)
        )
        cells = {name: float(most) for name, most in rows}
        return ClassStanding(
            assignment, sum(cells.values()), cells, found.duedate, _students(book, assignment)
        )


def _students(book: Gradebook, assignment: str) -> tuple[StudentGrades, ...]:
    people = {student.id: student for student in book.db.query(Student).all()}
    submitted = _submitted(book, assignment)
    graded = _cells(book, assignment)
    comments = _comments(book, assignment)
    runs = {
        row.student: Run(
            Status(row.status),
            row.reason,
            tuple(json.loads(row.notes)),
            json.loads(row.seconds),
            row.sandboxed,
            row.graded_at,
            row.graded_by,
            row.failed_cell,
        )
        for row in book.db.execute(sql.select(RUNS).where(RUNS.c.assignment == assignment))
    }
    findings = defaultdict(list)
    for row in book.db.execute(
        sql.select(FINDINGS)
        .where(FINDINGS.c.assignment == assignment)
        .order_by(FINDINGS.c.student, FINDINGS.c.place)
    ):
        said = Finding(
            row.grade_id,
            row.task,
            row.points,
            row.out_of,
            json.loads(row.verdict),
            row.reason,
            row.waits,
        )
        findings[row.student].append(said)
    return tuple(
        StudentGrades(
            name,
            **_person(people.get(name)),
            **submitted.get(name, {}),
            cells=tuple(graded.get(name, ())),
            comments=tuple(comments.get(name, ())),
            run=runs.get(name),
            findings=tuple(findings.get(name, ())),
        )
        for name in sorted(people.keys() | runs)
    )


def _person(student: Student | None) -> dict[str, Any]:
    columns = ("last_name", "first_name", "email", "lms_user_id")
    return {name: str(getattr(student, name, None) or "") for name in columns}


def _submitted(book: Gradebook, assignment: str) -> dict[str, dict[str, Any]]:
    """When each student handed in and should have, and the penalty for it."""
    rows = (
        book.db.query(
            SubmittedAssignment.student_id,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            Assignment.duedate,
            sql.func.coalesce(sql.func.sum(SubmittedNotebook.late_submission_penalty), 0.0),
        )
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .filter(Assignment.name == assignment)
        .group_by(
            SubmittedAssignment.student_id,
            SubmittedAssignment.timestamp,
            SubmittedAssignment.extension,
            Assignment.duedate,
        )
    )
    return {
        student: {
            "submitted": True,
            "timestamp": timestamp,
            "due": due + (extension or timedelta()) if due else None,
            "extension": extension,
            "penalty": float(penalty),
        }
        for student, timestamp, extension, due, penalty in rows
    }


def _comments(book: Gradebook, assignment: str) -> dict[str, list[tuple[str, str]]]:
    """What was written about each student's answers."""
    rows = (
        book.db.query(SubmittedAssignment.student_id, SolutionCell.name, Comment)
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Comment, Comment.notebook_id == SubmittedNotebook.id)
        .join(SolutionCell, Comment.cell_id == SolutionCell.id)
        .filter(Assignment.name == assignment)
        .order_by(SolutionCell.name)
    )
    found = defaultdict(list)
    for student, name, comment in rows:
        if comment.comment:
            found[student].append((name, str(comment.comment)))
    return found


def _cells(book: Gradebook, assignment: str) -> dict[str, list[Cell]]:
    rows = (
        book.db.query(
            SubmittedAssignment.student_id,
            GradeCell.name,
            GradeCell.max_score,
            Grade.score,
            Grade.needs_manual_grade,
            Grade.manual_score,
        )
        .join(Assignment, SubmittedAssignment.assignment_id == Assignment.id)
        .join(SubmittedNotebook, SubmittedNotebook.assignment_id == SubmittedAssignment.id)
        .join(Notebook, SubmittedNotebook.notebook_id == Notebook.id)
        .join(Grade, Grade.notebook_id == SubmittedNotebook.id)
        .join(GradeCell, Grade.cell_id == GradeCell.id)
        .filter(Assignment.name == assignment)
        .order_by(GradeCell.name)
    )
    cells = defaultdict(list)
    for student, name, out_of, score, waits, manual in rows:
        cells[student].append(
            Cell(name, float(score or 0.0), float(out_of), bool(waits), manual is not None)
        )
    return cells
