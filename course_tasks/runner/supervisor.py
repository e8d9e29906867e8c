"""Inside the sandbox: process 1 of a submission, which watches over the one that runs its cells.

It runs no student code, ignores signals, and takes nothing from the processes that it watches. The
grader tells it how far a run has come, by counting the results that arrive. A student who sends a
result too early only gives that step away.

The load of other runs must not cost a run its time, either. While its processes wait for a
processor that others hold, its clock stops, up to a limit. A run that reaches the limit is ended,
proves nothing, and is repeated alone.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import os
import select
import signal
import socket
import time
from dataclasses import dataclass
from typing import NoReturn

from course_tasks.errors import FrameError, IsolationError
from course_tasks.runner.in_flight import IN_FLIGHT, SECONDS_BETWEEN_LOOKS, crowded
from course_tasks.runner.isolation import (
    adopt_orphans,
    close_all_but,
    drop_rights,
    fresh_folders,
    set_dumpable,
    set_limits,
    stay_on_few_cores,
)
from course_tasks.runner.limits import Limits
from course_tasks.runner.process_monitor import SECONDS_BETWEEN_COUNTS, ProcessMonitor
from course_tasks.runner.processes import descendants, own_number
from course_tasks.runner.processor_time import Timer
from course_tasks.runner.seccomp import install_seccomp_filter

# An interrupted cell ends within moments, unless it catches the interruption and goes on.
SECONDS_TO_STOP = 3.0

# A runner that has closed its connection ends at once, or goes on for nobody.
SECONDS_TO_END = 2.0

# On a busy machine everything else goes before a submission's own processes. Only a run that is
# repeated alone, because it got too little of the processor, keeps the ordinary priority.
_NICENESS = 5

# What the grader says on the lifeline, besides how many results it has.
NO_MORE_RESULTS = b"no more"

# What a runner says first if the grader has a control group for it, with the bytes that it holds.
# The kernel tells the grader who said it, and only then does the grader send a job.
ASKS_FOR_GROUP = b"holds "
COUNT_BYTES = 4


@dataclass(frozen=True)
class End:
    """How a run ended.

    Attributes
    ----------
    ended : str
        In words; empty if it ended by itself.
    repeat : str
        Why it proves nothing, if that is so.
    failed : str
        What did not work in the sandbox before any student code ran.
    """

    ended: str = ""
    repeat: str = ""
    failed: str = ""


@dataclass(frozen=True)
class Beside:
    """How a run stands to others on the machine.

    Attributes
    ----------
    grouped : bool
        Whether the grader puts the runner into a control group before it gives it its job.
    alone : bool
        Whether the grader runs nothing beside it, and waits for this run only.
    own_user : bool
        Whether no other run is the same user of the machine.
    """

    grouped: bool
    alone: bool
    own_user: bool


def supervise(
    shell: object,
    wire: int,
    lifeline: int,
    limits: Limits,
    core: int | None,
    form: str,
    beside: Beside,
) -> NoReturn:
    """Start the runner, watch the clock and the grader, say how it ended.

    Parameters
    ----------
    shell : Shell
    wire, lifeline : int
        Open sockets: the runner's way to the grader, and this process's own.
    limits : Limits
    core : int or None
        The processor that this run has.
    form : str
    beside : Beside
    """
    try:
        if form != "bare":
            fresh_folders(limits)
        adopt_orphans()
        set_dumpable(False)
        # As process 1 it would still get every signal that Python has a handler for.
        heard = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        monitor = ProcessMonitor(own_number(), limits, own_folders=form != "bare")
        # Alone, and crowded before it began: then other programs of the same user do it.
        if beside.alone and crowded():
            words = (
                f"{IN_FLIGHT}, of other programs of this user: end them, or grade as another user"
            )
            raise IsolationError(errno.ETOOMANYREFS, words)
        ready, its_ready = os.pipe()
        runner = os.fork()
        if runner == 0:
            signal.pthread_sigmask(signal.SIG_SETMASK, heard)
            os.close(lifeline)
            os.close(ready)
            if beside.grouped:
                os.write(wire, ASKS_FOR_GROUP + str(monitor.held_at_start).encode())
            _run(shell, wire, its_ready, limits, core, form, polite=not beside.alone)
        os.close(wire)
        os.close(its_ready)
        failed = _until_ready(ready, lifeline)
    except BaseException as error:  # no student code has run: whatever it is, the machine's fault
        failed = f"isolation failed: {error}"
    if failed:
        _say(lifeline, End(failed=failed))
        os._exit(1)
    try:
        end = _watch(runner, lifeline, limits, monitor, beside)
    except BaseException as error:
        end = End(repeat=f"its supervisor failed: {type(error).__name__}: {error}")
    if form != "warm":
        with contextlib.suppress(OSError):
            _end_descendants()
    _say(lifeline, end)
    os._exit(0)


def _run(
    shell: object,
    wire: int,
    ready: int,
    limits: Limits,
    core: int | None,
    form: str,
    *,
    polite: bool,
) -> NoReturn:
    """The runner: from its first cell on, student code may change everything here."""
    try:
        from course_tasks.runner.cells import Shell, run_job

        assert isinstance(shell, Shell)
        close_all_but(wire, ready)
        os.chdir(os.environ["HOME"])
        if polite:
            os.nice(_NICENESS)
        _stay_on(core)
        set_limits(limits, own_users=form != "bare")
        if form != "bare":
            drop_rights()
            install_seccomp_filter()
        set_dumpable(True)  # torch reads its own /proc entries
        signal.signal(signal.SIGINT, signal.default_int_handler)
        channel = socket.socket(fileno=wire)
        gc.enable()  # as in a kernel; the process that this one is a copy of has no use for it
        os.write(ready, b"+")
        os.close(ready)
    except BaseException as error:
        os.write(ready, f"isolation failed: {error}".encode()[:1000])
        os._exit(2)
    try:
        run_job(shell, channel)
    except (FrameError, OSError, MemoryError):
        os._exit(3)
    except BaseException:  # student code can make anything raise anything
        os._exit(4)
    os._exit(0)


def _stay_on(core: int | None) -> None:
    """Use one processor, so that even many processes can't take that of another run."""
    try:
        if core is not None:
            os.sched_setaffinity(0, {core})
            return
    except OSError:  # it was taken out of the machine, or from the container, meanwhile
        pass
    stay_on_few_cores()


