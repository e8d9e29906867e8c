"""The ladder of chapter 08, one change a rung and three seeds; and what a schedule does.

    python -m benchmarks.ladder                  # every rung, the schedules, Muon
    python -m benchmarks.ladder --only schedules

Every rung is trained by `fit` with AdamW, for as many steps of as many targets as every other one.
Its peak rate is searched with trainings a fifth as long and a seed of their own: from 0.01 upwards
and downwards in steps of about a factor of 3, until the rates on both sides of the best one are
worse. Three other seeds are then trained at that rate, and only these are reported. Muon is
compared with AdamW on the four blocks, with the shorter trainings.

Each run is written to `results/ladder.json` when it is done, and what is there is not measured
again, so several processes may share the work. Seconds are those of the processor, one thread, so
that a busy machine changes them little.
"""

import argparse
import json
import math
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from filelock import FileLock
from torch import nn

from benchmarks.measuring import RESULTS, write_results
from course_lib import data, schedules
from course_lib.data import Corpus
from course_lib.errors import NonFiniteLossError
from course_lib.model import GPT, Bigram, Config, ManyHeads, count_parameters, fuse
from course_lib.sampling import generate, write
from course_lib.training import fit

NAME = "ladder"
SEARCH_SEED, SEEDS = 0, (1, 2, 3)
STEPS, SEARCH_STEPS = 2500, 500
TARGETS = 1024  # a batch has so many targets, whatever the context
WARM_UP, FINAL, CLIP, BETAS = 25, 0.05, 1.0, (0.9, 0.95)
RATES = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
MUON_RATES = (0.003, 0.01, 0.03, 0.1, 0.3)

# The study of schedules: a model of one block, short trainings, small batches.
STUDY_STEPS, STUDY_BATCH, STUDY_WARM_UP, STUDY_FINAL = 200, 64, 20, 0.02
STUDY_RATES = (0.001, 0.003, 0.01, 0.03, 0.1)
SCHEDULES = {
    "constant": schedules.constant(),
    "warm-up, then constant": schedules.constant(warm_up=STUDY_WARM_UP),
    "warm-up, then cosine": schedules.cosine(warm_up=STUDY_WARM_UP, final=STUDY_FINAL),
}


def gpt(vocab_size: int, n_layer: int, block_size: int) -> nn.Module:
    """A GPT of 32 channels and 4 heads."""
    return fuse(GPT(Config(vocab_size, block_size, n_layer=n_layer, n_head=4, n_embd=32)))


# Name, context, and how it is built from V; each differs from the one before it by one thing.
RUNGS: dict[str, tuple[int, Callable[[int], nn.Module]]] = {
    "bigram": (8, Bigram),
    "one head": (8, lambda V: fuse(ManyHeads(V, 8, 32, 1))),
    "four heads": (8, lambda V: fuse(ManyHeads(V, 8, 32, 4))),
    "one block": (8, lambda V: gpt(V, 1, 8)),
    "four blocks": (8, lambda V: gpt(V, 4, 8)),
    "context of 64": (64, lambda V: gpt(V, 4, 64)),
}


def build(name: str, vocab_size: int, seed: int) -> tuple[nn.Module, int]:
    """A fresh model of a rung and its context."""
    block_size, make = RUNGS[name]
    torch.manual_seed(seed)
    return make(vocab_size), block_size


def train(corpus: Corpus, name: str, rate: float, seed: int, **settings: Any) -> dict[str, Any]:
    """Train one rung at one rate with one seed, and say what came of it."""
    model, T = build(name, len(corpus.vocabulary), seed)
    x, y = data.evaluation_windows(corpus.validation[:4001], T)
    with torch.no_grad():
        first_loss = model(x, y)[1].item()
    began = time.process_time()
    try:
        history = fit(
            model,
            corpus,
            **{
                "batch_size": TARGETS // T,
                "block_size": T,
                "lr": rate,
                "betas": BETAS,
                "weight_decay": 0.0,
                "clip": CLIP,
                "schedule": schedules.cosine(warm_up=WARM_UP, final=FINAL),
                "evaluate_every": settings["steps"],
                "seed": seed,
                "progress": False,
            }
            | settings,
        )
        loss = history.validation
    except NonFiniteLossError:
        loss = math.inf
    return {
        "first_loss": first_loss,
        "loss": loss,
        "processor_seconds": time.process_time() - began,
        "parameters": count_parameters(model),
        "model": model,
    }


def words_of(text: str) -> list[str]:
    """Runs of letters, in lower case."""
    return "".join(c if c.isalpha() or c == "'" else " " for c in text.lower()).split()


def texts(corpus: Corpus, model: nn.Module, known: set[str]) -> dict[str, Any]:
    """A sample, and which share of a longer sample's words the training text holds."""
    rows = generate(
        model,
        torch.zeros(60, 1, dtype=torch.int64),
        120,
        generator=torch.Generator().manual_seed(9),
    )  # (60, 121)
    # The last word of a row may be cut off.
    words = [word for row in rows for word in words_of(corpus.vocabulary.decode(row))[:-1]]
    return {
        "text": write(model, corpus.vocabulary, "", 240, seed=8),
        "known_words": sum(word in known for word in words) / len(words),
    }


