"""The trainings of `benchmarks.names`: what is published, and how it is trained here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

LONGEST = 16  # the longest name has 15 letters, and an end


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
    optimizer, schedule, precision : str
    held_out : {"validation", "test"}
    tricks : str
        What it is trained with beside the published shapes, in words.
    evaluate_every : int
        Steps between evaluations while a training on rows goes on; 0 for none.
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
    optimizer: str = "adamw"
    schedule: str = "one_cycle"
    precision: str = "float32"
    held_out: str = "validation"
    evaluate_every: int = 0


_MUON = "Muon in the blocks, AdamW elsewhere, one cycle, dropout, bfloat16"
_LSTM = "AdamW, one cycle, dropout before and behind the LSTM"
_LSTM_ROWS_TRICKS = "AdamW, one cycle, dropout behind the LSTM"
_GPT: dict[str, Any] = {
    "model": "gpt",
    "optimizer": "muon",
    "dropout": 0.1,
    "lr": 3e-3,
    "precision": "bfloat16",
    "tricks": _MUON,
}
_BLOCKS: dict[str, Any] = {
    **_GPT,
    "published": 2.024,
    "measure": "all",
    "data": "stream",
    "block_size": 32,
    "batch_size": 64,
    "steps": 4500,
}
_CARRIED: dict[str, Any] = {
    "published": 1.95,
    "measure": "stream",
    "model": "lstm",
    "data": "stream",
    "block_size": 32,
    "batch_size": 64,
    "steps": 4000,
    "tricks": _LSTM,
    "carry": True,
    "dropout": 0.3,
    "embedding_dropout": 0.1,
    "weight_decay": 0.1,
}
_ROWS: dict[str, Any] = {
    "published": 1.92,
    "measure": "rows",
    "data": "rows",
    "block_size": LONGEST,
    "held_out": "test",
}
_GPT_ROWS: dict[str, Any] = {**_GPT, **_ROWS, "batch_size": 128, "steps": 4500}
_FEWER: dict[str, Any] = _GPT_ROWS | {"steps": 1500, "dropout": 0.05}
_LSTM_ROWS: dict[str, Any] = {
    **_ROWS,
    "model": "lstm",
    "dropout": 0.35,
    "batch_size": 64,
    "steps": 5000,
    "tricks": _LSTM_ROWS_TRICKS,
}
_TEXTBOOK: dict[str, Any] = {
    **_ROWS,
    "model": "gpt",
    "batch_size": 32,
    "steps": 20_000,
    "lr": 5e-4,
    "weight_decay": 0.01,
    "schedule": "constant",
    "tricks": "AdamW at a constant rate",
    "evaluate_every": 500,
}

_ONCE: dict[str, Setting] = {
    "one head": Setting(
        2.476, "all", "by name", "one head", "stream", 10, 1000, 90, "AdamW, one cycle", lr=0.1
    ),
    # Published with 30 passes: 2,670 steps of 64 × 32 symbols are not more.
    "four blocks": Setting(split="by name", **_BLOCKS | {"steps": 2670}),
    "four blocks, longer": Setting(split="by name", **_BLOCKS),
    "four blocks, longer, by entry": Setting(split="by entry", **_BLOCKS),
    "lstm, carried": Setting(split="by name", **_CARRIED),
    "lstm, carried, by entry": Setting(split="by entry", **_CARRIED),
    "lstm, carried, more dropout": Setting(
        split="by name",
        **_CARRIED | {"steps": 4500, "dropout": 0.5, "embedding_dropout": 0.2},
    ),
    "rows, transformer": Setting(split="by entry", **_GPT_ROWS),
    "rows, transformer, 1,500 steps": Setting(split="by entry", **_FEWER | {"evaluate_every": 125}),
    "rows, transformer, 750 steps": Setting(
        split="by entry", **_FEWER | {"steps": 750, "dropout": 0.0, "evaluate_every": 75}
    ),
    "rows, transformer, by name": Setting(split="by name", **_GPT_ROWS),
    "rows, lstm": Setting(split="by entry", **_LSTM_ROWS),
    "rows, lstm, by name": Setting(split="by name", **_LSTM_ROWS),
    "rows, textbook": Setting(split="by entry", **_TEXTBOOK),
}
# Equal past, parameters and batches, from two more starts: with the runs above, three of each.
_STARTS: dict[str, Setting] = {
    f"{name}, seed {seed}": replace(_ONCE[name], seed=seed)
    for name in ("four blocks, longer", "lstm, carried, more dropout")
    for seed in (1, 2)
}
_SHORT_GPT: dict[str, Any] = _BLOCKS | {
    "measure": "last",
    "published": 1.933,
    "steps": 700,
    "dropout": 0.05,
}
# Equal past, parameters and seconds of the processor, from three starts each: 1,200 steps of the
# LSTM take as long as 700 of the GPT in bfloat16. In float32, as the LSTM, the GPT trains as many
# steps, from two starts.
_RACE: dict[str, Setting] = {
    f"race, {model}, seed {seed}": Setting(split="by name", seed=seed, **values)
    for model, values in {
        "gpt": _SHORT_GPT,
        "gpt, float32": _SHORT_GPT
        | {"precision": "float32", "tricks": _MUON.removesuffix(", bfloat16")},
        "lstm": _CARRIED | {"measure": "last", "steps": 1200},
    }.items()
    for seed in range(2 if model == "gpt, float32" else 3)
}

SETTINGS: dict[str, Setting] = _ONCE | _STARTS | _RACE
