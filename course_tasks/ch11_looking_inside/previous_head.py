"""What 11/previous-head asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.inputs import Rng, entries_of, number, tensor, whole
from course_tasks.probing import Inputs, Probe

MATRICES = ("query", "key", "value", "output")


def _inputs(rng: Rng) -> Inputs:
    return _of(rng, int(rng.integers(4, 6)), float(rng.choice([1.5, 2.5, 3.5])))


def _one_token(rng: Rng) -> Inputs:
    """A vocabulary of a single token, and in the other case a single position."""
    return _of(rng, 1, 0.5)


def _of(rng: Rng, V: int, strength: float) -> Inputs:
    B, T = int(rng.integers(2, 4)), int(rng.integers(7, 9))
    tokens = rng.integers(V, size=(B, T))
    tokens[:, :2] = [0, V - 1]  # different, because position 1 is the first to look back
    return {
        "tokens": tokens.astype(np.int64),
        "many": rng.integers(T, size=(B, V)),
        "strength": number(strength),
        "B": whole(B),
        "V": whole(V),
        "T": whole(T),
    }


def _head(answer: Any, given: Inputs) -> Any:
    return _run(answer, given, "tokens", int(given["V"]), int(given["T"]))


def _wide(answer: Any, given: Inputs) -> Any:
    """The same with V and T swapped, so that there are more tokens than positions."""
    return _run(answer, given, "many", int(given["T"]), int(given["V"]))


def _run(answer: Any, given: Inputs, name: str, V: int, T: int) -> Any:
    C = V + T + V
    made = entries_of(answer(V, T, float(given["strength"])), MATRICES)
    query, key, value, output = (torch.as_tensor(made[n], dtype=torch.float64) for n in MATRICES)
    for which, matrix in zip(MATRICES, (query, key, value, output.mT), strict=True):
        if matrix.ndim != 2 or matrix.shape[1] != C:
            raise ValueError(
                f"{which} should have C = {C} {'rows' if which == 'output' else 'columns'}, but "
                f"its shape is {tuple(torch.as_tensor(made[which]).shape)}"
            )
    tokens = tensor(given[name])
    x = torch.zeros(*tokens.shape, C, dtype=torch.float64)  # (B, T, C)
    x[..., :V] = torch.eye(V, dtype=torch.float64)[tokens]
    x[..., V : V + T] = torch.eye(T, dtype=torch.float64)
    scores = (x @ query.T) @ (x @ key.T).mT / query.shape[0] ** 0.5  # (B, T, T)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    written = weights @ (x @ value.T) @ output.T
    return {"weights": weights, "written": written, "scores": scores[0]}  # before the mask


PROBE = Probe(_inputs, {"head": _head, "wide": _wide}, second=_one_token)
