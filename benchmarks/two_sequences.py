"""Two sequences: how chapter 13's models fare over three seeds, and what half of one can do.

    python -m benchmarks.two_sequences              # everything that is not yet in the results
    python -m benchmarks.two_sequences --only verse # runs whose name holds this word

The models, tasks and loops are the chapter's own: the cells of its notebook that only define
something, tagged `definition`, are run as they stand. A run is one model, one task and one seed. It
keeps the exact match on held-out pairs, the seconds of the processor that training took, and for
encoder and decoder together how often the attention finds the word that made a word. The readers of
couplets are also trained on pairs with misprints, and tested on the same couplets without any.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import nbformat
import torch

from benchmarks.measuring import RESULTS, write_results

NAME = "two_sequences"
CHAPTER = Path(__file__).parents[1] / "book" / "13-two-sequences.ipynb"
SEEDS = (0, 1, 2)
KINDS = ("both", "decoder alone", "encoder alone")

MISPRINTED = 0.15  # of the words that make a plain word, as in the chapter


COUPLETS = ("verse", "verse, longer", "misprints")


class Setting(NamedTuple):
    """How a task is trained: the channels, steps, batch size and largest learning rate."""

    n_embd: int
    steps: int
    batch_size: int
    lr: float


SETTINGS = {
    "verse": Setting(64, 800, 32, 3e-3),
    "verse, longer": Setting(64, 1000, 32, 3e-3),  # as many steps as with misprints, without any
    "misprints": Setting(64, 1000, 32, 3e-3),
    "reverse": Setting(64, 500, 64, 3e-3),
    "sort": Setting(64, 500, 64, 3e-3),
    "dates": Setting(48, 350, 64, 4e-3),
}


def chapter() -> dict[str, Any]:
    """What the chapter defines, by name."""
    defined: dict[str, Any] = {"__name__": "chapter"}
    for cell in nbformat.read(CHAPTER, as_version=4).cells:
        if "definition" in cell.metadata.get("tags", []):
            exec(compile(cell.source, str(CHAPTER), "exec"), defined)
    return defined


def pairs_of(task: str, defined: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Pairs to train on, and others whose sources are not among them."""
    if task in COUPLETS:
        random = Random(1)
        pairs = [defined["couplet"](random) for _ in range(10_200)]
        training, others = pairs[:10_000], pairs[10_000:]
    elif task == "dates":
        dates = [defined["written_date"](n) for n in Random(0).sample(range(73_049), 73_049)]
        training, others = dates[1000:], dates[:1000]
    else:
        draw, lengths = defined["letter_pairs"], range(2, 9)
        training = draw(defined[task], lengths, 30_000, seed=0)
        others = draw(defined[task], lengths, 1_500, seed=1)
    known = {tuple(pair.source) for pair in training}
    held_out = [pair for pair in others if tuple(pair.source) not in known]
    if task == "misprints":  # in the training only: the test is the one of the plain couplets
        vocabulary = sorted({word for pair in training for word in pair.source})
        random = Random(2)
        training = [defined["misprint"](pair, MISPRINTED, vocabulary, random) for pair in training]
    return training, held_out


def measure(task: str, kind: str, seed: int, defined: dict[str, Any]) -> dict[str, Any]:
    """Train one model and say what it can do."""
    setting = SETTINGS[task]
    training, held_out = pairs_of(task, defined)
    words = defined["Words"](training + held_out)
    V = len(words.words)
    torch.manual_seed(seed)
    if kind == "both":
        model, write = defined["Transformer"](V, setting.n_embd, n_head=4), defined["greedy"]
    else:
        model = defined["OneStack"](V, setting.n_embd, 4, 2, causal=kind == "decoder alone")
        write = defined["write_alone"]
    data = defined["batches"](training, words, setting.steps, setting.batch_size, seed=seed)
    start = time.process_time()
    defined["train"](model, data, setting.steps, lr=setting.lr)
    result: dict[str, Any] = {
        "processor_seconds": time.process_time() - start,
        "parameters": sum(p.numel() for p in model.parameters()),
        "held_out": len(held_out),
        "exact_match": defined["exact_match"](
            lambda source, longest: write(model, source, longest), held_out, words
        ),
    }
    if kind == "both" and task != "dates":
        maps = defined["looked_at"](model, held_out, words)
        result["aligned"] = defined["alignment_score"](maps, held_out)
        if task in COUPLETS:
            score, every = defined["alignment_score"], (True, False)
            result["aligned_fixed"] = score(maps, held_out, (False,))
            result["aligned_all"] = score(maps, held_out, every)
            result["aligned_once"] = score(maps, held_out, every, defined["link_once"])
    return result


def _stored(path: Path) -> dict[str, Any]:
    if not path.exists():
        return {}
    runs: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))["results"]["runs"]
    return runs


def main() -> None:
    """Measure what is missing, and write it down after each run."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="runs whose name holds this")
    only = parser.parse_args().only
    torch.set_num_threads(1)
    defined = chapter()
    for task, kind, seed in (
        (name, kind, seed)
        for name in SETTINGS
        for kind in (KINDS if name in ("verse", "reverse") else KINDS[:1])
        for seed in (SEEDS[:1] if name == "verse, longer" else SEEDS)
    ):
        name = f"{task}, {kind}, seed {seed}"
        path = RESULTS / f"{NAME}.json"
        runs = _stored(path)
        if only in name and name not in runs:
            found = measure(task, kind, seed, defined)
            print(name, found, flush=True)
            # Read again: another process may have written in the meantime.
            runs = _stored(path) | {name: found}
            write_results(NAME, {"runs": dict(sorted(runs.items()))})


if __name__ == "__main__":
    main()
