"""From outside: start the sandbox, give it submissions, take what comes out as bytes.

The sandbox is bubblewrap: no network, a read-only system of which only Python and this course's own
code are there, an empty home, a short environment, processes of its own. Judges, solutions and
gradebook are not in it.
"""

from __future__ import annotations

import contextlib
import errno
import json
import logging
import os
import socket
import struct
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from types import TracebackType
from typing import Self

from course_grader.errors import MachineError, NoVerdictError, SandboxUnavailableError
from course_grader.sandbox.bubblewrap import IsolationMode, bubblewrap, copy_library
from course_grader.sandbox.control_groups import ControlGroups, Group
from course_grader.sandbox.cores import Cores
from course_grader.sandbox.lifeline import last_words, tell
from course_grader.sandbox.protocol import Collected, RunResult, collect, runnable, send_job
from course_grader.sandbox.sanitize import SanitizedSubmission
from course_grader.sandbox.scratch import ScratchFolder
from course_grader.sandbox.starting import StartedSandbox
from course_tasks.errors import FrameTimeoutError
from course_tasks.runner.in_flight import IN_FLIGHT, SECONDS_BETWEEN_LOOKS
from course_tasks.runner.limits import MEGABYTE, Limits
from course_tasks.runner.process_monitor import too_much_memory
from course_tasks.runner.processor_time import stretched
from course_tasks.runner.supervisor import ASKS_FOR_GROUP, COUNT_BYTES, End

_LOG = logging.getLogger(__name__)

# What a run may take beyond its own limit before the grader stops waiting: forking and transfer.
SECONDS_OF_GRACE = 15.0
# Results of a run beyond this wait on disk. A notebook full of pictures stays below it.
MOST_BYTES_IN_MEMORY = 4 * MEGABYTE
# So many runs with larger results are in the grader's memory at once, each with as much as
# `Limits.answer_megabytes`; others wait for these to be judged, but not for longer than this.
MOST_LARGE_RUNS = 2
SECONDS_FOR_ROOM = 60.0

# What code has in it that imports matplotlib, or the course's own plots.
_DRAWS = "plot"

# A process's number, user and group, as the kernel adds them to what it says.
_CREDENTIALS = struct.Struct("3i")


