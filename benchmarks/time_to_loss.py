"""Seconds to a validation loss on Tiny Shakespeare: a published loop, a tuned one, and this course.

    python -m benchmarks.time_to_loss --search             # settings of the tuned loop and of ours
    python -m benchmarks.time_to_loss                      # every side of every row, three seeds
    python -m benchmarks.time_to_loss --rows bigram,head   # some rows

All sides of a row train the same model to the same loss. The loss is always that over the whole
validation split, cut into windows of the row's block size that do not overlap. A run ends with one
reading of it, which counts for everybody:

- the tuned loop and ours take the number of steps that their search found, with which the mean
  loss of three other seeds was at the target, then read the split. If the mean loss of the measured
  seeds misses the target all the same, the side gets a rung of the search's ladder more steps and
  all its seeds are run again; the file says how often;
- the published loop has no number of steps that belongs to a loss. A referee reads the split
  whenever the loop makes its own estimate, and ends the run at the first reading at or below the
  target. Only this last reading counts; the loop's own estimates count, as they are part of it.

The clock is the processor's: seconds that one thread has computed, from before the model is built.
Importing torch and reading the text are not in it. The sides take turns, seed by seed, each run in
a process of its own; wall time and the share of the machine that other programs took stand beside.

`results/time_to_loss.json` keeps every run, and the cost of one step, one estimate, one reading and
of building, measured apart from the runs, so that their sum can be held against the seconds of a
run. `results/time_to_loss_search.json` keeps every trial of the search. What is there already is
not measured again (`--fresh` forgets it).
"""

import argparse
import dataclasses
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks import speedrun
from benchmarks.machine_load import busy_seconds, others_share
from benchmarks.measuring import RESULTS, peak_megabytes, write_results
from benchmarks.notebook_loop import NotebookLoop
from benchmarks.time_to_loss_search import RUNG, Search
from benchmarks.time_to_loss_settings import (
    OTHERS,
    PUBLISHED,
    ROWS,
    Row,
    Setting,
    as_setting,
    with_steps,
)
from course_lib import data, schedules
from course_lib.data import Corpus
from course_lib.model import GPT, Config, fuse
from course_lib.training import evaluate, fit

NAME = "time_to_loss"
SEARCH = "time_to_loss_search"


def run_published(row: Row, corpus: Corpus, seed: int) -> dict[str, Any]:
    """The published loop, read by the referee at each of its own estimates."""
    published, paused = row.published, 0.0
    rate = schedules.constant()
    if published.warm_up is not None:
        rate = schedules.cosine(published.warm_up, published.final)
    torch.manual_seed(seed)
    began = time.process_time()
    loop = published_loop(row, corpus)
    readings, estimates = [], 0
    for step in range(published.steps + 1):
        if step % published.every == 0:
            loop.estimate(published.batches)
            estimates += 1
            start = time.process_time()
            loss = evaluate(loop.model, corpus.validation, row.block_size)
            reading = time.process_time() - start
            readings.append([step, start - began - paused + reading, loss])
            if loss <= row.target or step == published.steps:
                break
            paused += reading
        loop.step(rate(step, published.steps))
    return {
        "processor_seconds": readings[-1][1],
        "loss": loss,
        "reached": loss <= row.target,
        "counted": {"building": 1, "step": step, "estimate": estimates, "reading": 1},
        "readings": readings,
    }


def published_loop(row: Row, corpus: Corpus) -> NotebookLoop:
    """The model and optimizer of a row's published loop, before the first step."""
    published = row.published
    return NotebookLoop(
        published.build(),
        corpus,
        batch_size=published.batch_size,
        block_size=row.block_size,
        lr=published.lr,
        betas=published.betas,
        weight_decay=published.weight_decay,
        decay_matrices_only=published.decay_matrices_only,
        clip=published.clip,
    )


def run_searched(
    row: Row, side_name: str, corpus: Corpus, chosen: Setting | None, seed: int
) -> dict[str, Any]:
    """The tuned loop or one of ours: build, train as many steps as were found, read."""
    side = row.sides[side_name]
    torch.manual_seed(seed)
    began = time.process_time()
    model = side.build(corpus)
    if chosen is not None:
        side.train(model, corpus, row.block_size, chosen, seed)
    loss = evaluate(model, corpus.validation, row.block_size)
    steps = 0 if chosen is None else chosen.steps
    return {
        "processor_seconds": time.process_time() - began,
        "loss": loss,
        "reached": loss <= row.target,
        "counted": {"building": 1, "step": steps, "estimate": 0, "reading": 1},
    }


