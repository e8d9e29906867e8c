"""Seconds to a validation loss on Tiny Shakespeare: this course's training and a textbook loop.

    python -m benchmarks.time_to_loss                      # everything, three repetitions
    python -m benchmarks.time_to_loss --rows bigram,head   # some rows
    python -m benchmarks.time_to_loss --repetitions 1
    python -m benchmarks.time_to_loss --quiet 0.05         # on a machine that others use too

Each measurement runs in a process of its own, one after the other, the two sides of a row in turn,
so that a busy moment slows both. Results go to `results/time_to_loss.json` after each measurement;
what is there already is not measured again (`--fresh` forgets it).

What is counted: wall time from the first line of training, building the model included, importing
and reading the corpus not, until the loss over the whole validation split is at most the target.
Ours includes the evaluation that shows it. The textbook loop is stopped at the first of its own
evaluations after which the whole split is at or below the target; that check is not counted against
it. Where it never gets there, its full time counts, and the ratio is a lower bound.

`--curves` trains each of ours once more and evaluates on the way: what a picture needs and a
measured time must not contain.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from benchmarks import speedrun
from benchmarks.init_from_counts import count_bigram, count_head, count_heads
from benchmarks.measuring import RESULTS, describe_machine, peak_megabytes, write_results
from course_lib import data, schedules
from course_lib.data import Corpus
from course_lib.history import Evaluation
from course_lib.model import GPT, Bigram, Config, FeedForward, ManyHeads, OneHead, fuse
from course_lib.training import evaluate, fit

NAME = "time_to_loss"
V = 65

# Its own estimate is noisy: the whole split is read only when the estimate is this near the target.
NEAR = 0.02

CURVE_POINTS = 8


# Train with a seed and so many evaluations on the way: these evaluations, the last one at the end.
Training = Callable[[Corpus, int, int], list[Evaluation]]


@dataclass(frozen=True)
class Textbook:
    """A loop as published notebooks and nanoGPT write it."""

    build: Callable[[], nn.Module]
    batch_size: int = 32
    block_size: int = 8
    steps: int = 10_000
    every: int = 100
    batches: int = 200
    betas: tuple[float, float] = (0.9, 0.999)
    weight_decay: float = 0.01
    cosine: bool = False


@dataclass(frozen=True)
class Row:
    """A loss to reach, the loop to compare with, and ours by name."""

    title: str
    target: float
    textbook: Textbook | None
    limits: dict[str, int]  # for each of ours: how many times faster it must be
    ours: dict[str, Training]


def four_blocks() -> GPT:
    """4 blocks, C 32, 4 heads, context 8, dropout 0.2 in the feed-forward only."""
    model = GPT(Config(V, 8, n_layer=4, n_head=4, n_embd=32, dropout=0.2))
    inside = {
        id(part)
        for layer in model.modules()
        if isinstance(layer, FeedForward)
        for part in layer.modules()
    }
    for part in model.modules():
        if isinstance(part, nn.Dropout) and id(part) not in inside:
            part.p = 0.0
    return model


def counted_bigram(corpus: Corpus, _seed: int, _evaluations: int) -> list[Evaluation]:
    model = count_bigram(Bigram(V), corpus.train)
    return [Evaluation(0, 0.0, evaluate(model, corpus.validation, 8))]


def fitted_bigram(corpus: Corpus, seed: int, evaluations: int) -> list[Evaluation]:
    model = Bigram(V)
    nn.init.zeros_(model.table.weight)
    return _fitted(model, corpus, seed, evaluations, steps=100, batch_size=1024, lr=0.4)


def started_head(corpus: Corpus, seed: int, evaluations: int) -> list[Evaluation]:
    model = count_head(OneHead(V, 8, 24, 16), corpus.train)
    return _fitted(model, corpus, seed, evaluations, steps=250, lr=0.02)


def fitted_head(corpus: Corpus, seed: int, evaluations: int) -> list[Evaluation]:
    model = OneHead(V, 8, 24, 16)
    return _fitted(model, corpus, seed, evaluations, steps=600, lr=0.03)


def started_heads(corpus: Corpus, seed: int, evaluations: int) -> list[Evaluation]:
    model = fuse(count_heads(ManyHeads(V, 8, 32, 4), corpus.train))
    return _fitted(model, corpus, seed, evaluations, steps=400, lr=0.012, betas=(0.9, 0.99))


def fitted_heads(corpus: Corpus, seed: int, evaluations: int) -> list[Evaluation]:
    model = fuse(ManyHeads(V, 8, 32, 4))
    return _fitted(model, corpus, seed, evaluations, steps=750, lr=0.02)


def same_shape(corpus: Corpus, seed: int, evaluations: int) -> list[Evaluation]:
    model = fuse(GPT(Config(V, 8, n_layer=4, n_head=4, n_embd=32)))
    muon: dict[str, Any] = {"optimizer": "muon", "muon_lr": 0.03}
    return _fitted(model, corpus, seed, evaluations, steps=580, batch_size=192, lr=0.02, **muon)


def speed(**settings: Any) -> Training:
    def trained(corpus: Corpus, seed: int, evaluations: int) -> list[Evaluation]:
        recipe = speedrun.Recipe(**settings)
        _, history = speedrun.run(corpus, recipe, seed=seed, evaluations=evaluations)
        return history.evaluations

    return trained


def _fitted(
    model: nn.Module, corpus: Corpus, seed: int, evaluations: int, **settings: Any
) -> list[Evaluation]:
    steps = settings["steps"]
    history = fit(
        model,
        corpus,
        block_size=8,
        weight_decay=0.0,
        schedule=schedules.one_cycle(0.15),
        evaluate_every=math.ceil(steps / evaluations),
        seed=seed,
        progress=False,
        **{"batch_size": 128, "betas": (0.9, 0.95), **settings},
    )
    return history.evaluations


ROWS = {
    "bigram": Row(
        "bigram table",
        2.50,
        Textbook(lambda: Bigram(V)),
        {"counted": 100},
        {"counted": counted_bigram, "gradient steps": fitted_bigram},
    ),
    "head": Row(
        "one head, C 24, D 16, context 8",
        2.409,
        Textbook(lambda: OneHead(V, 8, 24, 16)),
        {"head start": 40},
        {"head start": started_head, "from random weights": fitted_head},
    ),
    "heads": Row(
        "4 heads of 8, C 32, context 8",
        2.239,
        Textbook(lambda: ManyHeads(V, 8, 32, 4)),
        {"head start": 40},
        {"head start": started_heads, "from random weights": fitted_heads},
    ),
    "blocks": Row(
        "4 blocks, C 32, 4 heads, context 8",
        2.009,
        Textbook(four_blocks),
        {"same shape": 20, "speed run": 150, "counts": 150},
        {
            "same shape": same_shape,
            "speed run": speed(steps=45),
            "counts": speed(n_layer=0, count_order=4),
        },
    ),
    "nanogpt": Row(
        "4 layers, 4 heads, C 128, context 64",
        1.88,
        Textbook(
            lambda: fuse(GPT(Config(V, 64, n_layer=4, n_head=4, n_embd=128, tied=True))),
            batch_size=12,
            block_size=64,
            steps=2000,
            every=250,
            batches=20,
            betas=(0.9, 0.99),
            weight_decay=0.1,
            cosine=True,
        ),
        {"speed run": 20, "counts": 20},
        {
            "speed run": speed(steps=105),
            "counts": speed(n_layer=0, count_order=4),
        },
    ),
    "1.60": Row(
        "any",
        1.60,
        None,
        {},
        {"counts": speed(n_layer=0, count_order=6, block_size=256)},
    ),
}


def textbook(row: Row, corpus: Corpus, seed: int) -> dict[str, Any]:
    """Train as notebooks do: slices stacked, evaluation often, AdamW at a constant rate."""
    loop = row.textbook
    assert loop is not None
    splits = {"train": corpus.train, "validation": corpus.validation}

    def batch(split: str) -> tuple[torch.Tensor, torch.Tensor]:
        tokens, T = splits[split], loop.block_size
        starts = torch.randint(len(tokens) - T, (loop.batch_size,))
        x = torch.stack([tokens[start : start + T] for start in starts])
        y = torch.stack([tokens[start + 1 : start + T + 1] for start in starts])
        return x, y

    @torch.no_grad()
    def estimate() -> dict[str, float]:
        model.eval()
        means = {}
        for split in splits:
            losses = torch.zeros(loop.batches)
            for k in range(loop.batches):
                losses[k] = model(*batch(split))[1].item()
            means[split] = losses.mean().item()
        model.train()
        return means

    torch.manual_seed(seed)
    began, uncounted = time.perf_counter(), 0.0
    processor, uncounted_processor = time.process_time(), 0.0
    model = loop.build()
    optimizer = torch.optim.AdamW(
        model.parameters(), lr=1e-3, betas=loop.betas, weight_decay=loop.weight_decay
    )
    decay = schedules.cosine(warm_up=100, final=0.1)
    curve, reached, loss = [], False, float("nan")
    for step in range(loop.steps + 1):
        if step % loop.every == 0:
            means = estimate()
            seconds = time.perf_counter() - began - uncounted
            processor_seconds = time.process_time() - processor - uncounted_processor
            curve.append([step, seconds, means["validation"]])
            if means["validation"] <= row.target + NEAR or step == loop.steps:
                pause, processor_pause = time.perf_counter(), time.process_time()
                loss = evaluate(model, corpus.validation, loop.block_size)
                uncounted += time.perf_counter() - pause
                uncounted_processor += time.process_time() - processor_pause
                if loss <= row.target:
                    reached = True
                    break
        if step == loop.steps:
            break
        if loop.cosine:
            for group in optimizer.param_groups:
                group["lr"] = 1e-3 * decay(step, loop.steps)
        x, y = batch("train")
        _, batch_loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        batch_loss.backward()
        optimizer.step()
    return {
        "seconds": seconds,
        "processor_seconds": processor_seconds,
        "loss": loss,
        "reached": reached,
        "step": step,
        "curve": curve,
    }


def ours(row: Row, name: str, corpus: Corpus, seed: int, evaluations: int = 1) -> dict[str, Any]:
    """One of ours, timed from its first line to the loss over the whole split."""
    torch.manual_seed(seed)
    began, processor = time.perf_counter(), time.process_time()
    seen = row.ours[name](corpus, seed, evaluations)
    seconds = time.perf_counter() - began
    before = seconds - seen[-1].seconds  # building and counting, which `fit` does not see
    return {
        "seconds": seconds,
        "processor_seconds": time.process_time() - processor,
        "loss": seen[-1].loss,
        "reached": seen[-1].loss <= row.target,
        "curve": [[each.step, before + each.seconds, each.loss] for each in seen],
    }


def measure(row_name: str, side: str, seed: int, evaluations: int) -> dict[str, Any]:
    """One measurement, in this process, and the most memory that it ever held."""
    corpus = data.load("shakespeare", fallback=False)
    # The first training in a process pays for imports that torch puts off: neither side should.
    fit(fuse(GPT(Config(V, 8, 1, 1, 8))), corpus, steps=2, optimizer="muon", progress=False)
    row = ROWS[row_name]
    busy, own, wall = busy_seconds(), time.process_time(), time.perf_counter()
    if side == "textbook":
        result = textbook(row, corpus, seed)
    else:
        result = ours(row, side, corpus, seed, evaluations)
    result["others_share"] = others_share(
        busy, time.process_time() - own, time.perf_counter() - wall
    )
    result["peak_megabytes"] = peak_megabytes()
    return result


def busy_seconds() -> float | None:
    """Processor seconds that the whole machine has spent since it started; None if unknown."""
    try:
        fields = Path("/proc/stat").read_text(encoding="ascii").split("\n")[0].split()[1:]
    except OSError:
        return None
    user, nice, system, _, _, interrupts, soft, *_ = map(int, fields)
    return (user + nice + system + interrupts + soft) / os.sysconf("SC_CLK_TCK")


def others_share(began: float | None, own: float, wall: float) -> float | None:
    """The share of all cores that other programs took since `busy_seconds()` was `began`."""
    now = busy_seconds()
    if began is None or now is None:
        return None
    return max(0.0, now - began - own) / (wall * (os.cpu_count() or 1))


def wait_for_quiet(share: float) -> None:
    """Return once two seconds in a row were left alone by everybody else."""
    calm = 0
    while calm < 2:
        began, own = busy_seconds(), time.process_time()
        time.sleep(1)
        others = others_share(began, time.process_time() - own, 1)
        calm = calm + 1 if others is None or others <= share else 0


def worker(
    options: argparse.Namespace, row: str, side: str, seed: int, evaluations: int = 1
) -> dict[str, Any]:
    """`measure` in a process of its own; again if others disturbed it more than is allowed."""
    command = [sys.executable, "-m", "benchmarks.time_to_loss"]
    command += ["--threads", str(options.threads)]
    command += ["--worker", row, side, str(seed), str(evaluations)]
    best: dict[str, Any] = {}
    for _ in range(3 if options.quiet else 1):
        if options.quiet:
            wait_for_quiet(options.quiet)
        answer = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        result = json.loads(answer.stdout.splitlines()[-1])
        others = result["others_share"] or 0.0
        if not best or others < best["others_share"]:
            best = result
        if others <= (options.quiet or 1.0):
            break
    return best


def summary(measured: dict[str, Any]) -> list[dict[str, Any]]:
    """Medians and ratios of what has been measured so far."""
    lines = []
    for name, row in ROWS.items():
        runs = measured.get(name, {})
        base = runs.get("textbook", [])
        for side in row.ours:
            mine = runs.get(side, [])
            if not mine:
                continue
            line: dict[str, Any] = {
                "row": name,
                "model": row.title,
                "target": row.target,
                "ours": side,
                "seconds": statistics.median(run["seconds"] for run in mine),
                "loss": statistics.median(run["loss"] for run in mine),
                "all_reached": all(run["reached"] for run in mine),
                "repetitions": len(mine),
                "must_be_times_faster": row.limits.get(side),
                "peak_megabytes": max(run["peak_megabytes"] for run in mine),
                "largest_others_share": max(run["others_share"] or 0.0 for run in mine + base),
            }
            if base:
                line["textbook_seconds"] = statistics.median(run["seconds"] for run in base)
                line["textbook_loss"] = statistics.median(run["loss"] for run in base)
                line["textbook_reached"] = all(run["reached"] for run in base)
                line["textbook_peak_megabytes"] = max(run["peak_megabytes"] for run in base)
                line["times_faster"] = line["textbook_seconds"] / line["seconds"]
                line["times_fewer_processor_seconds"] = statistics.median(
                    run["processor_seconds"] for run in base
                ) / statistics.median(run["processor_seconds"] for run in mine)
                wanted = line["must_be_times_faster"]
                line["met"] = line["all_reached"] and (
                    wanted is None or line["times_faster"] >= wanted
                )
            lines.append(line)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default=",".join(ROWS), help=f"of {', '.join(ROWS)}")
    parser.add_argument("--sides", default="", help="only these: textbook, or names of ours")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--quiet", type=float, metavar="SHARE", help="e.g. 0.05")
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    parser.add_argument("--curves", action="store_true", help="curves of ours, and no times")
    parser.add_argument(
        "--worker", nargs=4, metavar=("ROW", "SIDE", "SEED", "EVALUATIONS"), help="internal"
    )
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.worker:
        row, side, seed, evaluations = options.worker
        print(json.dumps(measure(row, side, int(seed), int(evaluations))))
        return
    rows = options.rows.split(",")
    unknown = set(rows) - ROWS.keys()
    if unknown or options.repetitions < 1:
        parser.error(f"rows {sorted(unknown)} unknown, or repetitions < 1")
    path = RESULTS / f"{NAME}.json"
    results: dict[str, Any] = {"measured": {}, "curves": {}}
    if path.exists() and not options.fresh:
        results.update(json.loads(path.read_text(encoding="utf-8"))["results"])
    measured, curves = results["measured"], results["curves"]
    if options.curves:
        for name in rows:
            for side in ROWS[name].ours:
                run = worker(options, name, side, 0, CURVE_POINTS)
                curves.setdefault(name, {})[side] = run["curve"]
                print(f"{name:8s} {side:20s} {len(run['curve'])} points", flush=True)
        write_results(NAME, results)
        return
    for seed in range(options.repetitions):
        for name in rows:
            row = ROWS[name]
            sides = list(row.ours) + (["textbook"] if row.textbook else [])
            for side in sides:
                runs = measured.setdefault(name, {}).setdefault(side, [])
                if len(runs) > seed or (options.sides and side not in options.sides.split(",")):
                    continue
                runs.append(worker(options, name, side, seed))
                last = runs[-1]
                print(
                    f"{name:8s} {side:20s} {last['seconds']:8.2f} s  loss {last['loss']:.4f}  "
                    f"reached {last['reached']}  {last['peak_megabytes']} MB  "
                    f"others {last['others_share']}",
                    flush=True,
                )
                write_results(NAME, {**results, "summary": summary(measured)})
    for line in summary(measured):
        ratio = f"{line['times_faster']:7.1f}×" if "times_faster" in line else "       "
        print(
            f"{line['row']:8s} {line['ours']:20s} {line['seconds']:8.2f} s {ratio} "
            f"wanted {line['must_be_times_faster']} met {line.get('met')}"
        )
    print(describe_machine())


if __name__ == "__main__":
    main()
