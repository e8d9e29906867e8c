"""Runs mutants of solutions, each in a process of its own where that can be afforded.

A mutant may loop for ever, fill the memory or end its process: all of that is a rejected draw.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import itertools
import math
import multiprocessing
import pickle
import resource
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any

from benchmarks.mutant_draws import Draw, survives
from benchmarks.solutions import Solved
from course_judges import catalogue as judges
from course_judges.edits.operators import Mutant
from course_lib.errors import CourseError
from course_tasks import catalogue

# An endless loop is a rejected draw. What counts as endless is measured by the solution: a task
# that trains takes seconds where others take milliseconds, and cut off it would look like killed.
TIMES_THE_SOLUTION = 4.0
PROCESSOR_SECONDS = 2.0  # on top of that, for the cell and for each draw
SECONDS = 240.0  # without a word from a process that waits and computes nothing
BYTES = 6 << 30
# So many mutants share a process where JAX compiles each operation: the next one finds most of them
# compiled. Everywhere else a mutant has a process of its own.
TOGETHER = 20
ENDLESS, GONE = "endless", "ended its process"

# `filelock`, which torch brings, refuses a fork while another thread forks.
_ONE_FORK = threading.Lock()


@dataclass(frozen=True)
class Fate:
    """What became of one mutant.

    Attributes
    ----------
    task, change : str
    line : str
        The line of the solution, without blanks at its ends.
    survived, draws : int
        In how many draws it had every point, and of how many.
    ended : str
        How it ended where it did not return.
    """

    task: str
    line: str
    change: str
    survived: int
    draws: int
    ended: str = ""

    @property
    def state(self) -> str:
        """killed, lucky or survives."""
        if not self.survived:
            return "killed"
        return "survives" if self.survived == self.draws else "lucky"


@dataclass(frozen=True)
class Trial:
    """How the mutants of one task are tried.

    Attributes
    ----------
    draws : tuple of Draw
    cell_seconds, draw_seconds : float
        Of the processor, which a mutant gets for its cell, and for each draw.
    """

    draws: tuple[Draw, ...]
    cell_seconds: float = math.inf
    draw_seconds: float = math.inf


def trial_of(solved: Solved, draws: int) -> Trial:
    """What all mutants of a task are asked, and several times the seconds that its solution takes.

    Raises
    ------
    CourseError
        If the solution itself does not earn every point in each draw, in its first pass alone and
        in all of them.
    """
    # In a process of its own as well: libraries that start threads must not do so before a fork.
    receiver, child = _begun(_draw, solved, draws)
    drawn = Trial(pickle.loads(receiver.recv_bytes()))
    child.join()
    receiver, child = _begun(_hand_in, solved, [(solved.source, draws)], drawn)
    told = []
    with contextlib.suppress(EOFError):
        while True:
            told.append(receiver.recv())
    child.join()
    if len(told) != draws + 1 or told[-1].survived != draws:
        raise CourseError(f"{solved.task}: the solution of the notebook does not earn every point")
    cell, *each = (one.seconds for one in told)
    return Trial(
        drawn.draws,
        PROCESSOR_SECONDS + TIMES_THE_SOLUTION * cell,
        PROCESSOR_SECONDS + TIMES_THE_SOLUTION * max(each),
    )


def fate_of(solved: Solved, mutant: Mutant, trial: Trial) -> Fate:
    """Hand a mutant in, in a process of its own, so that it may loop, fill memory or exit.

    A draw in which it does not come to an end is one that it does not survive, and so are those
    after it.
    """
    draws = len(trial.draws)
    receiver, child = _begun(_hand_in, solved, [(mutant.source, draws)], trial)
    survived, ended = _heard(receiver, draws)
    child.kill()
    child.join()
    return Fate(solved.task, solved.line(mutant), mutant.change, survived, draws, ended)


def fates_together(solved: Solved, several: Sequence[Mutant], trial: Trial) -> list[Fate]:
    """Hand mutants in, one after the other in one process.

    What one leaves behind might reject the next. So the solution is handed in last; if it is
    refused, or a mutant has ended the process before, each is tried again in a process of its own.
    """
    draws = len(trial.draws)
    sources = [*((mutant.source, draws) for mutant in several), (solved.source, 1)]
    receiver, child = _begun(_hand_in, solved, sources, trial)
    heard: list[tuple[int, str]] = []
    for _, asked in sources:
        heard.append(_heard(receiver, asked))
        if heard[-1][1] in (ENDLESS, GONE):
            break
    child.kill()
    child.join()
    if len(heard) < len(sources) or heard[-1] != (1, ""):
        return [fate_of(solved, mutant, trial) for mutant in several]
    return [
        Fate(solved.task, solved.line(mutant), mutant.change, survived, draws, ended)
        for mutant, (survived, ended) in zip(several, heard, strict=False)  # less the solution
    ]


def _heard(receiver: Connection, draws: int) -> tuple[int, str]:
    """In how many draws one that was handed in survived, and how it ended if it did not return."""
    survived = 0
    with contextlib.suppress(EOFError):
        while receiver.poll(SECONDS):
            told = receiver.recv()
            survived = told.survived
            if told.ended or told.draws == draws:
                return survived, told.ended
        return survived, ENDLESS
    return survived, GONE


@dataclass(frozen=True)
class _Told:
    """What a mutant's process says after its cell and after each draw."""

    survived: int = 0
    draws: int = 0
    seconds: float = 0.0  # of the processor, since it last said something
    ended: str = ""


