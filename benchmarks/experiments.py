"""What the experiments of the assignments give: every text, several seeds; and what judges take.

    python -m benchmarks.experiments              # all of them
    python -m benchmarks.experiments 05/choosing  # one

An experiment is run as its solution has it. What judges take for observed is the range of these
runs and as much again, half of it on each side, and never less than one percent around them: the
processors of students round differently.
"""

import argparse
import importlib
import inspect
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import nbformat
import torch

from benchmarks.measuring import RESULTS, write_results
from course_judges.observations import Ranges
from course_lib import data
from course_tasks import catalogue
from course_tasks.observing import nothing

NAME = "experiments"
SOLUTIONS = Path(__file__).parents[1] / "solutions"
SEEDS = range(6)
LEAST_MARGIN, LEAST_STEP = 0.01, 0.001  # relative, absolute


def names() -> list[str]:
    """The tasks that are experiments."""
    return [name for name in catalogue.names() if catalogue.probe(name).inputs is nothing]


def ranges(task: str) -> Ranges:
    """What the judge of an experiment takes for observed."""
    _, _, module = catalogue.module_of(task).partition(".")
    found: Ranges = importlib.import_module(f"course_judges.{module}").RANGES
    return found


def study_of(task: str) -> Callable[..., dict[str, float]]:
    """The function `study` of an experiment's solution."""
    chapter, _, _ = task.partition("/")
    (path,) = SOLUTIONS.glob(f"{chapter}-*/{chapter}-*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    imports = next(cell for cell in cells if cell.cell_type == "code")
    answer = next(cell for cell in cells if cell.id == "answer-study")
    found: dict[str, Any] = {}
    exec(imports.source, found)
    exec(answer.source, found)
    study: Callable[..., dict[str, float]] = found["study"]
    return study


def runs(task: str, text: str) -> dict[str, list[float]]:
    """What an experiment gives on a text: each number, one value a seed."""
    study = study_of(task)
    corpus = data.load(text, fallback=False)
    if "seed" in inspect.signature(study).parameters:
        found = [study(corpus, seed=seed) for seed in SEEDS]
    else:
        found = [study(corpus)]
    return {name: [float(one[name]) for one in found] for name in found[0]}


def taken(values: Sequence[float]) -> tuple[float, float]:
    """The range that a judge takes for observed, to three digits after the point."""
    low, high = min(values), max(values)
    margin = max((high - low) / 2, LEAST_MARGIN * max(abs(low), abs(high)), LEAST_STEP)
    return round(low - margin, 3), round(high + margin, 3)


def main() -> None:
    """Run them and store what they gave."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", help="which; all by default")
    asked = parser.parse_args().tasks or names()
    torch.set_num_threads(1)
    path = RESULTS / f"{NAME}.json"
    stored = (
        json.loads(path.read_text(encoding="utf-8"))["results"]["runs"] if path.exists() else {}
    )
    for task in asked:
        stored[task] = {text: runs(task, text) for text in ranges(task)}
        for text, numbers in stored[task].items():
            shown = {name: taken(values) for name, values in numbers.items()}
            print(f"{task} on {text}: {shown}", flush=True)
        write_results(NAME, {"seeds": list(SEEDS), "runs": dict(sorted(stored.items()))})


if __name__ == "__main__":
    main()
