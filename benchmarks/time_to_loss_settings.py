"""What `time_to_loss` compares: the losses to reach, the models, and the sides of each row.

A row is a model and a loss. Its sides train the same model to that loss: the published loop, the
plain loop with settings found by a search, and the course's training, with settings found by the
same search. What else reaches low losses is in `OTHERS`, and is not compared with a loop.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from benchmarks import speedrun
from benchmarks.init_from_counts import count_bigram, count_head, count_heads
from benchmarks.notebook_loop import NotebookLoop, Published
from course_lib import schedules
from course_lib.data import Corpus
from course_lib.model import GPT, Bigram, Config, FeedForward, ManyHeads, OneHead, fuse
from course_lib.training import fit, random_batches

V = 65

PUBLISHED, TUNED = "published loop", "tuned loop"
RANDOM, COUNTED = "from random weights", "from counted weights"

SCHEDULES = {
    "constant": schedules.constant(),
    "linear": schedules.linear(),
    "cosine": schedules.cosine(),
    "one cycle": schedules.one_cycle(0.15),
}


@dataclass(frozen=True)
class Setting:
    """What a search chooses. `muon_lr` is the rate of matrices where Muon trains them."""

    batch_size: int
    lr: float
    beta2: float
    schedule: str
    steps: int
    muon_lr: float = 0.03


@dataclass(frozen=True)
class Side:
    """One way to train a row's model.

    Attributes
    ----------
    build : function
        From the corpus to the model; counting is part of it.
    plain : bool
        Whether it is trained by `NotebookLoop`; otherwise by `fit`.
    optimizer : str
        For `fit`.
    searched : bool
        False if there is nothing to train, hence nothing to search.
    """

    build: Callable[[Corpus], nn.Module]
    plain: bool = False
    optimizer: str = "adamw"
    searched: bool = True

    def train(self, model: nn.Module, corpus: Corpus, T: int, chosen: Setting, seed: int) -> None:
        """All steps of a setting, without any evaluation."""
        betas = (0.9, chosen.beta2)
        if self.plain:
            loop = NotebookLoop(
                model,
                corpus,
                batch_size=chosen.batch_size,
                block_size=T,
                lr=chosen.lr,
                betas=betas,
            )
            rate = SCHEDULES[chosen.schedule]
            for step in range(chosen.steps):
                loop.step(rate(step, chosen.steps))
            return
        generator = torch.Generator().manual_seed(seed)
        fit(
            model,
            None,
            batches=random_batches(corpus.train, chosen.batch_size, T, generator),
            steps=chosen.steps,
            optimizer=self.optimizer,
            lr=chosen.lr,
            betas=betas,
            weight_decay=0.0,
            muon_lr=chosen.muon_lr,
            schedule=SCHEDULES[chosen.schedule],
            seed=seed,
            progress=False,
        )


@dataclass(frozen=True)
class Row:
    """A model, the loss to reach, and who reaches it.

    Attributes
    ----------
    title, target, block_size
        Shown in the table; T is also the length of the windows of every evaluation.
    published : Published
        The loop as it was published.
    sides : dict
        The tuned loop and the course's own.
    first : Setting
        Where every search of this row begins: found by hand, earlier, with the course's training.
    first_seconds : float
        Processor seconds of each trial in the first round of a search.
    rounds : tuple of int
        Trials in each round; the same for all sides.
    rates : (float, float)
        Between which learning rates are drawn.
    """

    title: str
    target: float
    block_size: int
    published: Published
    sides: dict[str, Side]
    first: Setting
    first_seconds: float
    rounds: tuple[int, ...] = (10, 8, 6)
    rates: tuple[float, float] = (2e-3, 1e-1)


def four_blocks(dropout: float = 0.0) -> GPT:
    """4 blocks, C 32, 4 heads, context 8; dropout, if any, at the end of the feed-forward only."""
    model = GPT(Config(V, 8, n_layer=4, n_head=4, n_embd=32, dropout=dropout))
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


def small_gpt() -> nn.Module:
    """4 layers, 4 heads, C 128, context 64: the shape of nanoGPT's smallest configuration."""
    return fuse(GPT(Config(V, 64, n_layer=4, n_head=4, n_embd=128, tied=True)))


