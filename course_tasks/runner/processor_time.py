"""Inside the sandbox: for how long a run used its processor, and for how long others kept it
waiting.

What a run's own processes use is its own time, however many there are and however little each of
them gets. Others kept a run waiting only if it had something to do but could not do it.
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

# Waiting is measured over this long, because beside some busy loops a process is not scheduled for
# a fifth of a second, and the kernel adds up its waiting only when it is scheduled.
SECONDS_OF_A_WINDOW = 2.0


# How many times its limit a step may take in wall time while it waits for processors, and some more
# seconds for short limits. Four honest trainings on one core are done by then, and a run that waits
# longer is repeated alone, when no other run waits for its end.
MOST_STRETCH, MOST_STRETCH_ALONE = 4.0, 10.0
SECONDS_OF_STRETCH = 10.0

# A run that waited for a smaller part of the time, or used this part of its limit in processor
# time, would have been interrupted even if it had run alone.
_WAITED, _USED = 0.2, 0.9

# A run in which more threads than this always want its one core slows itself down more than others
# do, and a step would get as small a part of it if nothing else ran. Honest runs only have the few
# workers of a loader.
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
        Seconds, by a monotonic clock.
    used : float
        Seconds of processor time of whole processes, including ended ones that their parents have
        waited for.
    processes : int
    threads : mapping of int to ThreadTimes
    newest : int
        The number of the newest process or thread; 0 if those of others are counted, too.
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

    A thread waits either for another thread of its own run, which uses the processor meanwhile, or
    for others. So if all processor time of the run's other threads is subtracted from one thread's
    waiting, the rest was for others, however many loops the run keeps busy. A run that sleeps
    doesn't wait.

    Parameters
    ----------
    first : Moment
    between : float
        The longest time between two counts, so that whatever came and went unseen was shorter.

    Attributes
    ----------
    last : Moment
        The one that was counted last.
    used : float
        Seconds of processor time.
    waited : float
        Seconds for which the run certainly waited for a processor that others held.
    ready : float
        Seconds for which threads were on a processor or waited for one, summed over all of them.
    """

    def __init__(self, first: Moment, between: float):
        self.last, self.used, self.waited, self.ready = first, first.used, 0.0, 0.0
        self._between = between
        self._since: dict[int, float] = {}
        self._begin(first)

    def count(self, now: Moment) -> None:
        """Add what has happened since the last count."""
        before, self.last = self.last, now
        # A thread that was ready and has not had a turn since has waited all the time.
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
        """Seconds since the window began for which others certainly had the processor."""
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
        """How many came and went between two counts. If a parent doesn't wait for its children,
        what they used is charged to no process.
        """
        started = now.newest - self._window.moment.newest
        if started < 0:  # numbers began again
            return float("inf")
        return max(0, started - len(self._seen - self._window.moment.threads.keys()))


def stretched(limit: float, *, alone: bool) -> float:
    """Seconds of wall time after which a limit holds, however busy the machine was."""
    return (MOST_STRETCH_ALONE if alone else MOST_STRETCH) * limit + SECONDS_OF_STRETCH


class Timer:
    """A limit on time that doesn't count the time spent waiting for processors that others hold.

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
        """Whether the time is up, by either clock."""
        wall = self._wall()
        return wall - self._lost(wall) > self._limit or wall > self._longest

    def starved(self) -> bool:
        """Whether the time is up because of others and not because of the run itself."""
        wall = self._wall()
        used = self._counted.used - self._used
        return self._lost(wall) > _WAITED * wall and used < _USED * self._limit

    def _wall(self) -> float:
        """Seconds until the last count, since what happened after it is not known yet."""
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
        Whether this namespace has its own numbers for processes and threads.
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
            # In this order, a thread that is ready at the next count with the same times had no
            # turn in between.
            words = read_from_kernel(f"{folder}/{number}/schedstat").split()
            line = read_from_kernel(f"{folder}/{number}/stat")
            state = line.rpartition(")")[2].split()[0]
            used, waited, turns = int(words[0]) / 1e9, int(words[1]) / 1e9, int(words[2])
        except (OSError, IndexError):  # ended meanwhile, or a kernel that does not count
            continue
        found[number] = ThreadTimes(used, waited, turns, state == _READY)
    return found
