"""What 13/masks asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe


def _real(rng: Rng, B: int, T: int, left: bool) -> Array:
    """(B, T) bool: words with different amounts of padding behind them, or on both sides."""
    real = np.ones((B, T), dtype=bool)
    for b, count in zip(rng.permutation(B), (1, 2, 3), strict=False):
        real[b, T - count :] = False
        if left:
            real[b, : 3 - (count + 1) // 2] = False
    return real


def _inputs(rng: Rng) -> Inputs:
    B, T = int(rng.integers(3, 5)), int(rng.integers(6, 9))
    S = int(rng.integers(9, 12))
    source = _real(rng, B, S, left=False)
    source[int(rng.integers(B))] = False  # nothing to look at
    return {
        "source": source,
        "target": _real(rng, B, T, left=True),
        "all_source": np.ones((B, S), dtype=bool),
        "all_target": np.ones((B, T), dtype=bool),
        "B": whole(B),
        "T": whole(T),
        "S": whole(S),
    }


def _on(answer: Any, given: Inputs, source: str, target: str) -> Any:
    return parts_of(answer(tensor(given[source]), tensor(given[target])), "own", "cross")


PROBE = Probe(
    _inputs,
    {
        "whole": lambda answer, given: _on(answer, given, "all_source", "all_target"),
        "padded": lambda answer, given: _on(answer, given, "source", "target"),
    },
)