def zero_bigram(_: Corpus) -> nn.Module:
    model = Bigram(V)
    nn.init.zeros_(model.table.weight)
    return model


ROWS = {
    "bigram": Row(
        "bigram table",
        2.50,
        8,
        Published(lambda: Bigram(V)),
        {
            TUNED: Side(lambda _: Bigram(V), plain=True),
            RANDOM: Side(zero_bigram),
            COUNTED: Side(lambda corpus: count_bigram(Bigram(V), corpus.train), searched=False),
        },
        Setting(512, 0.4, 0.95, "one cycle", 100),
        first_seconds=0.5,
        rates=(1e-2, 1.0),
    ),
    "head": Row(
        "one head, C 24, D 16, context 8",
        2.409,
        8,
        Published(lambda: OneHead(V, 8, 24, 16)),
        {
            TUNED: Side(lambda _: OneHead(V, 8, 24, 16), plain=True),
            RANDOM: Side(lambda _: OneHead(V, 8, 24, 16)),
            COUNTED: Side(lambda corpus: count_head(OneHead(V, 8, 24, 16), corpus.train)),
        },
        Setting(128, 0.03, 0.95, "one cycle", 600),
        first_seconds=1.0,
    ),
    "heads": Row(
        "4 heads of 8, C 32, context 8",
        2.239,
        8,
        Published(lambda: ManyHeads(V, 8, 32, 4)),
        {
            TUNED: Side(lambda _: ManyHeads(V, 8, 32, 4), plain=True),
            RANDOM: Side(lambda _: fuse(ManyHeads(V, 8, 32, 4))),
            COUNTED: Side(lambda corpus: fuse(count_heads(ManyHeads(V, 8, 32, 4), corpus.train))),
        },
        Setting(128, 0.02, 0.95, "one cycle", 750),
        first_seconds=2.0,
    ),
    "blocks": Row(
        "4 blocks, C 32, 4 heads, context 8",
        2.009,
        8,
        Published(lambda: four_blocks(dropout=0.2)),
        {
            TUNED: Side(lambda _: four_blocks(), plain=True),
            RANDOM: Side(lambda _: fuse(four_blocks()), optimizer="muon"),
        },
        Setting(192, 0.02, 0.95, "one cycle", 580, muon_lr=0.03),
        first_seconds=10.0,
        rounds=(7, 5, 4),
        rates=(2e-3, 5e-2),
    ),
    "nanogpt": Row(
        "4 layers, 4 heads, C 128, context 64",
        1.88,
        64,
        Published(
            small_gpt,
            batch_size=12,
            steps=2000,
            every=250,
            batches=20,
            betas=(0.9, 0.99),
            weight_decay=0.1,
            decay_matrices_only=True,
            clip=1.0,
            warm_up=100,
        ),
        {
            TUNED: Side(lambda _: small_gpt(), plain=True),
            RANDOM: Side(lambda _: small_gpt(), optimizer="muon"),
        },
        Setting(16, 0.005, 0.95, "one cycle", 400, muon_lr=0.03),
        first_seconds=10.0,
        rounds=(5, 4, 3),
        rates=(1e-3, 3e-2),
    ),
}

# Models chosen for speed rather than to equal a published one, and tables that are only counted.
OTHERS = {
    "counts of 4 symbols, windows of 8": speedrun.Recipe(n_layer=0, count_order=4, block_size=8),
    "counts of 4 symbols": speedrun.Recipe(n_layer=0, count_order=4),
    "counts of 6 symbols": speedrun.Recipe(n_layer=0, count_order=6, block_size=256),
    "speed run, 50 steps": speedrun.Recipe(steps=50),
    "speed run, 120 steps": speedrun.Recipe(steps=120),
}


def with_steps(chosen: Setting, steps: int) -> Setting:
    """The same setting for another number of steps; its schedule is as long as they are."""
    return replace(chosen, steps=steps)


def as_setting(stored: dict[str, Any]) -> Setting:
    """A setting as a results file holds it."""
    return Setting(**stored)
