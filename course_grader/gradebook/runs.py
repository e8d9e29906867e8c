"""How each run went and what its judges found, in two tables of the course's own.

They stand in the gradebook's database, beside nbgrader's tables, in which there is no place for it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
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


def note(session: Session, graded: Sequence[tuple[Outcome, str]], *, sandboxed: bool) -> None:
    """Write how runs went and what their judges found, in place of what stood there before.

    Each statement costs as much as a dozen of its rows, so there is one for all of them.

    Parameters
    ----------
    session : Session
        Of the gradebook; whoever called commits.
    graded : sequence of (Outcome, str)
        Each with what it was graded under; see `submissions.content_key`. One that failed leaves
        the findings of the run before.
    sandboxed : bool
        Whether they ran in a sandbox.
    """
    last = {_who(outcome): (outcome, key) for outcome, key in graded}
    judged = [who for who, (one, _) in last.items() if one.status is not Status.FAILED]
    for table, those in ((RUNS, list(last)), (FINDINGS, judged)):
        for assignment in {assignment for assignment, _ in those}:
            students = [student for name, student in those if name == assignment]
            session.execute(
                sql.delete(table).where(
                    table.c.assignment == assignment, table.c.student.in_(students)
                )
            )
    now = datetime.now(UTC).replace(tzinfo=None)
    runs = [
        {
            "assignment": assignment,
            "student": student,
            "key": key,
            "status": outcome.status.value,
            "reason": _storable(outcome.reason),
            "notes": json.dumps(outcome.notes),
            "seconds": json.dumps(dict(outcome.seconds)),
            "sandboxed": sandboxed,
            "graded_at": now,
            "graded_by": __version__,
            "failed_cell": _storable(outcome.failed_cell),
        }
        for (assignment, student), (outcome, key) in last.items()
    ]
    findings = [
        {
            "assignment": assignment,
            "student": student,
            "grade_id": task.grade_id,
            "place": place,
            "task": task.task,
            "points": task.points,
            "out_of": task.out_of,
            "verdict": json.dumps(dict(task.verdict)),
            "reason": _storable(task.reason),
            "waits": _storable(task.waits),
        }
        for (assignment, student), (outcome, _) in last.items()
        for place, task in enumerate(outcome.tasks)
    ]
    for table, rows in ((RUNS, runs), (FINDINGS, findings)):
        if rows:
            session.execute(sql.insert(table), rows)


def _who(outcome: Outcome) -> tuple[str, str]:
    return outcome.assignment, _storable(outcome.student)[:128]


def _storable(text: str) -> str:
    """Text that every database takes: PostgreSQL refuses NUL, and no driver takes half a pair."""
    whole = (
        text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    )
    return whole if len(whole) <= MOST_CHARACTERS else whole[:MOST_CHARACTERS] + " …"
