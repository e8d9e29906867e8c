"""Which small changes to a right answer a check does not notice.

    python -m benchmarks.mutants                   # all tasks, 20 draws; hours of processor time
    python -m benchmarks.mutants 01 05/scores --draws 8

Every solution is changed in one place at a time (`course_judges/edits/operators.py`) and handed in,
in several draws. A mutant is *killed* if every draw costs it a point, *lucky* if some do not, and
*survives* if none does. Survivors that do what the solution does are listed, with the reason, in
`benchmarks/equivalent_mutants.toml`; all others are gaps of a judge.

A check of 08/train trains a model: each draw of its changes takes one and a half minutes.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from benchmarks.mutant_runs import fates
from benchmarks.solutions import Solved, solutions
from course_judges.edits.operators import Mutant, mutants

EQUIVALENT = Path(__file__).with_name("equivalent_mutants.toml")


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
