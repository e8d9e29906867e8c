"""The other arguments that a right answer is called with: one of them larger by 1, or its first row
for all rows, or two of them exchanged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch

# The names of arguments, and what they are changed to.
Arguments = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """Another argument: a name for class reports, words that can follow "your answer would be right
    with", and how it is made.
    """

    name: str
    words: str
    make: Callable[[Arguments], Arguments]


def changes(seen: Arguments) -> Iterator[Change]:
    """What may be changed in arguments like these."""
    for name, value in seen.items():
        for label, words, function in _of_one(value):
            yield Change(
                f"as-if-{name.replace('_', '-')}-{label}",
                words.format(f"`{name}`"),
                functools.partial(_one_changed, name, function),
            )
    for one in seen:
        for other in seen:
            if one == other or not _alike(seen[one], seen[other]):
                continue
            if one < other:
                yield Change(
                    f"as-if-{one}-and-{other}-exchanged".replace("_", "-"),
                    f"`{one}` and `{other}` exchanged",
                    functools.partial(_exchanged, one, other),
                )
            yield Change(
                f"as-if-{one}-were-{other}".replace("_", "-"),
                f"`{other}` instead of `{one}`",
                functools.partial(_replaced, one, other),
            )


def _one_changed(name: str, function: Callable[[Any], Any], given: Arguments) -> Arguments:
    return {**given, name: function(given[name])}


def _exchanged(one: str, other: str, given: Arguments) -> Arguments:
    return {**given, one: given[other], other: given[one]}


def _replaced(one: str, other: str, given: Arguments) -> Arguments:
    return {**given, one: given[other]}


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and one.dtype == other.dtype
    return type(one) is type(other) and isinstance(one, int | float)


_Ways = tuple[tuple[str, str, Callable[[Any], Any]], ...]

_OF_BOOL: _Ways = (("negated", "{} negated", lambda v: not v),)
_OF_INT: _Ways = (
    ("one-more", "{0} + 1 instead of {0}", lambda v: v + 1),
    ("one-less", "{0} − 1 instead of {0}", lambda v: v - 1),
    ("0", "{} = 0", lambda _: 0),
    ("1", "{} = 1", lambda _: 1),
    ("double", "2 · {0} instead of {0}", lambda v: 2 * v),
    ("half", "half of {}", lambda v: v // 2),
)
_OF_FLOAT: _Ways = (
    ("inverse", "1 / {0} instead of {0}", lambda v: 1 / v),
    ("negative", "−{0} instead of {0}", lambda v: -v),
    ("square", "the square of {}", lambda v: v * v),
    ("root", "the square root of {}", lambda v: v**0.5),
    ("1-minus", "1 − {0} instead of {0}", lambda v: 1 - v),
    ("double", "2 · {0} instead of {0}", lambda v: 2 * v),
    ("half", "half of {}", lambda v: v / 2),
    ("0", "{} = 0", lambda _: 0.0),
    ("1", "{} = 1", lambda _: 1.0),
)
_OF_LIST: _Ways = (
    ("reversed", "{} in reverse order", lambda v: v[::-1]),
    ("sorted", "{} sorted", sorted),
    ("without-the-first", "{} without its first item", lambda v: v[1:]),
    ("without-the-last", "{} without its last item", lambda v: v[:-1]),
    ("first-for-all", "every item of {} replaced by the first", lambda v: v[:1] * len(v)),
    ("last-for-all", "every item of {} replaced by the last", lambda v: v[-1:] * len(v)),
    ("largest-for-all", "every item of {} replaced by the largest", lambda v: [max(v)] * len(v)),
    ("smallest-for-all", "every item of {} replaced by the smallest", lambda v: [min(v)] * len(v)),
    ("one-more", "1 added to every item of {}", lambda v: [item + 1 for item in v]),
    ("one-less", "1 subtracted from every item of {}", lambda v: [item - 1 for item in v]),
)
_OF_TENSOR: _Ways = (
    ("first-for-all", "every item of {} replaced by the first", lambda v: v[:1].expand_as(v)),
    ("last-for-all", "every item of {} replaced by the last", lambda v: v[-1:].expand_as(v)),
    ("of-the-next", "each item of {} replaced by the next one", lambda v: v.roll(-1, 0)),
    ("of-the-one-before", "each item of {} replaced by the one before", lambda v: v.roll(1, 0)),
)
_OF_WHOLE_NUMBERS: _Ways = (
    ("one-more", "{0} + 1 instead of {0}", lambda v: v + 1),
    ("one-less", "{0} − 1 instead of {0}", lambda v: v - 1),
    ("largest-for-all", "every item of {} replaced by the largest", lambda v: v * 0 + v.max()),
    ("smallest-for-all", "every item of {} replaced by the smallest", lambda v: v * 0 + v.min()),
    ("without-the-first", "{} without its first item", lambda v: v[1:]),
    ("without-the-last", "{} without its last item", lambda v: v[:-1]),
)
_OF_FLOATS: _Ways = (
    ("zero", "{} full of zeros", torch.zeros_like),
    ("one", "{} full of ones", torch.ones_like),
    ("negative", "−{0} instead of {0}", lambda v: -v),
    ("square", "the square of {}", lambda v: v * v),
    (
        "mean-for-all",
        "every item of {} replaced by their mean over axis 0",
        lambda v: v.mean(0, keepdim=True).expand_as(v),
    ),
)
_OF_BOOLS: _Ways = (
    ("negated", "{} negated", lambda v: ~v),
    ("all-true", "{} all True", torch.ones_like),
)


def _of_one(value: Any) -> _Ways:
    """Each change of such an argument: a label, the words around its name, the function."""
    if isinstance(value, bool):
        return _OF_BOOL
    if isinstance(value, int):
        return _OF_INT
    if isinstance(value, float):
        return _OF_FLOAT
    if isinstance(value, list):
        return _OF_LIST
    if not isinstance(value, torch.Tensor) or not value.ndim:
        return ()
    ways = list(_OF_TENSOR)
    if value.dtype == torch.bool:
        ways += _OF_BOOLS
    else:
        ways += _OF_FLOATS if value.is_floating_point() else _OF_WHOLE_NUMBERS
    if value.ndim > 1 and value.shape[-1] == value.shape[-2]:
        ways.append(("transposed", "{} transposed", lambda v: v.mT))
    for axis in range(value.ndim):
        of = f" along axis {axis}" if value.ndim > 1 else ""
        ways.append(
            (f"flipped-{axis}", f"{{}} in reverse order{of}", functools.partial(_flipped, axis))
        )
    return tuple(ways)


def _flipped(axis: int, value: Any) -> Any:
    return value.flip(axis)
