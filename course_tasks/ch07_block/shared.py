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


class Recorder:
    """What branches are given to read, call by call.

    Parameters
    ----------
    shape : tuple of int
        Of what is noted: the stream's, (B, T, C).
    """

    def __init__(self, *shape: int):
        self._shape = shape
        self._calls: list[tuple[int, Tensor]] = []
        self._besides: list[Tensor] = []

    def note(self, which: int, read: Tensor, *besides: Tensor) -> None:
        """Note one call of the branch with this number, and what it read."""
        if len(self._calls) < _MOST_CALLS:
            self._calls.append((which, read.detach().clone()))
            self._besides.extend(one.detach().clone() for one in besides)

    def told(self) -> dict[str, Any]:
        """`called` (n,) the numbers of the branches, `lengths` (n,) of what they read, and `read`
        (n, B, T, C), where that has the shape of the stream; `besides` is the first other thing
        that one was given.
        """
        fit = [call for call in self._calls if tuple(call[1].shape) == self._shape]
        told: dict[str, Any] = {
            "called": [which for which, _ in self._calls],
            "lengths": [read.shape[1] if read.ndim == 3 else 0 for _, read in self._calls],
            "read": torch.stack([torch.zeros(self._shape), *(read for _, read in fit)])[1:],
        }
        return told | ({"besides": self._besides[0]} if self._besides else {})


# More calls than any answer needs that could be described.
_MOST_CALLS = 20


class Branch(nn.Module):
    """A branch with fixed weights: one layer and a bend, (B, T, C) → (B, T, C)."""

    def __init__(self, weight: Tensor, recorder: Recorder | None = None, number: int = 0):
        super().__init__()
        self.weight = nn.Parameter(weight)
        self._recorder, self._number = recorder, number

    def forward(self, x: Tensor) -> Tensor:
        """(B, T, C) → (B, T, C)."""
        if self._recorder is not None:
            self._recorder.note(self._number, x)
        return torch.tanh(x @ self.weight.T) * 2


def each(case: Callable[..., Any], names: tuple[Any, ...], prefix: str = "") -> dict[str, Any]:
    """One case for each name, which is the first thing that the function is given."""
    return {f"{prefix}{name}": functools.partial(case, name) for name in names}
