"""What several tasks of chapter 07 share: how inputs are drawn, and answers called."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def sizes(rng: Rng) -> tuple[int, int, int]:
    """B, T and C, all different."""
    B, T = int(rng.integers(2, 4)), int(rng.integers(5, 7))
    return B, T, int(rng.integers(7, 10))


def drawn(rng: Rng, *shape: int) -> Array:
    """Weights of a layer whose output is about as large as its input."""
    return (rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)


class Branch(nn.Module):
    """A branch with fixed weights: one layer and a bend, (B, T, C) → (B, T, C)."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.weight = nn.Parameter(weight)

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        return torch.tanh(x @ self.weight.T) * 2


def each(case: Callable[..., Any], names: tuple[Any, ...], prefix: str = "") -> dict[str, Any]:
    """One case for each name, which is the first thing that the function is given."""
    return {f"{prefix}{name}": functools.partial(case, name) for name in names}
