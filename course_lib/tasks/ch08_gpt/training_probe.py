"""What the task *train* asks: a model trained on a stream of batches, judged by what it predicts.

The text is a stretch of the play that nobody has read, with its symbols renumbered at random, so
that neither stored weights nor a table of the play is of any use. What follows the contexts is kept
back: it never stands beside student code.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.optim.optimizer import register_optimizer_step_post_hook

from course_lib.data import play
from course_lib.tasks.inputs import whole
from course_lib.tasks.probing import Inputs, Probe

STEPS = 250
BATCH_SIZE = 64
BLOCK_SIZE = 8

# The mean surprise over so many contexts is known to about ±0.03 nats, far less than what lies
# between the models that are to be told apart.
CONTEXTS = 3000
TRAINING_SYMBOLS = 60_000
HELD_OUT_SYMBOLS = 20_000
ASKED_AGAIN = 200


def _inputs(rng: np.random.Generator) -> Inputs:
    text = play.write(TRAINING_SYMBOLS + HELD_OUT_SYMBOLS, seed=int(rng.integers(2**31))).text
    symbols = np.array(sorted(set(text)))
    V, T = len(symbols), BLOCK_SIZE
    order = rng.permutation(V)
    tokens = order[np.searchsorted(symbols, np.array(list(text)))].astype(np.int64)
    training, held_out = tokens[:TRAINING_SYMBOLS], tokens[TRAINING_SYMBOLS:]
    starts = rng.integers(TRAINING_SYMBOLS - T, size=(STEPS, BATCH_SIZE))
    asked = rng.permutation(len(held_out) - T)[:CONTEXTS]
    windows = held_out[asked[:, None] + np.arange(T + 1)]  # (CONTEXTS, T + 1)
    return {
        "text": training,
        "starts": starts.astype(np.int64),
        "contexts": windows[:, :-1],
        "targets": windows[:, -1],
        "seed": whole(int(rng.integers(2**31))),
        "steps": whole(STEPS),
        "B": whole(BATCH_SIZE),
        "T": whole(T),
        "V": whole(V),
    }


class Stream:
    """Batches, one a step, each handed out once.

    Attributes
    ----------
    taken : int
        How many were asked for.
    """

    def __init__(self, text: Tensor, starts: Tensor, block_size: int):
        self._text, self._starts, self._block_size = text, starts, block_size
        self.taken = 0

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return self

    def __next__(self) -> tuple[Tensor, Tensor]:
        """x and y, (B, T) each; y is x shifted by one."""
        if self.taken == len(self._starts):
            raise StopIteration
        starts = self._starts[self.taken]
        self.taken += 1
        windows = self._text[starts[:, None] + torch.arange(self._block_size + 1)]  # (B, T + 1)
        return windows[:, :-1], windows[:, 1:]

    def __len__(self) -> int:
        return len(self._starts)


def _train(answer: Any, given: Inputs) -> Any:
    V, T = int(given["V"]), int(given["T"])
    batches = Stream(torch.from_numpy(given["text"]), torch.from_numpy(given["starts"]), T)
    stepped: dict[int, int] = {}

    def count(optimiser: Any, *_: Any) -> None:
        stepped[id(optimiser)] = stepped.get(id(optimiser), 0) + 1

    torch.manual_seed(int(given["seed"]))
    counting = register_optimizer_step_post_hook(count)
    try:
        predict = answer(batches, V, T)
    finally:
        counting.remove()
    if not callable(predict):
        raise TypeError(
            "the function should return another function, which takes contexts (N, T) and returns "
            f"probabilities (N, V); it returned {type(predict).__name__}"
        )
    contexts = torch.from_numpy(given["contexts"])
    few = contexts[:ASKED_AGAIN]
    # The symbols of other contexts stand in: what a prediction does not look at cannot move it.
    other = contexts[-ASKED_AGAIN:]
    return {
        "probabilities": predict(contexts.clone()),
        "again": predict(few.clone()),
        "other_last": predict(torch.cat([few[:, :-1], other[:, -1:]], dim=1)),
        "other_past": predict(torch.cat([other[:, :-1], few[:, -1:]], dim=1)),
        "batches_taken": batches.taken,
        "steps_made": max(stepped.values(), default=0),
    }


TRAINING = Probe(_inputs, {"model": _train}, kept_back=frozenset({"targets"}))
