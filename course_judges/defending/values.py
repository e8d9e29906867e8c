"""Values that runs of a student's code left, read with care, and written as paper shows them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from course_judges.equality import close
from course_tasks.answers import Array

# What two decimals show, and what nobody takes for a mistake of their own arithmetic.
DECIMALS = 2
VISIBLE = 0.05
# Longer numbers are computed by nobody.
_LARGEST, _LARGEST_WRITTEN = 9999.0, 1e6
_MOST_CHARACTERS = 2000
_MOST_DIMENSIONS = 8
_LONGEST_TEXT = 60


class OddValueError(ValueError):
    """What should be a value is none: student code may send anything."""


@dataclass(frozen=True)
class Value:
    """What a name held.

    Attributes
    ----------
    kind : str
        "array", "text", or "other".
    array : ndarray, optional
        The numbers, if there are not too many.
    shape : tuple of int
    text : str
        Of a text, how Python writes it; of another object, its type.
    sums : tuple of float
        By which a larger array is told from others.
    python : bool
        Whether it is Python's own number or list, and no tensor.
    """

    kind: str
    array: Array | None = None
    shape: tuple[int, ...] = ()
    text: str = ""
    sums: tuple[float, ...] = ()
    python: bool = False

    @property
    def form(self) -> tuple[object, ...]:
        """What two values have to have in common before their numbers can be compared."""
        return self.kind, self.shape, self.text, len(self.numbers)

    @property
    def numbers(self) -> Array:
        """The numbers in a row, or the sums of a larger array."""
        if self.array is None:
            return np.array(self.sums, dtype=float)
        return self.array.ravel().astype(float)

    def same(self, other: Value) -> bool:
        """True if both are equal, as a judge compares."""
        return self.form == other.form and bool(close(self.numbers, other.numbers).all())

    def apart(self, other: Value) -> bool:
        """True if anybody sees on paper that they are not equal."""
        if self.kind != other.kind or self.shape != other.shape:
            return True
        if self.kind != "array":
            return self.text != other.text
        if self.array is None or other.array is None:
            return False
        with np.errstate(invalid="ignore"):
            far = np.abs(self.array.astype(float) - other.array.astype(float)) >= VISIBLE
        odd = np.isfinite(self.array.astype(float)) != np.isfinite(other.array.astype(float))
        return written(self) != written(other) and bool((far | odd).any())

    def at(self, index: tuple[int, ...]) -> Value:
        """An entry, or a part of the array; of a text, all of it."""
        if self.array is None:
            return self
        part = np.asarray(self.array[index])
        return Value("array", part, part.shape, python=self.python)


def read_value(plain: Any) -> Value:
    """A value from plain data that may come from anyone.

    Raises
    ------
    OddValueError
        If it is none that `course_tasks.variant_runs` writes.
    """
    if not isinstance(plain, Mapping):
        raise OddValueError("a value is no object")
    kind, python = plain.get("is"), plain.get("python") is True
    if kind in ("text", "other"):
        text = plain.get("text")
        if not isinstance(text, str) or len(text) > _MOST_CHARACTERS:
            raise OddValueError("a text is none, or too long")
        return Value(str(kind), text=text, python=python)
    shape = plain.get("shape")
    if kind != "array" or not isinstance(shape, list) or len(shape) > _MOST_DIMENSIONS:
        raise OddValueError("a value is of no known kind")
    if not all(type(n) is int and 0 <= n < 2**40 for n in shape):
        raise OddValueError("a shape is none")
    if "sums" in plain:
        return Value("array", None, tuple(shape), sums=tuple(_numbers(plain["sums"])))
    numbers = _numbers(plain.get("numbers"))
    if len(numbers) != math.prod(shape):
        raise OddValueError("an array has another shape than its numbers")
    types = {"f": "f8", "i": "i8", "b": "?"}
    if plain.get("kind") not in types:
        raise OddValueError("an array is of no known type")
    if plain["kind"] != "f" and not all(type(n) is int for n in numbers):
        raise OddValueError("a whole number is none")
    whole = [int(n) for n in numbers] if plain["kind"] == "b" else numbers
    array = np.array(whole, dtype=types[plain["kind"]]).reshape(shape)
    return Value("array", array, tuple(shape), python=python)


def _numbers(plain: Any) -> list[float]:
    if not isinstance(plain, list) or not all(type(n) in (int, float) for n in plain):
        raise OddValueError("numbers are none")
    try:
        return [n if isinstance(n, float) or -(2**63) <= n < 2**63 else float(n) for n in plain]
    except OverflowError as error:
        raise OddValueError("a number is too large") from error


def written(value: Value) -> str:
    """A value as paper shows it, with two decimals at most."""
    if value.array is None:
        return value.text or f"shape {written_shape(value.shape)}"
    if value.array.ndim == 0:
        return written_number(value.array[()])
    return "[" + ", ".join(written(value.at((n,))) for n in range(value.shape[0])) + "]"


def written_number(number: Any) -> str:
    """A number as paper shows it."""
    if isinstance(number, bool | np.bool_):
        return str(bool(number))
    if not np.isfinite(number):
        return "NaN" if np.isnan(number) else ("∞" if number > 0 else "-∞")
    if abs(number) > _LARGEST_WRITTEN:
        return f"{float(number):.3g}".replace("e+", "e")
    text = f"{round(float(number), DECIMALS):.{DECIMALS}f}".rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text


def written_shape(shape: tuple[int, ...]) -> str:
    """ "(2, 3)", and "(3,)" of one dimension."""
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(map(str, shape))})"


def presentable(value: Value) -> bool:
    """True if a question may show it: few numbers, none of them long."""
    if value.array is None:
        return value.kind == "text" and len(value.text) <= _LONGEST_TEXT and "`" not in value.text
    held = value.array[np.isfinite(value.array.astype(float))]
    tiny = (np.abs(held) < VISIBLE) & (held != 0) if held.size else np.array([False])
    return (
        0 < value.array.size <= 16
        and bool((np.abs(held) <= _LARGEST).all())
        and not bool(tiny.all() and tiny.size)
    )


def places(shape: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """All indices of an array, in their order."""
    yield from np.ndindex(*shape)
