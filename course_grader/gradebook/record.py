"""Into nbgrader's gradebook: one writer, and one transaction for what came in the same moment.

The rows are those that `nbgrader autograde` would leave, so that formgrader, manual grading, late
penalties and exports go on working.
"""

from __future__ import annotations

import contextlib
import functools
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import sqlalchemy as sql
from nbgrader.api import (
    Assignment,
    Comment,
    Grade,
    Student,
    SubmittedAssignment,
    SubmittedNotebook,
)

from course_grader.course import Course
from course_grader.errors import GradebookError
from course_grader.gradebook import runs
from course_grader.gradebook.cell_rows import CellRows
from course_grader.gradebook.database import (
    RUNS,
    database_url,
    entering,
    explained,
    gradebook,
)
from course_grader.options import CourseGrade
from course_grader.outcome import Outcome, Status

if TYPE_CHECKING:
    from nbgrader.plugins import LateSubmissionPlugin

# A person who saves a score in formgrader holds the file for a moment; SQLite itself waits five
# seconds each time.
TIMES_TO_TRY = 10
SECONDS_BETWEEN = 1.0


@dataclass(frozen=True)
class Graded:
    """What is recorded of a submission.

    Attributes
    ----------
    outcome : Outcome
    key : str
        What it was graded under, for `Recorder.keys`.
    timestamp : datetime or None
        When it was handed in, in UTC.
    same_work : bool
        Whether it is known to be what was graded before: what a person has looked at then need not
        be looked at again.
    """

    outcome: Outcome
    key: str
    timestamp: datetime | None = None
    same_work: bool = False


