"""The gradebook's database: opened with care, with two tables of the course's own in it.

The rows of grades are nbgrader's. Beside them stand how each run went, and what was found in each
task; formgrader and `nbgrader export` do not look at them.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping

import sqlalchemy as sql
from nbgrader.api import Base, Gradebook

from course_grader.course import Course
from course_grader.errors import GradebookError

_TABLES = sql.MetaData()

RUNS = sql.Table(
    "course_runs",
    _TABLES,
    sql.Column("assignment", sql.String(128), primary_key=True),
    sql.Column("student", sql.String(128), primary_key=True),
    sql.Column("key", sql.String(64), nullable=False),
    sql.Column("status", sql.String(16), nullable=False),
    sql.Column("reason", sql.Text, nullable=False),
    sql.Column("notes", sql.Text, nullable=False),
    sql.Column("seconds", sql.Text, nullable=False),
    sql.Column("sandboxed", sql.Boolean, nullable=False),
    sql.Column("graded_at", sql.DateTime, nullable=False),
    sql.Column("graded_by", sql.String(32), nullable=False, server_default=""),
    sql.Column("failed_cell", sql.Text, nullable=False, server_default=""),
)
"""One row a submission: the content key it was graded under, how the run went, which release of the
course graded it (empty: one that did not say so yet), and which cell failed first.
"""

FINDINGS = sql.Table(
    "course_findings",
    _TABLES,
    sql.Column("assignment", sql.String(128), primary_key=True),
    sql.Column("student", sql.String(128), primary_key=True),
    sql.Column("grade_id", sql.String(128), primary_key=True),
    sql.Column("place", sql.Integer, nullable=False),
    sql.Column("task", sql.String(128), nullable=False),
    sql.Column("points", sql.Float, nullable=False),
    sql.Column("out_of", sql.Float, nullable=False),
    sql.Column("verdict", sql.Text, nullable=False),
    sql.Column("reason", sql.Text, nullable=False),
    sql.Column("waits", sql.Text, nullable=False, server_default=""),
)
"""One row a task of a submission: the judge's verdict as JSON, or why there is none; and why a
person has to look before its points stand.

