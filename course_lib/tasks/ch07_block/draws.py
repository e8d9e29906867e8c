"""Sizes and numbers that the tasks of chapter 07 draw."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from course_lib.tasks.answers import Array

Rng = np.random.Generator


def whole(value: int) -> Array:
    """One whole number as an input."""
    return np.asarray(value, dtype=np.int64)


def tensor(array: Array) -> Tensor:
    """An input as a tensor, sharing its memory."""
    return torch.from_numpy(array)


def sizes(rng: Rng) -> tuple[int, int, int]:
    """B, T and C, all different."""
    B, T = int(rng.integers(2, 4)), int(rng.integers(5, 7))
    return B, T, int(rng.integers(7, 10))


def drawn(rng: Rng, *shape: int) -> Array:
    """Weights of a layer whose output is about as large as its input."""
    return (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)
