"""What several tasks of chapter 01 share: how inputs are drawn."""

from __future__ import annotations

import numpy as np


def sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    """B, T and C, all different."""
    B, C = (int(size) for size in rng.permutation([2, 3, 4])[:2])
    return B, int(rng.integers(5, 10)), C
