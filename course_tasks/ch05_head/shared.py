"""What several tasks of chapter 05 share: how inputs are drawn."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def different(rng: Rng, choices: Sequence[int], count: int) -> list[int]:
    """Dimensions that all differ, so that no axis can be confused with another."""
    return [int(n) for n in rng.choice(list(choices), size=count, replace=False)]


def maps(rng: Rng, *shapes: tuple[int, int]) -> list[Array]:
    """Weights of linear maps, a little larger than at the start so that no row comes out flat."""
    return [(rng.normal(size=n) * 1.5 / np.sqrt(n[0])).astype(np.float32) for n in shapes]
