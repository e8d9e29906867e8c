"""What 02/cosine asks."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import on
from course_tasks.probing import Inputs, Probe


def _vectors(rng: np.random.Generator, B: int, T: int, C: int) -> Array:
    """(B, T, C) float32 whose lengths differ by a factor of up to 8; one is short. If there are
    several, three could be taken for zeros, each for a reason of its own. In the last sample the
    last one's entries add up to 0, and none is 0, while the one before has a 0 in the middle. The
    last one of the first of several samples begins with a 0.
    """
    lengths = rng.uniform(0.5, 4.0, size=(B, T, 1))
    vectors = rng.normal(size=(B, T, C)) * lengths
    if T > 1:
        vectors[0, -1, 0] = 0
        vectors[-1, -2, 1] = 0
        vectors[-1, -1] = np.resize([0.5, -0.5], C)
        vectors[-1, -1, 1] -= vectors[-1, -1].sum()
    short = rng.integers(B), rng.integers(max(1, T - 2))
    vectors[short] *= 0.03 / np.linalg.norm(vectors[short])
    return np.asarray(vectors).astype(np.float32)


def _cosine_inputs(rng: np.random.Generator) -> Inputs:
    T, S, C = (int(size) for size in rng.permutation([3, 4, 5, 6, 7])[:3])
    return _of_sizes(rng, 2, T, S, C)


def _one_with_one(rng: np.random.Generator) -> Inputs:
    """One sample with one vector, which is zeros in one of the calls, as is the one beside it."""
    S, C = (int(size) for size in rng.permutation([3, 4, 5, 6, 7])[:2])
    drawn = _of_sizes(rng, 1, 1, S, C)
    return {**drawn, "y0": np.zeros((1, 1, C), dtype=np.float32)}


def _of_sizes(rng: np.random.Generator, B: int, T: int, S: int, C: int) -> Inputs:
    x, y = _vectors(rng, B, T, C), _vectors(rng, B, S, C)
    inputs = {
        "B": np.array(B),
        "T": np.array(T),
        "S": np.array(S),
        "C": np.array(C),
        "x": x,
        "y": y,
        "x0": x.copy(),
        "y0": y.copy(),
        # So short that no sum of squares is more than a millionth; they are no zeros.
        "x1": (x / np.linalg.norm(x, axis=-1, keepdims=True) * 1e-3).astype(np.float32),
        "y1": (y / np.linalg.norm(y, axis=-1, keepdims=True) * 1e-3).astype(np.float32),
    }
    inputs["x0"][0, rng.integers(T)] = 0
    # Two of them meet in sample 0.
    inputs["y0"][:, rng.integers(S)] = 0
    return inputs


PROBE = Probe(
    _cosine_inputs,
    {"cosines": on("x", "y"), "zeros": on("x0", "y0"), "short": on("x1", "y1")},
    second=_one_with_one,
)
