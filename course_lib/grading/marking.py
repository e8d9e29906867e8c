"""One submission: read, made safe, run and judged; whatever it does, an outcome comes of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from course_lib.errors import CourseError, MachineFailed, NotebookUnreadable, NoVerdict
from course_lib.grading.assignment import Check, read
from course_lib.grading.judgement import Judges
from course_lib.grading.outcome import Outcome, Results, Status
from course_lib.grading.sandbox.exchange import Ran, read_steps
from course_lib.grading.sandbox.inside.limits import Limits
from course_lib.grading.sandbox.sanitise import Work, sanitise
from course_lib.grading.sandbox.walls import Form
from course_lib.grading.submissions import MOST_NOTEBOOK_BYTES, Submission

if TYPE_CHECKING:
    from nbformat import NotebookNode

WITHOUT_SANDBOX = "This was graded without a sandbox: the notebook could reach the grader's files."


class Runs(Protocol):
    """Whatever runs a submission out of reach: a sandbox here, or many elsewhere."""

    form: Form

    @property
    def slots(self) -> int:
        """How many submissions it runs at once without their waiting for each other."""

    def run(self, work: Work, inputs: Mapping[str, bytes], limits: Limits) -> Ran:
        """See `Sandbox.run`."""


def grade_one(
    submission: Submission, released: NotebookNode, limits: Limits, runner: Runs, judges: Judges
) -> Outcome:
    """Read, make safe, run and judge one submission; whatever it does, this returns."""
    outcome = Outcome(submission.student, submission.assignment, Status.FAILED)
    if submission.misnamed:
        return replace(outcome, reason=submission.misnamed)
    began = time.monotonic()
    try:
        path = submission.notebook
        if path.stat().st_size > MOST_NOTEBOOK_BYTES:
            raise NotebookUnreadable(
                f"{path.name} has {path.stat().st_size / 2**20:.0f} MB; "
                f"more than {MOST_NOTEBOOK_BYTES // 2**20} MB are not read"
            )
        work = sanitise(released, read(path))
    except (CourseError, OSError) as error:
        words = str(error).replace(f"{submission.folder}/", "")
        return replace(outcome, status=Status.SET_ASIDE, reason=words)
    except Exception as error:  # a file that no reader foresaw is a person's to look at
        words = f"the notebook cannot be read: {type(error).__name__}: {error}"
        return replace(outcome, status=Status.SET_ASIDE, reason=words)
    notes = work.notes if runner.form != "bare" else (*work.notes, WITHOUT_SANDBOX)
    outcome = replace(outcome, work=work, notes=notes)
    try:
        return _run_and_judge(outcome, work, limits, runner, judges, time.monotonic() - began)
    except NoVerdict as error:
        return replace(outcome, status=Status.SET_ASIDE, reason=str(error))
    except MachineFailed as error:
        return replace(outcome, reason=str(error))
    except Exception as error:  # a fault of the grader is nobody's zero, and stops nobody
        return replace(outcome, reason=f"the grader failed: {type(error).__name__}: {error}")


def _run_and_judge(
    outcome: Outcome, work: Work, limits: Limits, runner: Runs, judges: Judges, took: float
) -> Outcome:
    seeds, inputs = judges.draw([check.task for check in work.checks if check.task])
    ran = runner.run(work, inputs, limits)
    if ran.repeat:
        raise MachineFailed(ran.repeat)
    steps, odd = read_steps(ran, work, limits)
    results = Results(steps, odd or ran.ended, ran.seconds)
    judged = time.monotonic()
    tasks = judges.judge(_asked(work, results), seeds)
    seconds = {"read": took, "run": ran.seconds, "judge": time.monotonic() - judged}
    return replace(
        outcome,
        status=Status.GRADED,
        reason=results.ended,
        tasks=tasks,
        ran=results,
        seconds=seconds,
    )


def _asked(work: Work, ran: Results) -> list[tuple[Check, bytes, str]]:
    """For each check its answers, or why there are none."""
    left = list(ran.steps)
    asked = []
    for step in work.steps:
        if step.kind not in ("code", "check"):
            continue
        result = left.pop(0) if left else None
        if step.check is None:
            continue
        if result is None:
            # Why stands at the top of the page, once.
            asked.append((step.check, b"", "The run ended before this check."))
        else:
            asked.append((step.check, result.answers, result.problem))
    return asked
