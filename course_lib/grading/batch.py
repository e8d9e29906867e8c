"""A class in, a gradebook out: many runners, one writer.

Each submission is read, made safe, run in the sandbox and judged by one of a few threads, which
mostly wait for other processes. The results come back here, and only here anything is written.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from course_lib.errors import (
    AssignmentFaulty,
    ClockBehind,
    NotWritten,
)
from course_lib.grading import locks
from course_lib.grading.assignment import read
from course_lib.grading.course import Course
from course_lib.grading.judgement import Judges
from course_lib.grading.marking import Runs, grade_one
from course_lib.grading.options import CourseGrade
from course_lib.grading.outcome import Outcome, Status
from course_lib.grading.reports.pages import places, publish
from course_lib.grading.sandbox.inside.limits import Limits
from course_lib.grading.sandbox.runs import cores
from course_lib.grading.sandbox.selftest import proven
from course_lib.grading.sandbox.walls import Form
from course_lib.grading.submissions import (
    Submission,
    basis,
    content_key,
    submissions,
)

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from nbformat import NotebookNode

    from course_lib.grading.gradebook.record import Recorder

# More than one submission in waiting for each runner keeps it busy; many more would only hold
# memory.
WAITING_FOR_EACH_RUNNER = 2

# jsonschema imports it to check international addresses, which no notebook's format has; building
# its grammar takes a second, half of what importing nbgrader takes.
SLOW_GRAMMAR = "rfc3987_syntax"

# Clocks of two machines that share a gradebook may differ by some seconds.
TOLERATED_CLOCK = timedelta(minutes=5)


@dataclass
class Summary:
    """What a run of the grader did.

    Attributes
    ----------
    outcomes : list of Outcome
        Of submissions that were run now, without their outputs.
    unchanged : list of str
        Students whose submissions were graded before and have not changed.
    seconds : float
    form : str
        "warm", "cold" or "bare"; what was asked for, where nothing had to be run. In a cluster,
        "cold" if one of its workers starts so.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    seconds: float = 0.0
    form: Form = "warm"

    @property
    def complete(self) -> bool:
        """Whether every submission stands in the gradebook."""
        return all(outcome.status is not Status.FAILED for outcome in self.outcomes)


Progress = Callable[[Outcome, int, int], None]


def grade(
    course: Course,
    assignment: str,
    *,
    students: Sequence[str] = (),
    jobs: int | None = None,
    force: bool = False,
    limits: Limits | None = None,
    form: Form = "warm",
    url: str | None = None,
    scheduler: str = "",
    progress: Progress | None = None,
) -> Summary:
    """Grade the submissions of an assignment.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    students : sequence of str
        Only these; all by default.
    jobs : int, optional
        Submissions that run at once; by default as many as there are cores, here or in the cluster.
    force : bool
        Also those that have not changed.
    limits : Limits, optional
    form : str
        See `Sandbox`; "warm" falls back to "cold" where it cannot be had.
    url : str, optional
        Of the gradebook's database.
    scheduler : str
        Address of a Dask scheduler whose workers run the submissions; empty: this machine does.
    progress : callable (Outcome, int, int), optional
        Told of each outcome, how many are done, and of how many.

    Returns
    -------
    Summary

    Raises
    ------
    NothingToGrade, AssignmentFaulty, GradebookUnusable, NoSandbox, ClockBehind
        Before anything is graded.
    AlreadyGrading
        If another grader of this course is at work, or of its PostgreSQL database.
    NotWritten, GradebookUnusable
        In the midst of it, if nothing more can be written. What is recorded stays.
    """
    began = time.monotonic()
    limits = limits or Limits()
    book = CourseGrade.of(course).book
    todo = submissions(course, assignment, students)
    summary = Summary(form=form)
    with contextlib.ExitStack() as stack:
        stack.enter_context(locks.folder(course))
        soon = force or _looks_new(course, assignment, todo)
        ready = stack.enter_context(_starting(form, course, scheduler, book, soon=soon))
        # Only now: this imports nbgrader, while others import torch.
        with _without(SLOW_GRAMMAR):
            from course_lib.grading.gradebook.record import Recorder
            from course_lib.grading.reports import report

        released = _released(course, assignment)
        recorder = stack.enter_context(Recorder(course, url, sandboxed=form != "bare"))
        stack.enter_context(locks.database(recorder.url))
        recorder.prepare(assignment)
        _check_clock(recorder, assignment)
        known = {} if force else recorder.keys(assignment)
        class_basis = basis(released, limits, book, sandboxed=form != "bare")
        keys = {one.student: content_key(one, class_basis) for one in todo}
        changed = [
            one
            for one in todo
            if known.get(one.student) != keys[one.student] or not _shown(course, one)
        ]
        summary.unchanged = sorted({one.student for one in todo} - {o.student for o in changed})
        if changed:
            judges, runner = ready()
            at_once = min(jobs or runner.slots, len(changed))
            for one, outcome in _outcomes(changed, released, limits, runner, judges, at_once):
                outcome = _written(course, one, outcome, released)
                if not one.misnamed:
                    recorder.record(outcome, keys[one.student], one.timestamp)
                summary.outcomes.append(outcome.without_outputs())
                if progress is not None:
                    progress(outcome, len(summary.outcomes), len(changed))
            summary.form = runner.form
        if changed or not (course.root / "reports" / f"{assignment}.html").is_file():
            report.write(course, assignment, url, sandboxed=form != "bare")
    summary.seconds = time.monotonic() - began
    return summary


