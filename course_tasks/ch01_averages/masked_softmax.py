"""What 01/masked-softmax asks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch

from course_tasks.probing import Case, Inputs, Probe


def _masked_softmax_inputs(rng: np.random.Generator, samples: int = 0) -> Inputs:
    B, T = samples or int(rng.integers(2, 5)), int(rng.integers(5, 8))
    visible = rng.random((B, T, T)) < 0.5
    rows = np.arange(T)
    for b in range(B):
        # Something to see and something to hide in every row and in every column.
        order = rng.permutation(T)
        visible[b, rows, order] = True
        visible[b, rows, np.roll(order, 1)] = False
    # One row sees everything, and one a single position.
    everything, single = rng.choice(rows[1:], 2, replace=False)
    visible[-1, everything] = True
    visible[-1, single] = np.arange(T) == rng.integers(T)
    # Far enough from 0 that a fill of 0 shows, and not all on one side of it.
    scores = rng.normal(0.5, 1.5, size=(B, T, T))
    # In one row a hidden score is by far the largest, in another all are very low: neither may make
    # a difference.
    high, low = rng.choice(np.delete(rows, [everything, single]), 2, replace=False)
    scores[-1, high, rng.choice(np.flatnonzero(~visible[-1, high]))] += 50
    scores[-1, low] -= 50
    scores[-1, everything, int(rng.integers(T))] = 0.0  # it may be seen
    # Beside a hidden score that is so much higher, the visible ones are nothing in float32, and a
    # row of scores far below any hidden one that a number stands for has nothing left.
    far, deep = scores.copy(), scores.copy()
    deep[-1, high] -= 500
    far[-1, high] = np.where(visible[-1, high], scores[-1, high] - 60, scores[-1, high] + 10)
    return {
        "B": np.array(B),
        "T": np.array(T),
        "scores": scores,
        "visible": visible,
        "far": far,
        "deep": deep,
        "lonely": scores[:, :1, :1].copy(),
        "itself": np.ones((B, 1, 1), dtype=bool),
    }


def _masked_softmax(dtype: torch.dtype, names: tuple[str, str] = ("scores", "visible")) -> Case:
    def case(answer: Callable[..., Any], given: Inputs) -> Any:
        scores, visible = (torch.from_numpy(given[name]) for name in names)
        return answer(scores.to(dtype), visible)

    return case


PROBE = Probe(
    _masked_softmax_inputs,
    {
        "weights": _masked_softmax(torch.float32),
        # Sixteen digits, in which even a fill of −1e-9 can be read off the weights.
        "precise": _masked_softmax(torch.float64),
        "far": _masked_softmax(torch.float32, ("far", "visible")),
        "deep": _masked_softmax(torch.float64, ("deep", "visible")),
        # A text of one symbol, which sees itself.
        "alone": _masked_softmax(torch.float32, ("lonely", "itself")),
    },
    second=partial(_masked_softmax_inputs, samples=1),
)
