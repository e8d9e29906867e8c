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
import importlib
import json
import os
import select
import signal
import socket
import sys
from pathlib import Path
from typing import Any, NoReturn

from course_lib.grading.sandbox.inside.isolation import (
    die_with_parent,
    new_namespaces,
    set_dumpable,
)
from course_lib.grading.sandbox.inside.limits import Limits
from course_lib.grading.sandbox.inside.supervisor import supervise

# What many submissions import and no first one has to wait for: imported between requests. With the
# shell there already, the last one shows figures at a cell's end, as it does in a kernel.
LATER = ("matplotlib", "matplotlib.pyplot", "matplotlib_inline.backend_inline")

# Of 1000 with which the kernel chooses whom it ends for want of memory.
FIRST_TO_GO = "500"

_FILES = 2  # wire and lifeline


def main() -> None:
    """Answer requests until the grader goes away."""
    number, form = int(sys.argv[1]), sys.argv[2]
    requests = socket.socket(fileno=number)
    # A machine without memory ends a run, which can be repeated, and not the grader or a judge.
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(FIRST_TO_GO, encoding="ascii")
    if form != "bare":
        set_dumpable(False)
    shell = _warm_up()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # ended keepers leave nothing behind
    requests.sendall(b"+")
    later = list(LATER)
    while True:
        while later and not select.select([requests], [], [], 0)[0]:
            importlib.import_module(later.pop(0))
        message, files = _request(requests)
        if not message:
            return
        wire, lifeline = files
        try:
            child = os.fork()
        except OSError as error:  # the machine is full: this run fails, and others may not
            child = -1
            _say_failed(lifeline, error)
        if child == 0:
            requests.close()
            _keep(shell, wire, lifeline, message, form)
        os.close(wire)
        os.close(lifeline)


def _warm_up() -> object:
    """Import what every submission imports, and make the shell; no student code runs here."""
    import numpy  # noqa: F401
    import torch
    import torch.nn.functional

    from course_lib.grading.sandbox.inside.cells import new_shell
    from course_lib.tasks import probing  # noqa: F401

    torch.set_num_threads(1)  # a thread started here would not survive the fork
    torch.ones(2, 2) @ torch.ones(2, 2)
    return new_shell()


def _request(requests: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """What a run is given, and two open files, or nothing when the grader is gone."""
    room = socket.CMSG_LEN(_FILES * array.array("i").itemsize)
    words, extra, _, _ = requests.recvmsg(4096, room)
    if not words:
        return {}, []
    files = array.array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            files.frombytes(data[: len(data) - len(data) % files.itemsize])
    return json.loads(words), list(files)


def _keep(shell: object, wire: int, lifeline: int, message: dict[str, Any], form: str) -> NoReturn:
    """The keeper: new namespaces, then wait for the supervisor."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    try:
        limits, core, grouped = Limits(**message["limits"]), message["core"], message["grouped"]
        os.setsid()
        if form != "bare":
            new_namespaces(own_users=form == "warm")
        supervisor = os.fork()
        if supervisor == 0:
            die_with_parent()
            supervise(shell, wire, lifeline, limits, core, form, grouped=grouped)
        os.close(wire)
        os.close(lifeline)
        os.waitpid(supervisor, 0)
    except BaseException as error:
        _say_failed(lifeline, error)
    finally:
        os._exit(0)


def _say_failed(lifeline: int, error: BaseException) -> None:
    with contextlib.suppress(OSError):
        os.write(lifeline, json.dumps({"failed": f"isolation failed: {error}"}).encode())


if __name__ == "__main__":
    main()
