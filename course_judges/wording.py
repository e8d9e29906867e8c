"""How findings word numbers: as a person would write them, the same in every chapter."""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from course_judges.equality import close
from course_tasks.answers import Array

_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def number(value: float, digits: int = 3) -> str:
    """A number as a person would write it: NaN by name, a true minus, no padded exponent."""
    if np.isnan(value):
        return "NaN"
    text = f"{value + 0.0:.{digits}g}".replace("-", "−")
    return re.sub(r"e([+−]?)0*(\d)", r"e\1\2", text).replace("e+", "e")


def index(place: Iterable[int]) -> str:
    """A place in an array: "3" in one of one axis, "(0, 3)" in others."""
    places = tuple(int(i) for i in place)
    return str(places[0]) if len(places) == 1 else f"({listed(places)})"


def row(values: Array, digits: int = 2) -> str:
    """A row of weights as a person would write it: "[1, 0.33, 0]"."""
    return "[" + ", ".join(number(float(v), digits) for v in values) + "]"


def numbers_apart(one: float, other: float) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes to see that they differ."""
    for digits in range(4, 17):
        shown = number(one, digits), number(other, digits)
        if shown[0] != shown[1]:
            return shown
    return shown


def rows_apart(one: Array, other: Array) -> tuple[str, str]:
    """Two different rows with as many digits as it takes to see where they differ."""
    one, other = one.astype(float), other.astype(float)
    off = ~close(one, other)
    for digits in range(2, 17):
        pairs = zip(one[off], other[off], strict=True)
        if all(number(mine, digits) != number(right, digits) for mine, right in pairs):
            break
    return row(one, digits), row(other, digits)


def listed(positions: Iterable[int]) -> str:
    """Positions one after the other: "0, 2, 3"."""
    return ", ".join(str(int(s)) for s in positions)


def results_by_name(names: Iterable[str]) -> str:
    """Results of a function as its task calls them: "`keys` and result 3"; results of a tuple are
    numbered from 1.
    """
    said = [f"result {int(name) + 1}" if name.isdigit() else f"`{name}`" for name in names]
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def first_upper(text: str) -> str:
    """The same text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def word(number: int) -> str:
    """A count in words, as far as the words go."""
    return _WORDS[number] if number < len(_WORDS) else str(number)


def sentence(text: str) -> str:
    """A message of an exception on one line, with a full stop at its end."""
    text = " ".join(text.split()) or "It came without a message."
    return text if text[-1] in ".!?" else text + "."


def unwrapped(text: str) -> str:
    """A text that the source wraps, on one line: a break and the blanks around it are one blank."""
    return re.sub(r"\s*\n\s*", " ", text)