def _shown(course: Course, one: Submission) -> bool:
    """Whether what people see of a submission is there; who deleted it wants it anew."""
    return all(path.is_file() for path in places(course, one))


def _looks_new(course: Course, assignment: str, todo: Sequence[Submission]) -> bool:
    """A quick guess whether something has to be run; what the gradebook knows decides."""
    try:
        last = (course.root / "reports" / f"{assignment}.html").stat().st_mtime
        return any(one.folder.stat().st_mtime > last for one in todo)
    except OSError:
        return True


@contextlib.contextmanager
def _without(package: str) -> Iterator[None]:
    """Inside the block an optional package is not there for whoever imports it."""
    if package in sys.modules:
        yield
        return
    sys.modules[package] = None  # type: ignore[assignment]  # Python's own sign for "not there"
    try:
        yield
    finally:
        del sys.modules[package]


@contextlib.contextmanager
def _starting(
    form: Form, course: Course, scheduler: str, book: str, *, soon: bool
) -> Iterator[Callable[[], tuple[Judges, Runs]]]:
    """Judges, and what runs the submissions: started now if that is `soon`, or when asked for.

    Both spend their first seconds on importing torch, in processes of their own.
    """
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(contextlib.ExitStack())
        # Left before what it opened: nothing can be opened any more when that is closed.
        thread = stack.enter_context(ThreadPoolExecutor(1))

        def start() -> tuple[Judges, Runs]:
            judges = opened.enter_context(Judges(cores(), book))
            return judges, opened.enter_context(_runner(form, course, scheduler))

        if not soon:
            yield start
            return
        early = thread.submit(start)
        # What draws the report: after the last run, all but one core would wait for its import.
        thread.submit(importlib.import_module, "course_lib.grading.reports.pictures")
        yield early.result


def _runner(form: Form, course: Course, scheduler: str) -> AbstractContextManager[Runs]:
    """What runs the submissions, after its walls have held."""
    if not scheduler:
        return proven(form, course.root)
    from course_lib.grading.sandbox.cluster import Cluster

    return Cluster(scheduler, form)


def _outcomes(
    todo: Sequence[Submission],
    released: NotebookNode,
    limits: Limits,
    runner: Runs,
    judges: Judges,
    jobs: int,
) -> Iterator[tuple[Submission, Outcome]]:
    """Outcomes as they come; a bounded number of submissions is under way at any time."""
    threads = ThreadPoolExecutor(jobs)
    waiting = iter(todo)
    under_way: dict[Future[Outcome], Submission] = {}
    try:
        while True:
            while len(under_way) < jobs * WAITING_FOR_EACH_RUNNER:
                one = next(waiting, None)
                if one is None:
                    break
                future = threads.submit(grade_one, one, released, limits, runner, judges)
                under_way[future] = one
            if not under_way:
                return
            done, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in done:
                yield under_way.pop(future), future.result()
    finally:
        # After an error or an interruption nobody waits: the sandbox and what runs in it end next.
        threads.shutdown(wait=False, cancel_futures=True)


def _written(course: Course, one: Submission, outcome: Outcome, released: NotebookNode) -> Outcome:
    """Write the autograded notebook and the page of feedback; the outcome to record."""
    if outcome.status is Status.FAILED:
        return outcome
    try:
        publish(course, one, outcome, released)
    except NotWritten:
        raise
    except Exception as error:  # what it showed cannot be written: a person looks at the file
        reason = f"its outputs cannot be shown: {type(error).__name__}: {error}"
        outcome = replace(outcome, status=Status.SET_ASIDE, reason=reason, ran=None, tasks=())
        publish(course, one, outcome, released)
    return outcome


def _released(course: Course, assignment: str) -> NotebookNode:
    path = course.exercises / assignment / f"{assignment}.ipynb"
    if not path.is_file():
        raise AssignmentFaulty(
            f"{assignment} is not released: {path} is missing. "
            f"Release it: course release {assignment} --gradebook"
        )
    return read(path)


def _check_clock(recorder: Recorder, assignment: str) -> None:
    """Records of a run that seems to lie in the past could not be told from older ones."""
    now = datetime.now(UTC).replace(tzinfo=None)
    latest = recorder.latest(assignment)
    if latest is not None and latest > now + TOLERATED_CLOCK:
        raise ClockBehind(
            f"this machine's clock says {now:%Y-%m-%d %H:%M} UTC, but the gradebook was written at "
            f"{latest:%Y-%m-%d %H:%M}: set the clock, then run the command again"
        )
