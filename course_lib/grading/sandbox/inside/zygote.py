"""Inside the sandbox: a process that holds torch already, and forks one for each submission.

    python -m course_lib.grading.sandbox.inside.zygote SOCKET_NUMBER warm|cold|bare

It reads no notebook and holds nothing secret. Each submission arrives as two open sockets: the
*wire*, on which the submission's own process takes its job and leaves its results, and the
*lifeline*, which only its supervisor holds: when the grader closes it, everything that the
submission started ends.

Three generations stand between: the **keeper** makes new namespaces; the **supervisor**, process 1
in them, runs no student code and watches the clock; the **runner** runs the cells.
"""

from __future__ import annotations

import array
import contextlib
import os
import select
import signal
import socket
import sys
import time
from typing import Any, NoReturn

from course_lib.errors import BrokenFrame
from course_lib.grading.sandbox.inside import census
from course_lib.grading.sandbox.inside.isolation import (
    adopt_orphans,
    close_all_but,
    die_with_parent,
    drop_rights,
    fresh_folders,
    new_namespaces,
    set_dumpable,
    set_limits,
    stay_on_few_cores,
)
from course_lib.grading.sandbox.inside.limits import Limits
from course_lib.grading.sandbox.inside.syscalls import refuse_doors

# An interrupted cell ends within moments, unless it catches the interruption and goes on.
SECONDS_TO_STOP = 3.0

# How often the processes of a submission are counted: memory grows by some 100 MB in between.
SECONDS_BETWEEN_COUNTS = 0.1

# Everything around a submission's own processes goes first when the machine is busy.
_NICENESS = 5

_FILES = 2  # wire and lifeline


def main() -> None:
    """Answer requests until the grader goes away."""
    number, form = int(sys.argv[1]), sys.argv[2]
    requests = socket.socket(fileno=number)
    if form != "bare":
        set_dumpable(False)
    shell = _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended keepers leave nothing behind
    requests.sendall(b"+")
    while True:
        message, files = _request(requests)
        if not message:
            return
        wire, lifeline = files
        if os.fork() == 0:
            requests.close()
            _keep(shell, wire, lifeline, Limits(**message), form)
        os.close(wire)
        os.close(lifeline)


def _warm_up() -> object:
    """Import what every submission imports, and make the shell; no student code runs here."""
    import matplotlib.pyplot  # noqa: F401
    import matplotlib_inline.backend_inline  # noqa: F401
    import numpy  # noqa: F401
    import torch
    import torch.nn.functional

    from course_lib.grading.sandbox.inside.cells import new_shell
    from course_lib.tasks import probing  # noqa: F401

    torch.set_num_threads(1)  # a thread started here would not survive the fork
    torch.ones(2, 2) @ torch.ones(2, 2)
    return new_shell()


