"""Processes with limits, in which everything of a submission is handled that the grader must not
hold itself: its file, what its run sent, its answers, its pages.

The grader's own process moves bytes to and from them and takes short answers in plain JSON. Inputs
follow from a seed that nobody could foresee. What only the judge may see of them never leaves the
process that judges: another one, if it has to take over, draws it from the seed again.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection
from types import TracebackType
from typing import Any, Self, TypeVar

from course_grader.assignment import Check
from course_grader.errors import (
    ChildEndedError,
    FaultyAssignmentError,
    MachineError,
    NotWrittenError,
)
from course_grader.judge_job import Job, Prepared
from course_grader.outcome import Outcome
from course_grader.sandbox.bubblewrap import QUICK_TORCH
from course_grader.sandbox.protocol import RunResult
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.runner.limits import MEGABYTE

# Beyond what a started process holds, so that all of it together stays under 600 MB. A notebook of
# ten megabytes takes some 120 MB to read, the largest task of the course some 100 MB to judge.
MEGABYTES_OF_A_CHILD = 256

# CPU time: a busy machine makes nobody's file slow. Reading takes hundredths of a second; the
# judge's own answers to the training tasks, a few seconds.
SECONDS_TO_READ = 20
SECONDS_TO_JUDGE = 60

# The names of an assignment's tasks, some ten of twenty characters.
MOST_CONTROL_BYTES = 2**16

# What a child may answer: verdicts of a submission have some 50 kB, code up to `MOST_TO_RUN`.
MOST_ANSWER_BYTES = 64 * MEGABYTE

# Without the working directory on its path: what lies there is imported by nobody.
SERVER = (sys.executable, "-P", "-m", "course_grader.submission_worker")

T = TypeVar("T")


class JudgePool:
    """A pool of such processes, all forked from one that holds torch; a context manager.

    Parameters
    ----------
    count : int
        Processes; as many as submissions are handled at once.

    Attributes
    ----------
    server : Popen
        The process that all others are forked from; one that has died is started again.
    """

    def __init__(self, count: int):
        self.count = count
        self._starting = threading.Lock()
        self._closed = False
        self._start()
        self._idle: queue.Queue[Child | None] = queue.Queue()
        for _ in range(count):
            self._idle.put(None)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                child = self._idle.get_nowait()
                if child is not None:
                    child.close()
        with self._starting:
            self._closed = True
            self._stop()

    def expect(self, tasks: Sequence[str]) -> None:
        """Let the judges of these tasks be imported once, before any process is started."""
        with contextlib.suppress(OSError):  # who is gone is started again when it is needed
            self._control.send(json.dumps(list(tasks)).encode())

    def expect_to_defend(self, tasks: Sequence[str]) -> dict[str, int]:
        """Let all that questions about these tasks are made of be drawn once.

        Returns
        -------
        dict of str to int
            Of each task that anybody can be asked about, how many numbers its inputs have on paper.

        Raises
        ------
        MachineError
            If nobody can be asked.
        """
        with contextlib.suppress(OSError):
            self._control.send(json.dumps({"defend": list(tasks)}).encode())
        return self._asked_once(
            lambda child: child.numbers_on_paper(tasks), "inputs of its tasks cannot be drawn"
        )

    def require(self, tasks: Sequence[str]) -> None:
        """See, before a class starts, that what answers are written with is installed.

        Raises
        ------
        FaultyAssignmentError
            If not: all answers would fail, and be nobody's fault. Names the remedy.
        MachineError
            If nobody can be asked.
        """
        missing = self._lacking(tasks)
        if missing:
            raise FaultyAssignmentError(
                f"answers to this assignment are written with {', '.join(missing)}, not installed "
                'here: pip install -e ".[jax]" in the folder of the course'
            )

    def _lacking(self, tasks: Sequence[str]) -> list[str]:
        """What a child says, or another one if that ends: it may have been the machine's victim."""
        failed = "judges cannot be asked what they need"
        try:
            return self._asked_once(lambda child: child.lacking(tasks), failed)
        except MachineError:
            return self._asked_once(lambda child: child.lacking(tasks), failed)

    def _asked_once(self, ask: Callable[[Child], T], failed: str) -> T:
        """What a child says; if it ends, an error that begins with these words."""
        child = self.take()
        try:
            return ask(child)
        except ChildEndedError as error:
            raise MachineError(f"{failed}: {error}") from error
        finally:
            self.give_back(child)

    def take(self) -> Child:
        """A child that nobody else uses; `give_back` it.

        Raises
        ------
        MachineError
            If none can be started.
        """
        child = self._idle.get()
        try:
            return child or self._fork()
        except BaseException:
            self._idle.put(None)
            raise

    def give_back(self, child: Child) -> None:
        """The next one may use it, unless it has ended or grown."""
        self._idle.put(child if child.alive else None)

    def _start(self) -> None:
        self._control, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with its:
            self.server = subprocess.Popen(
                [*SERVER, str(its.fileno())],
                pass_fds=[its.fileno()],
                env={**os.environ, "OMP_NUM_THREADS": "1", **QUICK_TORCH},
            )

    def _stop(self) -> None:
        self._control.close()
        self.server.terminate()
        self.server.wait()

    def _start_again(self) -> None:
        self._stop()
        self._start()

    def _fork(self) -> Child:
        mine, its = socket.socketpair()
        with its:
            try:
                with self._starting:
                    if self.server.poll() is not None and not self._closed:
                        self._start_again()
                    try:
                        socket.send_fds(self._control, [b"+"], [its.fileno()])
                    except OSError:
                        if self._closed:
                            raise
                        self._start_again()  # it is ending, and not gone yet
                        socket.send_fds(self._control, [b"+"], [its.fileno()])
            except OSError as error:
                mine.close()
                raise MachineError(f"no process can be started to judge: {error}") from error
        return Child(Connection(mine.detach()))


