"""What 13/positions asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    B, T = int(rng.integers(2, 4)), int(rng.integers(6, 9))
    C = int(rng.choice([10, 12, 14]))
    tokens = rng.integers(1, 30, (B, T))
    padded = tokens.copy()
    # One row without padding, the others with different amounts of it.
    for b, count in zip(rng.permutation(B), (0, 2, 3), strict=False):
        padded[b, :count] = 0
    return _of(rng, tokens, padded, C)


def _one_word(rng: Rng) -> Inputs:
    """One text; then one of a word behind its padding, and one of nothing else; two pairs of
    channels.
    """
    words = rng.integers(1, 30, (1, 2))
    return _of(rng, words, np.array([[0, 0, words[0, 0]], [0, 0, 0]]), 4)


def _of(rng: Rng, tokens: Array, padded: Array, C: int) -> Inputs:
    B, T = padded.shape
    return {
        "tokens": tokens,
        "padded": padded,
        "base": number(float(rng.choice([40.0, 150.0, 700.0]))),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
    }


def _on(answer: Any, given: Inputs, name: str) -> Any:
    return answer(tensor(given[name]), int(given["C"]), float(given["base"]))


PROBE = Probe(
    _inputs,
    {
        "whole": lambda answer, given: _on(answer, given, "tokens"),
        "padded": lambda answer, given: _on(answer, given, "padded"),
    },
    second=_one_word,
)
