"""The speed run: a small language model, trained in as few seconds as an ordinary machine allows.

`Recipe` says how; each trick in it is a switch, listed in `TRICKS` with what it does and where it
comes from, so that its worth can be measured by switching it off. `run` trains. Nothing here is
special to the text: any corpus of the course will do.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from benchmarks.counts import KneserNey, held_out
from course_lib import schedules
from course_lib.data import Corpus, random_windows
from course_lib.errors import ConfigError
from course_lib.history import Evaluation, History
from course_lib.model import TokensAndPositions
from course_lib.training import evaluate, fit

HASHED_ROWS = 2**14  # of the table that all trigrams share: small enough to stay in the cache


@dataclass(frozen=True)
class Recipe:
    """Sizes, rates and switches of a speed run.

    Attributes
    ----------
    n_layer, n_head, n_embd, block_size, dropout
        As in `Config`; n_layer = 0 leaves the counts alone.
    steps, batch_size, lr, muon_lr
        As in `fit`.
    count_parts : int
        Parts of the training split, each trained on beside the counts of the others.
    count_share : float
        If 0, the network learns what to add to the counts' logits. Above, it learns by itself, and
        the model's probabilities are a mean of both, in which the counts have this share.
    count_order and the rest
        Switches; `TRICKS` explains them.
    """

    n_layer: int = 1
    n_head: int = 4
    n_embd: int = 64
    block_size: int = 64
    steps: int = 100
    batch_size: int = 32
    lr: float = 0.1
    muon_lr: float = 0.05
    dropout: float = 0.0
    count_parts: int = 4
    count_share: float = 0.0
    count_order: int = 0
    one_gather: bool = True
    fused_projections: bool = True
    muon: bool = True
    bare_norm: bool = True
    squared_relu: bool = True
    previous_token: bool = False
    ngram_embeddings: bool = True
    one_cycle: bool = True
    rare_evaluation: bool = True
    context_growth: bool = False
    bfloat16: bool = False
    compiled: bool = False

    def __post_init__(self) -> None:
        for name in ("n_head", "n_embd", "block_size", "steps", "batch_size"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name} = {getattr(self, name)}: must be at least 1")
        if self.n_embd % self.n_head or not 0 <= self.count_order < self.block_size:
            raise ConfigError(
                f"n_embd = {self.n_embd}, n_head = {self.n_head}, count_order = {self.count_order}:"
                f" n_head must divide n_embd, and count_order be below block_size = "
                f"{self.block_size}"
            )
        both = self.count_order > 0 and self.n_layer > 0
        if self.count_share and not (both and 0 < self.count_share < 1):
            raise ConfigError(
                f"count_share = {self.count_share}: a share, below 1, of counts beside a network; "
                f"count_order = {self.count_order} and n_layer = {self.n_layer} must be above 0"
            )

    def without(self, trick: Trick) -> Recipe:
        """The recipe with one trick switched off."""
        return dataclasses.replace(self, **{trick.switch: type(getattr(self, trick.switch))(0)})


class Trick(NamedTuple):
    """One switch of a `Recipe`: its field, what it does when it is on, and where it comes from.

    Whether it helps, and by how much, is for `benchmarks/ablation.py` to measure.
    """

    switch: str
    effect: str
    source: str


TRICKS = (
    Trick("count_order", "the network adds to the logits of counts", "Chen and Goodman (1999)"),
    Trick("one_gather", "a batch is one indexing, not a list of slices", "NumPy, strided windows"),
    Trick("fused_projections", "one product for all heads' q, k, v", "Shoeybi et al. (2019)"),
    Trick("muon", "Muon trains the matrices of the block, not AdamW", "Jordan et al. (2024)"),
    Trick("bare_norm", "an RMS norm without weights, not a LayerNorm", "Xu et al. (2019)"),
    Trick("squared_relu", "what the ReLU returns is squared", "So et al. (2021)"),
    Trick("previous_token", "heads also read the position before", "Peng et al. (2023)"),
    Trick("ngram_embeddings", "embeds pairs and triples too", "Svenstrup et al. (2017)"),
    Trick("one_cycle", "the rate rises, then falls; not constant", "Smith and Topin (2018)"),
    Trick("rare_evaluation", "the validation split is read once, at the end", "this course"),
    Trick("context_growth", "half as long windows for a third of the run", "Li et al. (2022)"),
    Trick("bfloat16", "products of matrices in 16 bits", "Kalamkar et al. (2019)"),
    Trick("compiled", "torch.compile makes the model's kernels", "Ansel et al. (2024)"),
)


class SpeedBlock(nn.Module):
    """A pre-norm block, whose parts a recipe chooses."""

    def __init__(self, recipe: Recipe):
        super().__init__()
        C = recipe.n_embd
        self.recipe = recipe
        sizes = [3 * C] if recipe.fused_projections else [C // recipe.n_head] * 3 * recipe.n_head
        self.projections = nn.ModuleList([nn.Linear(C, size, bias=False) for size in sizes])
        self.merge = nn.Linear(C, C, bias=False)
        self.widen = nn.Linear(C, 4 * C, bias=False)
        self.narrow = nn.Linear(4 * C, C, bias=False)
        self.norms = nn.ModuleList([norm(recipe), norm(recipe)])
        self.drop = nn.Dropout(recipe.dropout)
        if recipe.previous_token:
            self.mix = nn.Parameter(torch.full((C,), 0.5))
        for last in (self.merge, self.narrow):  # a block starts as doing nothing
            nn.init.zeros_(last.weight)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        B, T, _ = x.shape
        h = self.norms[0](x)
        if self.recipe.previous_token:
            h = h + self.mix * F.pad(h, (0, 0, 1, -1))  # row t gets some of row t − 1
        joined = torch.cat([projection(h) for projection in self.projections], dim=-1)
        # (B, T, 3C) → (B, T, 3, H, D) → (3, B, H, T, D)
        query, key, value = joined.view(B, T, 3, self.recipe.n_head, -1).permute(2, 0, 3, 1, 4)
        found = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.drop(self.merge(found.transpose(1, 2).flatten(2)))  # (B, H, T, D) → (B, T, C)
        hidden = F.relu(self.widen(self.norms[1](x)))
        hidden = hidden.square() if self.recipe.squared_relu else hidden
        return x + self.drop(self.narrow(hidden))


class SpeedGPT(nn.Module):
    """Counts, n-gram tables and blocks, added up to logits; called like every model."""

    def __init__(self, recipe: Recipe, vocab_size: int, counted: Tensor | None = None):
        super().__init__()
        V, C = vocab_size, recipe.n_embd
        self.recipe, self.vocab_size, self.block_size = recipe, vocab_size, recipe.block_size
        self.counts = None
        if recipe.count_order:
            if counted is None:
                raise ConfigError("count_order > 0 needs the tokens that are counted")
            self.counts = KneserNey(counted, V, recipe.count_order)
            if not recipe.count_share:
                self.read_counts = nn.Linear(V, C, bias=False)
        self.embedding = TokensAndPositions(V, recipe.block_size, C)
        if recipe.ngram_embeddings:
            self.pairs = nn.Embedding(V * V, C)
            self.triples = nn.Embedding(HASHED_ROWS, C)
        self.blocks = nn.ModuleList([SpeedBlock(recipe) for _ in range(recipe.n_layer)])
        self.drop, self.norm = nn.Dropout(recipe.dropout), norm(recipe)
        self.output = nn.Linear(C, V)
        for part in self.modules():
            if isinstance(part, nn.Embedding):
                nn.init.normal_(part.weight, std=0.3)
        for parameter in self.output.parameters():
            nn.init.zeros_(parameter)

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None, counts: KneserNey | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V), and the mean loss; `counts` are those that have not seen targets."""
        V, x = self.vocab_size, self.embedding(tokens)  # (B, T, C)
        if self.recipe.ngram_embeddings:
            pair = tokens + V * F.pad(tokens, (1, -1))
            triple = pair + V * V * F.pad(tokens, (2, -2))
            # An odd multiplier spreads neighboring triples over the table.
            x = x + self.pairs(pair) + self.triples(triple * 40_503 // 7 % HASHED_ROWS)
        logits = self.output.bias.expand(*tokens.shape, V)
        share = self.recipe.count_share
        if self.counts is not None and not share:
            counted = (counts or self.counts).log_probabilities(tokens)
            logits = logits + counted
            x = x + self.read_counts(counted.clamp(min=-8.0) / 4 + 1)  # near zero mean, unit size
        x = self.drop(x)
        for block in self.blocks:
            x = block(x)
        if self.recipe.n_layer:
            logits = logits + F.linear(self.norm(x), self.output.weight)
        if self.counts is not None and share and not self.training:
            counted = self.counts.log_probabilities(tokens) + math.log(share)
            logits = torch.logaddexp(logits.log_softmax(-1) + math.log(1 - share), counted)
        if targets is None:
            return logits, None
        return logits, F.cross_entropy(logits.float().flatten(0, 1), targets.flatten())


def norm(recipe: Recipe) -> nn.Module:
    """The norm that a recipe asks for: RMS without weights, or the chapters' LayerNorm."""
    if recipe.bare_norm:
        return nn.RMSNorm(recipe.n_embd, eps=1e-6, elementwise_affine=False)
    return nn.LayerNorm(recipe.n_embd)


def run(
    corpus: Corpus,
    recipe: Recipe,
    *,
    seed: int = 0,
    seconds: float | None = None,
    evaluations: int = 1,
    device: str = "cpu",
) -> tuple[SpeedGPT, History]:
    """Build, train and evaluate; the clock runs from the first line.

    Parameters
    ----------
    corpus, recipe : Corpus, Recipe
        The text and what to do with it.
    seed : int
        Decides weights and batches; the global generator is left as it was.
    seconds : float, optional
        The schedule follows the clock and ends after so many seconds, instead of `recipe.steps`.
    evaluations : int
        How often to evaluate, denser at the start; without `rare_evaluation`, every 20 steps too.

    Returns
    -------
    (SpeedGPT, History)
        The model in evaluation mode, and its losses. Raises NonFiniteLossError if a loss is not.
    """
    began, history = time.perf_counter(), History()
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        V, order = len(corpus.vocabulary), recipe.count_order
        model = SpeedGPT(recipe, V, corpus.train).to(device)
        validation = corpus.validation.to(device)
        parts: list[tuple[Tensor, KneserNey | None]] = [(corpus.train.to(device), None)]
        if order and recipe.n_layer and not recipe.count_share:
            apart = held_out(corpus.train, V, order, recipe.count_parts)
            parts = [(part.to(device), counts.to(device)) for part, counts in apart]
        marks = [((k + 1) / evaluations) ** 2 - 1e-9 for k in range(evaluations)]

        def spent() -> float:
            return time.perf_counter() - began

        def share(done: int) -> float:
            return done / recipe.steps if seconds is None else spent() / seconds

        def assess(history: History) -> None:
            loss = evaluate(model, validation, model.block_size)
            history.seconds = spent()
            history.evaluations.append(Evaluation(history.steps, history.seconds, loss))

        def after_step(history: History) -> None:
            done = share(history.steps)
            often = not recipe.rare_evaluation and history.steps % 20 == 0
            if (done >= marks[0] and done < 1) or often:
                marks[:] = [mark for mark in marks if mark > done] or marks
                assess(history)

        if recipe.n_layer:
            history = fit(
                model,
                None,
                batches=_batches(parts, recipe, share, torch.Generator().manual_seed(seed)),
                steps=recipe.steps if seconds is None else None,
                seconds=None if seconds is None else max(1e-9, seconds - spent()),
                optimizer="muon" if recipe.muon else "adamw",
                lr=recipe.lr,
                betas=(0.9, 0.95),
                weight_decay=0.0,
                muon_lr=recipe.muon_lr,
                schedule=schedules.one_cycle(0.15) if recipe.one_cycle else "constant",
                precision="bfloat16" if recipe.bfloat16 else "float32",
                compile=recipe.compiled,
                seed=None,
                progress=False,
                after_step=after_step,
            )
        assess(history)
        return model.eval(), history


def _batches(
    parts: list[tuple[Tensor, KneserNey | None]],
    recipe: Recipe,
    share: Callable[[int], float],
    generator: torch.Generator,
) -> Iterator[tuple[Tensor, Tensor, KneserNey | None]]:
    """Windows of each part in turn, their targets, and the counts that have not seen them."""
    for step in itertools.count():
        train, counts = parts[step % len(parts)]
        T, B = recipe.block_size, recipe.batch_size
        if recipe.context_growth and share(step) < 1 / 3:
            T, B = T // 2, B * 2
        if recipe.one_gather:
            x, y = random_windows(train, B, T, generator)
        else:
            starts = torch.randint(len(train) - T, (B,), generator=generator)
            x = torch.stack([train[start : start + T] for start in starts])
            y = torch.stack([train[start + 1 : start + T + 1] for start in starts])
        if recipe.count_order and not recipe.count_share:
            # Context that is cut short has counts here that it does not have in the whole text.
            y[:, : recipe.count_order] = -100
        yield x, y, counts
