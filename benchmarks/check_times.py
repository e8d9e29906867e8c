"""How long a check takes: processor milliseconds for right and wrong answers to every task.

    python -m benchmarks.check_times               # all tasks, three draws; minutes
    python -m benchmarks.check_times 07 13/beam --draws 5

Asked are the judges' own answers, the students' answers that the tests try, and the wrong answers
that no list names. Each is asked once unmeasured, since the first call imports and compiles; what
counts for it is the median of the draws after that. `08/train`, which trains a model, and the tasks
of chapter 10, which compile their operations for the sizes of each draw, are left out unless they
are named. Processor time depends less than the clock on what else the machine does, but a machine
that is busy makes it longer, too.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.measuring import write_results
from course_judges import catalogue as judges
from course_tasks import catalogue, check

ANSWERS = Path(__file__).parents[1] / "tests" / "tasks"
TRAINS = "08/train"
GOAL_MILLISECONDS = 120
SLOWEST = 20


@dataclass(frozen=True)
class Timed:
    """One answer and how long a check of it takes.

    Attributes
    ----------
    task, answer : str
    right : bool
        Whether it is one that earns every point.
    milliseconds : float
        Of the processor; the median of the draws.
    """

    task: str
    answer: str
    right: bool
    milliseconds: float


def answers_to(task: str) -> Iterator[tuple[str, bool, Any]]:
    """Name, whether it is right, and the answer itself, of all that is known for a task."""
    import students
    import unlisted

    known, listed = judges.task(task), students.students_of(task)
    yield "the judge's own", True, known.answer
    for style, answer in listed.RIGHT.items():
        yield style, True, answer
    for mistake, answer in listed.WRONG.items():
        yield mistake, False, answer
    for answer, finding in getattr(listed, "ODD", []):
        yield f"odd: {finding}", False, answer
    for trick, (answer, _) in getattr(listed, "TRICKS", {}).items():
        yield trick, False, answer
    for number in unlisted.SETS:
        for answer in unlisted.written(task, number):
            yield answer.__name__, False, answer


def tasks(begin_with: Sequence[str]) -> list[str]:
    """The tasks whose names begin so; without any, all that neither train nor compile."""
    if begin_with:
        return [task for task in catalogue.names() if task.startswith(tuple(begin_with))]
    return [
        task
        for task in catalogue.names()
        if task != TRAINS and "jax" not in catalogue.requires(task)
    ]


def milliseconds(task: str, answer: Any, draws: int) -> float:
    """The median processor time of a check, after one that is not counted."""
    check(task, answer, seed=0)
    taken = []
    for seed in range(1, draws + 1):
        start = time.process_time()
        check(task, answer, seed=seed)
        taken.append(1000 * (time.process_time() - start))
    return statistics.median(taken)


def share_below(timed: Sequence[Timed], limit: float = GOAL_MILLISECONDS) -> float:
    """Which share of the checks takes less than a limit."""
    return sum(one.milliseconds < limit for one in timed) / len(timed)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure, print the shares and the slowest, and keep them where all tasks were asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", help="chapters or tasks; all by default")
    parser.add_argument("--draws", type=int, default=3)
    chosen = parser.parse_args(arguments)
    sys.path.insert(0, str(ANSWERS))
    warnings.simplefilter("ignore")
    timed: list[Timed] = []
    for task in tasks(chosen.tasks):
        for name, right, answer in answers_to(task):
            timed.append(Timed(task, name, right, milliseconds(task, answer, chosen.draws)))
        print(f"\r{task} {len(timed)}   ", end="", file=sys.stderr)
    print(file=sys.stderr)
    if not timed:
        parser.error(f"no task begins with {', '.join(chosen.tasks)}")
    slowest = sorted(timed, key=lambda one: -one.milliseconds)[:SLOWEST]
    kinds = {
        "all": timed,
        "right": [one for one in timed if one.right],
        "wrong": [one for one in timed if not one.right],
    }
    shares = {
        kind: {
            "checks": len(of_kind),
            "below": share_below(of_kind),
            "median_milliseconds": statistics.median(one.milliseconds for one in of_kind),
        }
        for kind, of_kind in kinds.items()
        if of_kind
    }
    for kind, found in shares.items():
        print(
            f"{kind:6} {found['checks']:5} checks, {100 * found['below']:.1f} % under "
            f"{GOAL_MILLISECONDS} ms, median {found['median_milliseconds']:.1f} ms"
        )
    for one in slowest:
        print(f"{one.milliseconds:6.0f} ms {one.task} {one.answer}")
    if not chosen.tasks:
        write_results(
            "check_times",
            {
                "draws": chosen.draws,
                "goal_milliseconds": GOAL_MILLISECONDS,
                "shares": shares,
                "slowest": [asdict(one) for one in slowest],
            },
        )


if __name__ == "__main__":
    import torch

    torch.set_num_threads(1)
    main()
