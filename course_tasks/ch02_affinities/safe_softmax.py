"""What 02/safe-softmax asks."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import on
from course_tasks.probing import Inputs, Probe


def _hide(rng: np.random.Generator, scores: Array, rows: Array) -> Array:
    """−inf in one to T − 2 places of each of these rows."""
    T = scores.shape[1]
    for t in rows:
        scores[t, rng.choice(T, int(rng.integers(1, T - 1)), replace=False)] = -np.inf
    return scores


def _safe_softmax_inputs(rng: np.random.Generator) -> Inputs:
    T = int(rng.integers(6, 9))
    order = rng.permutation(T)
    ordinary = _hide(rng, rng.normal(0.7, 1.5, size=(T, T)), order[3:])
    # One row sees a single position.
    ordinary[order[2], rng.permutation(T)[1:]] = -np.inf
    # One row near 0, one near 10⁴ and one near −10⁴: an exponential fails in a way of its own in
    # each. One more spans the whole range.
    others = rng.uniform(1.5e3, 9e3, size=T - 3) * rng.choice([-1, 1], size=T - 3)
    centres = np.concatenate([[0, 1e4, -1e4], others])
    large = rng.normal(0, 1.5, size=(T, T))
    large[order] += centres[:, None]
    # All of the lowest row is at most −10⁴, so that no limit of that kind tells it from −inf.
    large[order[2]] = -1e4 - np.abs(large[order[2]] + 1e4)
    large[order[3], rng.choice(T, 2, replace=False)] = [1e4, -1e4]
    # Something is hidden in the lowest row, too, so that no number stands for −inf.
    large = _hide(rng, large, order[[2, *range(4, T)]])
    empty = ordinary.copy()
    empty[rng.choice(T, 2, replace=False)] = -np.inf
    return {
        "T": np.array(T),
        # Float64: beside 10⁴ float32 has three decimals left, too few to tell an honest answer from
        # a wrong one.
        "ordinary": ordinary,
        "large": large,
        "empty": empty,
        # PyTorch's usual numbers, in which 1e-50 is 0.
        "single": empty.astype(np.float32),
    }


def _nothing_at_all(rng: np.random.Generator) -> Inputs:
    """The same, and a matrix of one score, which is hidden."""
    return {**_safe_softmax_inputs(rng), "single": np.full((1, 1), -np.inf, dtype=np.float32)}


PROBE = Probe(
    _safe_softmax_inputs,
    {name: on(name) for name in ("ordinary", "large", "empty", "single")},
    second=_nothing_at_all,
)