def _begun(
    target: Callable[..., None], *args: object
) -> tuple[Connection, multiprocessing.process.BaseProcess]:
    forked = multiprocessing.get_context("fork")
    receiver, sender = forked.Pipe(duplex=False)
    child = forked.Process(target=target, args=(*args, sender), daemon=True)
    with _ONE_FORK:
        child.start()
    sender.close()
    return receiver, child


def _draw(solved: Solved, draws: int, sender: Connection) -> None:
    # As bytes: torch would hand tensors over in files that end with this process.
    sender.send_bytes(pickle.dumps(tuple(Draw.of(solved.task, seed) for seed in range(draws))))


def _hand_in(
    solved: Solved, sources: Sequence[tuple[str, int]], trial: Trial, sender: Connection
) -> None:
    """Hand in one source after the other, each in as many draws as stand beside it."""
    survived, asked, since = 0, 0, time.process_time()

    def tell(ended: str = "") -> None:
        nonlocal since
        seconds, since = time.process_time() - since, time.process_time()
        sender.send(_Told(survived, asked, seconds, ended))

    def ring(*_: object) -> None:
        tell(ENDLESS)
        signal.raise_signal(signal.SIGKILL)

    def wind(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0 if math.isinf(seconds) else seconds)

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    signal.signal(signal.SIGPROF, ring)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        for source, draws in sources:
            survived, asked = 0, 0
            namespace: dict[str, Any] = {}
            wind(trial.cell_seconds)
            try:
                exec(compile(solved.before, "<notebook>", "exec"), namespace)
                exec(compile(source, "<mutant>", "exec"), namespace)
                answer = namespace[solved.name]
            except Exception as error:  # a cell that fails hands nothing in
                tell(type(error).__name__)
                continue
            tell()
            for draw in trial.draws[:draws]:
                wind(trial.draw_seconds)
                survived, asked = survived + survives(answer, draw), asked + 1
                tell()


def fates(work: Sequence[tuple[Solved, Mutant]], draws: int, jobs: int) -> Iterator[Fate]:
    """Hand in many mutants, some at a time."""
    # Before the first fork, so that no child imports them again.
    importlib.import_module("torch._dynamo")  # which the first optimizer asks for: a second or more
    for chapter in sorted({solved.task[:2] for solved, _ in work}):
        task = next(s.task for s, _ in work if s.task.startswith(chapter))
        judges.task(task)
        for package in catalogue.requires(task):
            importlib.import_module(package)
    tasks = {solved.task: solved for solved, _ in work}
    with ThreadPoolExecutor(jobs) as pool:
        trials = pool.map(lambda one: trial_of(one, draws), tasks.values())
        known = dict(zip(tasks, trials, strict=True))

        def tried(group: tuple[Solved, list[Mutant]]) -> list[Fate]:
            solved, several = group
            if len(several) == 1:
                return [fate_of(solved, several[0], known[solved.task])]
            return fates_together(solved, several, known[solved.task])

        for found in pool.map(tried, _groups(work)):
            yield from found


def _groups(work: Sequence[tuple[Solved, Mutant]]) -> Iterator[tuple[Solved, list[Mutant]]]:
    """Mutants that share a process: several where operations are compiled, one everywhere else."""
    for _, same in itertools.groupby(work, key=lambda one: one[0].task):
        of_a_task = list(same)
        solved = of_a_task[0][0]
        most = TOGETHER if "jax" in catalogue.requires(solved.task) else 1
        for start in range(0, len(of_a_task), most):
            yield solved, [mutant for _, mutant in of_a_task[start : start + most]]
