"""A recurrent language model, and training that reads a text in order, its state carried along.

`training.fit` draws windows from anywhere in a text. A model that keeps a state from batch to batch
needs windows that continue each other: `in_order` makes them, and `train` has `fit` read them, for
a recurrent model with its state and for a transformer without.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TypeAlias, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from course_lib import schedules
from course_lib.data import consecutive_windows
from course_lib.errors import ConfigError, CorpusTooShortError
from course_lib.history import History
from course_lib.model import Prediction, with_loss
from course_lib.spelling import reshuffled
from course_lib.training import fit

State: TypeAlias = tuple[Tensor, Tensor]
Batch: TypeAlias = tuple[Tensor, Tensor, bool]

# So many symbols are read at once, so that the logits of a whole split are never all in memory.
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

    def forward(self, tokens: Tensor, targets: Tensor | None = None) -> Prediction:
        """Logits (B, T, V) from a blank state, and the mean loss if targets (B, T) are given."""
        logits, _ = self.read(tokens)
        return with_loss(logits, targets)


def detached(state: State) -> State:
    """The same numbers, cut off from the steps that led to them, so that no gradient passes."""
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
    optimizer, lr, betas, weight_decay, muon_lr, schedule, precision, after_step
        See `course_lib.training.fit`.

    Returns
    -------
    History
        Losses of the batches, tokens and seconds; no evaluation. Dropout draws from torch's
        global generator, so seed that for the same losses again.

    Raises
    ------
    ConfigError, NonFiniteLossError
        As `fit`; and a ConfigError if not exactly one of steps and seconds is given.
    """
    if (steps is None) == (seconds is None):
        raise ConfigError(f"steps = {steps}, seconds = {seconds}: give exactly one of the two")
    length = steps if seconds is None else seconds
    if length is None or not 0 < length < math.inf:
        raise ConfigError(f"steps = {steps}, seconds = {seconds}: must be above 0 and finite")
    if carry and not isinstance(model, LSTM):
        raise ConfigError(f"carry = True: a {type(model).__name__} has no state to carry")
    history = fit(
        model,
        None,
        batches=batches,
        forward=Carrying(cast(LSTM, model)) if carry else lambda x, y, _: model(x, y),
        steps=steps,
        seconds=seconds,
        optimizer=optimizer,
        lr=lr,
        betas=betas,
        weight_decay=weight_decay,
        muon_lr=muon_lr,
        schedule=schedule,
        precision=precision,
        seed=None,
        progress=False,
        after_step=after_step,
    )
    model.eval()
    return history


class Carrying:
    """Reads each batch from the state that the last one left; a new pass starts blank.

    Parameters
    ----------
    model : LSTM
        The one that is trained.
    """

    def __init__(self, model: LSTM):
        self.model = model
        self.state: State | None = None

    def __call__(self, x: Tensor, y: Tensor, first: bool) -> Prediction:
        """Logits (B, T, V) and the mean loss over targets (B, T)."""
        logits, state = self.model.read(x, None if first else self.state)
        self.state = detached(state)
        return with_loss(logits, y)


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
