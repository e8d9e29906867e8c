"""What several tasks of chapter 01 share: how inputs are drawn."""

from __future__ import annotations

import numpy as np


def sizes(rng: np.random.Generator, *, longer: bool) -> tuple[int, int, int]:
    """B, T and C, all different; T is larger in the second draw than in the first, as weights that
    an answer keeps from the first call may be cut, and cannot grow.
    """
    B, C = (int(size) for size in rng.permutation([2, 3, 4])[:2])
    return B, int(rng.integers(8, 10) if longer else rng.integers(5, 7)), C