def _until_ready(ready: int, lifeline: int) -> str:
    """Wait until the runner is isolated, and say what failed; empty if nothing did."""
    said = b""
    listening = [ready, lifeline]
    while True:
        now, _, _ = select.select(listening, [], [])
        if lifeline in now:
            if not socket.socket(fileno=os.dup(lifeline)).recv(1, socket.MSG_PEEK):
                os._exit(0)  # the grader is gone
            listening.remove(lifeline)
        if ready in now:
            part = os.read(ready, 1000)
            if not part:
                break
            said += part
    os.close(ready)
    if said == b"+":
        return ""
    return said.decode("utf-8", "replace") or "isolation failed: the runner ended without a word"


def _watch(
    runner: int, lifeline: int, limits: Limits, monitor: ProcessMonitor, beside: Beside
) -> End:
    """Wait for the runner's end."""

    def timer_of(limit: float) -> Timer:
        return Timer(limit, monitor.time, time.monotonic(), alone=beside.alone)

    total, timer = timer_of(limits.total_seconds), timer_of(limits.cell_seconds)
    step, interrupted, closed = 0, False, False
    next_count = time.monotonic() + SECONDS_BETWEEN_COUNTS
    listening = [lifeline, os.pidfd_open(runner)]
    os.set_blocking(lifeline, False)
    while True:
        ready, _, _ = select.select(listening, [], [], SECONDS_BETWEEN_LOOKS)
        if lifeline in ready:
            for said in _heard(lifeline):
                if not said:
                    return End("the grader ended the run")
                if said == NO_MORE_RESULTS:
                    closed, timer = True, timer_of(SECONDS_TO_END)
                else:
                    step, interrupted = int.from_bytes(said, "big"), False
                    timer = timer_of(limits.cell_seconds)
        if crowded():
            # Of a user that others are, too, nobody can tell whose they are, or what they kept from
            # being sent.
            known = beside.own_user or beside.alone
            return End(IN_FLIGHT, "" if known else IN_FLIGHT)
        status = _reap(runner)
        if status is not None:
            return _how(status)
        if time.monotonic() < next_count:
            continue
        broken = monitor.excess()
        next_count = time.monotonic() + SECONDS_BETWEEN_COUNTS
        if broken:
            return End(broken)
        if total.over():
            words = f"the notebook took more than {limits.total_seconds:g} s"
            return _out_of_time(total, words)
        if not timer.over():
            continue
        if closed:
            return _out_of_time(timer, "it closed its connection to the grader")
        words = f"step {step + 1} took more than {limits.cell_seconds:g} s"
        if timer.starved():
            return _out_of_time(timer, words)
        if interrupted:
            return End(f"{words} and did not stop when it was interrupted")
        with contextlib.suppress(ProcessLookupError):
            os.kill(runner, signal.SIGINT)
        interrupted, timer = True, timer_of(SECONDS_TO_STOP)


def _out_of_time(timer: Timer, words: str) -> End:
    if timer.starved():
        return End(words, f"{words} while others on the machine held the processor")
    return End(words)


def _heard(lifeline: int) -> list[bytes]:
    """All that the grader has said; an empty word if it is gone."""
    words: list[bytes] = []
    while True:
        try:
            said = os.read(lifeline, 100)
        except BlockingIOError:
            return words
        except OSError:
            said = b""
        words.append(said)
        if not said:
            return words


def _reap(runner: int) -> int | None:
    """Reap everything that has ended, and return the runner's status if it is among them."""
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == runner:
            return status
        if ended == 0:
            return None


def _end_descendants() -> None:
    """End what a submission left running, which only its own namespaces would do by themselves."""
    while left := descendants(own_number()):
        for one in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.number, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _how(status: int) -> End:
    if os.WIFSIGNALED(status):
        words = f"the process was ended by {_signal_name(os.WTERMSIG(status))}"
        if os.WTERMSIG(status) == signal.SIGKILL:
            return End(words, f"{words}, which the sandbox did not send: the machine may be full")
        return End(words)
    code = os.WEXITSTATUS(status)
    return End("" if code == 0 else f"the process ended itself with code {code}")


def _signal_name(number: int) -> str:
    """The name of a signal; those of Linux that are for programs' own use have none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _say(lifeline: int, end: End) -> None:
    """Tell the grader how it ended, unless the grader is gone."""
    words = {name: getattr(end, name)[:1000] for name in ("ended", "repeat", "failed")}
    with contextlib.suppress(OSError):
        os.write(lifeline, json.dumps(words).encode())
