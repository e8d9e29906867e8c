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
import statistics
import subprocess
import sys
import time
from typing import Any

import torch

from benchmarks.machine_load import busy_seconds, others_share, wait_for_quiet
from benchmarks.measuring import RESULTS, describe_machine, peak_megabytes, write_results
from benchmarks.textbook_loop import textbook
from benchmarks.time_to_loss_settings import ROWS, Row, V
from course_lib import data
from course_lib.data import Corpus
from course_lib.model import GPT, Config, fuse
from course_lib.training import fit

NAME = "time_to_loss"
CURVE_POINTS = 8


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
