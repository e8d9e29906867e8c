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
    # With decimals, so that half or twice a number isn't another one.
    sizes = rng.permutation(count) + rng.uniform(1.1, 1.9, size=count)
    signed = sizes * rng.choice([-1, 1], size=count)
    return signed.reshape(shape).astype(np.float32)


# A score of −60 is lower than fills that some use to hide, such as −20; e⁻⁶⁰ is still positive.
FAR_BELOW = 60.0


def dislikes_itself(w_query: Array, w_key: Array) -> Array:
    """(C,) A symbol whose query has a score of −60 with its own key, for maps (C, D)."""
    product = w_query @ w_key.T / np.sqrt(w_query.shape[1])  # (C, C)
    ways, directions = np.linalg.eigh((product + product.T) / 2)
    return np.asarray(directions[:, 0] * np.sqrt(FAR_BELOW / -ways[0]), dtype=np.float32)
