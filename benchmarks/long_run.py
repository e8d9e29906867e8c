"""Where a quarter of an hour of one thread leads: a network, counts, and the mean of both.

    python -m benchmarks.long_run
    python -m benchmarks.long_run --steps 1200 --seeds 1

The network learns alone. Only when it is asked, each of its probabilities is averaged with the
counted one. Two tables that are counted from one half of the text each, and their mean, stand
beside them: they show how much a mean can win of two answers that know the same kind of thing.

Steps are fixed, so the losses do not depend on how busy the machine is; seconds are those of the
processor. Losses are those over the whole validation split in windows of 128 symbols that do not
overlap. Writes `results/long_run.json` after each seed; seeds that are there already are not
trained again, unless --fresh says so.
"""

import argparse
import dataclasses
import json
import math
import time
from typing import Any

import torch
import torch.nn.functional as F

from benchmarks import speedrun
from benchmarks.counts import KneserNey
from benchmarks.measuring import RESULTS, write_results
from course_lib import data
from course_lib.training import evaluate

NAME = "long_run"
STEPS = 7200

# Stretches of the text that go to the two halves in turn: short, so that both halves hold all of
# its plays, and long beside the six symbols that are counted together.
STRETCH = 1000

# The counts take the place of the speed run's tables of pairs and triples.
RECIPE = speedrun.Recipe(
    n_layer=3,
    n_head=4,
    n_embd=128,
    block_size=128,
    steps=STEPS,
    batch_size=16,
    lr=0.004,
    muon_lr=0.012,
    dropout=0.1,
    ngram_embeddings=False,
    previous_token=True,
    bfloat16=True,
    count_order=6,
    count_share=0.5,
)


def train(recipe: speedrun.Recipe, corpus: data.Corpus, seed: int) -> dict[str, Any]:
    """One training; the losses of the mean, of the network alone and of the counts alone."""
    began = time.process_time()
    model, history = speedrun.run(corpus, recipe, seed=seed)
    seconds = time.process_time() - began
    counts = model.counts
    assert counts is not None  # the recipe has counts
    model.counts = None
    network = evaluate(model, corpus.validation, recipe.block_size)
    alone = dataclasses.replace(recipe, n_layer=0, count_share=0.0)
    counted = speedrun.run(corpus, alone)[1].validation
    return {
        "seed": seed,
        "processor_seconds": seconds,
        "steps": history.steps,
        "mean": history.validation,
        "network": network,
        "counts": counted,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
    }


def halves(recipe: speedrun.Recipe, corpus: data.Corpus) -> dict[str, Any]:
    """Losses of two tables, each counted from every other stretch of the text, and their mean."""
    x, y = data.evaluation_windows(corpus.validation, recipe.block_size)  # (N, T) each
    asked = y >= 0  # the last window is padded
    stretches, answers = corpus.train.split(STRETCH), []
    for first in (0, 1):
        half = torch.cat(stretches[first::2])
        counts = KneserNey(half, len(corpus.vocabulary), recipe.count_order)
        answers.append(counts.log_probabilities(x)[asked])  # (targets, V)
    mean = torch.logaddexp(*answers) - math.log(2)
    alone = [F.nll_loss(each, y[asked]).item() for each in answers]
    return {"stretch": STRETCH, "alone": alone, "mean": F.nll_loss(mean, y[asked]).item()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.load("shakespeare", fallback=False)
    recipe = dataclasses.replace(RECIPE, steps=options.steps)
    path = RESULTS / f"{NAME}.json"
    runs: list[dict[str, Any]] = []
    if path.exists() and not options.fresh:
        before = json.loads(path.read_text(encoding="utf-8"))["results"]
        runs = before["runs"] if before["recipe"] == dataclasses.asdict(recipe) else []
    counted = halves(recipe, corpus)
    print(counted, flush=True)

    def keep() -> None:
        write_results(NAME, {"recipe": dataclasses.asdict(recipe), "runs": runs, "halves": counted})

    keep()
    for seed in range(options.seeds):
        if any(run["seed"] == seed for run in runs):
            continue
        runs.append(train(recipe, corpus, seed))
        keep()
        print(runs[-1], flush=True)


if __name__ == "__main__":
    main()
