"""Inside the sandbox: a process that holds torch already, and forks one for each submission.

    python -m course_tasks.runner.zygote SOCKET_NUMBER[,SOCKET_NUMBER] warm|cold|bare

With two sockets there are two such processes. The first one is isolated long before torch is
imported, and serves the attempts to break out. It has forked the second one, which imports torch
meanwhile and serves submissions. Both use the same functions and the same shell, which is made
before.

It reads no notebook and holds nothing secret. Each submission arrives as two open sockets: the
*wire*, on which the submission's own process takes its job and leaves its results, and the
*lifeline*, which only its supervisor holds: when the grader closes it, everything that the
submission started ends.

Two generations follow: the **supervisor**, process 1 in new namespaces, runs no student code and
watches the clock; the **runner**, its child, runs the cells.
"""

from __future__ import annotations

import array
import contextlib
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from course_tasks.runner.huge_pages import collapse
from course_tasks.runner.isolation import (
    die_with_parent,
    fork_into_namespaces,
    prefixes_to_keep,
    set_dumpable,
)
from course_tasks.runner.limits import Limits
from course_tasks.runner.process_monitor import default_buffer
from course_tasks.runner.rehearsal import rehearse
from course_tasks.runner.seccomp import filter_code
from course_tasks.runner.supervisor import Beside, supervise
from course_tasks.runner.users import RunUsers

# Notebooks of the course import these, so they are imported between requests, once for a class
# instead of once for each submission, which would spend a third of its time on it.
LATER = ("course_lib.training", "course_lib.sampling")

# These take half a second and pages that every copy has, so they are imported only if a submission
# draws. Since there is a shell already, the last one shows figures at a cell's end, as in a kernel.
TO_DRAW = ("matplotlib", "matplotlib.pyplot", "matplotlib_inline.backend_inline")

# Making large pages takes as much time as they save in some ten runs, so it is not worth it for a
# small class. The same goes for rehearsing more than once.
RUNS_WORTH_LARGE_PAGES = 5
MORE_REHEARSALS = 2

# Out of 1000; the kernel uses it to choose which process to end if memory runs out.
FIRST_TO_GO = "500"

_FILES = 2  # wire and lifeline

# Some hundred names of tasks beside the limits.
_MOST_REQUEST_BYTES = 2**16

_DONE = object()


def main() -> None:
    """Answer requests until the grader goes away."""
    numbers, form = map(int, sys.argv[1].split(",")), sys.argv[2]
    requests, *attempts = (socket.socket(fileno=number) for number in numbers)
    # If memory runs out, it should end a run, which can be repeated, and not the grader or a judge.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO, encoding="ascii")
    if form != "bare":
        set_dumpable(False)
        filter_code()
        prefixes_to_keep()
        default_buffer()
    # Garbage collections took a third of the time, because each went through all that libraries
    # hold and copied its pages. So what is imported here is kept out of them, in every run as well.
    gc.disable()
    shell = _shell()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended supervisors leave nothing behind
    for light in attempts:
        if os.fork() == 0:
            light.close()
            die_with_parent()
            continue
        requests.close()
        _serve(shell, light, form, RunUsers(1, 2), prepares=False)
        return
    _warm_up()
    # A cold process has only one run, which would have to wait for what makes later runs faster.
    _serve(shell, requests, form, RunUsers(0, 2), prepares=form != "cold")