class Recorder:
    """The one writer of a gradebook; use it as a context manager.

    Parameters
    ----------
    course : Course
    url : str, optional
        Of the database; `nbgrader_config.py` or `gradebook.db` in the course's folder by default.
    sandboxed : bool
        Whether what is recorded ran in a sandbox; the class report says where it did not.

    Attributes
    ----------
    book : Gradebook
        nbgrader's own, open as long as this is.

    Raises
    ------
    GradebookError
        If the database cannot be opened or is of another version.
    """

    def __init__(self, course: Course, url: str | None = None, *, sandboxed: bool = True):
        self.course = course
        self.url = url or database_url(course)
        self.sandboxed = sandboxed
        with contextlib.ExitStack() as stack:
            self.book = stack.enter_context(gradebook(course, self.url))
            self._open = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._open.close()

    @functools.cached_property
    def _late(self) -> LateSubmissionPlugin:
        """What takes points off; its import takes a quarter of a second that few classes need."""
        return late_plugin(self.course)

    @functools.cached_property
    def _zone(self) -> tzinfo:
        """Whose days are counted."""
        return CourseGrade.of(self.course).zone()

    def prepare(self, assignment: str) -> None:
        """See that the assignment is there and is the one that was released.

        Raises
        ------
        GradebookError
            If it is not in the gradebook, or its cells are others than those of the exercises.
        """
        from course_grader.assignment import Assignment as Cells
        from course_grader.assignment import read

        path = self.course.exercises / assignment / f"{assignment}.ipynb"
        cells = Cells.of(read(path))
        wanted = {check.grade_id: check.points for check in cells.checks}
        wanted |= {question.grade_id: question.points for question in cells.questions}
        known: dict[str, float] = {}
        with explained(self.url):
            found = self._assignment(assignment)
            if found.duedate is not None:
                _ = self._late  # a faulty one is said before anything is graded
            for notebook in found.notebooks:
                known |= {cell.name: cell.max_score for cell in notebook.grade_cells}
        if wanted != known:
            differing = sorted(
                name for name in wanted.keys() | known if wanted.get(name) != known.get(name)
            )
            raise GradebookError(
                f"{assignment} was changed since it was entered into the gradebook "
                f"({', '.join(differing)}): {entering(self.course, self.url, assignment)}"
            )

    def keys(self, assignment: str) -> dict[str, str]:
        """Content keys under which students' submissions have been graded already."""
        with explained(self.url):
            rows = self.book.db.execute(
                sql.select(RUNS.c.student, RUNS.c.key).where(
                    RUNS.c.assignment == assignment, RUNS.c.status != Status.FAILED.value
                )
            )
            return {row.student: row.key for row in rows}

    def latest(self, assignment: str) -> datetime | None:
        """When a submission of an assignment was last recorded, in UTC; None if none ever was."""
        with explained(self.url):
            return self.book.db.execute(
                sql.select(sql.func.max(RUNS.c.graded_at)).where(RUNS.c.assignment == assignment)
            ).scalar()

    def record(
        self,
        outcome: Outcome,
        key: str,
        timestamp: datetime | None = None,
        *,
        same_work: bool = False,
    ) -> None:
        """Write one submission; see `record_all`."""
        self.record_all([Graded(outcome, key, timestamp, same_work)])

    def record_all(self, graded: Sequence[Graded]) -> None:
        """Write submissions, all of them or nothing; ten at once take half the time.

        Parameters
        ----------
        graded : sequence of Graded
            Points given by hand stay; those of a failed run are left as they were.

        Raises
        ------
        GradebookError
            If the database refuses, for example because the disk is full. Nothing is written then.
        """
        with explained(self.url):
            for tried in range(1, TIMES_TO_TRY + 1):
                try:
                    self._write(graded)
                    return
                except sql.exc.OperationalError as error:
                    if "locked" not in str(error) or tried == TIMES_TO_TRY:
                        raise
                    time.sleep(SECONDS_BETWEEN)

    def due(self, assignment: str) -> datetime | None:
        """When an assignment is due, in UTC; None if nobody said."""
        with explained(self.url):
            found: datetime | None = self._assignment(assignment).duedate
            return found

    def settle_lateness(
        self,
        assignment: str,
        times: Mapping[str, datetime | None],
        due: datetime | None,
        extended: Mapping[str, datetime] | None,
    ) -> list[str]:
        """Count anew who is late and what it costs; no submission is run or judged for it.

        Parameters
        ----------
        assignment : str
        times : mapping of str to datetime or None
            When each student handed in, in UTC; who is not in it keeps the time that is known.
        due : datetime or None
            In UTC; None leaves what the gradebook says.
        extended : mapping of str to datetime, or None
            Until when single students may hand in; all others then have no extension. None leaves
            what the gradebook says.

        Returns
        -------
        list of str
            Students of whom something changed.

        Raises
        ------
        GradebookError
            If the database refuses. Nothing is written then.
        """
        session = self.book.db
        changed = []
        with explained(self.url):
            try:
                found = self._assignment(assignment)
                if due is not None:
                    found.duedate = due
                # With their notebooks, which would be fetched one by one.
                for submission in (
                    session.query(SubmittedAssignment)
                    .options(sql.orm.selectinload(SubmittedAssignment.notebooks))
                    .filter_by(assignment_id=found.id)
                    .all()
                ):
                    student = submission.student_id
                    before = _lateness(submission)
                    submission.timestamp = times.get(student, submission.timestamp)
                    if extended is not None and found.duedate is not None:
                        until = extended.get(student)
                        submission.extension = until - found.duedate if until else None
                    if session.is_modified(submission):
                        session.flush()
                    self._take_off(submission, student)
                    if _lateness(submission) != before:
                        changed.append(student)
                session.commit()
            except BaseException:
                session.rollback()
                raise
        return sorted(changed)

    def runs(self, assignment: str) -> list[Mapping[str, Any]]:
        """How each submission of an assignment went, by student."""
        with explained(self.url):
            rows = self.book.db.execute(
                sql.select(RUNS).where(RUNS.c.assignment == assignment).order_by(RUNS.c.student)
            )
            return [dict(row) for row in rows.mappings()]

    def _write(self, graded: Sequence[Graded]) -> None:
        session = self.book.db
        recorded = [one for one in graded if one.outcome.status is not Status.FAILED]
        try:
            # Everything in one go: each look of the session at what is new takes milliseconds.
            with session.no_autoflush:
                written = list(zip(self._submissions(recorded), recorded, strict=True))
            session.flush()
            with session.no_autoflush:
                self._grade(written)
            for submission, one in written:
                self._take_off(submission, one.outcome.student)
            session.flush()
            with session.no_autoflush:
                noted = [(one.outcome, one.key) for one in graded]
                runs.note(session, noted, sandboxed=self.sandboxed)
            session.commit()
        except BaseException:
            session.rollback()
            raise

    def _submissions(self, graded: Sequence[Graded]) -> Iterator[SubmittedAssignment]:
        """The students' rows, with those of their notebooks; what is missing is made."""
        session = self.book.db
        names = {one.outcome.student for one in graded}
        students = {row.id: row for row in session.query(Student).filter(Student.id.in_(names))}
        assignments = {
            name: self._assignment(name) for name in {one.outcome.assignment for one in graded}
        }
        known = {
            (row.assignment_id, row.student_id): row
            for row in session.query(SubmittedAssignment).filter(
                SubmittedAssignment.assignment_id.in_(one.id for one in assignments.values()),
                SubmittedAssignment.student_id.in_(names),
            )
        }
        for one in graded:
            name, assignment = one.outcome.student, assignments[one.outcome.assignment]
            if name not in students:
                students[name] = Student(id=name)
                session.add(students[name])
            submission = known.get((assignment.id, name))
            if submission is None:
                submission = SubmittedAssignment(assignment=assignment, student=students[name])
                known[assignment.id, name] = submission
                session.add(submission)
            submission.timestamp = one.timestamp
            mine = {each.notebook for each in submission.notebooks}
            for notebook in assignment.notebooks:
                if notebook not in mine:
                    session.add(SubmittedNotebook(notebook=notebook, assignment=submission))
            yield submission

    def _assignment(self, name: str) -> Assignment:
        found = self.book.db.query(Assignment).filter_by(name=name).one_or_none()
        if found is None or not found.notebooks:
            raise GradebookError(
                f"{name} is not in the gradebook: {entering(self.course, self.url, name)}"
            )
        return found

    def _grade(self, written: Sequence[tuple[SubmittedAssignment, Graded]]) -> None:
        """A grade and a comment for every cell that has one, as plain rows: nbgrader's objects of
        them, some twenty a submission, would take most of the time.
        """
        ids = [each.id for submission, _ in written for each in submission.notebooks]
        grades, comments = CellRows(self.book.db, Grade, ids), CellRows(self.book.db, Comment, ids)
        for submission, one in written:
            points = {task.grade_id: task.points for task in one.outcome.tasks}
            doubted = {task.grade_id for task in one.outcome.tasks if task.waits}
            empty = one.outcome.unanswered
            for notebook in submission.notebooks:
                for cell in notebook.notebook.grade_cells:
                    before = grades.known.get((notebook.id, cell.id))
                    # What no judge looked at, or could not find, waits for a person; an empty
                    # answer needs nobody.
                    score = points.get(cell.name, 0.0 if cell.name in empty else None)
                    by_hand, waits = False, True
                    if before is not None:
                        by_hand, waits = before.manual_score is not None, before.needs_manual_grade
                    looked_at = one.same_work and by_hand and not waits
                    again = score is None or by_hand or cell.name in doubted
                    grades.set(
                        *(notebook.id, cell.id),
                        auto_score=score,
                        needs_manual_grade=again and not looked_at,
                    )
                for cell in notebook.notebook.solution_cells:
                    said = "No response." if cell.name in empty else None
                    comments.set(notebook.id, cell.id, auto_comment=said)
        grades.write()
        comments.write()

    def _take_off(self, submission: SubmittedAssignment, student: str) -> None:
        """Points for being late, from a score that the database adds up."""
        for notebook in submission.notebooks:
            notebook.late_submission_penalty = self._penalty(submission, notebook, student)

    def _penalty(
        self, submission: SubmittedAssignment, notebook: SubmittedNotebook, student: str
    ) -> float | None:
        if submission.total_seconds_late <= 0:
            return None
        # nbgrader's plugins bring what unpacks archives, which most gradings never need.
        from course_grader.gradebook.late_policy import seconds_late

        late = seconds_late(submission.duedate, submission.timestamp, self._zone)
        self.book.db.refresh(notebook)
        penalty = self._late.late_submission_penalty(student, notebook.score, late)
        return None if penalty is None else min(max(float(penalty), 0.0), notebook.score)


def _lateness(submission: SubmittedAssignment) -> tuple[Any, ...]:
    """All that a student's lateness is made of."""
    taken = [notebook.late_submission_penalty for notebook in submission.notebooks]
    return submission.timestamp, submission.extension, *taken


def late_plugin(course: Course) -> LateSubmissionPlugin:
    """What takes points off for being late: `nbgrader_config.py` names it."""
    from nbgrader.preprocessors import AssignLatePenalties

    step = AssignLatePenalties(config=course.settings)
    step.init_plugin()
    return step.plugin_inst
