"""A class in, a gradebook out: many runners, one writer.

Each submission is taken by one of a few threads through other processes: one with limits reads it,
judges its answers and writes its pages, the sandbox runs it. What comes back is small, and only
here it is recorded.
"""

from __future__ import annotations

import contextlib
import functools
import json
import threading
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from course_grader import private_tasks
from course_grader.assignment import Assignment, read
from course_grader.course import Course
from course_grader.errors import ClockBehindError, FaultyAssignmentError
from course_grader.grade_one import ClassSettings, Runner, grade_one
from course_grader.importing import (
    NOT_FOR_A_GRADEBOOK,
    UNUSED_FORMATS,
    put_off,
    quick_turns,
    without,
    without_collections,
)
from course_grader.judge_pool import JudgePool
from course_grader.outcome import Outcome, Status
from course_grader.reports.pages import places
from course_grader.sandbox import canaries
from course_grader.sandbox.bubblewrap import IsolationMode
from course_grader.sandbox.sandbox import cores
from course_grader.sandbox.selftest import proven
from course_grader.schedule import Schedule
from course_grader.submissions import (
    Submission,
    basis,
    content_key,
    submissions,
)
from course_tasks.runner.limits import MEGABYTE, Limits

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from nbformat import NotebookNode

    from course_grader.gradebook.record import Recorder
    from course_grader.lateness import Settled
    from course_grader.sandbox.containers import Containers

# Clocks of two machines that share a gradebook may differ by some seconds.
TOLERATED_CLOCK = timedelta(minutes=5)

# Outcomes that come within a moment are recorded in one transaction, which takes half the time. An
# interrupted run grades again what waited for that moment.
MOST_RECORDED_AT_ONCE = 20
SECONDS_TO_GATHER = 0.5


@dataclass
class Summary:
    """What a run of the grader did.

    Attributes
    ----------
    outcomes : list of Outcome
        Of submissions that were run now.
    unchanged : list of str
        Students whose submissions were graded before and have not changed.
    seconds : float
    form : str
        "warm", "cold" or "bare"; what was asked for, where nothing had to be run. In a cluster,
        "cold" if one of its workers starts so.
    late : Settled, optional
        What is new about who was late; known at the end of a run.
    left_out : list of str
        Workers of a cluster that ran nothing, each with the reason.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    seconds: float = 0.0
    form: IsolationMode = "warm"
    late: Settled | None = None
    left_out: list[str] = field(default_factory=list)

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
    form: IsolationMode = "warm",
    url: str | None = None,
    scheduler: str = "",
    containers: Containers | None = None,
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
    containers : Containers, optional
        In which submissions run, in place of a sandbox that is this process's own.
    progress : callable (Outcome, int, int), optional
        Told of each outcome, how many are done, and of how many. One that is postponed is told
        too, is not done, and comes again.

    Returns
    -------
    Summary

    Raises
    ------
    NothingToGradeError, FaultyAssignmentError, GradebookError, SandboxUnavailableError,
    ClockBehindError
        Before anything is graded.
    PrivateTaskError
        If the folder of private tasks is not as it should be.
    AlreadyGradingError
        If another grader of this course is at work, or of its PostgreSQL database.
    NotWrittenError, GradebookError
        In the midst of it, if nothing more can be written. What is recorded stays.
    """
    began = time.monotonic()
    limits = limits or Limits()
    todo = submissions(course, assignment, students)
    summary = Summary(form=form)
    with contextlib.ExitStack() as stack:
        stack.enter_context(private_tasks.of(course))
        stack.enter_context(quick_turns())
        start = functools.partial(starting, form, course, scheduler, url)
        if containers is not None:
            start = functools.partial(start, containers=containers)
        ready = None
        if force or _looks_new(course, assignment, todo):
            ready = stack.enter_context(start())
        # Only now: whatever takes long is imported while others import torch.
        from course_grader import lateness, locks
        from course_grader.options import CourseGrade

        stack.enter_context(locks.folder(course))
        for package in NOT_FOR_A_GRADEBOOK:
            put_off(package)
        with without(*UNUSED_FORMATS), without_collections():
            from course_grader.gradebook.record import Graded, Recorder
            from course_grader.reports import report

        options = CourseGrade.of(course)
        released = released_notebook(course, assignment)
        whole = ClassSettings(
            released=json.dumps(released),
            checks={one.grade_id: one for one in Assignment.of(released).checks if one.task},
            places=functools.partial(places, course),
            limits=limits,
            notebook_megabytes=options.notebook_megabytes,
            book=options.book,
            sandboxed=form != "bare",
        )
        if ready is not None:
            ready.expect(whole.tasks)
        recorder = stack.enter_context(Recorder(course, url, sandboxed=form != "bare"))
        stack.enter_context(locks.database(recorder.url))
        recorder.prepare(assignment)
        _check_clock(recorder, assignment)
        known = {} if force else recorder.keys(assignment)
        class_basis = basis(released, limits, whole.book, sandboxed=whole.sandboxed)
        most = whole.notebook_megabytes * MEGABYTE
        keys = {one.student: content_key(one, class_basis, most) for one in todo}
        changed = [
            one
            for one in todo
            if known.get(one.student) != keys[one.student] or not _shown(course, one)
        ]
        summary.unchanged = sorted({one.student for one in todo} - {o.student for o in changed})
        if changed:
            ready = ready or stack.enter_context(start())
            ready.expect(whole.tasks)
            judges, runner = ready()
            whole = replace(whole, at_once=min(jobs or runner.slots, len(changed)))
            judges.require(whole.tasks)
            # Closed before the sandbox is: no lane takes another one then.
            came = stack.enter_context(
                contextlib.closing(_outcomes(changed, whole, runner, judges))
            )
            for batch in came:
                graded = [
                    Graded(outcome, keys[one.student], one.timestamp)
                    for one, outcome in batch
                    if outcome.status is not Status.POSTPONED and not one.misnamed
                ]
                if graded:
                    recorder.record_all(graded)
                for _, outcome in batch:
                    if outcome.status is not Status.POSTPONED:
                        summary.outcomes.append(outcome)
                    if progress is not None:
                        progress(outcome, len(summary.outcomes), len(changed))
            summary.form = runner.form
            summary.left_out = list(getattr(runner, "left_out", ()))
        # Times, dates and extensions change nothing that has to be run.
        summary.late = lateness.settle(recorder, assignment)
        late = bool(summary.late.changed)
        if changed or late or not (course.root / "reports" / f"{assignment}.html").is_file():
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


