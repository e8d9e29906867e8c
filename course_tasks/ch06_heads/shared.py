"""What several tasks of chapter 06 share: how inputs are drawn."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def matrix(rng: Rng, rows: int, columns: int, width: int, gain: float = 1.0) -> Array:
    """A float32 matrix that keeps the size of vectors of `width` entries, times the gain."""
    return (rng.normal(size=(rows, columns)) * gain / np.sqrt(width)).astype(np.float32)


def labels(rng: Rng, *shape: int) -> Array:
    """Numbers other than 0 that occur once each, so that each shows where it came from."""
    count = int(np.prod(shape))
    signed = (rng.permutation(count) + 1) * rng.choice([-1, 1], size=count)
    return signed.reshape(shape).astype(np.float32)
