"""What each trick of the speed run is worth: seconds to a loss with one trick removed, or added.

    python -m benchmarks.ablation                # every trick, three seeds
    python -m benchmarks.ablation --seeds 1

The recipe reaches the loss in as few steps as it can. With a trick removed it gets more steps, from
a ladder, until it reaches the loss again; the seconds of that run are the variant's, so that a
trick that makes steps slower and one that makes them worth less are measured alike. A variant that
does not get there on the ladder's last rung is reported with that rung's time, as a lower bound.

The seeds are the outer loop, so that a busy moment falls on all variants. Results go to
`results/ablation.json` after each variant, and what is there is not measured again.
"""

import argparse
import dataclasses
import json
import statistics
import time
from typing import Any

import torch

from benchmarks import speedrun
from benchmarks.measuring import RESULTS, write_results
from course_lib import data
from course_lib.data import Corpus

NAME = "ablation"
TARGET = 1.88
BASE = speedrun.Recipe(steps=80)
LADDER = (1.0, 1.2, 1.45, 1.75, 2.1, 2.6, 3.2, 4.0)

# Start-up alone costs more than the whole run: one rung is enough to show it.
ONE_RUNG = {"with compiled"}


def variants() -> dict[str, speedrun.Recipe]:
    """The recipe, and each one that differs from it by a single switch."""
    found = {"the recipe": BASE}
    for trick in speedrun.TRICKS:
        if getattr(BASE, trick.switch):
            found[f"without {trick.switch}"] = BASE.without(trick)
        else:
            value: Any = 5 if trick.switch == "count_order" else True
            found[f"with {trick.switch}"] = dataclasses.replace(BASE, **{trick.switch: value})
    return found


def measure(name: str, recipe: speedrun.Recipe, corpus: Corpus, seed: int) -> dict[str, Any]:
    """Climb the ladder until the loss is reached."""
    for rung in LADDER[:1] if name in ONE_RUNG else LADDER:
        steps = round(recipe.steps * rung)
        processor = time.process_time()
        _, history = speedrun.run(corpus, dataclasses.replace(recipe, steps=steps), seed=seed)
        result = {
            "seconds": history.seconds,
            "processor_seconds": time.process_time() - processor,
            "steps": steps,
            "loss": history.validation,
            "reached": history.validation <= TARGET,
        }
        if result["reached"]:
            break
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    corpus = data.load("shakespeare", fallback=False)
    path = RESULTS / f"{NAME}.json"
    measured: dict[str, list[dict[str, Any]]] = {}
    if path.exists() and not options.fresh:
        measured = json.loads(path.read_text(encoding="utf-8"))["results"]["measured"]
    speedrun.run(corpus, dataclasses.replace(BASE, steps=2))  # imports that torch puts off
    reasons = {trick.switch: trick.reason for trick in speedrun.TRICKS}
    sources = {trick.switch: trick.source for trick in speedrun.TRICKS}
    for seed in range(options.seeds):
        for name, recipe in variants().items():
            runs = measured.setdefault(name, [])
            if len(runs) > seed:
                continue
            runs.append(measure(name, recipe, corpus, seed))
            base = measured["the recipe"]
            summary = [
                {
                    "variant": variant,
                    "seconds": statistics.median(run["seconds"] for run in done),
                    "processor_seconds": statistics.median(
                        run["processor_seconds"] for run in done
                    ),
                    "costs_seconds": statistics.median(run["seconds"] for run in done)
                    - statistics.median(run["seconds"] for run in base),
                    "all_reached": all(run["reached"] for run in done),
                    "reason": reasons.get(variant.split()[-1], ""),
                    "source": sources.get(variant.split()[-1], ""),
                }
                for variant, done in measured.items()
                if done
            ]
            write_results(
                NAME,
                {
                    "target": TARGET,
                    "recipe": dataclasses.asdict(BASE),
                    "measured": measured,
                    "summary": summary,
                },
            )
            last = runs[-1]
            print(
                f"{seed} {name:28s} {last['seconds']:7.2f} s  {last['steps']:4d} steps  "
                f"loss {last['loss']:.4f}  reached {last['reached']}",
                flush=True,
            )


if __name__ == "__main__":
    main()