def run_other(name: str, corpus: Corpus, seed: int) -> dict[str, Any]:
    """A speed run or a table of counts: its loss, its seconds, and how many numbers it holds."""
    recipe = OTHERS[name]
    began = time.process_time()
    model, history = speedrun.run(corpus, recipe, seed=seed)
    return {
        "processor_seconds": time.process_time() - began,
        "loss": history.validation,
        "steps": history.steps,
        "block_size": recipe.block_size,
        "trained_numbers": sum(p.numel() for p in model.parameters()) if recipe.n_layer else 0,
    }


def costs(row: Row, side_name: str, corpus: Corpus, chosen: Setting | None) -> dict[str, float]:
    """Processor seconds of building, one step, one estimate and one reading, apart from any run."""

    def seconds(function: Callable[[], object], times: int = 3) -> float:
        found = []
        for _ in range(times):
            start = time.process_time()
            function()
            found.append(time.process_time() - start)
        return statistics.median(found)

    torch.manual_seed(0)
    T, found = row.block_size, {"estimate": 0.0, "step": 0.0}
    if side_name == PUBLISHED:
        loop = published_loop(row, corpus)
        model: nn.Module = loop.model
        found["building"] = seconds(lambda: published_loop(row, corpus))
        found["step"] = seconds(lambda: [loop.step() for _ in range(40)]) / 40
        found["estimate"] = seconds(lambda: loop.estimate(row.published.batches))
    else:
        side = row.sides[side_name]
        model = side.build(corpus)
        found["building"] = seconds(lambda: side.build(corpus))
        if chosen is not None:
            some = with_steps(chosen, min(40, chosen.steps))
            side.train(model, corpus, T, with_steps(chosen, 3), 0)
            found["step"] = seconds(lambda: side.train(model, corpus, T, some, 0)) / some.steps
    found["reading"] = seconds(lambda: evaluate(model, corpus.validation, T))
    return found


def found_setting(row_name: str, side_name: str, rungs: int = 0) -> Setting | None:
    """What the search found, with some rungs more steps; None where there is nothing to search."""
    if side_name == PUBLISHED or not ROWS[row_name].sides[side_name].searched:
        return None
    searches = stored(SEARCH)
    if side_name not in searches.get(row_name, {}):
        raise SystemExit(f"no search for {row_name}, {side_name}: run it with --search first")
    found = as_setting(searches[row_name][side_name]["setting"])
    return with_steps(found, math.ceil(found.steps * RUNG**rungs))


def stored(name: str) -> dict[str, Any]:
    """What a results file holds, or nothing."""
    path: Path = RESULTS / f"{name}.json"
    return json.loads(path.read_text(encoding="utf-8"))["results"] if path.exists() else {}


def warm_up(corpus: Corpus) -> None:
    """The first training in a process pays for imports that torch puts off: no side should."""
    model = fuse(GPT(Config(len(corpus.vocabulary), 8, 1, 1, 8)))
    fit(model, corpus, steps=2, optimizer="muon", progress=False)
    plain = NotebookLoop(model, corpus, batch_size=2, block_size=8, lr=1e-3, betas=(0.9, 0.99))
    plain.step()


def measure(row_name: str, side_name: str, seed: int, rungs: int) -> dict[str, Any]:
    """One run in this process, the costs measured after it, and what else the machine did."""
    corpus = data.load("shakespeare", fallback=False)
    warm_up(corpus)
    busy, own, wall = busy_seconds(), time.process_time(), time.perf_counter()
    if row_name == "others":
        result = run_other(side_name, corpus, seed)
    elif side_name == PUBLISHED:
        result = run_published(ROWS[row_name], corpus, seed)
    else:
        chosen = found_setting(row_name, side_name, rungs)
        result = run_searched(ROWS[row_name], side_name, corpus, chosen, seed)
    result["seed"] = seed
    result["wall_seconds"] = time.perf_counter() - wall
    result["others_share"] = others_share(
        busy, time.process_time() - own, time.perf_counter() - wall
    )
    if row_name != "others":
        row, chosen = ROWS[row_name], found_setting(row_name, side_name, rungs)
        result["costs"] = costs(row, side_name, corpus, chosen)
    result["peak_megabytes"] = peak_megabytes()
    return result


