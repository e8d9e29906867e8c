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
    tokens = rng.integers(V, size=(B, T))
    # A text in which next to nothing comes back: texts count by their positions, not one each.
    tokens[0] = np.arange(T) + V
    tokens[0, -1] = tokens[0, 1]
    tokens[1, 3:5] = tokens[1, 2]  # a symbol three times in a row
    return _of(rng, tokens, H, T)


def _alike(rng: Rng) -> Inputs:
    """One head and one text, of one symbol over and over."""
    return _of(rng, np.zeros((1, int(rng.integers(4, 7)))), 1, 2)


def _of(rng: Rng, tokens: Array, H: int, short: int) -> Inputs:
    B, T = tokens.shape
    fresh = np.arange(short)[None] + 3  # nothing comes back at all
    return {
        "tokens": tokens.astype(np.int64),
        "weights": _attention(rng, B, H, T, T),
        "fresh": fresh.astype(np.int64),
        "fresh_weights": _attention(rng, 1, H, short, short),
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
    }


def _scored(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["weights"]), tensor(given["tokens"]))


def _nothing_comes_back(answer: Any, given: Inputs) -> Any:
    """A text in which nothing comes back, and the same with its first token as its last, too."""
    once = given["fresh"].copy()
    once[0, -1] = once[0, 0]
    return {
        "none": answer(tensor(given["fresh_weights"]), tensor(given["fresh"])),
        "once": answer(tensor(given["fresh_weights"]), tensor(once)),
    }


PROBE = Probe(_inputs, {"scores": _scored, "fresh": _nothing_comes_back}, second=_alike)
