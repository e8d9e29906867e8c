"""What 10/heads asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_lib.errors import ShapeError
from course_tasks.ch10_jax.shared import dimensions, matrix
from course_tasks.ch10_jax.sides import side_of
from course_tasks.inputs import Rng, values, whole
from course_tasks.probing import Inputs, Probe


def _heads_inputs(rng: Rng) -> Inputs:
    B, H, T, C, D = dimensions(rng, (5, 3, 6, 9, 8), (3, 4, 7, 9, 2))
    return {
        "x": values(rng, B, T, C),
        "query": matrix(rng, H, C, D, gain=2.0),
        "key": matrix(rng, C, D, gain=2.0),
        "value": matrix(rng, C, D),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
    }


class CountedHead:
    """One causal head over one sequence, (T, C) → (T, D), that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, parameters: Any, x: Any) -> Any:
        """Position t averages the values of its past, with weights from a ratio of scores."""
        if getattr(x, "ndim", 0) != 2 or getattr(parameters["query"], "ndim", 0) != 2:
            raise ShapeError(
                "head takes one sequence x (T, C) and one query (C, D), got "
                f"x {tuple(x.shape)} and query {tuple(parameters['query'].shape)}"
            )
        self.calls += 1
        scores = (x @ parameters["query"]) @ (x @ parameters["key"]).T  # (T, T)
        weights = (1 + scores * scores) * self._past(x, len(scores))
        return weights / weights.sum(1)[:, None] @ (x @ parameters["value"])  # (T, D)

    @staticmethod
    def _past(x: Any, T: int) -> Any:
        lower = np.tril(np.ones((T, T), dtype=np.float32))
        return torch.from_numpy(lower) if isinstance(x, torch.Tensor) else lower


def _heads_run(answer: Any, given: Inputs) -> tuple[Any, int]:
    side, function = side_of(answer)
    head = CountedHead()
    tree = {name: side.array(given[name]) for name in ("query", "key", "value")}
    return function(head, tree, side.array(given["x"])), head.calls


PROBE = Probe(
    _heads_inputs,
    {
        "values": lambda answer, given: _heads_run(answer, given)[0],
        "calls": lambda answer, given: _heads_run(answer, given)[1],
    },
    same_sizes="JAX compiles every operation again for other sizes, which takes seconds",
)
