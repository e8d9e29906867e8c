"""Who stands in the gradebook: names that are entered, and a person who is taken out of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import sqlalchemy as sql
from nbgrader.api import Student

from course_grader.course import Course
from course_grader.gradebook.database import FINDINGS, RUNS, database_url, explained, gradebook

if TYPE_CHECKING:
    from course_grader.lms.roster import Person


def enter(course: Course, people: Mapping[str, Person], url: str | None = None) -> None:
    """Write names, addresses and platform's numbers of students; all of them or none.

    Parameters
    ----------
    course : Course
    people : mapping of str to Person
        By the name of their folder, which is their id in the gradebook.
    url : str, optional
        Of the gradebook.

    Raises
    ------
    GradebookError
        If the gradebook cannot be written; nothing is entered then.
    """
    with gradebook(course, url) as book:
        for folder, person in people.items():
            row = book.db.get(Student, folder)
            if row is None:
                row = Student(id=folder)
                book.db.add(row)
            for name in ("last_name", "first_name", "email", "lms_user_id"):
                if said := getattr(person, name):
                    setattr(row, name, said)
        book.db.commit()


def known(course: Course, url: str | None = None) -> tuple[str, ...]:
    """Ids of all students of whom the gradebook knows anything.

    Raises
    ------
    GradebookError
    """
    with gradebook(course, url) as book:
        ids = {student for (student,) in book.db.query(Student.id)}
        for table in (RUNS, FINDINGS):
            ids |= set(book.db.execute(sql.select(table.c.student)).scalars())
        return tuple(sorted(ids))


def names(course: Course, student: str, url: str | None = None) -> tuple[str, ...]:
    """First and last name, address and platform's number of a student, as far as they are known.

    Raises
    ------
    GradebookError
    """
    with gradebook(course, url) as book:
        row = book.db.get(Student, student)
        said = ("first_name", "last_name", "email", "lms_user_id")
        return tuple(str(getattr(row, name) or "") for name in said) if row else ("",) * len(said)


def forget(course: Course, student: str, url: str | None = None) -> bool:
    """Take a student out of the gradebook: name, scores, comments, runs and findings.

    Returns
    -------
    bool
        Whether anything was there.

    Raises
    ------
    GradebookError
        If the gradebook cannot be written; all of it is still there then.
    """
    url = url or database_url(course)
    with gradebook(course, url) as book:
        there = book.db.get(Student, student)
        session = book.db
        runs = [
            session.execute(sql.delete(table).where(table.c.student == student)).rowcount
            for table in (RUNS, FINDINGS)
        ]
        if there is not None:
            for submission in list(there.submissions):
                for notebook in list(submission.notebooks):
                    for part in (*notebook.grades, *notebook.comments):
                        session.delete(part)
                    session.delete(notebook)
                session.flush()
                session.delete(submission)
            session.flush()
            session.delete(there)
        session.commit()
    _overwrite(url)
    return there is not None or any(runs)


def _overwrite(url: str) -> None:
    """SQLite keeps what was deleted in pages that it does not use; write the file anew without."""
    with explained(url):
        engine = sql.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sql.NullPool)
        if engine.dialect.name != "sqlite":
            return
        with engine.connect() as connection:
            connection.execute(sql.text("vacuum"))
