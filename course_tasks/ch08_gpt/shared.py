"""What several tasks of chapter 08 share: how inputs are drawn."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def spread_logits(rng: Rng, B: int, V: int) -> Array:
    """(B, V) float32: in each row V different values in an order of its own, some negative."""
    steps = rng.uniform(0.25, 0.7, size=(B, V)).cumsum(axis=1)
    centred = steps - steps.mean(axis=1, keepdims=True)
    return rng.permuted(centred, axis=1).astype(np.float32)


def extreme(logits: Array, possible: int) -> Array:
    """The same rows (B, V): one with a large logit, one far below 0, and one in which so many
    symbols are possible and all others have a logit of −inf.
    """
    rows = logits.copy()
    rows[0, rows[0].argmin()] = 40.0
    rows[1] -= 40.0
    rows[2, rows[2].argsort()[:-possible]] = -np.inf
    return rows
