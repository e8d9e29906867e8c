"""One grader at a time: of a course's folder, and of a database that several machines share."""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterator
from typing import TYPE_CHECKING

import filelock

from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.errors import AlreadyGradingError

if TYPE_CHECKING:
    from sqlalchemy import Connection

# "course", as a number: the graders' own among the advisory locks of a database.
GRADERS_LOCK = int.from_bytes(b"course", "big")

_TAKE = "select pg_try_advisory_lock(:key)"
_NAME = "select set_config('application_name', :name, false)"
_HOLDER = """
select application_name from pg_locks join pg_stat_activity using (pid)
where locktype = 'advisory' and granted and objsubid = 1
  and (classid::bigint << 32 | objid::bigint) = :key and datname = current_database()
"""


@contextlib.contextmanager
def folder(course: Course) -> Iterator[None]:
    """Hold a course's folder; the system gives it back when the process ends, however it ends.

    Raises
    ------
    AlreadyGradingError
        If another process holds it; says which.
    """
    path = course.root / ".grading.lock"
    lock = filelock.FileLock(path)
    holder = path.with_suffix(".holder")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout as error:
        said = holder.read_text(encoding="utf-8") if holder.is_file() else ""
        raise _held(said) from error
    try:
        write_atomically(holder, _myself())
        yield
    finally:
        holder.unlink(missing_ok=True)
        lock.release()


@contextlib.contextmanager
def database(url: str) -> Iterator[None]:
    """Hold a PostgreSQL database against graders on other machines; nothing for a file.

    The lock belongs to a connection: the server gives it back when that ends, however it ends.

    Raises
    ------
    AlreadyGradingError
        If another grader holds it; says which.
    GradebookError
        If the server cannot be asked.
    """
    from course_grader.gradebook.database import explained

    with explained(url):
        connection = _locked(url)
    try:
        yield
    finally:
        if connection is not None:
            connection.close()


def _locked(url: str) -> Connection | None:
    import sqlalchemy as sql

    if sql.engine.make_url(url).get_backend_name() != "postgresql":
        return None
    # Without a transaction, no server ends the connection for being idle in one.
    engine = sql.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sql.NullPool)
    with contextlib.ExitStack() as stack:
        connection = stack.enter_context(engine.connect())
        key = {"key": GRADERS_LOCK}
        if not connection.execute(sql.text(_TAKE), key).scalar():
            raise _held(connection.execute(sql.text(_HOLDER), key).scalar() or "")
        connection.execute(sql.text(_NAME), {"name": _myself()})
        stack.pop_all()
        return connection


def _myself() -> str:
    return f"process {os.getpid()} on {platform.node()}"


def _held(who: str) -> AlreadyGradingError:
    return AlreadyGradingError(
        f"{who or 'another process'} is grading this course; wait until it has ended, or end it"
    )
