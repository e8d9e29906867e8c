"""Who handed in late, and what that costs: counted from times, dates and extensions, with no run.

The time that counts is the learning platform's, as `course collect --times` wrote it beside each
submission. Due dates come from `nbgrader_config.py` or formgrader, extensions from a table, and the
policy is a plugin of nbgrader's (`PercentPerDay`, or one of your own).
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.errors import CourseNotFoundError, NothingToGradeError, UnreadableSheetError
from course_grader.file_names import composed
from course_grader.lms import records, times
from course_grader.lms.entries import MEGABYTE, shown
from course_grader.lms.sheets import no_table
from course_grader.options import CourseGrade
from course_grader.submissions import Submission, submissions
from course_lib.errors import ConfigError

if TYPE_CHECKING:
    from course_grader.gradebook.record import Recorder

_COLUMNS = ("student", "assignment", "until")


@dataclass(frozen=True)
class Settled:
    """What counting lateness anew changed.

    Attributes
    ----------
    changed : tuple of str
        Students whose time, extension or penalty is another one now.
    strangers : tuple of str
        Whom the table of extensions names, and who handed nothing in under that name or number.
    """

    changed: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()


def settle(recorder: Recorder, assignment: str) -> Settled:
    """Bring times, due date, extensions and penalties of an assignment up to date.

    Raises
    ------
    ConfigError
        If `nbgrader_config.py` gives a due date that is none, or one of no assignment.
    UnreadableSheetError
        If the table of extensions cannot be read; says which line.
    GradebookError, NotWrittenError
    """
    course = recorder.course
    options = CourseGrade.of(course)
    try:
        handed_in = submissions(course, assignment)
    except NothingToGradeError:
        handed_in = []
    due = due_date(course, options.due, assignment)
    until: Mapping[str, datetime] | None = None
    strangers: tuple[str, ...] = ()
    if options.extensions:
        known = due or recorder.due(assignment)
        given = read_extensions(course, course.root / options.extensions).get(assignment, {})
        if given and known is None:
            raise ConfigError(
                f"{options.extensions} extends {assignment}, which has no due date: set "
                f'c.CourseGrade.due = {{"{assignment}": "2026-03-01 10:00 +01:00"}} in '
                "nbgrader_config.py, or a due date in formgrader"
            )
        until, strangers = _by_folder(course, assignment, given, [o.student for o in handed_in])
        for student, time in until.items():
            if known is not None and time < known:
                raise UnreadableSheetError(
                    f"{options.extensions} extends {assignment} for {student} to {time} UTC, which "
                    f"is before it is due for everybody ({known} UTC): give a later time"
                )
    when = {one.student: one.timestamp for one in handed_in if not one.misnamed}
    changed = recorder.settle_lateness(assignment, when, due, until)
    for one in handed_in:
        _note_time(course, one)
    return Settled(tuple(changed), strangers)


def settle_now(course: Course, assignment: str, url: str | None = None) -> Settled:
    """The same where nothing else is written: since the last time, a hand may have given points.

    Raises
    ------
    ConfigError, UnreadableSheetError, GradebookError, NotWrittenError
        See `settle`.
    """
    from course_grader.gradebook.record import Recorder

    with Recorder(course, url) as recorder:
        return settle(recorder, assignment)


def due_date(course: Course, dates: Mapping[str, str], assignment: str) -> datetime | None:
    """When an assignment is due, in UTC, as the settings say; None where they do not.

    Raises
    ------
    ConfigError
        If a date is none or does not say its zone, or belongs to no assignment.
    """
    found = None
    for name, said in dates.items():
        where = f"c.CourseGrade.due[{name!r}] in nbgrader_config.py"
        try:
            full = course.assignment(str(name))
        except CourseNotFoundError as error:
            raise ConfigError(f"{where}: {error}") from error
        try:
            time = times.moment(where, str(said))
        except UnreadableSheetError as error:
            raise ConfigError(str(error)) from error
        if full == assignment:
            found = time
    return found


def read_extensions(course: Course, path: Path) -> dict[str, dict[str, datetime]]:
    """Until when single students may hand in: by assignment, then by what the table calls them.

    Raises
    ------
    UnreadableSheetError
        If the table cannot be read, or a line names no assignment or no time.
    """
    found: dict[str, dict[str, datetime]] = {}
    for number, row in _rows(path):
        where = f"{path}, line {number}"
        student, assignment, until = (composed((row[name] or "").strip()) for name in _COLUMNS)
        if not (student or assignment or until):
            continue
        if not student:
            raise UnreadableSheetError(f"{where}: no student is named")
        try:
            assignment = course.assignment(assignment)
        except CourseNotFoundError as error:
            raise UnreadableSheetError(f"{where}: {error}") from error
        time = times.moment(where, until)
        if found.setdefault(assignment, {}).setdefault(student, time) != time:
            raise UnreadableSheetError(
                f"{path} extends {assignment} for {shown(student)!r} twice, to different times: "
                "leave one"
            )
    return found


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str | None]]]:
    try:
        if path.stat().st_size > MEGABYTE:
            raise UnreadableSheetError(f"{path} has more than 1 MB; a class's extensions have less")
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            missing = sorted(set(_COLUMNS) - set(table.fieldnames or ()))
            if missing:
                there = ", ".join(table.fieldnames or ()) or "nothing"
                raise UnreadableSheetError(
                    f"{path} has no column {' and no column '.join(missing)}; it has {there}"
                )
            for row in table:
                yield table.line_num, row
    except OSError as error:
        raise UnreadableSheetError(
            f"{path} cannot be read: {error.strerror}. c.CourseGrade.extensions in "
            "nbgrader_config.py names it: correct the name, or make it empty"
        ) from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise no_table(path, error) from error


def _by_folder(
    course: Course, assignment: str, given: Mapping[str, datetime], students: list[str]
) -> tuple[dict[str, datetime], tuple[str, ...]]:
    """Extensions by student's folder, and whom the table names that handed nothing in."""
    known = records.read(course, assignment)
    found: dict[str, datetime] = {}
    used: set[str] = set()
    for student in students:
        record = known.get(student, records.Record())
        for name, time in given.items():
            if times.names(name, student, record.platform, record.number):
                used.add(name)
                if found.setdefault(student, time) != time:
                    raise UnreadableSheetError(
                        f"the table of extensions names {student} by folder and by number, with "
                        f"different times for {assignment}: leave one"
                    )
    return found, tuple(sorted(given.keys() - used))


def _note_time(course: Course, one: Submission) -> None:
    """formgrader shows a submission as graded if both sides say the same time."""
    graded = course.autograded / one.student / one.assignment
    stamp = graded / "timestamp.txt"
    if not (graded / f"{one.assignment}.ipynb").is_file():
        return
    before = stamp.read_text(encoding="utf-8", errors="replace") if stamp.is_file() else ""
    if one.stamp and one.stamp != before.strip():
        write_atomically(stamp, one.stamp)
    elif not one.stamp and stamp.is_file():
        stamp.unlink()
