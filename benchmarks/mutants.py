"""Which small changes to a right answer a check does not notice.

    python -m benchmarks.mutants                   # all tasks, 20 draws; hours of processor time
    python -m benchmarks.mutants 01 05/scores --draws 8

Every solution is changed in one place at a time (`benchmarks/mutations.py`) and handed in, in
several draws. A mutant is *killed* if every draw costs it a point, *lucky* if some do not, and
*survives* if none does. Survivors that do what the solution does are listed, with the reason, in
`benchmarks/equivalent_mutants.toml`; all others are gaps of a judge.

A check of 08/train trains a model: each draw of its changes takes three to four minutes.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import itertools
import json
import math
import multiprocessing
import pickle
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
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.mutations import Mutant, mutants
from course_grader import assignment, release_inspection
from course_judges import catalogue as judges
from course_judges.evidence import same_case
from course_judges.judging import Evidence, Part, Reference, earns_everything, reference_of
from course_lib.errors import CourseError
from course_tasks import catalogue
from course_tasks.answers import Answers
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
# So many mutants share a process where JAX compiles each operation: the next one finds most of them
# compiled. Everywhere else a mutant has a process of its own.
TOGETHER = 20
ENDLESS, GONE = "endless", "ended its process"


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
    task : str
    inputs : mapping of str to ndarray
    right : Reference
        Found where no mutant has run.
    """

    task: str
    inputs: Inputs
    right: Reference

    @classmethod
    def of(cls, task: str, seed: int) -> Draw:
        """The draw of a seed."""
        inputs = judges.inputs(task, np.random.default_rng(seed))
        right = reference_of(judges.task(task), catalogue.probe(task), passes(inputs)[0][1])
        return cls(task, inputs, right)

    @property
    def first(self) -> Inputs:
        """The inputs of the first pass."""
        return passes(self.inputs)[0][1]


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


def survives(answer: Any, draw: Draw) -> bool:
    """True if an answer earns every point in a draw.

    Parts are earned in every pass or not at all. So the first pass ends where a part is lost, and
    only its survivors are asked everything.
    """
    task, probe = judges.task(draw.task), catalogue.probe(draw.task)
    asked: list[str] = []

    def lost(case: str, so_far: Answers) -> bool:
        asked.append(case)
        evidence = _SoFar(
            draw.first, lambda: draw.right, _Unknown(), so_far=so_far, asked=tuple(asked)
        )
        return any(evidence.refutes(part) for part in task.parts)

    answers = run(probe, answer, draw.first, until=lost).answers
    at_first = Evidence(draw.first, lambda: draw.right, answers)
    if not all(part.earned_by(at_first) for part in task.parts):
        return False
    if len(passes(draw.inputs)) > 1:
        answers = run(probe, answer, draw.inputs).answers
    return earns_everything(task, probe, draw.inputs, answers)


class NotAskedError(Exception):
    """A part looks at more than the cases that were asked."""


class _Unknown(Answers):
    """Stands for answers of which not all are known: whoever looks at one is stopped."""

    def __getattribute__(self, name: str) -> Any:
        raise NotAskedError(name)


@dataclass(frozen=True)
class _SoFar(Evidence):
    """What is known of an answer before all cases are asked; `answers` are none to look at."""

    so_far: Answers = field(default_factory=Answers)
    asked: tuple[str, ...] = ()

    def same(self, *cases: str) -> bool:
        for case in cases:
            if case not in self.asked:
                raise NotAskedError(case)
            if not same_case(self.so_far, self.expected, case):
                return False
        return True

    def refutes(self, part: Part) -> bool:
        """True if the part is lost whatever the other cases bring."""
        try:
            return not part.earned_by(self)
        except NotAskedError:
            return False


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
