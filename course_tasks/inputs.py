"""What probes of several chapters share: drawing inputs, calling answers, taking results apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import Array
from course_tasks.errors import ReturnedTypeError
from course_tasks.flattening import NOTHING_RETURNED, described
from course_tasks.probing import Case

Rng: TypeAlias = np.random.Generator


def whole(value: int) -> Array:
    """A whole number as an input: () int64."""
    return np.asarray(value, dtype=np.int64)


def number(value: float) -> Array:
    """A number as an input: () float64."""
    return np.asarray(value, dtype=np.float64)


def tensor(array: Array) -> Tensor:
    """An input as the tensor that an answer is given; it shares the array's memory."""
    return torch.from_numpy(array)


def values(rng: Rng, *shape: int) -> Array:
    """Standard normal numbers; float32, because PyTorch multiplies no float32 by a float64."""
    return rng.normal(size=shape).astype(np.float32)


def seeded(seed: int) -> torch.Generator:
    """A generator of its own for each call of an answer."""
    return torch.Generator().manual_seed(seed)


def on(*names: str) -> Case:
    """The answer called with the inputs of these names."""
    return lambda answer, given: answer(*(tensor(given[name]) for name in names))


def integer(value: Any, what: str) -> int:
    """An integer that was returned: Python's own, or a single one of NumPy, torch or JAX.

    Raises
    ------
    ReturnedTypeError
        In words that a student can use, if it is a fraction or no number at all. If a probe turned
        1.5 into 1, a wrong answer would pass; 280.0 is 280.
    """
    held = value.item() if hasattr(value, "item") else value
    if isinstance(held, float) and held.is_integer():
        return int(held)
    if not isinstance(held, int):
        raise ReturnedTypeError(f"returned {held!r} in its {what}; these should be integers")
    return held


def parts_of(result: Any, *names: str) -> dict[str, Any]:
    """The parts of a returned tuple or list, or of an array with so many rows, by name.

    Raises
    ------
    ReturnedTypeError
        In words that a student can use, if anything else was returned.
    """
    if isinstance(result, Tensor | np.ndarray) and result.shape[:1] == (len(names),):
        result = tuple(result)
    if isinstance(result, tuple | list) and len(result) == len(names):
        return dict(zip(names, result, strict=True))
    wanted = f"{len(names)} results"
    if not names[0].isdigit():  # a result that has no name is none that a student knows by one
        wanted = " and ".join((", ".join(f"`{name}`" for name in names[:-1]), f"`{names[-1]}`"))
    if isinstance(result, tuple | list):
        found = f"a {type(result).__name__} of length {len(result)}"
        raise ReturnedTypeError(f"returned {found}; it should return {wanted}")
    raise _another_kind(result, wanted)


def entries_of(result: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """A returned dict that has an entry of each name.

    Raises
    ------
    ReturnedTypeError
        In words that a student can use, if anything else was returned.
    """
    wanted = f"a dict with {', '.join(f'`{name}`' for name in names)}"
    if not isinstance(result, Mapping):
        raise _another_kind(result, wanted)
    missing = [name for name in names if name not in result]
    if missing:
        found = f"a dict without `{'`, `'.join(missing)}`"
        raise ReturnedTypeError(f"returned {found}; it should return {wanted}")
    return result


def _another_kind(result: Any, wanted: str) -> ReturnedTypeError:
    if result is None:
        return ReturnedTypeError(f"{NOTHING_RETURNED} It should return {wanted}")
    return ReturnedTypeError(f"returned {described(result)}; it should return {wanted}")