class Child:
    """One process of the pool, seen from the grader."""

    def __init__(self, connection: Connection):
        self._connection = connection
        self.alive = True

    def close(self) -> None:
        """End the process, whatever it does."""
        self.alive = False
        self._connection.close()

    def lacking(self, tasks: Sequence[str]) -> list[str]:
        """Packages that these tasks need and that are not installed."""
        return list(
            self._ask("starting it", SECONDS_TO_READ, ("require", (tuple(tasks),)))["lacking"]
        )

    def prepare(self, job: Job, checks: Mapping[str, Check]) -> Prepared | Outcome:
        """Read a submission and make it safe; the outcome, with its pages, if that is impossible.

        Parameters
        ----------
        job : Job
        checks : mapping of str to Check
            The released ones, by grade id.
        """
        said = self._ask("reading it", SECONDS_TO_READ, ("prepare", (job,)))
        if "outcome" in said:
            return Outcome.from_plain(said["outcome"])
        steps = tuple(
            Step("check", checks[grade_id].source, grade_id, checks[grade_id])
            if kind == "check"
            else Step("code", source)
            for kind, source, grade_id in said["steps"]
        )
        return Prepared(SanitizedSubmission(steps), self._inputs(said["tasks"]))

    def _inputs(self, tasks: Sequence[str]) -> dict[str, bytes]:
        try:
            return {task: self._connection.recv_bytes() for task in tasks}
        except (EOFError, OSError) as error:
            self.close()
            raise ChildEndedError("the process that read it ended before it was done") from error

    def finish(self, ran: RunResult) -> Outcome:
        """Judge what was prepared by what its run sent, and write its pages."""
        return Outcome.from_plain(self._finish("finish", "judging it", ran)["outcome"])

    def _finish(self, how: str, what: str, ran: RunResult) -> Any:
        about = (how, (ran.ended, ran.seconds, len(ran.raw)))
        frames = (part for step in ran.raw for part in (step.header, step.payload))
        return self._ask(what, SECONDS_TO_JUDGE, about, frames)

    def prepare_defense(self, job: Job, tasks: Sequence[str]) -> Prepared | str:
        """Read a submission, and say what is run to make questions about its code; why none can be
        made, if it cannot be read.

        Parameters
        ----------
        job : Job
        tasks : sequence of str
            Those that questions are asked about.
        """
        about = ("prepare_defense", (job, tuple(tasks)))
        said = self._ask("reading it", SECONDS_TO_READ, about)
        if "unreadable" in said:
            return str(said["unreadable"])
        steps = tuple(Step(kind, source) for kind, source in said["steps"])
        return Prepared(SanitizedSubmission(steps), self._inputs(said["tasks"]))

    def numbers_on_paper(self, tasks: Sequence[str]) -> dict[str, int]:
        """See `Judges.expect_to_defend`."""
        about = ("numbers_on_paper", (tuple(tasks),))
        return dict(self._ask("drawing small inputs", SECONDS_TO_JUDGE, about)["numbers"])

    def finish_defense(self, ran: RunResult) -> list[dict[str, Any]]:
        """All that can be asked about what was prepared, as plain data."""
        return list(self._finish("finish_defense", "making its papers", ran)["papers"])

    def set_aside(self, job: Job, reason: str) -> Outcome:
        """Write the pages of a submission for a person, who reads the reason; with its cells if it
        was prepared here.
        """
        about = ("set_aside", (job, reason))
        return Outcome.from_plain(self._ask("writing its pages", SECONDS_TO_READ, about)["outcome"])

    def _ask(self, what: str, seconds: float, about: Any, frames: Any = ()) -> Any:
        """What the child answers; `what` says in words what it is asked to do.

        Raises
        ------
        ChildEndedError
            If it ended, or passed a limit; says which.
        NotWrittenError
            If it could not write where pages are.
        """
        began = time.monotonic()
        try:
            self._connection.send(about)
            for part in frames:
                self._connection.send_bytes(part)
            # An empty message says that the child has been forked and begins now, so that its start
            # is not counted as the submission's time.
            self._connection.recv_bytes(0)
            began = time.monotonic()
            said = json.loads(self._connection.recv_bytes(MOST_ANSWER_BYTES))
        except (EOFError, OSError) as error:
            self.close()
            if time.monotonic() - began >= seconds:
                raise ChildEndedError(f"{what} took more than {seconds:g} s") from error
            raise ChildEndedError(f"the process that was {what} ended before it was done") from (
                error
            )
        except BaseException:
            self.close()
            raise
        if said.get("leaving"):
            self.close()
        if "machine" in said:
            raise MachineError(said["machine"])
        if "memory" in said:
            raise ChildEndedError(f"{what} took more than {said['memory']} MB of memory")
        if "not_written" in said:
            raise NotWrittenError(said["not_written"])
        if "fault" in said:
            raise ChildEndedError(f"{what} failed: {said['fault']}")
        return said