def _request(requests: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """Limits and two open files, or nothing when the grader is gone."""
    import json

    room = socket.CMSG_LEN(_FILES * array.array("i").itemsize)
    words, extra, _, _ = requests.recvmsg(4096, room)
    if not words:
        return {}, []
    files = array.array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    return json.loads(words), list(files)


def _keep(shell: object, wire: int, lifeline: int, limits: Limits, form: str) -> NoReturn:
    """The keeper: new namespaces, then wait for the supervisor."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        os.setsid()
        if form != "bare":
            new_namespaces(own_users=form == "warm")
        supervisor = os.fork()
        if supervisor == 0:
            die_with_parent()
            _supervise(shell, wire, lifeline, limits, form)
        os.close(wire)
        os.close(lifeline)
        os.waitpid(supervisor, 0)
    except BaseException as error:
        _say(lifeline, f"isolation failed: {error}")
    finally:
        os._exit(0)


def _supervise(shell: object, wire: int, lifeline: int, limits: Limits, form: str) -> NoReturn:
    """The supervisor: start the runner, watch the clock and the grader, say how it ended."""
    try:
        if form != "bare":
            fresh_folders(limits)
        adopt_orphans()
        heard, told = os.pipe()
        runner = os.fork()
        if runner == 0:
            os.close(lifeline)
            os.close(heard)
            _run(shell, wire, told, limits, form)
        os.close(wire)
        os.close(told)
        set_dumpable(False)
        words = _watch(runner, heard, lifeline, limits)
        if form != "warm":
            _end_descendants()
        _say(lifeline, words)
    except BaseException as error:
        _say(lifeline, f"isolation failed: {error}")
    finally:
        os._exit(0)


def _run(shell: object, wire: int, told: int, limits: Limits, form: str) -> NoReturn:
    """The runner: everything from here on may be changed by student code."""
    from course_lib.grading.sandbox.inside.cells import Shell, run_job

    assert isinstance(shell, Shell)
    close_all_but(wire, told)
    os.chdir(os.environ["HOME"])
    os.nice(_NICENESS)
    stay_on_few_cores()
    set_limits(limits, own_users=form != "bare")
    if form != "bare":
        drop_rights()
        refuse_doors()
    set_dumpable(True)  # torch reads its own /proc entries
    signal.signal(signal.SIGINT, signal.default_int_handler)
    channel = socket.socket(fileno=wire)

    def tell(step: int) -> None:
        os.write(told, step.to_bytes(4, "big"))

    try:
        run_job(shell, channel, tell)
    except (BrokenFrame, OSError, MemoryError):
        os._exit(3)
    except BaseException:  # student code can make anything raise anything
        os._exit(4)
    os._exit(0)


def _watch(runner: int, heard: int, lifeline: int, limits: Limits) -> str:
    """Wait for the runner's end; how it came, in words, or "" for its own."""
    began = step_began = counted = time.monotonic()
    step, interrupted = 0, False
    held = census.resident(runner)
    self_number = census.own_number()
    listening = [heard, lifeline, os.pidfd_open(runner)]
    while True:
        ready, _, _ = select.select(listening, [], [], SECONDS_BETWEEN_COUNTS)
        now = time.monotonic()
        if lifeline in ready:
            return "the grader ended the run"
        if heard in ready:
            number = os.read(heard, 4)
            if number:
                step, step_began, interrupted = int.from_bytes(number, "big"), now, False
            else:
                listening.remove(heard)
        status = _reap(runner)
        if status is not None:
            return _how(status)
        if now - counted > SECONDS_BETWEEN_COUNTS:
            counted = now
            broken = census.excess(self_number, limits, held)
            if broken:
                return broken
        if now - began > limits.total_seconds:
            return f"the notebook took more than {limits.total_seconds:g} s"
        if now - step_began > limits.cell_seconds and not interrupted:
            os.kill(runner, signal.SIGINT)
            interrupted = True
        elif interrupted and now - step_began > limits.cell_seconds + SECONDS_TO_STOP:
            return (
                f"step {step + 1} took more than {limits.cell_seconds:g} s "
                "and did not stop when it was interrupted"
            )


def _reap(runner: int) -> int | None:
    """Take leave of everything that ended; the runner's status, if it is among them."""
    while True:
        ended, status = os.waitpid(-1, os.WNOHANG)
        if ended == runner:
            return status
        if ended == 0:
            return None


def _end_descendants() -> None:
    """Without namespaces of its own, nothing ends by itself what a submission left running."""
    while left := census.descendants(census.own_number()):
        for one in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one.number, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(-1, 0)


def _how(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"the process was ended by {_signal_name(os.WTERMSIG(status))}"
    code = os.WEXITSTATUS(status)
    return "" if code == 0 else f"the process ended itself with code {code}"


def _signal_name(number: int) -> str:
    """Those for programs' own use, which Linux has, too, have no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _say(lifeline: int, words: str) -> None:
    """Tell the grader how it ended; a grader that is gone needs no answer."""
    with contextlib.suppress(OSError):
        os.write(lifeline, words.encode()[:1000] or b"\n")


if __name__ == "__main__":
    main()
