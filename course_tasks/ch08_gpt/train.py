"""What 08/train asks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.data import play
from course_tasks.errors import ReturnedTypeError
from course_tasks.inputs import whole
from course_tasks.probing import Inputs, Probe

STEPS = 400


BATCH_SIZE = 64


BLOCK_SIZE = 8


# The mean surprise over so many contexts is known to about ±0.03 nats, far less than what lies
# between the models that are to be told apart.
CONTEXTS = 3000


TRAINING_SYMBOLS = 60_000


# From one context to the next: its symbols, the one after it, and as many that nobody is shown. So
# no context holds what follows another, nor goes on right after it.
STRIDE = BLOCK_SIZE + 1 + BLOCK_SIZE


NUMBERS_A_SYMBOL = 2


ASKED_AGAIN = 200


def _inputs(rng: np.random.Generator) -> Inputs:
    # Of so many seeds none is found by trying which one writes the text of the batches.
    written = play.write(TRAINING_SYMBOLS + CONTEXTS * STRIDE, seed=int(rng.integers(2**63)))
    text = np.array(list(written.text))
    symbols = np.unique(text)
    V, T = NUMBERS_A_SYMBOL * len(symbols), BLOCK_SIZE
    which = rng.integers(NUMBERS_A_SYMBOL, size=len(text))
    code = rng.permutation(V).astype(np.int64)
    tokens = code[NUMBERS_A_SYMBOL * np.searchsorted(symbols, text) + which]
    training, held_out = tokens[:TRAINING_SYMBOLS], tokens[TRAINING_SYMBOLS:]
    starts = rng.integers(TRAINING_SYMBOLS - T, size=(STEPS, BATCH_SIZE))
    asked = STRIDE * rng.permutation(CONTEXTS)
    windows = held_out[asked[:, None] + np.arange(T + 1)]  # (CONTEXTS, T + 1)
    return {
        "text": training,
        "batches": training[starts[..., None] + np.arange(T + 1)],  # (STEPS, B, T + 1)
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

    def __init__(self, batches: Tensor):
        self._batches = batches
        self.taken = 0

    def __iter__(self) -> Iterator[tuple[Tensor, Tensor]]:
        return self

    def __next__(self) -> tuple[Tensor, Tensor]:
        """x and y, (B, T) each; y is x shifted by one."""
        if self.taken == len(self._batches):
            raise StopIteration
        windows = self._batches[self.taken]  # (B, T + 1)
        self.taken += 1
        return windows[:, :-1], windows[:, 1:]

    def __len__(self) -> int:
        return len(self._batches)


def _train(answer: Any, given: Inputs) -> Any:
    batches = Stream(torch.from_numpy(given["batches"]))
    torch.manual_seed(int(given["seed"]))
    predict = answer(batches, int(given["V"]), int(given["T"]))
    if not callable(predict):
        found = "None (is there a `return`?)" if predict is None else f"a {type(predict).__name__}"
        raise ReturnedTypeError(
            f"returned {found}; expected another function, which takes contexts (N, T) and returns "
            "probabilities (N, V)"
        )
    contexts = torch.from_numpy(given["contexts"])
    few = contexts[:ASKED_AGAIN]
    # Replacing symbols by those of other contexts changes a prediction only if it uses them.
    other = contexts[-ASKED_AGAIN:]
    return {
        "probabilities": predict(contexts.clone()),
        "again": predict(few.clone()),
        "other_last": predict(torch.cat([few[:, :-1], other[:, -1:]], dim=1)),
        "other_past": predict(torch.cat([other[:, :-1], few[:, -1:]], dim=1)),
        "batches_taken": batches.taken,
    }


PROBE = Probe(
    _inputs,
    {"model": _train},
    kept_back=frozenset({"text", "targets"}),
    one_draw="a training takes seconds, and sees thousands of drawn windows",
)
