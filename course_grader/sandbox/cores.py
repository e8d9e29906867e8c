"""Which processor each run has: one of its own, as long as there are enough."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterator

# What the socket of a taken processor is called, before the processor's number.
SIGN = "course-grading-core-"


class Cores:
    """The processors that this process may use, handed out one to a run.

    Graders on one machine see from sockets which processors are taken: each processor has a socket
    name, and only one process can hold it. Such a name needs no folder, and becomes free when its
    process ends, however that happens.
    """

    def __init__(self) -> None:
        self._used: Counter[int] = Counter()
        self._choosing = threading.Lock()

    @contextlib.contextmanager
    def one(self) -> Iterator[int | None]:
        """A processor that nobody else has been given, or the one that the fewest runs share.

        None where the system cannot bind a process to a processor.
        """
        if not hasattr(os, "sched_getaffinity"):
            yield None
            return
        with self._choosing:
            core, name = self.choose()
            self._used[core] += 1
        try:
            yield core
        finally:
            with self._choosing:
                self._used[core] -= 1
            if name is not None:
                name.close()

    def choose(self) -> tuple[int, socket.socket | None]:
        """A processor for a run, with the socket that holds it unless somebody else does."""
        known = sorted(os.sched_getaffinity(0), key=lambda core: self._used[core])
        for core in known:
            if not self._used[core] and (name := _name(core)) is not None:
                return core, name
        return known[0], None


def _name(core: int) -> socket.socket | None:
    """The machine-wide sign that a processor is taken, unless it is."""
    sign = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        sign.bind(f"\0{SIGN}{core}")
    except OSError:
        sign.close()
        return None
    return sign
