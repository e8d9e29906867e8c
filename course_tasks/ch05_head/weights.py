"""What 05/weights asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _triangle(size: int) -> Array:
    return np.tril(np.ones((size, size), dtype=bool))


def _weights_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(3, 5))
    T = int(rng.integers(6, 9))
    block_size = T + int(rng.integers(2, 5))
    start = rng.integers(2, T - 2, size=B)
    start[0] = 0  # a text without padding, whose rows are those of the chapter
    start[-1] = 1  # a single position of padding
    # Mostly above 0, so that a fill of 0 or a multiplied mask changes every row.
    scores = (rng.normal(size=(B, T, T)) * 1.5 + 1.0).astype(np.float32)
    zero = int(rng.integers(1, T))
    scores[0, zero, int(rng.integers(zero + 1))] = 0.0  # visible
    scores[0, 0, 0] = -1.5  # e to the power of it is less than 1, and so is the sum of this row
    return {
        "scores": scores,
        # Only differences matter in a softmax, but among these scores a fill of −20 is high.
        "low": np.tril(scores - 50.0) + np.triu(scores, 1),
        "past": _triangle(block_size),
        "whole": _triangle(T),
        "none": np.zeros(B, dtype=np.int64),
        "start": start.astype(np.int64),
        # The same starts, rolled, so that the first text now has padding and the last has none.
        "rolled": np.roll(start, -1).astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "block_size": whole(block_size),
    }


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """A single text of a single symbol."""
    given = _weights_inputs(rng)
    alone = {name: given[name][:1] for name in ("scores", "low", "none")}
    start = np.array([int(given["T"]) - 1])
    return {**given, **alone, "start": start, "rolled": start, "B": whole(1)}


def _weigh(answer: Any, given: Inputs, past: str, start: str, scores: str = "scores") -> Any:
    return answer(tensor(given[scores]), tensor(given[past]), tensor(given[start]))


PROBE = Probe(
    _weights_inputs,
    {
        "whole": lambda answer, given: _weigh(answer, given, "whole", "none"),
        "cut": lambda answer, given: _weigh(answer, given, "past", "none"),
        "padded": lambda answer, given: _weigh(answer, given, "past", "start"),
        "low": lambda answer, given: _weigh(answer, given, "past", "rolled", "low"),
    },
    second=_inputs_at_the_edge,
)
