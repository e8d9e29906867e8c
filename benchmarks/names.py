"""Names, published and reached: a transformer and an LSTM, each in the setting of a published loss.

    python -m benchmarks.names                 # everything that is not yet in the results
    python -m benchmarks.names --only "lstm, carried"
    python -m benchmarks.names --list

Every run is kept with its setting, seed, seconds, losses and the machine's threads, and is not
measured again. Two ways to split the list are used:

by name
    The course's own: a name that stands on the list twice is twice in the same split.
by entry
    A shuffle of the list, as makemore has it: about one in eight of the held-out entries has its
    name in the training entries too. Their losses are also taken apart: over the names that are in
    training, and over those that are not.

Losses of rows (one name a sample) are means over the letters and the end of each held-out name.
Their training stops now and then to evaluate, which is counted in neither kind of seconds: of the
clock, and of the processor, which is the fair one on a machine that has other work to do.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measuring import RESULTS, write_results
from benchmarks.names_settings import LONGEST, SETTINGS, Setting
from benchmarks.positions import loss_at_last, loss_by_position
from course_lib import data, schedules
from course_lib.contexts import evaluation_mode
from course_lib.data import Corpus, Vocabulary
from course_lib.history import History
from course_lib.model import GPT, Config, OneHead, count_parameters, fuse
from course_lib.recurrent import LSTM, Batch, carried_loss, in_order, train
from course_lib.spelling import name_rows
from course_lib.training import evaluate

NAME = "names"
HELD_OUT_ENTRIES = 1000  # what makemore holds out
ENTRY_SEED = 42
EVALUATION_ROWS = 512


def splits(corpus: Corpus, setting: Setting) -> tuple[Tensor, Tensor]:
    """Training tokens and those that are held out."""
    if setting.split == "by name":
        return corpus.train, corpus.splits[setting.held_out]
    names = corpus.text.strip(".").split(".")
    order = torch.randperm(len(names), generator=torch.Generator().manual_seed(ENTRY_SEED))
    apart = HELD_OUT_ENTRIES if setting.data == "rows" else len(names) // 10
    shuffled = [names[i] for i in order.tolist()]
    # A stream leaves out the second tenth, too, so that it learns from eight of ten, as by name.
    first = apart if setting.data == "rows" else 2 * apart
    return _joined(corpus, shuffled[first:]), _joined(corpus, shuffled[:apart])


def _joined(corpus: Corpus, names: list[str]) -> Tensor:
    return corpus.vocabulary.encode("." + ".".join(names) + ".")


def build(setting: Setting, V: int) -> nn.Module:
    """The model of a setting, freshly initialised."""
    torch.manual_seed(setting.seed)
    if setting.model == "one head":
        return OneHead(V, setting.block_size, n_embd=64, head_size=64)
    if setting.model == "gpt":
        sizes = Config(V, setting.block_size, 4, 4, 64, dropout=setting.dropout)
        return fuse(GPT(sizes))
    model = LSTM(V, n_embd=64, hidden_size=192, dropout=setting.dropout)
    if setting.embedding_dropout:
        model.tokens = nn.Sequential(model.tokens, nn.Dropout(setting.embedding_dropout))  # type: ignore[assignment]
    return model


def names_of(tokens: Tensor, vocabulary: Vocabulary) -> list[str]:
    """The names of a split, in order: what stands between its boundaries."""
    return vocabulary.decode(tokens).strip(".").split(".")


def apart(corpus: Corpus, tokens: Tensor, held_out: Tensor) -> dict[str, list[str]]:
    """The held-out names that are in training, too, and those that are not."""
    known = set(names_of(tokens, corpus.vocabulary))
    listed = names_of(held_out, corpus.vocabulary)
    return {
        "known": [name for name in listed if name in known],
        "new": [name for name in listed if name not in known],
    }


def row_loss(model: nn.Module, tokens: Tensor) -> float:
    """Mean over the letters and the end of every held-out name."""
    x, y = name_rows(tokens, LONGEST)
    total = 0.0
    with torch.inference_mode():
        for inputs, targets in zip(x.split(EVALUATION_ROWS), y.split(EVALUATION_ROWS), strict=True):
            total += model(inputs, targets)[1].item() * int((targets >= 0).sum())
    return total / int((y >= 0).sum())


def losses(model: nn.Module, setting: Setting, held_out: Tensor) -> dict[str, Any]:
    """Every loss that this kind of run has; `setting.measure` names the one that is compared."""
    model.eval()
    if setting.data == "rows":
        return {"rows": row_loss(model, held_out)}
    T = setting.block_size
    found: dict[str, Any] = {
        "all": evaluate(model, held_out, T),
        "last": loss_at_last(model, held_out, T),
        "by_position": [round(v, 4) for v in loss_by_position(model, held_out, T).tolist()],
    }
    if isinstance(model, LSTM):
        found["stream"] = carried_loss(model, held_out)
    return found


class Curve:
    """Losses over held-out rows while a training goes on, and what finding them took."""

    def __init__(self, model: nn.Module, setting: Setting, held_out: Tensor):
        self.model, self.setting, self.held_out = model, setting, held_out
        self.points: list[dict[str, float]] = []
        self.clock = self.processor = 0.0
        self.began = time.process_time()

    def __call__(self, history: History) -> None:
        """Evaluate, if the setting wants it after this step."""
        if not self.setting.evaluate_every or history.steps % self.setting.evaluate_every:
            return
        clock, processor = time.perf_counter(), time.process_time()
        with evaluation_mode(self.model):
            loss = row_loss(self.model, self.held_out)
        point = {
            "step": history.steps,
            "processor_seconds": round(processor - self.began - self.processor, 2),
            "seconds": round(history.seconds - self.clock, 2),
            "loss": round(loss, 4),
        }
        self.points.append(point)
        self.clock += time.perf_counter() - clock
        self.processor += time.process_time() - processor


def batches_of_rows(
    x: Tensor, y: Tensor, batch_size: int, generator: torch.Generator | None = None
) -> Iterator[Batch]:
    """Random rows without end, cut to the longest of each batch: padding costs no time.

    Parameters
    ----------
    x, y : (K, T) int64
        Rows and targets, as `name_rows` makes them.
    batch_size : int
        Rows in a batch, drawn with repetition.
    generator : torch.Generator, optional
        Source of the draws.

    Yields
    ------
    x, y, first
        As `in_order` gives them; rows have no past, so `first` is always True.
    """
    lengths = (y >= 0).sum(dim=1)  # (K,)
    while True:
        chosen = torch.randint(len(x), (batch_size,), generator=generator)
        longest = int(lengths[chosen].max())
        yield x[chosen, :longest], y[chosen, :longest], True


def batches(setting: Setting, tokens: Tensor) -> Iterator[Batch]:
    """Training batches of a setting, without end."""
    generator = torch.Generator().manual_seed(setting.seed)
    if setting.data == "stream":
        return in_order(tokens, setting.batch_size, setting.block_size, generator=generator)
    return batches_of_rows(*name_rows(tokens, LONGEST), setting.batch_size, generator)


def measure(setting: Setting, corpus: Corpus) -> dict[str, Any]:
    """Train and evaluate one setting."""
    tokens, held_out = splits(corpus, setting)
    model = build(setting, len(corpus.vocabulary))
    curve = Curve(model, setting, held_out)
    history = train(
        model,
        batches(setting, tokens),
        steps=setting.steps,
        carry=setting.carry,
        optimizer=setting.optimizer,
        lr=setting.lr,
        betas=(0.9, 0.99) if setting.schedule == "constant" else (0.9, 0.95),
        muon_lr=setting.muon_lr,
        weight_decay=setting.weight_decay,
        schedule=schedules.one_cycle(0.15) if setting.schedule == "one_cycle" else "constant",
        precision=setting.precision,
        after_step=curve,
    )
    spent = time.process_time() - curve.began - curve.processor
    parts = apart(corpus, tokens, held_out)
    return {
        "setting": asdict(setting),
        "parameters": count_parameters(model),
        "threads": torch.get_num_threads(),
        "seconds": history.seconds - curve.clock,
        "processor_seconds": spent,
        "passes": history.tokens / (len(tokens) - 1),
        "last_batches": sum(history.losses[-50:]) / len(history.losses[-50:]),
        "curve": curve.points,
        "held_out": {part: len(names) for part, names in parts.items()},
        "losses": losses(model, setting, held_out),
        "losses_apart": {
            part: losses(model, setting, _joined(corpus, names))
            for part, names in parts.items()
            if parts["known"]
        },
    }


def report(name: str, run: dict[str, Any]) -> str:
    """One line: reached beside published."""
    setting, reached = run["setting"], run["losses"][run["setting"]["measure"]]
    others = ", ".join(f"{k} {v:.4f}" for k, v in run["losses"].items() if isinstance(v, float))
    return (
        f"{name:28s} {setting['measure']:6s} {reached:.4f}  published {setting['published']:.3f}  "
        f"{run['seconds']:6.1f} s  {run['parameters']:,} parameters  ({others})"
    )


def main(show: Callable[[str], None] = print) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=list(SETTINGS))
    parser.add_argument("--list", action="store_true", help="show what is stored, measure nothing")
    parser.add_argument("--fresh", action="store_true", help="measure again what is stored")
    options = parser.parse_args()
    torch.set_num_threads(1)
    path = RESULTS / f"{NAME}.json"
    for name in options.only or SETTINGS:
        # Read before each run: two of these commands may work side by side.
        stored = current(path)
        if (options.list or not options.fresh) and name in stored:
            show(report(name, stored[name]))
        elif not options.list:
            run = measure(SETTINGS[name], data.load("names", fallback=False))
            write_results(NAME, current(path) | {name: run})
            show(report(name, run))


def current(path: Path) -> dict[str, Any]:
    """Stored runs whose setting is still the one that is asked for."""
    if not path.exists():
        return {}
    stored = json.loads(path.read_text("utf-8"))["results"]
    return {
        name: stored[name]
        for name, setting in SETTINGS.items()
        if name in stored and stored[name]["setting"] == asdict(setting)
    }


if __name__ == "__main__":
    main()
