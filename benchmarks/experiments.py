"""What the experiments of the assignments give: every text, several seeds; what judges take of it
is written beside them.

    python -m benchmarks.experiments              # all of them
    python -m benchmarks.experiments 05/choosing  # one
    python -m benchmarks.experiments --slips      # only those with a slip, of `experiment_slips`

An experiment is run as its solution has it. What judges take for observed is the range of these
runs and as much again, half of it on each side, and never less than one percent around them: the
processors of students round differently. What runs with a slip give is widened in the same way.

The machine that is stored with them is that of the last run.
"""

import argparse
import copy
import hashlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import nbformat
import torch

from benchmarks.experiment_slips import SLIPS, Slip
from benchmarks.measuring import RESULTS, write_results
from course_judges.observations import Ranges, Slips, measured
from course_lib import data
from course_tasks import catalogue
from course_tasks.observing import nothing

NAME = "experiments"
ROOT = Path(__file__).parents[1]
SOLUTIONS, JUDGES = ROOT / "solutions", ROOT / "course_judges"
SEEDS = range(6)
SLIP_SEEDS = range(3)
LEAST_MARGIN, LEAST_STEP = 0.01, 0.001  # relative, absolute

Runs: TypeAlias = Mapping[str, Mapping[str, Sequence[float]]]
"""Text to name to one value a seed."""

Trainings: TypeAlias = dict[str, tuple[Any, dict[str, Any]]]
"""History and weights of what was trained so far: many slips train as the solution does."""


def names() -> list[str]:
    """The tasks that are experiments."""
    return [name for name in catalogue.names() if catalogue.probe(name).inputs is nothing]


def path(task: str) -> Path:
    """Where the ranges stand that the judge of an experiment takes."""
    _, _, module = catalogue.module_of(task).partition(".")
    return (JUDGES / module.replace(".", "/")).with_suffix(".json")


def ranges(task: str) -> Ranges:
    """What the judge of an experiment takes for observed."""
    return measured(str(path(task))).right


def slips(task: str) -> Slips:
    """What the judge of an experiment takes for runs with each slip."""
    return measured(str(path(task))).slips


def sources(task: str) -> tuple[str, str]:
    """The imports and the function `study` of an experiment's solution."""
    chapter, _, _ = task.partition("/")
    (path,) = SOLUTIONS.glob(f"{chapter}-*/{chapter}-*.ipynb")
    cells = nbformat.read(path, as_version=4).cells
    imports = next(cell for cell in cells if cell.cell_type == "code")
    answer = next(cell for cell in cells if cell.id == "answer-study")
    return imports.source, answer.source


def study_of(
    task: str, slip: Slip | None = None, trainings: Trainings | None = None
) -> Callable[..., dict[str, float]]:
    """The function `study` of an experiment's solution, or one that makes a slip."""
    imports, answer = sources(task)
    found: dict[str, Any] = {}
    exec(imports, found)
    if trainings is not None and "fit" in found:
        found["fit"] = _trained_once(found["fit"], trainings)
    exec(slip.applied(answer) if slip else answer, found)
    study: Callable[..., dict[str, float]] = found["study"]
    return study


def runs(
    task: str, text: str, slip: Slip | None = None, trainings: Trainings | None = None
) -> dict[str, list[float]]:
    """What an experiment gives on a text: each number, one value a seed."""
    study = study_of(task, slip, trainings)
    corpus = data.load(text, fallback=False)
    if "seed" in inspect.signature(study).parameters:
        found = [study(corpus, seed=seed) for seed in (SLIP_SEEDS if slip else SEEDS)]
    else:
        found = [study(corpus)]
    return {name: [float(one[name]) for one in found] for name in found[0]}


def _trained_once(fit: Callable[..., Any], trainings: Trainings) -> Callable[..., Any]:
    """The same function, which doesn't train again what it has trained before."""

    def trained(model: torch.nn.Module, corpus: data.Corpus, **settings: Any) -> Any:
        key = _digest(model, corpus.name, settings)
        if key not in trainings:
            history = fit(model, corpus, **settings)
            trainings[key] = history, copy.deepcopy(model.state_dict())
        history, weights = trainings[key]
        model.load_state_dict(weights)
        return history

    return trained


def _digest(model: torch.nn.Module, text: str, settings: Mapping[str, Any]) -> str:
    """The same for trainings that begin with the same model and go on in the same way."""
    digest = hashlib.sha256(repr((text, sorted(settings.items()), model)).encode())
    for module in model.modules():
        numbers = {name: value for name, value in vars(module).items() if isinstance(value, int)}
        digest.update(repr(sorted(numbers.items())).encode())  # such as the number of heads
    for weights in model.parameters():
        digest.update(repr(weights.requires_grad).encode() + weights.detach().numpy().tobytes())
    return digest.hexdigest()


def taken(values: Sequence[float]) -> tuple[float, float]:
    """The range that a judge takes for observed, to three digits after the point."""
    low, high = min(values), max(values)
    margin = max((high - low) / 2, LEAST_MARGIN * max(abs(low), abs(high)), LEAST_STEP)
    return round(low - margin, 3), round(high + margin, 3)


def main() -> None:
    """Run them and store what they gave."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tasks", nargs="*", help="which; all by default")
    parser.add_argument("--slips", action="store_true", help="don't repeat the runs without slips")
    options = parser.parse_args()
    torch.set_num_threads(1)
    results_path = RESULTS / f"{NAME}.json"
    stored = (
        json.loads(results_path.read_text(encoding="utf-8"))["results"]
        if results_path.exists()
        else {}
    )
    right, wrong = stored.get("runs", {}), stored.get("slips", {})
    for task in options.tasks or names():
        trainings: Trainings = {}
        if not options.slips:
            right[task] = {text: _shown(task, text, "", trainings) for text in ranges(task)}
        wrong[task] = {
            name: {text: _shown(task, text, name, trainings) for text in ranges(task)}
            for name in SLIPS[task]
        }
        _write(task, right[task], wrong[task])
        results = {
            "seeds": list(SEEDS),
            "runs": dict(sorted(right.items())),
            "slip_seeds": list(SLIP_SEEDS),
            "slips": dict(sorted(wrong.items())),
        }
        write_results(NAME, results)


def _write(task: str, right: Runs, wrong: Mapping[str, Runs]) -> None:
    """What the judge takes, with one slip a line."""
    held = {"right": _taken(right), "slips": {slip: _taken(of_it) for slip, of_it in wrong.items()}}
    parts = (
        f"{json.dumps(part)}: {{\n"
        + ",\n".join(f"{json.dumps(name)}: {json.dumps(one)}" for name, one in texts.items())
        + "\n}"
        for part, texts in held.items()
    )
    path(task).write_text(f"{{{', '.join(parts)}}}\n", encoding="utf-8")


def _taken(of_texts: Runs) -> Ranges:
    return {
        text: {name: taken(values) for name, values in numbers.items()}
        for text, numbers in of_texts.items()
    }


def _shown(task: str, text: str, name: str, trainings: Trainings) -> dict[str, list[float]]:
    """What runs with the slip of this name give, or right ones; what judges take is printed."""
    numbers = runs(task, text, SLIPS[task][name] if name else None, trainings)
    shown = {number: taken(values) for number, values in numbers.items()}
    print(f"{task} on {text}{f', {name}' if name else ''}: {shown}", flush=True)
    return numbers


if __name__ == "__main__":
    main()