class Measured:
    """Runs that are done, by name; what is not there yet is measured and written at once."""

    def __init__(self) -> None:
        self.path = RESULTS / f"{NAME}.json"
        self.runs: dict[str, dict[str, Any]] = {}
        self._read()

    def __call__(self, key: str, measure: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The run of this name."""
        if key not in self.runs:
            found = measure()
            with FileLock(Path(tempfile.gettempdir()) / f"{NAME}.json.lock"):
                self._read()  # what other processes have written meanwhile
                self.runs[key] = found
                self._write()
            print(f"{key:48} {found['loss']:.4f}", flush=True)
        return self.runs[key]

    def _read(self) -> None:
        if self.path.exists():
            self.runs = json.loads(self.path.read_text(encoding="utf-8"))["results"]["runs"]

    def _write(self) -> None:
        """Keep everything measured so far, with the settings it was measured under."""
        settings = {
            "steps": STEPS,
            "search_steps": SEARCH_STEPS,
            "targets": TARGETS,
            "warm_up": WARM_UP,
            "final": FINAL,
            "clip": CLIP,
            "betas": BETAS,
            "seeds": SEEDS,
            "study_steps": STUDY_STEPS,
            "study_batch": STUDY_BATCH,
            "study_rates": STUDY_RATES,
        }
        write_results(NAME, {"settings": settings, "rungs": self._reported(), "runs": self.runs})

    def _reported(self) -> dict[str, dict[str, Any]]:
        """For each model its rate and its three runs at it."""
        found: dict[str, dict[str, Any]] = {}
        for key in self.runs:
            name, rate, seed = key.split(" | ")
            if seed == f"seed {SEEDS[0]}" and not name.startswith("schedule"):
                runs = [self.runs.get(f"{name} | {rate} | seed {each}") for each in SEEDS]
                if all(runs):
                    found[name] = {"rate": float(rate.removeprefix("rate ")), "runs": runs}
        return found


def search(rates: tuple[float, ...], start: float, loss_at: Callable[[float], float]) -> float:
    """The rate whose neighbours in the list are both worse, or an end of the list."""
    at = rates.index(start)
    while True:
        near = [i for i in (at - 1, at, at + 1) if 0 <= i < len(rates)]
        best = min(near, key=lambda i: loss_at(rates[i]))
        if best == at:
            return rates[at]
        at = best


def found_rate(measured: Measured, corpus: Corpus, name: str) -> float:
    """The peak rate of a rung, searched with short trainings."""

    def loss_at(rate: float) -> float:
        def measure() -> dict[str, Any]:
            result = train(corpus, name, rate, SEARCH_SEED, steps=SEARCH_STEPS)
            return {"loss": result["loss"]}

        return measured(f"search: {name} | rate {rate:g} | seed {SEARCH_SEED}", measure)["loss"]

    return search(RATES, 0.01, loss_at)


def climb(measured: Measured, corpus: Corpus, known: set[str], name: str) -> None:
    """Search one rung's rate, then train its three seeds."""
    rate = found_rate(measured, corpus, name)
    for seed in SEEDS:

        def measure(seed=seed) -> dict[str, Any]:
            result = train(corpus, name, rate, seed, steps=STEPS)
            return texts(corpus, result.pop("model"), known) | result

        measured(f"{name} | rate {rate:g} | seed {seed}", measure)


def optimizers(measured: Measured, corpus: Corpus) -> None:
    """AdamW and Muon on the four blocks, short trainings, each at its best rate."""
    rate = found_rate(measured, corpus, "four blocks")

    def run(title: str, shown: float, seed: int, **settings: Any) -> float:
        def measure() -> dict[str, Any]:
            result = train(corpus, "four blocks", rate, seed, steps=SEARCH_STEPS, **settings)
            return {"loss": result["loss"]}

        return measured(f"{title} | rate {shown:g} | seed {seed}", measure)["loss"]

    def muon(muon_rate: float, seed: int, title: str = "four blocks, Muon") -> float:
        return run(title, muon_rate, seed, optimizer="muon", muon_lr=muon_rate)

    best = search(MUON_RATES, 0.03, lambda each: muon(each, SEARCH_SEED, "search: Muon"))
    for seed in SEEDS:
        run("four blocks, AdamW", rate, seed)
        muon(best, seed)


def study(measured: Measured, corpus: Corpus) -> None:
    """One block, three schedules, several rates, three seeds."""
    for seed in SEEDS:
        for title, schedule in SCHEDULES.items():
            for rate in STUDY_RATES:

                def measure(schedule=schedule, rate=rate, seed=seed) -> dict[str, Any]:
                    result = train(
                        corpus,
                        "one block",
                        rate,
                        seed,
                        steps=STUDY_STEPS,
                        batch_size=STUDY_BATCH,
                        schedule=schedule,
                        clip=None,
                    )
                    return {"loss": result["loss"]}

                measured(f"schedule: {title} | rate {rate:g} | seed {seed}", measure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["schedules", "rungs", "optimizers"])
    parser.add_argument("--rungs", nargs="+", choices=list(RUNGS), default=list(RUNGS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.load("shakespeare", fallback=False)
    known = set(words_of(corpus.vocabulary.decode(corpus.train)))
    measured = Measured()
    if options.only in (None, "schedules"):
        study(measured, corpus)
    if options.only in (None, "rungs"):
        for name in options.rungs:
            climb(measured, corpus, known, name)
    if options.only in (None, "optimizers"):
        optimizers(measured, corpus)


if __name__ == "__main__":
    main()
