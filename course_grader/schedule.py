"""In which order a class is run, so that a slow submission delays nobody else's by more than a
moment, and a doubtful one is run again with nothing beside it.

As many lanes as submissions run at once take them in order. Half of the lanes, and at least one,
are *quick*: while others wait, a run there is ended after `SECONDS_OF_A_QUICK_RUN`, and done again
with all its time when nobody waits for a first run any more. So slow runs hold at most half of the
lanes for long, and nobody waits in a quick lane longer than those seconds for each slow one before.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace
from math import ceil

from course_grader.outcome import Outcome, Status
from course_grader.submissions import Submission

# The longest assignment of the course takes some fifteen on a machine of two cores.
SECONDS_OF_A_QUICK_RUN = 30.0

# Where a class takes longer, a run that came to its own end in another lane says how long.
TIMES_THE_LONGEST = 2.0

Run = Callable[[Submission, float | None, bool], Outcome]
"""Runs one: in at most so many seconds where that is not None, and alone or not."""

_Came = tuple[Submission, Outcome] | BaseException


class Schedule:
    """A class on its way through the lanes.

    Parameters
    ----------
    todo : sequence of Submission
        In the order in which they are started.
    count : int
        How many run at once.
    run : callable
        See `Run`. One that comes back as postponed is run again: after all first runs, or, if it
        asks for that, alone after everything else.
    """

    def __init__(self, todo: Sequence[Submission], count: int, run: Run):
        self._run, self._count = run, count
        self._first, self._slow = deque(todo), deque[Submission]()
        self._doubtful: list[Submission] = []
        self._under_way = 0
        self._longest = 0.0
        self._stopped = False
        self._changed = threading.Condition()
        self._came: queue.SimpleQueue[_Came] = queue.SimpleQueue()

    def outcomes(self) -> Generator[tuple[Submission, Outcome], None, None]:
        """What comes of each, as it comes; see `batches`."""
        for batch in self.batches(most=1, seconds=0.0):
            yield from batch

    def batches(
        self, *, most: int, seconds: float
    ) -> Generator[list[tuple[Submission, Outcome]], None, None]:
        """What comes of each; a postponed one comes once more.

        After an error or an interruption nobody waits for what is under way: the sandbox and what
        runs in it end next.

        Parameters
        ----------
        most : int
            So many make a batch.
        seconds : float
            For so long its first one waits for others.
        """
        left = len(self._first)
        quick = ceil(self._count / 2)
        for number in range(self._count):
            lane = threading.Thread(target=self._lane, args=(number < quick,), daemon=True)
            lane.start()
        try:
            while left > len(self._doubtful):
                batch: list[tuple[Submission, Outcome]] = []
                error: BaseException | None = None
                until = 0.0
                while left > len(self._doubtful) and len(batch) < most:
                    try:
                        wait = max(0.0, until - time.monotonic()) if batch else None
                        came = self._came.get(timeout=wait)
                    except queue.Empty:
                        break
                    if isinstance(came, BaseException):
                        error = came
                        break
                    if not batch:
                        until = time.monotonic() + seconds
                    batch.append(came)
                    one, outcome = came
                    if outcome.status is not Status.POSTPONED:
                        left -= 1
                    elif outcome.alone:
                        self._doubtful.append(one)
                if batch:
                    yield batch
                if error is not None:
                    raise error
        finally:
            with self._changed:
                self._stopped = True
                self._changed.notify_all()
        failed: Outcome | None = None
        for one in self._doubtful:
            if failed is None:
                outcome = self._run(one, None, True)
                # An honest run failed, too: more of them would only take their time.
                failed = outcome if outcome.status is Status.FAILED else None
            else:
                outcome = replace(failed, student=one.student)
            yield [(one, outcome)]

    def _lane(self, quick: bool) -> None:
        while (taken := self._next(quick)) is not None:
            one, seconds = taken
            came: _Came
            try:
                outcome = self._run(one, seconds, False)
                came = one, outcome
            except BaseException as error:  # whoever takes what came raises it there
                outcome, came = None, error
            with self._changed:
                self._under_way -= 1
                if outcome is not None:
                    self._learn(one, outcome)
                self._changed.notify_all()
            self._came.put(came)

    def _next(self, quick: bool) -> tuple[Submission, float | None] | None:
        """The next one and its seconds; None when all are done, or nobody waits for them."""
        with self._changed:
            while not (self._first or self._slow or self._stopped) and self._under_way:
                self._changed.wait()  # what is under way may have to be run again
            if self._stopped or not (self._first or self._slow):
                return None
            self._under_way += 1
            if not self._first:
                return self._slow.popleft(), None
            one = self._first.popleft()
            seconds = max(SECONDS_OF_A_QUICK_RUN, TIMES_THE_LONGEST * self._longest)
            return one, seconds if quick and self._first else None

    def _learn(self, one: Submission, outcome: Outcome) -> None:
        if outcome.status is Status.POSTPONED and not outcome.alone:
            self._slow.append(one)
        elif outcome.status is Status.GRADED and not outcome.reason:
            self._longest = max(self._longest, outcome.seconds.get("run", 0.0))
