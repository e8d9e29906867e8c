"""Inside the sandbox: all processes of one submission, and what they hold together.

A limit of the kernel bounds each process by itself; only a control group bounds several, and few
machines lend one. The supervisor counts instead.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from course_lib.grading.sandbox.inside.limits import MEGABYTE, Limits

_PROC = Path("/proc")
_KILOBYTE = 1024


@dataclass(frozen=True)
class _Process:
    number: int
    parent: int
    threads: int


def descendants(ancestor: int) -> list[_Process]:
    """Every process below one, by the numbers that /proc shows.

    Parameters
    ----------
    ancestor : int
        See `own_number`.
    """
    below: dict[int, list[_Process]] = {}
    for name in os.listdir(_PROC):
        if name.isdigit() and (one := _read(int(name))):
            below.setdefault(one.parent, []).append(one)
    found: list[_Process] = []
    waiting = [ancestor]
    while waiting:
        children = below.pop(waiting.pop(), [])
        found += children
        waiting += [child.number for child in children]
    return found


def own_number() -> int:
    """This process's number in /proc, which may belong to namespaces further out."""
    return int(os.readlink("/proc/self"))


def excess(ancestor: int, limits: Limits, held_at_start: int) -> str:
    """Which limit the processes below one break together, in words; empty if none.

    Parameters
    ----------
    ancestor : int
    limits : Limits
    held_at_start : int
        Bytes that the first of them held before it ran anything.
    """
    processes = descendants(ancestor)
    threads = sum(one.threads for one in processes)
    if threads > limits.processes:
        return f"it started more than {limits.processes} processes and threads"
    most = held_at_start + limits.memory_megabytes * MEGABYTE
    if sum(_at_most(one.number) for one in processes) > most:
        held = sum(resident(one.number) for one in processes)
        if held > most:
            return f"its processes together took more than {limits.memory_megabytes} MB of memory"
    return ""


def resident(process: int) -> int:
    """Bytes of memory, of shared pages only the process's part where the kernel tells."""
    part = _field(_PROC / str(process) / "smaps_rollup", "Pss:")
    return part if part is not None else _at_most(process)


def _at_most(process: int) -> int:
    """Bytes of its own memory, with all pages that it still shares with others; quick to ask."""
    status = _PROC / str(process) / "status"
    return sum(_field(status, name) or 0 for name in ("RssAnon:", "RssShmem:"))


def _field(path: Path, name: str) -> int | None:
    try:
        for line in path.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith(name):
                return int(line.split()[1]) * _KILOBYTE
    except OSError:  # ended meanwhile, or not to be looked into
        pass
    return None


def _read(number: int) -> _Process | None:
    try:
        line = (_PROC / str(number) / "stat").read_text(encoding="ascii", errors="replace")
    except OSError:  # ended meanwhile
        return None
    after_name = line.rpartition(")")[2].split()
    return _Process(number, int(after_name[1]), int(after_name[17]))