`place` is the task's among the checks of the assignment.
"""

# Columns that gradebooks of earlier releases lack: they are added, empty for what is there already.
_ADDED_LATER = (
    ("course_runs", "graded_by"),
    ("course_runs", "failed_cell"),
    ("course_findings", "waits"),
)

_RESTORE = "The file is damaged, or another program's: put your last copy of it in its place"

# What a driver says, and what helps against it.
_REMEDIES: Mapping[str, str] = {
    "full": "Make room on the disk",
    "No space left": "Make room on the disk",
    "locked": "Another program is writing into it: close formgrader, or wait",
    "readonly": "Give yourself the right to write the file and its folder",
    "unable to open": "See that its folder is there, and yours to write in",
    "not a database": _RESTORE,
    "malformed": _RESTORE,
    "named 'psycopg": 'Install its driver: pip install "psycopg[binary]"',
    "No module named": "The course was tried with SQLite and PostgreSQL only",
    "refused": "See that the database server is running, and that the address is right",
    "authentication failed": "See that the name and the password in the address are right",
    "parse": "An address looks like sqlite:///gradebook.db or postgresql+psycopg://user@host/database",
}

_AFTERWARDS: Mapping[str, str] = {
    _RESTORE: "Then run `course grade`: what was graded since that copy is graded again."
}


@contextlib.contextmanager
def gradebook(course: Course, url: str | None = None) -> Iterator[Gradebook]:
    """A course's gradebook, open; closed at the end of the block.

    Parameters
    ----------
    course : Course
    url : str, optional
        Of the database; by default what `database_url` says.

    Raises
    ------
    GradebookError
        If there is none, if it cannot be opened, or if it is of an older nbgrader. Also if a
        database error leaves the block: whatever was not committed is then not in the gradebook.
    """
    url = url or database_url(course)
    with explained(url):
        engine = sql.create_engine(url)
        try:
            _inspect(engine, url, entering(course, url))
            _TABLES.create_all(engine)
            _add_later_columns(engine)
        finally:
            engine.dispose()
        book = Gradebook(url, str(course.settings.CourseDirectory.get("course_id", "")) or None)
        try:
            yield book
        finally:
            book.close()
            book.engine.dispose()


@contextlib.contextmanager
def explained(url: str) -> Iterator[None]:
    """Say a database's errors in words, with the remedy.

    Raises
    ------
    GradebookError
        In place of every error of SQLAlchemy and of a driver that is not installed.
    """
    try:
        yield
    except (sql.exc.SQLAlchemyError, ModuleNotFoundError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0]
        remedy = next(
            (words for sign, words in _REMEDIES.items() if sign in str(error)),
            "Look after the database",
        )
        raise GradebookError(
            f"the gradebook {without_password(url)} cannot be used: {said}. {remedy}. "
            + _AFTERWARDS.get(remedy, "Then run the command again: what was recorded before stays.")
        ) from error


def database_url(course: Course) -> str:
    """Where the gradebook is: as `nbgrader_config.py` says, or `gradebook.db` beside it."""
    said = course.settings.CourseDirectory.get("db_url")
    return str(said) if said else f"sqlite:///{course.root / 'gradebook.db'}"


def entering(course: Course, url: str, assignment: str = "ASSIGNMENT") -> str:
    """The command that enters an assignment into a gradebook."""
    command = f"course release {assignment} --gradebook"
    if url == database_url(course):
        return command
    return f"{command} --db {shlex.quote(without_password(url))}"


def without_password(url: str) -> str:
    """An address that may be shown."""
    try:
        return sql.engine.make_url(url).render_as_string(hide_password=True)
    except sql.exc.ArgumentError:
        return "at an address that is none" if "@" in url else repr(url)


def _add_later_columns(engine: sql.Engine) -> None:
    there = sql.inspect(engine)
    for table, name in _ADDED_LATER:
        if name in {column["name"] for column in there.get_columns(table)}:
            continue
        kind = _TABLES.tables[table].columns[name].type.compile(engine.dialect)
        with engine.begin() as connection:
            connection.execute(
                sql.text(f"alter table {table} add column {name} {kind} not null default ''")
            )


def _inspect(engine: sql.Engine, url: str, remedy: str) -> None:
    """Refuse what is not a gradebook of this nbgrader, before anything is written into it."""
    file = engine.url.database
    if engine.dialect.name == "sqlite" and file and file != ":memory:":
        from pathlib import Path

        if not Path(file).exists():
            raise GradebookError(f"there is no gradebook {file}: make one with {remedy}")
    there = sql.inspect(engine)
    tables = set(there.get_table_names())
    if not tables:
        raise GradebookError(
            f"the gradebook {without_password(url)} is empty: {remedy} enters an assignment into it"
        )
    if "assignment" not in tables:
        raise GradebookError(
            f"{without_password(url)} is not a gradebook, it holds: "
            f"{', '.join(sorted(tables)[:5])}. Give the address of another database"
        )
    for table in (*Base.metadata.tables.values(), *_TABLES.tables.values()):
        if table.name not in tables:
            if table.metadata is _TABLES:
                continue
            missing = {"all of it"}
        else:
            missing = set(table.columns.keys()) - {
                column["name"] for column in there.get_columns(table.name)
            }
            missing -= {name for owner, name in _ADDED_LATER if owner == table.name}
        if missing:
            raise GradebookError(
                f"the gradebook {without_password(url)} is of another version: its table "
                f"{table.name} lacks {', '.join(sorted(missing))}. Back it up, then: "
                + (
                    f"drop the table {table.name}; grading fills it again"
                    if table.metadata is _TABLES
                    else "nbgrader db upgrade"
                )
            )
