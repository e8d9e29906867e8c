"""What 02/cosine asks."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import on
from course_tasks.probing import Inputs, Probe


def _vectors(rng: np.random.Generator, B: int, T: int, C: int) -> Array:
    """(B, T, C) float32 whose lengths differ by a factor of up to 40; one is short."""
    lengths = rng.uniform(0.5, 4.0, size=(B, T, 1))
    lengths[rng.integers(B), rng.integers(T)] = 0.1
    return np.asarray(rng.normal(size=(B, T, C)) * lengths).astype(np.float32)


def _cosine_inputs(rng: np.random.Generator) -> Inputs:
    B = 2
    T, S, C = (int(size) for size in rng.permutation([3, 4, 5, 6, 7])[:3])
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
    }
    inputs["x0"][0, rng.integers(T)] = 0
    inputs["y0"][1, rng.integers(S)] = 0
    return inputs


PROBE = Probe(_cosine_inputs, {"cosines": on("x", "y"), "zeros": on("x0", "y0")})
