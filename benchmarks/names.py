"""Names, published and reached: a transformer and an LSTM, each in the setting of a published loss.

    python -m benchmarks.names                 # everything that is not yet in the results
    python -m benchmarks.names --only "lstm, carried"
    python -m benchmarks.names --list

Every run is kept with its setting, seed, seconds, losses and the machine's threads, and is not
measured again. Two ways to split the list are used:

by name
    The course's own: a name that stands on the list twice is twice in the same split.
by entry
    A shuffle of the list, as most published runs have it: one name in twelve of the held-out
    entries is in the training entries too, so the losses are lower, and they flatter.

Losses of rows (one name a sample) are means over the letters and the end of each held-out name.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measuring import RESULTS, write_results
from course_lib import data, schedules
from course_lib.data import Corpus
from course_lib.model import GPT, Config, OneHead, count_parameters, fuse
from course_lib.positions import loss_at_last, loss_by_position
from course_lib.recurrent import LSTM, Batch, batches_of_rows, carried_loss, in_order, train
from course_lib.spelling import name_rows
from course_lib.training import evaluate

NAME = "names"
LONGEST = 16  # the longest name has 15 letters, and an end
HELD_OUT_ENTRIES = 1000  # what makemore holds out
ENTRY_SEED = 42
EVALUATION_ROWS = 512


@dataclass(frozen=True)
class Setting:
    """One run.

    Attributes
    ----------
    published : float
        The loss to be at or below.
    measure : {"all", "last", "stream", "rows"}
        Over all positions of windows, at the last position, over a stream with the state carried,
        or over rows of one name each.
    split : {"by name", "by entry"}
    model : {"one head", "gpt", "lstm"}
    data : {"stream", "rows"}
    block_size, batch_size, steps : int
    seed : int
    carry : bool
    dropout, embedding_dropout, lr, muon_lr, weight_decay : float
    optimiser, schedule, precision : str
    held_out : {"validation", "test"}
    tricks : str
        What differs from the published setting, in words.
    """

    published: float
    measure: str
    split: str
    model: str
    data: str
    block_size: int
    batch_size: int
    steps: int
    tricks: str
    seed: int = 0
    carry: bool = False
    dropout: float = 0.0
    embedding_dropout: float = 0.0
    lr: float = 5e-3
    muon_lr: float = 0.015
    weight_decay: float = 0.0
    optimiser: str = "adamw"
    schedule: str = "one_cycle"
    precision: str = "float32"
    held_out: str = "validation"


_MUON = "Muon inside the blocks, one cycle, dropout, larger batches, bfloat16 products"
_DROPOUT_BEHIND = "another model: an LSTM; AdamW, one cycle, dropout behind it"
_LSTM = "AdamW, one cycle, dropout before and behind the LSTM"
_GPT = {
    "model": "gpt",
    "optimiser": "muon",
    "dropout": 0.1,
    "lr": 3e-3,
    "precision": "bfloat16",
}
_RECURRENT = {"model": "lstm", "dropout": 0.3, "embedding_dropout": 0.1, "weight_decay": 0.1}
_BLOCKS: dict[str, Any] = {
    **_GPT,
    "measure": "all",
    "data": "stream",
    "block_size": 32,
    "batch_size": 64,
    "steps": 4500,
    "tricks": _MUON,
}
_CARRIED: dict[str, Any] = {
    **_RECURRENT,
    "measure": "stream",
    "data": "stream",
    "block_size": 32,
    "batch_size": 64,
    "steps": 4000,
    "tricks": _LSTM,
}
_GPT_ROWS: dict[str, Any] = {**_GPT, "batch_size": 128, "steps": 4500}
_LSTM_ROWS: dict[str, Any] = {"model": "lstm", "dropout": 0.35, "batch_size": 64, "steps": 5000}
_ROWS: dict[str, Any] = {
    "measure": "rows",
    "data": "rows",
    "block_size": LONGEST,
    "held_out": "test",
}

SETTINGS: dict[str, Setting] = {
    "one head": Setting(
        2.476, "all", "by name", "one head", "stream", 10, 1000, 90, "none", lr=0.1
    ),
    "four blocks": Setting(published=2.024, split="by name", **_BLOCKS),
    "four blocks, by entry": Setting(published=2.024, split="by entry", **_BLOCKS),
    "lstm, carried": Setting(published=1.95, split="by name", carry=True, **_CARRIED),
    "lstm, carried, by entry": Setting(published=1.95, split="by entry", carry=True, **_CARRIED),
    "rows, transformer": Setting(
        published=1.92, split="by entry", tricks=_MUON, **_GPT_ROWS, **_ROWS
    ),
    "rows, lstm": Setting(
        published=1.92, split="by entry", tricks=_DROPOUT_BEHIND, **_LSTM_ROWS, **_ROWS
    ),
    "rows, lstm, by name": Setting(
        published=1.92, split="by name", tricks=_DROPOUT_BEHIND, **_LSTM_ROWS, **_ROWS
    ),
    "rows, textbook": Setting(
        published=1.92, split="by entry", model="gpt", batch_size=32, steps=20_000, lr=5e-4,
        weight_decay=0.01, schedule="constant", tricks="none: AdamW at 5e-4, batch 32", **_ROWS,
    ),
}  # fmt: skip


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
    processor = time.process_time()
    history = train(
        model,
        batches(setting, tokens),
        steps=setting.steps,
        carry=setting.carry,
        optimiser=setting.optimiser,
        lr=setting.lr,
        betas=(0.9, 0.99) if setting.schedule == "constant" else (0.9, 0.95),
        muon_lr=setting.muon_lr,
        weight_decay=setting.weight_decay,
        schedule=schedules.one_cycle(0.15) if setting.schedule == "one_cycle" else "constant",
        precision=setting.precision,
    )
    return {
        "setting": asdict(setting),
        "parameters": count_parameters(model),
        "threads": torch.get_num_threads(),
        "seconds": history.seconds,
        "processor_seconds": time.process_time() - processor,
        "passes": history.tokens / (len(tokens) - 1),
        "last_batches": sum(history.losses[-50:]) / len(history.losses[-50:]),
        "losses": losses(model, setting, held_out),
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
        stored = json.loads(path.read_text("utf-8"))["results"] if path.exists() else {}
        if (options.list or not options.fresh) and name in stored:
            show(report(name, stored[name]))
        elif not options.list:
            run = measure(SETTINGS[name], data.load("names", fallback=False))
            stored = json.loads(path.read_text("utf-8"))["results"] if path.exists() else {}
            write_results(NAME, {k: v for k, v in {**stored, name: run}.items() if k in SETTINGS})
            show(report(name, run))


if __name__ == "__main__":
    main()
