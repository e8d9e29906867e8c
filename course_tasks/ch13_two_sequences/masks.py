"""What 13/masks asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe


def _real(rng: Rng, B: int, T: int) -> Array:
    """(B, T) bool: words with different amounts of padding before, between and behind them."""
    real = np.ones((B, T), dtype=bool)
    for b, count in zip(rng.permutation(B), (1, 2, 3), strict=False):
        real[b, T - count :] = False
        real[b, : min(3 - (count + 1) // 2, T - count - 1)] = False
        real[b, T - 3] &= count != 1
    return real


def _inputs(rng: Rng) -> Inputs:
    B, T = int(rng.integers(3, 5)), int(rng.integers(6, 9))
    # Shorter or longer than the target by more than one, and never as many places as samples.
    S = int(rng.choice([n for n in (4, 5, 9, 10, 11) if n != B and abs(n - T) > 1]))
    source = _real(rng, B, S)
    # Nothing to look at, but not in the first sample, so that its mask isn't that of no word.
    source[int(rng.integers(1, B))] = False
    return _of(source, _real(rng, B, T))


def _one_place(_rng: Rng) -> Inputs:
    """One sample, whose source is a place of padding and whose target is one word."""
    return _of(np.array([[False]]), np.array([[False, True]]))


def _of(source: Array, target: Array) -> Inputs:
    (B, S), T = source.shape, target.shape[1]
    return {
        "source": source,
        "target": target,
        "all_source": np.ones((B, S), dtype=bool),
        "all_target": np.ones((B, T), dtype=bool),
        "B": whole(B),
        "T": whole(T),
        "S": whole(S),
    }


def _on(answer: Any, given: Inputs, source: str, target: str) -> Any:
    return parts_of(answer(tensor(given[source]), tensor(given[target])), "own", "source")


PROBE = Probe(
    _inputs,
    {
        "whole": lambda answer, given: _on(answer, given, "all_source", "all_target"),
        "padded": lambda answer, given: _on(answer, given, "source", "target"),
    },
    second=_one_place,
)
