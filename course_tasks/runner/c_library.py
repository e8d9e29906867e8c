"""The C library, for requests to the kernel that Python 3.11 has no names for."""

from __future__ import annotations

import ctypes
import functools
import os

from course_tasks.errors import IsolationError


@functools.cache
def c_library(kind: type[ctypes.CDLL] = ctypes.CDLL) -> ctypes.CDLL:
    """The library that this process holds already.

    It is opened once, because each `CDLL` makes classes of its own: opened before a process is
    forked, it costs a run no time.

    Parameters
    ----------
    kind : type
        `ctypes.PyDLL` keeps the interpreter's lock during a call.
    """
    return kind(None, use_errno=True)


def must(returned: int, what: str) -> None:
    """Make sure that a call succeeded, which the C library reports as zero.

    Parameters
    ----------
    returned : int
        What the call returned.
    what : str
        The call in words, for the error.

    Raises
    ------
    IsolationError
        With the kernel's number, if it is anything else.
    """
    if returned != 0:
        number = ctypes.get_errno()
        raise IsolationError(number, f"{what}: {os.strerror(number)}")