def _imported(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        importlib.import_module(name)
        gc.freeze()
        yield name


def _probes_imported(tasks: Sequence[str]) -> Iterator[str]:
    """The modules that ask these tasks' questions, except where answers need packages that start
    threads, as JAX does: those would not survive a fork.
    """
    from course_tasks import catalogue

    for task in tasks:
        # A private task's module may raise anything, which each run with this task will report.
        with contextlib.suppress(Exception):
            if not catalogue.requires(task):
                catalogue.probe(task)
        gc.freeze()
        yield task


class Preparations:
    """What makes later runs faster, done in steps while no request waits.

    A request that comes during a step is served after it. The first request, which tries whether
    honest work runs at all, doesn't wait, since the steps begin only after it.
    """

    def __init__(self) -> None:
        self._steps: deque[Iterator[object]] = deque([rehearse(), _imported(LATER)])
        self._asked: set[str] = set()
        self._drawn, self._runs = False, 0

    def learn(self, message: Mapping[str, Any]) -> None:
        """Learn from a request what later runs of the class need; the first run that draws waits
        until that is ready.

        Parameters
        ----------
        message : mapping of str to object
            The request: `tasks`, the names of those that it asks, and `draws`, whether it draws.
        """
        self._runs += 1
        if new := [task for task in message["tasks"] if task not in self._asked]:
            self._asked.update(new)
            self._steps.appendleft(_probes_imported(new))
        if message["draws"] and not self._drawn:
            self._drawn = True
            for _ in _imported(TO_DRAW):  # at once: in the run it would be the student's time
                pass
        if self._runs == RUNS_WORTH_LARGE_PAGES:
            self._steps += [rehearse(MORE_REHEARSALS), collapse()]

    def step(self) -> bool:
        """Take the next step, and say whether there was one."""
        while self._runs and self._steps:
            if next(self._steps[0], _DONE) is not _DONE:
                return True
            self._steps.popleft()
        return False


def _serve(
    shell: object, requests: socket.socket, form: str, users: RunUsers, *, prepares: bool
) -> None:
    """Say that runs can begin, then fork one for each request.

    Between requests one that prepares does so for later ones; see `Preparations`.
    """
    gc.freeze()
    requests.sendall(b"+")
    preparations = Preparations() if prepares else None
    while True:
        while preparations and not select.select([requests], [], [], 0)[0]:
            if not preparations.step():
                break
        message, files = _request(requests)
        if not message:
            return
        if preparations:
            preparations.learn(message)
        wire, lifeline = files
        try:
            child = _forked(form, users)
        except OSError as error:  # The machine is full, so this run fails, but others may not.
            child = -1
            _say_failed(lifeline, error)
        if child == 0:
            requests.close()
            _watch_over(shell, wire, lifeline, message, form, users)
        os.close(wire)
        os.close(lifeline)


def _forked(form: str, users: RunUsers) -> int:
    if form == "warm":
        return users.fork()
    return os.fork() if form == "bare" else fork_into_namespaces(own_users=False)


def _shell() -> object:
    from course_tasks.runner.cells import new_shell

    return new_shell()


def _warm_up() -> None:
    """Import what every submission imports, before any student code runs."""
    import numpy  # noqa: F401
    import torch
    import torch.nn.functional

    from course_tasks.runner.cells import ready_for_tasks

    torch.set_num_threads(1)  # a thread started here would not survive the fork
    torch.ones(2, 2) @ torch.ones(2, 2)
    ready_for_tasks()


def _request(requests: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a run is given, and two open files, or nothing when the grader is gone."""
    room = socket.CMSG_LEN(_FILES * array.array("i").itemsize)
    words, extra, _, _ = requests.recvmsg(_MOST_REQUEST_BYTES, room)
    if not words:
        return {}, []
    files = array.array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    return json.loads(words), list(files)


def _watch_over(
    shell: object,
    wire: int,
    lifeline: int,
    message: dict[str, Any],
    form: str,
    users: RunUsers,
) -> NoReturn:
    """The supervisor, from its first moment on."""
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        if form == "warm":
            users.become()
        # If the parent ends, the grader counts all runs as lost and starts over. The kernel forgets
        # this at every change of the user.
        die_with_parent()
        os.setsid()
        limits, core = Limits(**message["limits"]), message["core"]
        beside = Beside(message["grouped"], message["alone"], users.own)
        supervise(shell, wire, lifeline, limits, core, form, beside)
    except BaseException as error:
        _say_failed(lifeline, error)
    finally:
        os._exit(0)


def _say_failed(lifeline: int, error: BaseException) -> None:
    with contextlib.suppress(OSError):
        os.write(lifeline, json.dumps({"failed": f"isolation failed: {error}"}).encode())


if __name__ == "__main__":
    main()
