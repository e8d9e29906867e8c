"""From outside: the socket between the grader and a run's supervisor, which says how the run ended.

The supervisor hears from it how many results have come; see `supervise`.
"""

from __future__ import annotations

import contextlib
import json
import socket

from course_grader.errors import MachineError
from course_tasks.runner.supervisor import NO_MORE_RESULTS, End

_MOST_BYTES = 10_000


def tell(lifeline: socket.socket, words: bytes) -> None:
    """Tell the supervisor; one that is gone, or does not listen, is noticed soon enough."""
    with contextlib.suppress(OSError):
        lifeline.send(words, socket.MSG_DONTWAIT)


def last_words(lifeline: socket.socket, seconds: float) -> End:
    """How the supervisor says that a run ended, after it has waited a moment for that end.

    Parameters
    ----------
    lifeline : socket
        One that keeps messages apart (SOCK_SEQPACKET).
    seconds : float
        How long to wait for it.

    Returns
    -------
    End
        One that asks for another run, if the supervisor said nothing that can be understood.

    Raises
    ------
    MachineError
        If the sandbox did not work before any student code ran.
    """
    tell(lifeline, NO_MORE_RESULTS)
    lifeline.settimeout(seconds)
    try:
        words = _received(lifeline)
        said = json.loads(words) if words else None
    except (OSError, ValueError):
        said = None
    if not isinstance(said, dict):
        return End(repeat="its supervisor ended, or was ended, without a word")
    if said.get("failed"):
        raise MachineError(str(said["failed"]))
    return End(str(said.get("ended", "")), str(said.get("repeat", "")))


def _received(lifeline: socket.socket) -> bytes:
    """The next message.

    A supervisor that ends before it has read all that it was told resets the connection. The kernel
    reports that first, once, and hands over what the supervisor said after that.
    """
    with contextlib.suppress(ConnectionResetError):
        return lifeline.recv(_MOST_BYTES)
    return lifeline.recv(_MOST_BYTES)
