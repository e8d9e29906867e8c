"""NumPy's functions that take whole numbers of 64 bits where a page's Python has indices of 32.

Everywhere else an index is an int64, and what students and judges write relies on it. In a page,
NumPy refuses one wherever it asks for its own, narrower type.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

# Which arguments of which function are indices or counts, by place and by name.
_INDICES = {
    "bincount": (0, "x"),
    "repeat": (1, "repeats"),
    "take": (1, "indices"),
    "choose": (0, "a"),
    "unravel_index": (0, "indices"),
    "split": (1, "indices_or_sections"),
    "array_split": (1, "indices_or_sections"),
    "delete": (1, "obj"),
    "insert": (1, "obj"),
}


def accept() -> None:
    """Have NumPy take int64 as an index in this process, if it does not by itself."""
    if np.dtype(np.intp).itemsize < 8:
        for name, (place, word) in _INDICES.items():
            setattr(np, name, narrowing(getattr(np, name), place, word))


def narrowing(function: Callable[..., Any], place: int, word: str) -> Callable[..., Any]:
    """The same function, which takes an argument of int64 as an index of this platform.

    Raises
    ------
    OverflowError
        When called with a number that no index of this platform can be.
    """

    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        given = list(args)
        if len(given) > place:
            given[place] = _index(given[place])
        elif word in named:
            named[word] = _index(named[word])
        return function(*given, **named)

    return call


def _index(value: Any) -> Any:
    if not isinstance(value, np.ndarray | np.generic) or value.dtype != np.int64:
        return value
    if value.size and np.abs(value).max() > np.iinfo(np.intp).max:
        raise OverflowError(f"{np.abs(value).max()} is larger than any index in a page can be")
    return value.astype(np.intp)