class Handling:
    """One submission's way through a child, from its file to its pages; a context manager.

    A child that ends, or passes a limit, may have been the machine's victim: another one tries once
    more, from the start.

    Parameters
    ----------
    judges : JudgePool
    job : Job
    checks : mapping of str to Check
        The released ones, by grade id.
    keep : bool
        Whether a child stays with it while it runs; where more run than there are children, another
        one reads it again.
    """

    def __init__(
        self, judges: JudgePool, job: Job, checks: Mapping[str, Check], *, keep: bool = True
    ):
        self._judges, self._job, self._checks, self._keep = judges, job, checks, keep
        self._child: Child | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self._let_go()

    def prepare(self) -> Prepared | Outcome:
        """See `Child.prepare`; what cannot be read within the limits is set aside."""
        found = self._twice(lambda child: child.prepare(self._job, self._checks))
        if not self._keep:
            self._let_go()
        return found

    def finish(self, ran: RunResult) -> Outcome:
        """See `Child.finish`; what cannot be judged within the limits is set aside."""

        def judged(child: Child) -> Outcome:
            if child is not prepared_in:
                found = child.prepare(self._job, self._checks)
                if isinstance(found, Outcome):
                    return found
            return child.finish(ran)

        prepared_in = self._child
        return self._twice(judged)

    def set_aside(self, reason: str) -> Outcome:
        """See `Child.set_aside`."""
        return self._twice(lambda child: child.set_aside(self._job, reason))

    def _twice(self, do: Callable[[Child], T]) -> T | Outcome:
        reason = ""
        for _ in range(2):
            try:
                return do(self._taken())
            except ChildEndedError as error:
                self._let_go()
                reason = str(error)
        # Nothing of the submission is opened for this page.
        try:
            return self._taken().set_aside(self._job, f"{reason}: open it by hand")
        except ChildEndedError as error:
            raise MachineError(f"its pages could not be made: {error}") from error

    def _taken(self) -> Child:
        if self._child is None or not self._child.alive:
            self._let_go()
            self._child = self._judges.take()
        return self._child

    def _let_go(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            self._judges.give_back(child)
