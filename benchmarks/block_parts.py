"""What each part of a block is worth, skip connections and norms at several rates, and when dropout
helps: chapter 07.

    python -m benchmarks.block_parts                  # all four
    python -m benchmarks.block_parts --only parts

Every model has four blocks of 32 channels and a context of 8, starts from PyTorch's own weights and
is trained by `fit` with AdamW, one change at a time, three seeds each. Each run is written to
`results/block_parts.json` when it is done, and what is there is not measured again.
"""

import argparse
import json
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.measuring import RESULTS, write_results
from course_lib import data, schedules
from course_lib.data import Corpus
from course_lib.errors import NonFiniteLossError
from course_lib.model import Block, TokensAndPositions, fuse, with_loss
from course_lib.training import evaluate, fit, random_batches

NAME = "block_parts"
SEEDS = (1, 2, 3)
C, H, T, N_LAYER = 32, 4, 8, 4
BETAS = (0.9, 0.95)

PARTS_STEPS, PARTS_BATCH, PARTS_RATE = 300, 128, 0.01
OTHER_RATES = (0.003, 0.03)  # a lower and a higher rate, for the parts that are worth most
NORM_STEPS, NORM_BATCH, NORM_WARM_UP = 150, 64, 30
NORM_RATES = (0.003, 0.01, 0.03, 0.1)
SKIP_STEPS, SKIP_BATCH, SKIP_WARM_UP = 400, 64, 20
SKIP_LONG = 1200  # steps, at the lowest rate
SKIP_RATES = (0.001, 0.003, 0.01)
DROPOUT_STEPS, DROPOUT_BATCH, DROPOUT_RATE, DROPOUT_EVERY = 1000, 64, 0.01, 200
SMALL_TEXT = 10_000  # symbols; the validation split is read as far, too
DROPOUTS = (0.0, 0.2, 0.4)

CHANGES = (
    "nothing",
    "no attention",
    "no feed-forward",
    "no ReLU",
    "no skip connections",
    "no norms",
    "one norm for two",
    "post-norm",
)


WORTH_MOST = ("nothing", "no attention", "no feed-forward", "no skip connections")


class Silent(nn.Module):
    """A branch that adds nothing to the residual stream."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.zeros_like(x)


class WithoutSkip(Block):
    """Each branch replaces the stream."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.attention(self.attention_norm(x))
        return self.feed_forward(self.feed_forward_norm(x))


class PostNorm(Block):
    """Each sum is normalized."""

    def forward(self, x: Tensor) -> Tensor:
        x = self.attention_norm(x + self.attention(x))
        return self.feed_forward_norm(x + self.feed_forward(x))


class Blocks(nn.Module):
    """A language model: a stack of blocks between embedding and logits."""

    def __init__(self, vocab_size: int, block: type[Block] = Block, dropout: float = 0.0):
        super().__init__()
        self.block_size = T
        self.embedding = TokensAndPositions(vocab_size, T, C)
        self.blocks = nn.Sequential(*[block(C, H, T, dropout) for _ in range(N_LAYER)])
        self.norm = nn.LayerNorm(C)
        self.output = nn.Linear(C, vocab_size)

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Any:
        x = self.norm(self.blocks(self.embedding(tokens)))  # (B, T, C)
        return with_loss(self.output(x), targets)  # (B, T, V)


def build(change: str, vocab_size: int, seed: int, dropout: float = 0.0) -> nn.Module:
    """The model with one thing changed."""
    torch.manual_seed(seed)
    forms = {"no skip connections": WithoutSkip, "post-norm": PostNorm}
    model = Blocks(vocab_size, forms.get(change, Block), dropout)
    if change in ("post-norm", "no norms"):
        model.norm = nn.Identity()  # a stack of post-norm blocks ends with a norm already
    for block in model.blocks:
        if change == "no attention":
            block.attention = Silent()
        elif change == "no feed-forward":
            block.feed_forward = Silent()
        elif change == "no ReLU":
            block.feed_forward.layers[1] = nn.Identity()
        elif change == "no norms":
            block.attention_norm = block.feed_forward_norm = nn.Identity()
        elif change == "one norm for two":
            block.feed_forward_norm = block.attention_norm
    return fuse(model)


def first_loss(model: nn.Module, corpus: Corpus) -> float:
    """Before any training, on the beginning of the validation split."""
    return evaluate(model, corpus.validation[:4001], T)


class Measured:
    """Runs that are done, by name; what is not there yet is measured and written at once."""

    def __init__(self, fresh: bool):
        path = RESULTS / f"{NAME}.json"
        self.runs: dict[str, dict[str, Any]] = {}
        if path.exists() and not fresh:
            self.runs = json.loads(path.read_text(encoding="utf-8"))["results"]["runs"]

    def __call__(self, key: str, measure: Callable[[], dict[str, Any]]) -> None:
        """Measure, keep and show the run of this name."""
        if key in self.runs:
            return
        self.runs[key] = measure()
        settings = {
            name.lower(): value
            for name, value in globals().items()
            if name.isupper() and isinstance(value, int | float | tuple)
        }
        write_results(NAME, {"settings": settings, "runs": self.runs})
        print(f"{key:52} {self.runs[key]['loss']:.4f}", flush=True)


def finite_loss(train: Callable[[], float]) -> float:
    """The loss of a training, or infinity if it broke."""
    try:
        return train()
    except NonFiniteLossError:
        return math.inf


