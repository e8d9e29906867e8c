"""One submission: prepared in a child, run in the sandbox, judged in the child; an outcome comes of
it, whatever it does.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from course_grader.assignment import Check
from course_grader.errors import (
    MachineError,
    NotWrittenError,
    NoVerdictError,
    UnreadableNotebookError,
)
from course_grader.judge_job import Job, Prepared
from course_grader.judge_pool import Handling, JudgePool
from course_grader.outcome import Outcome, Status
from course_grader.sandbox.bubblewrap import IsolationMode
from course_grader.sandbox.protocol import RunResult
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_grader.submissions import Submission
from course_tasks.runner.limits import MEGABYTE, Limits


class Runner(Protocol):
    """What runs submissions: a sandbox on this machine, or those of a cluster's workers."""

    form: IsolationMode

    @property
    def slots(self) -> int:
        """How many submissions it runs at once without their waiting for each other."""

    def run(
        self,
        work: SanitizedSubmission,
        inputs: Mapping[str, bytes],
        limits: Limits,
        *,
        alone: bool = False,
    ) -> RunResult:
        """See `Sandbox.run`."""


@dataclass(frozen=True)
class ClassSettings:
    """What is the same for every submission of a class.

    Attributes
    ----------
    released : str
        The released notebook as JSON.
    checks : mapping of str to Check
        Its checks that a judge awards points for, by grade id.
    places : callable (Submission) -> (Path, Path)
        Where its autograded notebook and its page of feedback are written.
    limits : Limits
    notebook_megabytes : int
        Larger notebooks are not opened.
    book : str
        Address of the published book; empty: no links in feedback.
    sandboxed : bool
    at_once : int
        How many submissions are under way at the same time.
    seed : int
        That the inputs of all tasks are drawn from: a new one at each command, which nobody can
        foresee, and one for all, so that equal answers earn equal points.
    """

    released: str
    checks: Mapping[str, Check]
    places: Callable[[Submission], tuple[Path, Path]]
    limits: Limits
    notebook_megabytes: int = 10
    book: str = ""
    sandboxed: bool = True
    at_once: int = 1
    seed: int = field(default_factory=lambda: secrets.randbits(63))

    @property
    def tasks(self) -> tuple[str, ...]:
        """Names of all tasks that are judged."""
        return tuple(check.task for check in self.checks.values() if check.task)


def grade_one(
    one: Submission,
    whole: ClassSettings,
    runner: Runner,
    judges: JudgePool,
    *,
    hurry: float | None = None,
    alone: bool = False,
) -> Outcome:
    """Take one submission from its file to its pages; whatever it does, this returns.

    Parameters
    ----------
    one : Submission
    whole : ClassSettings
    runner : Runner
    judges : JudgePool
    hurry : float, optional
        Seconds after which its run is ended because others wait; it is postponed then.
    alone : bool
        Whether nothing else runs beside it. Only then it is decided what a run means that proved
        nothing; before, it is postponed.

    Raises
    ------
    NotWrittenError
        If its pages cannot be written: there is no room for anybody's.
    """
    failed = Outcome(one.student, one.assignment, Status.FAILED)
    if one.misnamed:
        return replace(failed, reason=one.misnamed)
    try:
        file, reason = _opened(one, whole)
        job = job_of(one, whole, file)
        keep = whole.at_once <= judges.count
        with Handling(judges, job, whole.checks, keep=keep) as handling:
            if file is None:
                return handling.set_aside(reason)
            prepared = handling.prepare()
            if isinstance(prepared, Outcome):
                return prepared
            return _run(handling, prepared, failed, whole, runner, hurry, alone)
    except NotWrittenError:
        raise
    except MachineError as error:
        return replace(failed, reason=str(error))
    except Exception as error:  # a fault of the grader is nobody's zero, and stops nobody
        return replace(failed, reason=f"the grader failed: {type(error).__name__}: {error}")


def _run(
    handling: Handling,
    prepared: Prepared,
    failed: Outcome,
    whole: ClassSettings,
    runner: Runner,
    hurry: float | None,
    alone: bool,
) -> Outcome:
    """Run what was prepared, and say what that means."""
    limits = whole.limits
    if hurry is not None and hurry < limits.total_seconds:
        limits = replace(limits, total_seconds=hurry)
    try:
        ran = runner.run(prepared.work, prepared.inputs, limits, alone=alone)
    except NoVerdictError as error:
        return handling.set_aside(str(error))
    except MachineError as error:
        if not alone:
            return _alone_again(failed, str(error))
        if not works(runner, whole.limits):
            raise
        return handling.set_aside(
            "its run failed twice, the second time with nothing beside it, and an honest run right "
            f"after that did not: {error}. Run it by hand"
        )
    if ran.repeat and not alone:
        return _alone_again(failed, ran.repeat)
    if ran.repeat:
        return handling.set_aside(
            f"its run proved nothing twice, the second time with nothing beside it: {ran.repeat}. "
            "Run it by hand"
        )
    if limits is not whole.limits and ran.ended and ran.seconds >= limits.total_seconds:
        reason = f"took more than {hurry:g} s: others first, then again with all its time"
        return replace(failed, status=Status.POSTPONED, reason=reason)
    return handling.finish(ran)


def job_of(one: Submission, whole: ClassSettings, file: Path | None) -> Job:
    """What a child of the judges is told of a submission, with the seed of its class.

    Parameters
    ----------
    one : Submission
    whole : ClassSettings
    file : Path or None
        The notebook that is opened, if any.
    """
    graded, page = whole.places(one)
    return Job(
        one.student,
        one.assignment,
        file,
        one.stamp,
        whole.released,
        graded,
        page,
        whole.seed,
        whole.limits,
        whole.book,
        whole.sandboxed,
    )


def works(runner: Runner, limits: Limits) -> bool:
    """Whether an honest run comes to its end right now."""
    try:
        ran = runner.run(SanitizedSubmission((Step("code", "1 + 1"),)), {}, limits, alone=True)
    except (MachineError, NoVerdictError):
        return False
    return len(ran.raw) == 1 and not ran.ended and not ran.repeat


def _alone_again(failed: Outcome, why: str) -> Outcome:
    reason = f"will be run again, alone: {why}"
    return replace(failed, status=Status.POSTPONED, reason=reason, alone=True)


def _opened(one: Submission, whole: ClassSettings) -> tuple[Path | None, str]:
    """The notebook that is to be opened, or None and why no notebook is."""
    try:
        path = one.notebook
        size = path.stat().st_size / MEGABYTE
    except UnreadableNotebookError as error:
        return None, str(error)
    except OSError as error:
        return None, f"the notebook cannot be read: {error.strerror}"
    if size > whole.notebook_megabytes:
        return None, (
            f"{path.name} has {size:.0f} MB; more than {whole.notebook_megabytes} MB are not "
            "opened. Open it by hand, or raise c.CourseGrade.notebook_megabytes"
        )
    return path, ""