def cores() -> int:
    """How many processors this process may use; all of the machine's where nobody can tell."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Sandbox:
    """A sandbox that several threads may use at once; a context manager.

    Parameters
    ----------
    form : str
        "warm" forks each submission from a process that holds torch, in namespaces of its own;
        "cold" starts a fresh sandbox for each; "bare" has no sandbox at all.
    spawned : callable ()
        See `StartedSandbox`.
    own_users : bool
        Whether to make each run of a warm one another user of the machine, where that is possible.

    Attributes
    ----------
    library : Path
        The copied code that is inside, outside.
    started : StartedSandbox or None
        What all runs share; none before it is entered, and none where each run has its own.
    cores : Cores
        What hands processors out to its runs.
    groups : ControlGroups
        Those of its runs, where the system lends any.

    Raises
    ------
    SandboxUnavailableError
        On entering, if it does not start.
    """

    def __init__(
        self,
        form: IsolationMode = "warm",
        spawned: Callable[[], None] = lambda: None,
        *,
        own_users: bool = True,
    ):
        self.form, self._spawned = form, spawned
        self._wants_users = own_users and form == "warm"
        self._scratch = ScratchFolder("course-library-", small=True)
        self.library = self._scratch.path
        copy_library(self.library)
        self.started: StartedSandbox | None = None
        self.cores = Cores()
        self.groups = ControlGroups(None)
        self._restarting = threading.Lock()
        self._crowded = 0.0

    @property
    def slots(self) -> int:
        """How many submissions this machine runs at once: its cores."""
        return cores()

    @property
    def own_users(self) -> bool:
        """Whether each run is another user of the machine."""
        return self.started is not None and self.started.own_users

    def __enter__(self) -> Self:
        self.groups = ControlGroups.find()
        try:
            if self.form == "cold":
                bubblewrap(self.library)  # starts with each run; whether it can is said now
            else:
                self.started = self._start()
        except BaseException:
            self.groups.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self.started is not None:
            self.started.stop()
            self.started = None
        self.groups.close()
        self._scratch.remove()

    def _start(self) -> StartedSandbox:
        if self._wants_users:
            try:
                return StartedSandbox(self.library, self.form, self._spawned, own_users=True)
            except SandboxUnavailableError as error:
                self._wants_users = False
                _LOG.warning("runs have no users of their own here: %s", error)
        return StartedSandbox(self.library, self.form, self._spawned)

    def run(
        self,
        work: SanitizedSubmission,
        inputs: Mapping[str, bytes],
        limits: Limits,
        *,
        alone: bool = False,
    ) -> RunResult:
        """Run a submission.

        Parameters
        ----------
        work : SanitizedSubmission
            From `sanitize`.
        inputs : mapping of str to bytes
            For each task its inputs, without what only the judge may see.
        limits : Limits
        alone : bool
            Whether nothing runs beside it, and others had the processor when it ran before: it need
            not stand back for anybody now, and waits for longer.

        Returns
        -------
        RunResult
            Whatever the submission did.

        Raises
        ------
        MachineError
            If the sandbox could not do its part, even when tried again.
        NoVerdictError
            If it failed twice where a submission can end what watches over it: whether the machine
            or the submission did it, a person has to find out.
        """
        return self._run(_Job(work, inputs, limits, alone=alone))

    def attempt(
        self, work: SanitizedSubmission, limits: Limits, *, alone: bool = False
    ) -> RunResult:
        """Run what tries the walls: as a submission, but, where warm, before torch is there.

        Raises as `run` does.
        """
        return self._run(_Job(work, {}, limits, alone=alone, attempt=True))

    def _run(self, job: _Job) -> RunResult:
        try:
            return self._run_once(job)
        except MachineError:
            pass
        try:
            return self._run_once(job)
        except MachineError as error:
            if self.form == "warm":
                raise
            raise NoVerdictError(f"its sandbox ended twice while it ran: {error}") from error

    def _run_once(self, job: _Job) -> RunResult:
        began = time.monotonic()
        ran = self._started_once(job)
        if ran.repeat == IN_FLIGHT:
            self._crowded = time.monotonic()
        elif not job.alone and not ran.repeat and self._crowded > began:
            # Another run has seen it, and this one may have missed a moment of it.
            return replace(ran, repeat=IN_FLIGHT)
        return ran

    def _started_once(self, job: _Job) -> RunResult:
        started = self._alive(job.attempt) if self.form != "cold" else None
        with self.cores.one() as core, self.groups.group() as group:
            asked = _Asked(
                *(job.limits, core, tuple(job.inputs)),
                draws=any(_DRAWS in step.source for step in job.work.steps if step.kind == "code"),
                grouped=group.lent,
                alone=job.alone,
            )
            if started is not None:
                requests = started.attempts if job.attempt else started.requests
                try:
                    return _run(requests, job, asked, group, self.form)
                except _SandboxGoneError:
                    self._end(started)
                    raise
            started = _started_again(lambda: StartedSandbox(self.library, "cold"))
            try:
                return _run(started.requests, job, asked, group, "cold")
            finally:
                started.stop()

    def _alive(self, attempt: bool) -> StartedSandbox:
        """The process that all runs share; a new one where it has died."""
        with self._restarting:
            if self.started is None:
                raise MachineError("the sandbox is not started: use it as a context manager")
            if not self.started.alive:
                self.started.stop()
                self.started = _started_again(self._start)
            started = self.started
        if not attempt:
            try:
                started.wait()
            except SandboxUnavailableError as error:
                raise MachineError(str(error)) from error
        return started

    def _end(self, started: StartedSandbox) -> None:
        """End a sandbox that does not answer any more; bubblewrap around it may still run."""
        with self._restarting:
            started.stop()


@dataclass(frozen=True)
class _Job:
    """One run, as `Sandbox.run` and `Sandbox.attempt` are asked for it."""

    work: SanitizedSubmission
    inputs: Mapping[str, bytes]
    limits: Limits
    alone: bool = False
    attempt: bool = False


@dataclass(frozen=True)
class _Asked:
    """What the sandbox is told of a run; see `supervise`, and `zygote` for tasks and drawing."""

    limits: Limits
    core: int | None
    tasks: tuple[str, ...]
    draws: bool
    grouped: bool
    alone: bool


class _SandboxGoneError(MachineError):
    """The process that forks runs does not take any more of them."""


def _started_again(start: Callable[[], StartedSandbox]) -> StartedSandbox:
    """In the middle of a class, a sandbox that does not start is the machine's failure."""
    try:
        return start()
    except SandboxUnavailableError as error:
        raise MachineError(str(error)) from error