def parts(measured: Measured, corpus: Corpus) -> None:
    """One change at a time, same budget; the largest changes at two more rates."""
    for rate in (PARTS_RATE, *OTHER_RATES):
        for seed in SEEDS:
            for change in CHANGES if rate == PARTS_RATE else WORTH_MOST:

                def measure(change=change, seed=seed, rate=rate) -> dict[str, Any]:
                    model = build(change, len(corpus.vocabulary), seed)
                    begin = first_loss(model, corpus)

                    def train() -> float:
                        return fit(
                            model,
                            corpus,
                            steps=PARTS_STEPS,
                            batch_size=PARTS_BATCH,
                            lr=rate,
                            betas=BETAS,
                            weight_decay=0.0,
                            schedule=schedules.cosine(warm_up=PARTS_STEPS // 10, final=0.05),
                            evaluate_every=PARTS_STEPS,
                            seed=seed,
                            progress=False,
                        ).validation

                    return {"first_loss": begin, "loss": finite_loss(train)}

                other = "" if rate == PARTS_RATE else f" | rate {rate:g}"
                measured(f"parts | {change}{other} | seed {seed}", measure)


def norms(measured: Measured, corpus: Corpus) -> None:
    """Pre-norm, post-norm and no norms, with and without warm-up, at several peak rates."""
    for seed in SEEDS:
        for warm_up in (0, NORM_WARM_UP):
            for change in ("nothing", "post-norm", "no norms"):
                for rate in NORM_RATES:

                    def measure(
                        change=change, rate=rate, seed=seed, warm_up=warm_up
                    ) -> dict[str, Any]:
                        model = build(change, len(corpus.vocabulary), seed)

                        def train() -> float:
                            fit(
                                model,
                                None,
                                batches=random_batches(
                                    corpus.train,
                                    NORM_BATCH,
                                    T,
                                    torch.Generator().manual_seed(seed),
                                ),
                                steps=NORM_STEPS,
                                lr=rate,
                                betas=BETAS,
                                weight_decay=0.0,
                                schedule=schedules.cosine(warm_up=warm_up, final=0.05),
                                seed=seed,
                                progress=False,
                            )
                            return evaluate(model, corpus.validation[: SMALL_TEXT + 1], T)

                        return {"loss": finite_loss(train)}

                    key = f"norms | {change} | warm-up {warm_up} | rate {rate:g} | seed {seed}"
                    measured(key, measure)


def skips(measured: Measured, corpus: Corpus) -> None:
    """With and without skip connections, at several peak rates, and longer at the lowest."""
    settings = [(SKIP_STEPS, rate) for rate in SKIP_RATES] + [(SKIP_LONG, SKIP_RATES[0])]
    for seed in SEEDS:
        for change in ("nothing", "no skip connections"):
            for steps, rate in settings:

                def measure(change=change, steps=steps, rate=rate, seed=seed) -> dict[str, Any]:
                    history = fit(
                        build(change, len(corpus.vocabulary), seed),
                        corpus,
                        steps=steps,
                        batch_size=SKIP_BATCH,
                        lr=rate,
                        betas=BETAS,
                        weight_decay=0.0,
                        schedule=schedules.cosine(warm_up=SKIP_WARM_UP, final=0.05),
                        evaluate_every=steps,
                        seed=seed,
                        progress=False,
                    )
                    return {"loss": history.validation}

                measured(f"skips | {change} | steps {steps} | rate {rate:g} | seed {seed}", measure)


def dropout(measured: Measured, corpus: Corpus) -> None:
    """Training and validation loss along the way, on a small text and on the whole one."""
    held_out = corpus.validation[: SMALL_TEXT + 1]
    for seed in SEEDS:
        for length, shares in ((SMALL_TEXT, DROPOUTS), (len(corpus.train), (0.0, 0.2))):
            text = corpus.train[:length]
            for share in shares:

                def measure(text=text, share=share, seed=seed) -> dict[str, Any]:
                    model = build("nothing", len(corpus.vocabulary), seed, dropout=share)
                    curve = []

                    def look(history: Any) -> None:
                        if history.steps % DROPOUT_EVERY == 0:
                            training = evaluate(model, text[: SMALL_TEXT + 1], T)
                            curve.append((history.steps, training, evaluate(model, held_out, T)))

                    fit(
                        model,
                        None,
                        batches=random_batches(
                            text, DROPOUT_BATCH, T, torch.Generator().manual_seed(seed)
                        ),
                        steps=DROPOUT_STEPS,
                        lr=DROPOUT_RATE,
                        betas=BETAS,
                        weight_decay=0.0,
                        schedule=schedules.constant(warm_up=20),
                        after_step=look,
                        seed=seed,
                        progress=False,
                    )
                    return {"loss": curve[-1][2], "curve": curve}

                name = "small text" if length == SMALL_TEXT else "whole text"
                measured(f"dropout | {name} | share {share:g} | seed {seed}", measure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=["parts", "skips", "norms", "dropout"])
    parser.add_argument("--fresh", action="store_true", help="forget earlier results")
    options = parser.parse_args()
    torch.set_num_threads(1)
    corpus = data.load("shakespeare", fallback=False)
    measured = Measured(options.fresh)
    studies = (("parts", parts), ("skips", skips), ("norms", norms), ("dropout", dropout))
    for name, study in studies:
        if options.only in (None, name):
            study(measured, corpus)


if __name__ == "__main__":
    main()
