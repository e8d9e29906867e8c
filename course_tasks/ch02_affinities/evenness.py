"""What 02/evenness asks."""

from __future__ import annotations

from functools import partial

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import on
from course_tasks.probing import Inputs, Probe


def _evenness_inputs(rng: np.random.Generator, samples: int = 0) -> Inputs:
    # Longer in the second draw: what an answer keeps from the first may be cut, and cannot grow.
    B, T = samples or int(rng.integers(2, 4)), int(rng.integers(6, 8)) + 2 * bool(samples)
    e = np.tril(np.exp(rng.normal(0, 1.2, size=(B, T, T))))
    for b in range(B):
        for t in range(3, T):
            # Hidden for another reason than the future: what a row may see is more than what it
            # sees.
            e[b, t, rng.integers(t)] = 0
    e[0, T - 2, : T - 2] = 0  # a row that sees one position alone
    e[-1, 2, :3] = 1  # and one that sees all of its past alike
    weights = e / e.sum(-1, keepdims=True)
    # Samples whose most even rows are alike would hide from which of them a divisor is.
    most = _entropies(weights).max(axis=1)
    if B > 1 and most.max() < 1.01 * most.min():
        return _evenness_inputs(rng, samples)
    return {
        "B": np.array(B),
        "T": np.array(T),
        "weights": weights.astype(np.float32),
        "alone": np.ones((B, 1, 1), dtype=np.float32),
    }


def _entropies(weights: Array) -> Array:
    """(B, T, T) → (B, T): of each row, in nats."""
    logs = np.log(weights, where=weights > 0, out=np.zeros_like(weights))
    return np.asarray(-(weights * logs).sum(axis=-1))


PROBE = Probe(
    _evenness_inputs,
    # Alone, a position has row 0, and no other.
    {"evenness": on("weights"), "alone": on("alone")},
    second=partial(_evenness_inputs, samples=1),
)
