"""A second gradebook with the same content, to try things on: a file, whatever the first one is."""

from __future__ import annotations

from pathlib import Path

import sqlalchemy as sql
from nbgrader.api import Base

from course_grader.course import Course
from course_grader.gradebook.database import FINDINGS, RUNS, database_url, explained, gradebook

# nbgrader's own note of which version made the tables.
_VERSION = "alembic_version"


def copy(course: Course, target: Path, url: str | None = None) -> str:
    """Copy a gradebook into a file of SQLite.

    Parameters
    ----------
    course : Course
    target : Path
        Must not be there yet.
    url : str, optional
        Of the gradebook that is copied.

    Returns
    -------
    str
        The copy's address.

    Raises
    ------
    GradebookError
        If one of them cannot be used.
    """
    url = url or database_url(course)
    with gradebook(course, url):  # it is one, and of this version
        pass
    address = f"sqlite:///{target}"
    with explained(url):
        source, made = sql.create_engine(url), sql.create_engine(address)
        try:
            with source.connect() as before, made.begin() as after:
                for table in (*Base.metadata.sorted_tables, RUNS, FINDINGS):
                    table.create(after)
                    _copy_rows(before, after, table)
                if sql.inspect(source).has_table(_VERSION):
                    table = sql.Table(_VERSION, sql.MetaData(), autoload_with=source)
                    table.create(after)
                    _copy_rows(before, after, table)
        finally:
            source.dispose()
            made.dispose()
    return address


def _copy_rows(before: sql.Connection, after: sql.Connection, table: sql.Table) -> None:
    rows = [dict(row) for row in before.execute(sql.select(table)).mappings()]
    if rows:
        after.execute(sql.insert(table), rows)
