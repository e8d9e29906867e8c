"""What several tasks of chapter 10 share: how inputs are drawn."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def dimensions(rng: Rng, *sets: tuple[int, ...]) -> tuple[int, ...]:
    """One of a few sets of dimensions: JAX compiles each operation anew for dimensions it has not
    met, which takes longer than everything else that a check does.
    """
    return sets[int(rng.integers(len(sets)))]


def matrix(rng: Rng, *shape: int, gain: float = 1.0) -> Array:
    """Matrices (…, in, out) that keep the size of what they multiply, times the gain."""
    return (rng.normal(size=shape) * gain / np.sqrt(shape[-2])).astype(np.float32)
