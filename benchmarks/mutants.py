"""Which small changes to a right answer a check does not notice.

    python -m benchmarks.mutants                   # all tasks, 20 draws; hours of processor time
    python -m benchmarks.mutants 01 05/scores --draws 8

Every solution is changed in one place at a time (`benchmarks/mutations.py`) and handed in, in
several draws. A mutant is *killed* if every draw costs it a point, *lucky* if some do not, and
*survives* if none does. Survivors that do what the solution does are listed, with the reason, in
`benchmarks/equivalent_mutants.toml`; all others are gaps of a judge.

Most of the time of chapter 10 goes into JAX's compiler. One process at a time (`--jobs 1`) may keep
what it compiles for the next: set JAX_COMPILATION_CACHE_DIR to a new folder, and
JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS to 0.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import json
import math
import multiprocessing
import random
import resource
import signal
import sys
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mutations import Mutant, mutants
from course_grader import assignment, release_inspection
from course_judges import catalogue as judges
from course_judges.judging import Evidence, Reference, earns_everything, reference_of
from course_lib.errors import CourseError
from course_tasks import catalogue
from course_tasks.probing import Inputs, passes, run

ROOT = Path(__file__).parents[1]
EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")
BEGIN, END = f"### {release_inspection.BEGIN}", f"### {release_inspection.END}"

# An endless loop is a rejected draw. What counts as endless is measured by the solution: a task
# that trains takes seconds where others take milliseconds, and cut off it would look like killed.
TIMES_THE_SOLUTION = 4.0
PROCESSOR_SECONDS = 2.0  # on top of that, for the cell and for each draw
SECONDS = 240.0  # without a word from a process that waits and computes nothing
BYTES = 6 << 30


@dataclass(frozen=True)
class Solved:
    """A task's solution, as its notebook has it.

    Attributes
    ----------
    task : str
    name : str
        Of the function or class that is checked.
    before : str
        The notebook's code above it, without checks.
    source : str
        The cell.
    lines : range
        Of the cell, between the marks of the solution.
    """

    task: str
    name: str
    before: str
    source: str
    lines: range

    def line(self, mutant: Mutant) -> str:
        """The line that a mutant changes, without blanks at its ends."""
        return self.source.splitlines()[mutant.line - 1].strip()


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


def solutions(folder: Path = ROOT / "solutions") -> Iterator[Solved]:
    """The solution of every task, in the order of chapters."""
    for path in sorted(folder.glob("[!.]*/*.ipynb")):
        notebook = assignment.read(path)
        cells = assignment.Assignment.of(notebook)
        for asked in cells.checks:
            solved = cells.answer_to(asked)
            if solved is None or asked.task is None or asked.answer is None:
                continue  # `course release` refuses such a notebook, and says why
            before = [
                cell.source
                for cell in notebook.cells[: solved.number - 1]
                if cell.cell_type == "code" and not assignment.called_check(cell.source)
            ]
            yield Solved(
                asked.task,
                asked.answer,
                "\n".join(before),
                solved.source,
                _solution_lines(solved.source),
            )


def _solution_lines(source: str) -> range:
    lines = source.splitlines()
    marks = [n for n, line in enumerate(lines, 1) if line.strip() in (BEGIN, END)]
    return range(min(marks, default=1), max(marks, default=len(lines)) + 1)


@dataclass(frozen=True)
class Draw:
    """The inputs of one check, and what is right of its first pass, which most mutants fail.

    Attributes
    ----------
    inputs : mapping of str to ndarray
    right : Reference
    """

    inputs: Inputs
    right: Reference


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
    drawn = Trial(receiver.recv())
    child.join()
    receiver, child = _begun(_hand_in, solved, solved.source, drawn)
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
    receiver, child = _begun(_hand_in, solved, mutant.source, trial)
    survived, ended, draws = 0, "ended its process", len(trial.draws)
    with contextlib.suppress(EOFError):
        while True:
            if not receiver.poll(SECONDS):
                ended = "endless"
                break
            told = receiver.recv()
            survived = told.survived
            if told.ended or told.draws == draws:
                ended = told.ended
                break
    child.kill()
    child.join()
    return Fate(solved.task, solved.line(mutant), mutant.change, survived, draws, ended)


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
    child.start()
    sender.close()
    return receiver, child


def _draw(solved: Solved, draws: int, sender: Connection) -> None:
    task, probe = judges.task(solved.task), catalogue.probe(solved.task)
    each = [judges.inputs(solved.task, np.random.default_rng(seed)) for seed in range(draws)]
    sender.send(tuple(Draw(one, reference_of(task, probe, _first(one))) for one in each))


def _first(inputs: Inputs) -> Inputs:
    return passes(inputs)[0][1]


def _hand_in(solved: Solved, source: str, trial: Trial, sender: Connection) -> None:
    survived, asked, since = 0, 0, time.process_time()

    def tell(ended: str = "") -> None:
        nonlocal since
        seconds, since = time.process_time() - since, time.process_time()
        sender.send(_Told(survived, asked, seconds, ended))

    def ring(*_: object) -> None:
        tell("endless")
        signal.raise_signal(signal.SIGKILL)

    def wind(seconds: float) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0 if math.isinf(seconds) else seconds)

    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    signal.signal(signal.SIGPROF, ring)
    warnings.simplefilter("ignore")
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        namespace: dict[str, Any] = {}
        wind(trial.cell_seconds)
        try:
            exec(compile(solved.before, "<notebook>", "exec"), namespace)
            exec(compile(source, "<mutant>", "exec"), namespace)
            answer = namespace[solved.name]
        except Exception as error:  # a cell that fails hands nothing in
            tell(type(error).__name__)
            return
        tell()
        for draw in trial.draws:
            wind(trial.draw_seconds)
            survived += _survives(solved.task, answer, draw)
            asked += 1
            tell()


def _survives(name: str, answer: Any, draw: Draw) -> bool:
    """True if an answer earns every point in a draw.

    What fails on the inputs of the first pass fails, whatever comes after it: parts are earned in
    every pass or not at all. So only survivors of that pass are asked everything.
    """
    task, probe = judges.task(name), catalogue.probe(name)
    first = _first(draw.inputs)
    at_first = Evidence(first, lambda: draw.right, run(probe, answer, first).answers)
    if not all(part.earned_by(at_first) for part in task.parts):
        return False
    return earns_everything(task, probe, draw.inputs, run(probe, answer, draw.inputs).answers)


def known_equivalents(path: Path = EQUIVALENT) -> dict[tuple[str, str, str], str]:
    """(task, line, change) → the reason why this change changes nothing that a task asks for."""
    listed = tomllib.loads(path.read_text(encoding="utf-8"))
    return {
        (task, one["line"], one["change"]): one["why"]
        for task, ones in listed.items()
        for one in ones
    }


def sample(solved: Sequence[Solved], count: int, seed: int) -> list[tuple[Solved, Mutant]]:
    """Some mutants, drawn evenly over the tasks: the first of each task's shuffled ones."""
    draw = random.Random(seed)
    drawn: list[tuple[Solved, Mutant]] = []
    for one in solved:
        every = list(mutants(one.source, one.lines))
        draw.shuffle(every)
        drawn += [(one, mutant) for mutant in every[: max(1, count // len(solved))]]
    return drawn


def fates(work: Sequence[tuple[Solved, Mutant]], draws: int, jobs: int) -> Iterator[Fate]:
    """Hand in many mutants, some at a time."""
    # Before the first fork, so that no child imports them again.
    for chapter in sorted({solved.task[:2] for solved, _ in work}):
        task = next(s.task for s, _ in work if s.task.startswith(chapter))
        judges.task(task)
        for package in catalogue.requires(task):
            importlib.import_module(package)
    tasks = {solved.task: solved for solved, _ in work}
    with ThreadPoolExecutor(jobs) as pool:
        trials = pool.map(lambda one: trial_of(one, draws), tasks.values())
        known = dict(zip(tasks, trials, strict=True))
        yield from pool.map(lambda one: fate_of(one[0], one[1], known[one[0].task]), work)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the table, and store every mutant that was not killed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="chapters or tasks; all by default")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sample", type=int, help="only so many mutants, drawn over the tasks")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--to", type=Path, help="a JSON file for all that was not killed")
    chosen = parser.parse_args(arguments)
    solved = [
        one
        for one in solutions()
        if not chosen.tasks or any(one.task.startswith(name) for name in chosen.tasks)
    ]
    if not solved:
        parser.error(f"no task begins with {', '.join(chosen.tasks)}")
    if chosen.sample:
        work = sample(solved, chosen.sample, chosen.seed)
    else:
        work = [(one, mutant) for one in solved for mutant in mutants(one.source, one.lines)]
    equivalent, start = known_equivalents(), time.perf_counter()
    counts: dict[str, Counter[str]] = {one.task: Counter() for one in solved}
    kept = []
    for number, fate in enumerate(fates(work, chosen.draws, chosen.jobs), 1):
        state = fate.state
        if state == "survives" and (fate.task, fate.line, fate.change) in equivalent:
            state = "equivalent"
        counts[fate.task][state] += 1
        if state in ("lucky", "survives"):
            kept.append(fate)
            print(f"\r{fate.task} {state}: {fate.line}\n    {fate.change}", file=sys.stderr)
        print(f"\r{number} of {len(work)} mutants", end="", file=sys.stderr)
    print(file=sys.stderr)
    print("| task | mutants | killed | equivalent | lucky | survive |")
    print("| :-- | --: | --: | --: | --: | --: |")
    states = ("killed", "equivalent", "lucky", "survives")
    for task, count in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        row = " | ".join(str(count[state]) for state in states)
        print(f"| {task} | {sum(count.values())} | {row} |")
    print(f"{chosen.draws} draws each, {time.perf_counter() - start:.0f} s with {chosen.jobs} jobs")
    if chosen.to:
        chosen.to.write_text(json.dumps([asdict(f) for f in kept], indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
