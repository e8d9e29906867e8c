"""What several tasks of chapter 08 share: how inputs are drawn."""

from __future__ import annotations

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def spread_logits(rng: Rng, B: int, V: int) -> Array:
    """(B, V): in each row V different values in an order of its own, some of them negative."""
    steps = rng.uniform(0.25, 0.7, size=(B, V)).cumsum(axis=1)
    return rng.permuted(steps - steps.mean(axis=1, keepdims=True), axis=1)