def _run(
    requests: socket.socket, job: _Job, asked: _Asked, group: Group, form: IsolationMode
) -> RunResult:
    began, work, limits = time.monotonic(), job.work, job.limits
    # The supervisor ends the run long before; this is for one that cannot.
    deadline = began + stretched(limits.total_seconds, alone=asked.alone) + SECONDS_OF_GRACE
    wire, inner_wire = socket.socketpair()
    lifeline, inner_lifeline = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    end = End()
    with wire, lifeline, tempfile.SpooledTemporaryFile(MOST_BYTES_IN_MEMORY) as file:
        with inner_wire, inner_lifeline:
            if group.lent:
                wire.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            _hand_over(requests, asked, inner_wire, inner_lifeline)
        results = Collected(file)

        def received(count: int) -> None:
            tell(lifeline, count.to_bytes(COUNT_BYTES, "big"))

        try:
            _let_in(group, wire, asked, deadline)
            send_job(wire, work, job.inputs, limits)
            results.start()
            received(0)
            end = End(collect(wire, work, limits, deadline, results, received))
        except (FrameTimeoutError, TimeoutError):
            end = End(repeat="its supervisor did not end it in time")
        except (BrokenPipeError, ConnectionResetError):  # the runner is gone; why, is said
            pass
        except OSError as error:
            raise MachineError(f"results cannot be kept: {error}") from error
        whole = len(results) == runnable(work)
        if not (end.ended or end.repeat) and not (whole and form == "warm"):
            end = last_words(lifeline, SECONDS_OF_GRACE)
            if not (end.ended or end.repeat) and not whole:
                end = End("the process ended itself before all cells had run")
        if group.out_of_memory():
            end = End(too_much_memory(limits))
        lifeline.close()
        with in_memory(results.bytes) as held:
            ran = RunResult(results.read(), end.ended, time.monotonic() - began, end.repeat)
            held(ran)
            return ran


def _hand_over(requests: socket.socket, asked: _Asked, *ends: socket.socket) -> None:
    message = json.dumps(asdict(asked)).encode()
    deadline = time.monotonic() + SECONDS_OF_GRACE
    while True:
        try:
            socket.send_fds(requests, [message], [end.fileno() for end in ends])
            return
        except OSError as error:
            # A run has as many files on their way as this process may have open; see `in_flight`.
            if error.errno != errno.ETOOMANYREFS or time.monotonic() > deadline:
                raise _SandboxGoneError(f"the sandbox is gone: {error}") from error
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _let_in(group: Group, wire: socket.socket, asked: _Asked, deadline: float) -> None:
    """Put the runner into its group before it is given anything to run, where there is a group.

    Raises
    ------
    TimeoutError
        If there is no runner by the deadline.
    """
    if not group.lent:
        return
    wire.settimeout(max(0.1, deadline - time.monotonic()))
    words, extra, _, _ = wire.recvmsg(100, socket.CMSG_SPACE(_CREDENTIALS.size))
    wire.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 0)
    for _, kind, data in extra if words else ():  # without words, it has ended; why, is said
        # Its number as this process knows it, from the kernel, whatever namespace it has; 0 if
        # this process cannot know it.
        if kind == socket.SCM_CREDENTIALS and (process := _CREDENTIALS.unpack(data)[0]):
            held = int(words.removeprefix(ASKS_FOR_GROUP))
            group.let_in(process, asked.limits, held, polite=not asked.alone)


_LARGE_AT_ONCE = threading.BoundedSemaphore(MOST_LARGE_RUNS)


@contextlib.contextmanager
def in_memory(size: int) -> Iterator[Callable[[RunResult], None]]:
    """Wait until there is room for a run's results of so many bytes, and give it back with these.

    The block is given what it has to call with the run.

    Whoever keeps many large runs for long is not stopped for it, only slowed down.
    """
    if size <= MOST_BYTES_IN_MEMORY or not _LARGE_AT_ONCE.acquire(timeout=SECONDS_FOR_ROOM):
        yield lambda _: None
        return
    handed = False

    def hand(ran: RunResult) -> None:
        nonlocal handed
        handed = True
        weakref.finalize(ran, _LARGE_AT_ONCE.release)

    try:
        yield hand
    finally:
        if not handed:
            _LARGE_AT_ONCE.release()
