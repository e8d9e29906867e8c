"""What `time_to_loss` compares: losses to reach, the models and settings that reach them.

A row is a loss, the loop of published notebooks that is trained to it, and the course's trainings.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch import nn

from benchmarks import speedrun
from benchmarks.init_from_counts import count_bigram, count_head, count_heads
from course_lib import schedules
from course_lib.data import Corpus
from course_lib.history import Evaluation
from course_lib.model import GPT, Bigram, Config, FeedForward, ManyHeads, OneHead, fuse
from course_lib.training import evaluate, fit

V = 65

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
