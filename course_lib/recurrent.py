"""A recurrent language model, and training that reads a text in order, its state carried along.

`training.fit` draws windows anywhere. A model that keeps a state from batch to batch needs windows
that continue each other; `in_order` makes them and `train` walks through them, for a recurrent
model with its state and for a transformer without.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib import optimizers, schedules
from course_lib.data import consecutive_windows
from course_lib.errors import ConfigError, CorpusTooShortError, NonFiniteLossError
from course_lib.spelling import reshuffled
from course_lib.training import PRECISIONS, History

State: TypeAlias = tuple[Tensor, Tensor]
Batch: TypeAlias = tuple[Tensor, Tensor, bool]

# Steps at which a schedule is read when a training is given seconds and not steps.
_FINE = 10_000

# Symbols that are read at once: the logits of a whole split need not be in memory together.
_PIECE = 1024


class LSTM(nn.Module):
    """A language model with a memory of fixed size: embedding, LSTM, logits (chapter 09).

    Parameters
    ----------
    vocab_size, n_embd, hidden_size : int
        V symbols, C channels of an embedding, and the numbers in the hidden and in the cell state.
    dropout : float
        Share of the hidden state dropped in training before the output layer.

    Source: Hochreiter and Schmidhuber (1997), with the forget gate of Gers et al. (2000).
    """

    def __init__(self, vocab_size: int, n_embd: int, hidden_size: int, dropout: float = 0.0):
        super().__init__()
        self.tokens = nn.Embedding(vocab_size, n_embd)
        self.recurrent = nn.LSTM(n_embd, hidden_size, batch_first=True)
        self.dropout = nn.Dropout(dropout)
        self.output = nn.Linear(hidden_size, vocab_size)

    def read(self, tokens: Tensor, state: State | None = None) -> tuple[Tensor, State]:
        """Logits (B, T, V) and the state afterwards; without a state, the model starts blank."""
        hidden, state = self.recurrent(self.tokens(tokens), state)  # (B, T, hidden_size)
        return self.output(self.dropout(hidden)), cast(State, state)

    def forward(
        self, tokens: Tensor, targets: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """Logits (B, T, V) from a blank state, and the mean loss if targets (B, T) are given."""
        logits, _ = self.read(tokens)
        if targets is None:
            return logits, None
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())  # (B·T, V), (B·T,)
        return logits, loss


def detached(state: State) -> State:
    """The same numbers, without the steps that led to them: no gradient passes this point."""
    hidden, cell = state
    return hidden.detach(), cell.detach()


def in_order(
    tokens: Tensor,
    batch_size: int,
    block_size: int,
    *,
    boundary: int = 0,
    generator: torch.Generator | None = None,
) -> Iterator[Batch]:
    """Consecutive windows, pass after pass without end, the names in a new order each time.

    Parameters
    ----------
    tokens : (N,) int64
        Names between boundary symbols.
    batch_size, block_size : int
        B rows of T tokens.
    boundary : int
        The token between names.
    generator : torch.Generator, optional
        Source of the order.

    Yields
    ------
    x, y : (B, T) int64
        As `data.consecutive_windows` gives them.
    first : bool
        Whether a pass begins here: what was read before is no past of these rows.
    """
    while True:
        stream = reshuffled(tokens, boundary, generator)
        for step, (x, y) in enumerate(consecutive_windows(stream, batch_size, block_size)):
            yield x, y, step == 0


def train(
    model: nn.Module,
    batches: Iterator[Batch],
    *,
    steps: int | None = None,
    seconds: float | None = None,
    carry: bool = False,
    optimizer: str = "adamw",
    lr: float = 5e-3,
    betas: tuple[float, float] = (0.9, 0.95),
    weight_decay: float = 0.0,
    muon_lr: float = 0.02,
    schedule: str | schedules.Schedule = "one_cycle",
    precision: str = "float32",
    after_step: Callable[[History], None] | None = None,
) -> History:
    """Train on batches as they come, for so many steps or seconds.

    Parameters
    ----------
    model : nn.Module
        Called as `model(tokens, targets)`; with `carry`, an `LSTM`.
    batches : iterator of (x, y, first)
        As `in_order` gives them. Taken from no further than needed.
    steps, seconds : int, float
        Exactly one of the two: how long, which is also the length of the schedule.
    carry : bool
        Each batch starts from the state that the one before left, detached; a new pass starts
        blank. Otherwise every batch starts blank.
    optimiser, lr, betas, weight_decay, muon_lr
        See `course_lib.optimizers.build`.
    schedule : str or function
        See `course_lib.schedules`.
    precision : {"float32", "bfloat16"}
        See `course_lib.training.fit`.
    after_step : function, optional
        Called with the history so far when a step is done; its time counts as training.

    Returns
    -------
    History
        Losses of the batches, tokens and seconds; no evaluation. Dropout draws from torch's
        global generator, so seed that for the same losses again.

    Raises
    ------
    ConfigError
        If a setting is impossible, or not exactly one of steps and seconds is given.
    NonFiniteLossError
        If the loss of a batch is not finite.
    """
    if (steps is None) == (seconds is None):
        raise ConfigError(f"steps = {steps}, seconds = {seconds}: give exactly one of the two")
    length = steps if seconds is None else seconds
    if length is None or not 0 < length < math.inf:
        raise ConfigError(f"steps = {steps}, seconds = {seconds}: must be above 0 and finite")
    if carry and not isinstance(model, LSTM):
        raise ConfigError(f"carry = True: a {type(model).__name__} has no state to carry")
    if precision not in PRECISIONS:
        known = ", ".join(map(repr, PRECISIONS))
        raise ConfigError(f"precision = {precision!r}: known are {known}")
    factor = schedules.named(schedule)
    make_optimizers = optimizers.build(
        optimizer, model, lr, betas=betas, weight_decay=weight_decay, muon_lr=muon_lr
    )
    groups = [(group, group["lr"]) for stepper in make_optimizers for group in stepper.param_groups]
    history, state, began = History(), None, time.perf_counter()
    model.train()
    while (done := (history.steps if seconds is None else history.seconds) / length) < 1:
        x, y, first = next(batches)
        state = None if first or not carry else state
        with torch.autocast(x.device.type, PRECISIONS[precision], enabled=precision != "float32"):
            loss, state = _loss(model, x, y, state) if carry else (model(x, y)[1], None)
        if not math.isfinite(loss.item()):
            raise NonFiniteLossError(
                f"step {history.steps + 1}: the loss is {loss.item()}; lower lr"
            )
        for stepper in make_optimizers:
            stepper.zero_grad(set_to_none=True)
        loss.backward()
        for group, rate in groups:
            at = (history.steps, steps) if steps is not None else (int(done * _FINE), _FINE)
            group["lr"] = rate * factor(*at)
        for stepper in make_optimizers:
            stepper.step()
        history.losses.append(loss.item())
        history.tokens += int((y >= 0).sum())
        history.seconds = time.perf_counter() - began
        if after_step is not None:
            after_step(history)
    model.eval()
    history.stopped = "steps" if seconds is None else "seconds"
    return history


def carried_loss(model: LSTM, tokens: Tensor) -> float:
    """The mean loss over a split that is read in order from end to end, the state never dropped.

    Parameters
    ----------
    model : LSTM
        In evaluation mode.
    tokens : (N,) int64
        The split; each of its N − 1 targets counts once.

    Returns
    -------
    float
        Nats for each target.

    Raises
    ------
    CorpusTooShortError
        If the split holds no target.
    """
    if len(tokens) < 2:
        raise CorpusTooShortError(f"N = {len(tokens)} tokens hold no target; give at least 2")
    x, y = tokens[None, :-1], tokens[None, 1:]  # (1, N−1) each
    state, total = None, 0.0
    with torch.inference_mode():
        pieces = zip(x.split(_PIECE, dim=1), y.split(_PIECE, dim=1), strict=True)
        for inputs, targets in pieces:
            logits, state = model.read(inputs, state)
            total += F.cross_entropy(logits[0], targets[0], reduction="sum").item()
    return total / y.numel()


def batches_of_rows(
    x: Tensor, y: Tensor, batch_size: int, generator: torch.Generator | None = None
) -> Iterator[Batch]:
    """Random rows without end, cut to the longest of each batch: padding costs no time.

    Parameters
    ----------
    x, y : (K, T) int64
        Rows and targets, as `spelling.name_rows` makes them.
    batch_size : int
        Rows in a batch, drawn with repetition.
    generator : torch.Generator, optional
        Source of the draws.

    Yields
    ------
    x, y, first
        As `in_order`; rows have no past, so `first` is always True.
    """
    lengths = (y >= 0).sum(dim=1)  # (K,)
    for _ in itertools.count():
        chosen = torch.randint(len(x), (batch_size,), generator=generator)
        longest = int(lengths[chosen].max())
        yield x[chosen, :longest], y[chosen, :longest], True


def _loss(model: nn.Module, x: Tensor, y: Tensor, state: State | None) -> tuple[Tensor, State]:
    logits, state = cast(LSTM, model).read(x, state)
    return F.cross_entropy(logits.flatten(0, 1), y.flatten()), detached(state)
