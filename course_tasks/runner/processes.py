"""Inside the sandbox: the processes of a submission, as /proc shows them."""

from __future__ import annotations

import os
from dataclasses import dataclass

from course_tasks.runner.kernel_files import read_from_kernel

_PROC = "/proc"
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    """One process, as /proc shows it.

    Attributes
    ----------
    number, parent, threads : int
    seconds : float
        Processor time of its own and of those of its children that it has waited for.
    """

    number: int
    parent: int
    threads: int
    seconds: float


def descendants(ancestor: int) -> list[Process]:
    """Every process below one, by the numbers that /proc shows.

    Parameters
    ----------
    ancestor : int
        See `own_number`.
    """
    below: dict[int, list[Process]] = {}
    for name in os.listdir(_PROC):
        if name.isdigit() and (one := _read(int(name))):
            below.setdefault(one.parent, []).append(one)
    found: list[Process] = []
    waiting = [ancestor]
    while waiting:
        children = below.pop(waiting.pop(), [])
        found += children
        waiting += [child.number for child in children]
    return found


def own_number() -> int:
    """This process's number in /proc, which may belong to namespaces further out."""
    return int(os.readlink("/proc/self"))


def _read(number: int) -> Process | None:
    try:
        line = read_from_kernel(f"{_PROC}/{number}/stat")
    except OSError:  # ended meanwhile
        return None
    words = line.rpartition(")")[2].split()
    seconds = sum(int(ticks) for ticks in words[11:15]) / _TICKS
    return Process(number, int(words[1]), int(words[17]), seconds)
