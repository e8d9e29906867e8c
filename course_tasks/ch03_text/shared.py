"""What several tasks of chapter 03 share: how inputs are drawn, and answers called."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_tasks.errors import ReturnedTypeError
from course_tasks.flattening import NOTHING_RETURNED
from course_tasks.probing import Inputs

VOWELS = "aeiou"


def random_names(rng: np.random.Generator, count: int, letters: str) -> list[str]:
    """Distinct names of three to six letters, vowels and consonants in turn."""
    vowels = [c for c in letters if c in VOWELS]
    consonants = [c for c in letters if c not in VOWELS]
    names: list[str] = []
    while len(names) < count:
        first = int(rng.integers(2))
        length = int(rng.integers(3, 7))
        name = "".join(
            str(rng.choice(vowels if (i + first) % 2 else consonants)) for i in range(length)
        )
        if name not in names:
            names.append(name)
    return names


def tokens(rng: np.random.Generator, count: int) -> np.ndarray:
    """(N,) int64: 1 … N in random order, so that 0 is none of them."""
    return rng.permutation(count) + 1


def whole_numbers(given: Inputs, name: str) -> Tensor:
    """An input as the tensor that an answer is given."""
    return torch.from_numpy(given[name])


def pair(result: Any) -> dict[str, Any]:
    """Inputs and targets, as tensors, arrays, lists of numbers or lists of rows."""
    x, y = two_values(result, "inputs and targets")
    return {"x": stacked(x), "y": stacked(y)}


def two_values(result: Any, names: str) -> tuple[Any, Any]:
    """What an answer returns as a pair, or a ReturnedTypeError that says what it returned."""
    if result is None:
        raise ReturnedTypeError(NOTHING_RETURNED)
    try:
        first, second = result
    except (TypeError, ValueError):
        if hasattr(result, "shape"):
            found = f"one array of shape {tuple(result.shape)}"
        elif isinstance(result, list | tuple):
            found = f"a {type(result).__name__} of {len(result)}"
        else:
            found = repr(result)[:40]
        raise ReturnedTypeError(f"returned {found}; expected two results, {names}") from None
    return first, second


def stacked(rows: Any) -> Any:
    """A list of tensors as one tensor; anything else as it is."""
    tensors = isinstance(rows, list | tuple) and all(isinstance(row, Tensor) for row in rows)
    return torch.stack(list(rows)) if tensors and rows else rows
