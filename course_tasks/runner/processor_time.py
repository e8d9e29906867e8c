"""Inside the sandbox: for how long a run used its processor, and for how long others kept it from
that.

What a run's own processes use is its own time, however many they are and however little of it each
of them gets. Only a run that had something to do, and did not do it, was kept waiting by others.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from course_tasks.runner.kernel_files import read_from_kernel
from course_tasks.runner.processes import Process

_PROC = "/proc"
_TICKS = os.sysconf("SC_CLK_TCK")
_READY = "R"

# Waiting is measured over so long: with some loops beside it, a process is not scheduled for a
# fifth of a second, and the kernel adds up its waiting only when it is.
SECONDS_OF_A_WINDOW = 2.0


# How many times its limit a step may take on the wall's clock while it waits for processors, and
# seconds beside, for short limits. Four honest trainings on one core are through by then, and who
# waits longer is repeated alone. There, nobody else waits for its end.
MOST_STRETCH, MOST_STRETCH_ALONE = 4.0, 10.0
SECONDS_OF_STRETCH = 10.0

# A run that waited less than this part of the time, or used this part of its limit in processor
# time, would have been interrupted alone, too.
_WAITED, _USED = 0.2, 0.9

# A run with more threads than this that want its one core all the time takes it from itself before
# anybody else does: a step's part of it would be as small if nothing else ran. Honest ones have
# a loader's few workers.
MOST_READY_AT_ONCE = 8.0


@dataclass(frozen=True)
class ThreadTimes:
    """One thread, as the kernel counts it.

    Attributes
    ----------
    used, waited : float
        Seconds on a processor, and seconds of waiting for one that are over.
    turns : int
        How often it was given one.
    ready : bool
        Whether it is on a processor now or waits for one.
    """

    used: float
    waited: float
    turns: int
    ready: bool


@dataclass(frozen=True)
class Moment:
    """A run's processes at one moment.

    Attributes
    ----------
    at : float
        Seconds, by a clock that nobody sets.
    used : float
        Seconds of processor time of whole processes, with those that have ended and whose parents
        have taken leave of them.
    processes : int
    threads : mapping of int to ThreadTimes
    newest : int
        The number of the newest process or thread; 0 where others' are counted with them.
    """

    at: float
    used: float
    processes: int
    threads: Mapping[int, ThreadTimes]
    newest: int


@dataclass(frozen=True)
class _Window:
    """Where a window began."""

    moment: Moment
    waiting: Mapping[int, float]


class ProcessorTime:
    """Seconds that a run used and waited, brought up to date by each `count`.

    A thread that waits does so for another thread of its own run, which uses the processor
    meanwhile, or for others. What is left of one thread's waiting when all processor time of
    the run's other threads is taken off was therefore for others, however many loops the run
    keeps busy; a run that sleeps waits for nobody.

    Parameters
    ----------
    first : Moment
    between : float
        Seconds between two counts, at most about: what came and went unseen lived no longer.

    Attributes
    ----------
    last : Moment
        The one that was counted last.
    used : float
        Seconds of processor time.
    waited : float
        Seconds for which the run certainly waited for a processor that others held.
    ready : float
        Seconds for which threads were on a processor or waited for one, all of them together.
    """

    def __init__(self, first: Moment, between: float):
        self.last, self.used, self.waited, self.ready = first, first.used, 0.0, 0.0
        self._between = between
        self._since: dict[int, float] = {}
        self._begin(first)

    def count(self, now: Moment) -> None:
        """Add what has happened since the last count."""
        before, self.last = self.last, now
        # Whoever was ready and has not had a turn since has waited all the time.
        self._since = {
            number: self._since.get(number, before.at)
            for number, one in now.threads.items()
            if one.ready and before.threads.get(number) == one
        }
        self._seen |= now.threads.keys()
        self.used = max(self.used, now.used)
        ready = sum(one.ready for one in now.threads.values())
        self.ready += ready * (now.at - before.at)
        passed = now.at - self._window.moment.at
        self.waited = self._waited_before + self._others(now, passed)
        if passed >= SECONDS_OF_A_WINDOW:
            self._begin(now)

    def _begin(self, now: Moment) -> None:
        waiting = {number: now.at - since for number, since in self._since.items()}
        self._window, self._waited_before = _Window(now, waiting), self.waited
        self._seen = set(now.threads)

    def _others(self, now: Moment, passed: float) -> float:
        """Seconds since the window began that were certainly others'."""
        then = self._window.moment
        exact, longest = 0.0, 0.0
        for number, one in now.threads.items():
            before = then.threads.get(number, ThreadTimes(0.0, 0.0, 0, ready=False))
            exact += one.used - before.used
            waited = one.waited - before.waited - self._window.waiting.get(number, 0.0)
            if number in self._since:
                waited += now.at - self._since[number]
            longest = max(longest, one.used - before.used + waited)
        # The kernel counts whole processes, ended ones too, in hundredths of a second.
        rough = now.used - then.used - 2 * now.processes / _TICKS
        used = max(exact, rough, 0.0) + self._unseen(now) * self._between
        return max(0.0, min(longest, passed) - used)

    def _unseen(self, now: Moment) -> float:
        """How many came and went between two counts. Where a parent does not want to take leave of
        its children, nobody is charged for what they used.
        """
        started = now.newest - self._window.moment.newest
        if started < 0:  # numbers began again
            return float("inf")
        return max(0, started - len(self._seen - self._window.moment.threads.keys()))