def _outcomes(
    todo: Sequence[Submission], whole: ClassSettings, runner: Runner, judges: JudgePool
) -> Generator[list[tuple[Submission, Outcome]], None, None]:
    """Outcomes as they come, those of a moment together; see `Schedule`."""

    def run(one: Submission, hurry: float | None, alone: bool) -> Outcome:
        return grade_one(one, whole, runner, judges, hurry=hurry, alone=alone)

    schedule = Schedule(todo, whole.at_once, run)
    return schedule.batches(most=MOST_RECORDED_AT_ONCE, seconds=SECONDS_TO_GATHER)


class Start:
    """Judges, and what runs the submissions: each spends its first second on importing torch, in a
    process of its own.

    Parameters
    ----------
    judges, runner : callable ()
        Each returns its own once that can be used, or raises why it cannot.
    """

    def __init__(self, judges: Callable[[], JudgePool], runner: Callable[[], Runner]):
        self._judges, self._runner = judges, runner

    def expect(self, tasks: Sequence[str]) -> None:
        """See `JudgePool.expect`."""
        self._judges().expect(tasks)

    def __call__(self) -> tuple[JudgePool, Runner]:
        """Both, once they can be used."""
        return self._judges(), self._runner()


@contextlib.contextmanager
def starting(
    form: IsolationMode,
    course: Course,
    scheduler: str,
    url: str | None = None,
    containers: Containers | None = None,
) -> Iterator[Start]:
    """Start judges and a runner, beside what the block does until it asks for them.

    Parameters
    ----------
    form, course, scheduler, url, containers
        See `grade`.
    """
    with contextlib.ExitStack() as stack:
        opened = stack.enter_context(contextlib.ExitStack())
        # Left before what it opened: nothing can be opened any more when that is closed.
        thread = stack.enter_context(ThreadPoolExecutor(1))
        # The sandbox first: its walls are tried, too, before anything can run.
        spawned = threading.Event()
        runner = thread.submit(
            lambda: opened.enter_context(
                containers or _runner(form, course, scheduler, url, spawned.set)
            )
        )
        runner.add_done_callback(lambda _: spawned.set())
        if containers is not None:
            spawned.set()
        judges = stack.enter_context(JudgePool(cores()))
        # An import in this thread holds the interpreter's lock, and would slow down the hundreds of
        # small steps by which the other thread starts the sandbox.
        spawned.wait()
        yield Start(lambda: judges, runner.result)


def _runner(
    form: IsolationMode,
    course: Course,
    scheduler: str,
    url: str | None,
    spawned: Callable[[], None],
) -> AbstractContextManager[Runner]:
    """What runs the submissions, after its walls have held."""
    if not scheduler:
        return proven(form, course.root, spawned, canaries.of_course(course, url))
    spawned()
    from course_grader.sandbox.cluster import Cluster

    return Cluster(scheduler, form)


def released_notebook(course: Course, assignment: str) -> NotebookNode:
    """What students got.

    Raises
    ------
    FaultyAssignmentError
        If it was not released.
    """
    path = course.exercises / assignment / f"{assignment}.ipynb"
    if not path.is_file():
        raise FaultyAssignmentError(
            f"{assignment} is not released: {path} is missing. "
            f"Release it: course release {assignment} --gradebook"
        )
    return read(path)


def _check_clock(recorder: Recorder, assignment: str) -> None:
    """Records of a run that seems to lie in the past could not be told from older ones."""
    now = datetime.now(UTC).replace(tzinfo=None)
    latest = recorder.latest(assignment)
    if latest is not None and latest > now + TOLERATED_CLOCK:
        raise ClockBehindError(
            f"this machine's clock says {now:%Y-%m-%d %H:%M} UTC, but the gradebook was written at "
            f"{latest:%Y-%m-%d %H:%M}: set the clock, then run the command again"
        )
