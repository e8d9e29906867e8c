"""What 11/prefix-matching asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _attention(rng: Rng, *shape: int) -> Array:
    """Causal weights (B, H, T, T) of a head that looks somewhere else in every row."""
    T = shape[-1]
    raw = np.tril(rng.exponential(size=shape) ** 2)
    return (raw / raw.sum(-1, keepdims=True)).reshape(*shape[:-1], T).astype(np.float32)


def _inputs(rng: Rng) -> Inputs:
    B, H = int(rng.integers(3, 5)), 2
    T, V = int(rng.integers(10, 13)), int(rng.integers(5, 8))
    tokens = rng.integers(1, V, size=(B, T))
    tokens[:, 0] = 0
    # A text in which next to nothing comes back: texts count by their positions, not one each.
    tokens[0] = np.arange(T) + V
    tokens[0, -1] = tokens[0, 1]
    tokens[1, 3:5] = tokens[1, 2]  # a symbol three times in a row
    fresh = np.arange(T)[None] + 3  # nothing comes back at all
    return {
        "tokens": tokens.astype(np.int64),
        "weights": _attention(rng, B, H, T, T),
        "fresh": fresh.astype(np.int64),
        "fresh_weights": _attention(rng, 1, H, T, T),
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
    }


def _scored(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["weights"]), tensor(given["tokens"]))


def _nothing_comes_back(answer: Any, given: Inputs) -> Any:
    """A text in which nothing comes back, and the same with one token that does."""
    once = given["fresh"].copy()
    once[0, -2] = once[0, 1]
    return {
        "none": answer(tensor(given["fresh_weights"]), tensor(given["fresh"])),
        "once": answer(tensor(given["fresh_weights"]), tensor(once)),
    }


PROBE = Probe(_inputs, {"scores": _scored, "fresh": _nothing_comes_back})