def stretched(limit: float, *, alone: bool) -> float:
    """Seconds on the wall's clock at which a limit holds, whatever the machine was busy with."""
    return (MOST_STRETCH_ALONE if alone else MOST_STRETCH) * limit + SECONDS_OF_STRETCH


class Timer:
    """A limit on time, from which time spent waiting for others' processors is taken off.

    Parameters
    ----------
    limit : float
        Seconds.
    counted : ProcessorTime
    began : float
        When, by the clock of a `Moment`.
    alone : bool
        See `supervise`.
    """

    def __init__(self, limit: float, counted: ProcessorTime, began: float, *, alone: bool):
        self._limit, self._counted, self._began = limit, counted, began
        self._longest = stretched(limit, alone=alone)
        self._waited, self._used, self._ready = counted.waited, counted.used, counted.ready

    def over(self) -> bool:
        """Whether the time is up, by whichever clock."""
        wall = self._wall()
        return wall - self._lost(wall) > self._limit or wall > self._longest

    def starved(self) -> bool:
        """Whether others, and not the run itself, are why it is up."""
        wall = self._wall()
        used = self._counted.used - self._used
        return self._lost(wall) > _WAITED * wall and used < _USED * self._limit

    def _wall(self) -> float:
        """Seconds until the last count: what happened since then, nobody knows yet."""
        return max(0.0, self._counted.last.at - self._began)

    def _lost(self, wall: float) -> float:
        """Seconds that others took."""
        if self._counted.ready - self._ready > MOST_READY_AT_ONCE * wall:
            return 0.0
        return min(self._counted.waited - self._waited, wall)


def moment(processes: Sequence[Process], *, own_numbers: bool) -> Moment:
    """Look at processes now.

    Parameters
    ----------
    processes : sequence of Process
    own_numbers : bool
        Whether processes and threads of this namespace are numbered apart from all others.
    """
    threads: dict[int, ThreadTimes] = {}
    for one in processes:
        threads.update(_threads(one.number))
    mine = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = sum(one.seconds for one in processes) + mine.ru_utime + mine.ru_stime
    newest = _newest() if own_numbers else 0
    return Moment(time.monotonic(), used, len(processes), threads, newest)


def _newest() -> int:
    try:
        return int(read_from_kernel(f"{_PROC}/loadavg").split()[-1])
    except (OSError, ValueError, IndexError):
        return 0


def _threads(process: int) -> dict[int, ThreadTimes]:
    folder = f"{_PROC}/{process}/task"
    found = {}
    try:
        numbers = [int(name) for name in os.listdir(folder)]
    except OSError:
        return {}
    for number in numbers:
        try:
            # In this order: who is ready with the same times at the next count had no turn.
            words = read_from_kernel(f"{folder}/{number}/schedstat").split()
            line = read_from_kernel(f"{folder}/{number}/stat")
            state = line.rpartition(")")[2].split()[0]
            used, waited, turns = int(words[0]) / 1e9, int(words[1]) / 1e9, int(words[2])
        except (OSError, IndexError):  # ended meanwhile, or a kernel that does not count
            continue
        found[number] = ThreadTimes(used, waited, turns, state == _READY)
    return found
