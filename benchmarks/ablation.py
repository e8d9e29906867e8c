"""What each switch of the speed run is worth: the loss and the seconds with it turned over.

    python -m benchmarks.ablation                # every switch, three seeds
    python -m benchmarks.ablation --seeds 1

Each variant differs from the recipe by one switch and takes as many steps. Its learning rates are
tuned again, the recipe's own too: both are multiplied by one factor, every factor of `FACTORS` is
tried with one seed, and the best is trained with three others. Where Muon is off, AdamW trains
tables and matrices at one rate, so that factor is all that is tuned there.

Losses are those over the whole validation split in windows that do not overlap. Seconds are the
processor's, on one thread. The seeds are the outer loop, so that a busy moment falls on all
variants. Results go to `results/ablation.json` after each variant, and what is there is not
measured again (`--fresh` forgets it).

`compiled` is left out: it changes no loss, and what it costs is the compiler's start, not training.
"""

import argparse
import dataclasses
import json
import math
import time
from typing import Any

import torch

from benchmarks import speedrun
from benchmarks.measuring import RESULTS, write_results
from course_lib import data
from course_lib.data import Corpus
from course_lib.errors import NonFiniteLossError

NAME = "ablation"
BASE = speedrun.Recipe(steps=80)
FACTORS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0, 2.0, 4.0)
TUNING_SEED = 100
LEFT_OUT = {"compiled"}


def variants() -> dict[str, speedrun.Recipe]:
    """The recipe, and each one that differs from it by a single switch."""
    found = {"the recipe": BASE}
    for trick in speedrun.TRICKS:
        if trick.switch in LEFT_OUT:
            continue
        if getattr(BASE, trick.switch):
            found[f"without {trick.switch}"] = BASE.without(trick)
        else:
            value: Any = 5 if trick.switch == "count_order" else True
            found[f"with {trick.switch}"] = dataclasses.replace(BASE, **{trick.switch: value})
    return found


def at(recipe: speedrun.Recipe, factor: float) -> speedrun.Recipe:
    """The recipe with both learning rates multiplied."""
    return dataclasses.replace(recipe, lr=recipe.lr * factor, muon_lr=recipe.muon_lr * factor)


def train(recipe: speedrun.Recipe, corpus: Corpus, seed: int) -> dict[str, Any]:
    """One training: its loss, its processor seconds. A training that diverged has no loss."""
    began = time.process_time()
    try:
        loss = speedrun.run(corpus, recipe, seed=seed)[1].validation
    except NonFiniteLossError:
        loss = math.inf
    return {
        "seed": seed,
        "loss": loss if math.isfinite(loss) else None,
        "processor_seconds": time.process_time() - began,
    }


def tune(recipe: speedrun.Recipe, corpus: Corpus) -> dict[str, Any]:
    """The best factor, and the loss at each."""
    losses = {factor: train(at(recipe, factor), corpus, TUNING_SEED)["loss"] for factor in FACTORS}
    best = min(losses, key=lambda factor: math.inf if losses[factor] is None else losses[factor])
    return {"factor": best, "losses": [[factor, losses[factor]] for factor in FACTORS]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.load("shakespeare", fallback=False)
    path = RESULTS / f"{NAME}.json"
    measured: dict[str, dict[str, Any]] = {}
    if path.exists() and not options.fresh:
        measured = json.loads(path.read_text(encoding="utf-8"))["results"]["measured"]
    speedrun.run(corpus, dataclasses.replace(BASE, steps=2))  # imports that torch puts off
    tricks = {trick.switch: [trick.effect, trick.source] for trick in speedrun.TRICKS}
    for seed in range(options.seeds):
        for name, recipe in variants().items():
            entry = measured.setdefault(name, {"runs": []})
            if "tuned" not in entry:
                entry["tuned"] = tune(recipe, corpus)
            if any(run["seed"] == seed for run in entry["runs"]):
                continue
            tuned = at(recipe, entry["tuned"]["factor"])
            entry["runs"].append(train(tuned, corpus, seed))
            write_results(
                NAME,
                {"recipe": dataclasses.asdict(BASE), "tricks": tricks, "measured": measured},
            )
            last = entry["runs"][-1]
            print(
                f"{seed} {name:28s} factor {entry['tuned']['factor']:<7g} "
                f"loss {last['loss']}  {last['processor_seconds']:.2f} s",
                flush=True,
            )


if __name__ == "__main__":
    main()
