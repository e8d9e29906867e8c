"""Which processor each run has: one of its own, as long as there are enough."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from collections import Counter
from collections.abc import Iterator

_NAME = "course-grading-core-"


class Cores:
    """The processors that this process may use, handed out one to a run.

    Graders of one machine agree by names of sockets, one for each processor. They need no folder,
    and are gone with the process that held them.
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
            core, name = self._choose()
            self._used[core] += 1
        try:
            yield core
        finally:
            with self._choosing:
                self._used[core] -= 1
            if name is not None:
                name.close()

    def _choose(self) -> tuple[int, socket.socket | None]:
        known = sorted(os.sched_getaffinity(0), key=lambda core: self._used[core])
        for core in known:
            if not self._used[core] and (name := _name(core)) is not None:
                return core, name
        return known[0], None


def _name(core: int) -> socket.socket | None:
    """The machine-wide sign that a processor is taken, unless it is."""
    sign = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        sign.bind(f"\0{_NAME}{core}")
    except OSError:
        sign.close()
        return None
    return sign
