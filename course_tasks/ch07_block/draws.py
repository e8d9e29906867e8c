"""Sizes and numbers that the tasks of chapter 07 draw."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def sizes(rng: Rng) -> tuple[int, int, int]:
    """B, T and C, all different."""
    B, T = int(rng.integers(2, 4)), int(rng.integers(5, 7))
    return B, T, int(rng.integers(7, 10))


def drawn(rng: Rng, *shape: int) -> Array:
    """Weights of a layer whose output is about as large as its input."""
    return (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)
