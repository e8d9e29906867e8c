"""How each run went and what its judges found, in two tables of the course's own.

They stand in the gradebook's database, beside nbgrader's tables, in which there is no place for it.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import sqlalchemy as sql

from course_grader.gradebook.database import FINDINGS, RUNS
from course_grader.outcome import Outcome, Status
from course_lib import __version__

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

# Student code has a say in some reasons (an exception's name); what is longer is read by nobody.
MOST_CHARACTERS = 2000


def note(session: Session, outcome: Outcome, key: str, *, sandboxed: bool) -> None:
    """Write how a run went and what its judges found, in place of what stood there before.

    Parameters
    ----------
    session : Session
        Of the gradebook; whoever called commits.
    outcome : Outcome
        One that failed leaves the findings of the run before.
    key : str
        What it was graded under; see `submissions.content_key`.
    sandboxed : bool
        Whether it ran in a sandbox.
    """
    who = {"assignment": outcome.assignment, "student": _storable(outcome.student)[:128]}
    for table in (RUNS, FINDINGS):
        if table is FINDINGS and outcome.status is Status.FAILED:
            continue
        session.execute(
            sql.delete(table).where(
                table.c.assignment == outcome.assignment, table.c.student == who["student"]
            )
        )
    session.execute(
        sql.insert(RUNS),
        {
            **who,
            "key": key,
            "status": outcome.status.value,
            "reason": _storable(outcome.reason),
            "notes": json.dumps(outcome.notes),
            "seconds": json.dumps(dict(outcome.seconds)),
            "sandboxed": sandboxed,
            "graded_at": datetime.now(UTC).replace(tzinfo=None),
            "graded_by": __version__,
        },
    )
    rows = [
        {
            **who,
            "grade_id": task.grade_id,
            "place": place,
            "task": task.task,
            "points": task.points,
            "out_of": task.out_of,
            "verdict": json.dumps(dict(task.verdict)),
            "reason": _storable(task.reason),
        }
        for place, task in enumerate(outcome.tasks)
    ]
    if rows:
        session.execute(sql.insert(FINDINGS), rows)


def _storable(text: str) -> str:
    """Text that every database takes: PostgreSQL refuses NUL, and no driver takes half a pair."""
    whole = (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )
    return whole if len(whole) <= MOST_CHARACTERS else whole[:MOST_CHARACTERS] + " …"