def worker(row: str, side: str, seed: int, rungs: int) -> dict[str, Any]:
    """`measure` in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.time_to_loss"]
    command += ["--worker", row, side, str(seed), str(rungs)]
    answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(answer.stdout.splitlines()[-1])


def search_rows(rows: list[str], fresh: bool) -> None:
    """Search the settings of every side of the rows, and keep each search as it ends."""
    corpus = data.load("shakespeare", fallback=False)
    warm_up(corpus)
    if fresh:
        write_results(SEARCH, {})
    for row_name in rows:
        row = ROWS[row_name]
        for side_name, side in row.sides.items():
            if not side.searched or side_name in stored(SEARCH).get(row_name, {}):
                continue
            found = Search(row, side, corpus, f"{row_name}, {side_name}").run()
            results = stored(SEARCH)  # read again: another row may be searched at the same time
            results.setdefault(row_name, {})[side_name] = found
            write_results(SEARCH, results)
            print(
                f"{row_name:8s} {side_name:20s} {found['trainings']} trainings, "
                f"{found['processor_seconds']:.0f} s: {found['setting']}",
                flush=True,
            )


class Measurement:
    """All runs so far, kept in the results file after each.

    Parameters
    ----------
    fresh : bool
        Whether to forget what is there already.
    """

    def __init__(self, fresh: bool = False):
        if fresh:
            write_results(NAME, {})
        before = stored(NAME)
        self.runs: dict[str, Any] = before.get("measured", {})
        self.rungs: dict[str, Any] = before.get("rungs_added", {})

    def rows(self, names: list[str], repetitions: int, published: int) -> None:
        """Seed by seed every side of the rows, then again what missed its target in the mean."""
        sides = {
            name: list(OTHERS) if name == "others" else [PUBLISHED, *ROWS[name].sides]
            for name in names
        }
        for seed in range(repetitions):
            for name in names:
                for side in sides[name]:
                    if side != PUBLISHED or seed < published:
                        self._run(name, side, seed)
        for name in names:
            while missed := [side for side in sides[name] if self._missed(name, side)]:
                for side in missed:
                    self.runs[name][side] = []
                    added = self.rungs.setdefault(name, {})
                    added[side] = added.get(side, 0) + 1
                for seed in range(repetitions):
                    for side in missed:
                        self._run(name, side, seed)

    def _missed(self, name: str, side: str) -> bool:
        if name == "others" or side == PUBLISHED or not ROWS[name].sides[side].searched:
            return False
        return statistics.mean(run["loss"] for run in self.runs[name][side]) > ROWS[name].target

    def _run(self, name: str, side: str, seed: int) -> None:
        runs = self.runs.setdefault(name, {}).setdefault(side, [])
        if any(run["seed"] == seed for run in runs):
            return
        last = worker(name, side, seed, self.rungs.get(name, {}).get(side, 0))
        runs.append(last)
        print(
            f"{name:8s} {side:20s} {last['processor_seconds']:8.2f} s  loss {last['loss']:.4f}  "
            f"{last.get('counted', '')}  others {last['others_share']:.2f}",
            flush=True,
        )
        # Read again: other rows may be measured at the same time.
        kept = {"measured": {}, "rungs_added": {}, **stored(NAME), "targets": targets()}
        kept["measured"].setdefault(name, {})[side] = runs
        if name in self.rungs:
            kept["rungs_added"][name] = self.rungs[name]
        write_results(NAME, kept)


def targets() -> dict[str, dict[str, Any]]:
    """What each row is called, which loss it is to reach, and how its published loop is set."""
    described = {}
    for name, row in ROWS.items():
        published = dataclasses.asdict(row.published)
        del published["build"]
        described[name] = {
            "model": row.title,
            "target": row.target,
            "block_size": row.block_size,
            "published": published,
        }
    return described


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", help=f"of {', '.join(ROWS)}, others")
    parser.add_argument("--search", action="store_true", help="search settings, measure nothing")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--published", type=int, help="repetitions of the published loop, if fewer")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--worker", nargs=4, metavar=("ROW", "SIDE", "SEED", "RUNGS"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.worker:
        row, side, seed, rungs = options.worker
        print(json.dumps(measure(row, side, int(seed), int(rungs))))
        return
    everything = list(ROWS) if options.search else [*ROWS, "others"]
    rows = options.rows.split(",") if options.rows else everything
    if not set(rows) <= set(everything) or options.repetitions < 1:
        parser.error(f"rows {rows}: known are {everything}; repetitions must be at least 1")
    if options.search:
        search_rows(rows, options.fresh)
    else:
        published = options.repetitions if options.published is None else options.published
        Measurement(options.fresh).rows(rows, options.repetitions, published)


if __name__ == "__main__":
    main()
