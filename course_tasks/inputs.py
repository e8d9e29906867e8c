"""What the probes of all chapters draw their inputs from, and how a number becomes an input."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import Array

Rng: TypeAlias = np.random.Generator


def whole(value: int) -> Array:
    """A whole number as an input: () int64."""
    return np.asarray(value, dtype=np.int64)


def number(value: float) -> Array:
    """A number as an input: () float64."""
    return np.asarray(value, dtype=np.float64)


def tensor(array: Array) -> Tensor:
    """An input as an answer is given it; it shares the array's memory."""
    return torch.from_numpy(array)
