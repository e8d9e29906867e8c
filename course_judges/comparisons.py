"""How an array differs from the right one where no mistake of the task explains it: what is true of
the two, in words.

Each function gets both and returns a name with two sentences, or None where it is not so. Only what
hold in every draw of a check is said, so a coincidence would have to happen twice.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import NamedTuple, TypeAlias

import numpy as np

from course_judges.wording import index, listed, number, rows_apart
from course_tasks.answers import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE, Array

# Of fewer numbers that are not 0 a ratio or an order says nothing.
_FEW = 3
# Rows of so many numbers are quoted whole.
_SHORT = 8


class Difference(NamedTuple):
    """What was seen: its name, the sentence of it, and the numbers."""

    name: str
    what: str
    effect: str


Comparison: TypeAlias = Callable[[Array, Array], Difference | None]


def close(one: Array, other: Array) -> Array:
    """Elementwise, whether two arrays of one shape hold the same numbers."""
    return np.isclose(
        np.asarray(one, dtype=np.float64),
        np.asarray(other, dtype=np.float64),
        rtol=RELATIVE_TOLERANCE,
        atol=ABSOLUTE_TOLERANCE,
        equal_nan=True,
    )


def compared(mine: Array, right: Array) -> Difference | None:
    """The first comparison that says something of two arrays which differ."""
    asked = _OF_ONE_SHAPE if mine.shape == right.shape else _OF_TWO_SHAPES
    for comparison in asked:
        found = comparison(mine, right)
        if found is not None:
            return found
    return None


def of_numbers(mine: Array, right: Array) -> Difference | None:
    """The first comparison of two lists of numbers in which the order means nothing."""
    for comparison in (_all_alike, _sign, _ratio, _offset, _transformed):
        found = comparison(mine, right)
        if found is not None:
            return found
    return None


def _equal(one: Array, other: Array) -> bool:
    return one.shape == other.shape and bool(close(one, other).all())


def _varied(right: Array) -> bool:
    """True if an array has numbers enough that no simple relation holds by chance."""
    return len(np.unique(np.round(right.astype(float), 6))) >= _FEW


def _transposed(mine: Array, right: Array) -> Difference | None:
    if right.ndim < 2 or not _varied(right) or not _equal(mine, np.swapaxes(right, -1, -2)):
        return None
    return Difference(
        "transposed",
        "Your answer is the right one with its last two axes exchanged.",
        f"Your entry (0, 1) stands at (1, 0). Yours has shape {mine.shape}, the right one "
        f"{right.shape}.",
    )


def _axes_permuted(mine: Array, right: Array) -> Difference | None:
    """The right one with its axes in another order."""
    if not 3 <= right.ndim <= 4 or mine.ndim != right.ndim or mine.size != right.size:
        return None
    for order in permutations(range(right.ndim)):
        if order == tuple(range(right.ndim)) or not _varied(right):
            continue
        moved = right.transpose(order)
        if moved.shape == mine.shape and close(mine, moved).all():
            return Difference(
                "axes-permuted",
                "Your answer is the right one with its axes in another order.",
                f"Your axes are the right ones numbered {listed(order)}. Yours has shape "
                f"{mine.shape}, the right one {right.shape}.",
            )
    return None


def _sign(mine: Array, right: Array) -> Difference | None:
    if not _varied(right) or not np.isfinite(right).all() or not _equal(mine, -right.astype(float)):
        return None
    return Difference(
        "sign", "Your numbers are the right ones with the other sign.", largest(mine, right)
    )


def _ratio(mine: Array, right: Array) -> Difference | None:
    counted = np.abs(right.astype(float)) > 1e-3
    if counted.sum() < _FEW or not _varied(right) or not np.isfinite(right).all():
        return None
    ratio = float(np.median(mine[counted].astype(float) / right[counted].astype(float)))
    if not np.isfinite(ratio) or abs(ratio) < 1e-3 or not _equal(mine, ratio * right.astype(float)):
        return None
    return Difference(
        "constant-ratio",
        "Every number of yours is the right one times the same factor.",
        f"The factor is {number(ratio, 4)} here. {largest(mine, right)}",
    )


def _offset(mine: Array, right: Array) -> Difference | None:
    if not _varied(right) or not np.isfinite(right).all():
        return None
    offset = float(np.median(mine.astype(float) - right.astype(float)))
    if not np.isfinite(offset) or not _equal(mine, right.astype(float) + offset):
        return None
    more = "more" if offset > 0 else "less"
    return Difference(
        "constant-difference",
        "Every number of yours differs from the right one by the same amount.",
        f"Yours are {number(abs(offset), 4)} {more}. {largest(mine, right)}",
    )


_TRANSFORMS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("the absolute value of", np.abs),
    ("the square of", np.square),
    ("the square root of", np.sqrt),
    ("the logarithm of", np.log),
    ("minus the logarithm of", lambda right: -np.log(right)),
    ("e to the power of", np.exp),
    ("1 minus", lambda right: 1 - right),
    ("1 divided by", lambda right: 1 / right),
)


def _transformed(mine: Array, right: Array) -> Difference | None:
    if not _varied(right) or not np.isfinite(right).all():
        return None
    with np.errstate(all="ignore"):
        for said, transform in _TRANSFORMS:
            if _equal(mine, transform(right.astype(float))):
                return Difference(
                    "transformed",
                    f"Every number of yours is {said} the right one.",
                    largest(mine, right),
                )
    return None


def _all_alike(mine: Array, right: Array) -> Difference | None:
    """The same number everywhere, or the same row, where the right ones differ."""
    if right.size < _FEW or not _varied(right) or not np.isfinite(mine).all():
        return None
    if _equal(mine, np.full_like(mine, mine.flat[0])):
        return Difference(
            "all-alike",
            "Every number of yours is the same.",
            f"It is {number(float(mine.flat[0]))}; the right ones lie between "
            f"{number(float(np.nanmin(right)))} and {number(float(np.nanmax(right)))}.",
        )
    for axis, said in ((-2, "rows"), (0, "samples")):
        if mine.ndim < (2 if axis == -2 else 3) or mine.shape[axis] < 2:
            continue
        first, first_right = np.take(mine, [0], axis), np.take(right, [0], axis)
        alike = _equal(mine, np.broadcast_to(first, mine.shape))
        if alike and not _equal(right, np.broadcast_to(first_right, right.shape)):
            return Difference(
                "all-alike", f"All {said} of your answer are the same.", largest(mine, right)
            )
    return None


def _shifted(mine: Array, right: Array) -> Difference | None:
    for axis in range(right.ndim - 1, -1, -1):
        size = right.shape[axis]
        if size < _FEW:
            continue
        m, r = np.moveaxis(mine, axis, 0), np.moveaxis(right, axis, 0)
        if _equal(r[1:], r[:-1]) or not _varied(r[1:-1]):
            continue
        where = f"along axis {axis} of shape {right.shape}" if right.ndim > 1 else ""
        for ahead, shifted in ((True, _equal(m[:-1], r[1:])), (False, _equal(m[1:], r[:-1]))):
            if shifted:
                side = "too early" if ahead else "too late"
                place = (0, 1) if ahead else (1, 0)
                return Difference(
                    "off-by-one-position",
                    f"Your values stand one position {side}.",
                    f"What you have at position {place[0]} belongs to position {place[1]}, and so "
                    f"on {where}".rstrip()
                    + ".",
                )
    return None


def _reversed(mine: Array, right: Array) -> Difference | None:
    for axis in range(right.ndim):
        if right.shape[axis] >= 2 and _varied(right) and _equal(mine, np.flip(right, axis)):
            where = f" along axis {axis}" if right.ndim > 1 else ""
            return Difference(
                "reversed",
                f"Your values stand in reverse order{where}.",
                "What you have first comes last.",
            )
    return None


def _another_order(mine: Array, right: Array) -> Difference | None:
    if right.size < _FEW or not _varied(right):
        return None
    if not _equal(np.sort(mine, axis=None), np.sort(right, axis=None)):
        return None
    return Difference(
        "another-order",
        "You have the right numbers at other places.",
        largest(mine, right),
    )


def _some_samples(mine: Array, right: Array) -> Difference | None:
    if right.ndim < 2 or right.shape[0] < 2:
        return None
    good = close(mine, right).reshape(len(right), -1).all(axis=1)
    if not good.any():
        return None
    first = int(np.flatnonzero(~good)[0])
    rows = "row" if right.ndim == 2 else "part"
    of = "" if right.ndim == 2 else f" along axis 0 of shape {right.shape}"
    right_ones, others = np.flatnonzero(good), np.flatnonzero(~good)
    effect = f"Right: {listed(right_ones)}; not: {listed(others)}. "
    if right.ndim == 2 and right.shape[1] <= _SHORT:
        yours, wanted = rows_apart(mine[first].astype(float), right[first].astype(float))
        effect += f"Row {first} of yours is {yours}, expected {wanted}."
    else:
        effect += largest(mine[first], right[first], f"In {rows} {first}, the largest difference")
    return Difference(
        "some-samples" if right.ndim > 2 else "some-rows",
        f"Some {rows}s of your answer{of} are right, others are not.",
        f"{effect} {of_the_wrong(mine[~good], right[~good])}".strip(),
    )


def of_the_wrong(mine: Array, right: Array) -> str:
    """What is true of the wrong parts alone, as a sentence; empty if nothing is known of them."""
    for comparison in (_sign, _ratio, _offset, _transformed, _all_alike, _shifted, _reversed):
        found = comparison(mine, right)
        if found is not None:
            return f"Of what is wrong: {found.what[:1].lower()}{found.what[1:]}"
    return ""


def _same_positions(mine: Array, right: Array) -> Difference | None:
    """Only at the first or the last position of an axis behind the first."""
    differs = ~close(mine, right)
    for axis in range(right.ndim - 1, -1, -1):
        if right.shape[axis] < _FEW:
            continue
        where = np.flatnonzero(differs.any(axis=tuple(a for a in range(right.ndim) if a != axis)))
        if len(where) == 1 and where[0] in (0, right.shape[axis] - 1):
            which = "first" if where[0] == 0 else "last"
            of = f" of axis {axis}" if right.ndim > 1 else ""
            return Difference(
                f"only-the-{which}",
                f"Your values are right except at the {which} position{of}.",
                largest(mine, right),
            )
    return None


def _item_missing(mine: Array, right: Array) -> Difference | None:
    if mine.ndim != right.ndim:
        return None
    for axis in range(right.ndim):
        if right.shape[axis] - mine.shape[axis] != 1 or right.shape[axis] < 2:
            continue
        for which, rest in (("last", slice(None, -1)), ("first", slice(1, None))):
            kept = np.moveaxis(np.moveaxis(right, axis, 0)[rest], 0, axis)
            if _equal(mine, kept):
                of = f" along axis {axis}" if right.ndim > 1 else ""
                return Difference(
                    f"{which}-missing",
                    f"Your answer is right, but its {which} item is missing{of}.",
                    f"Yours has shape {mine.shape}, the right one {right.shape}.",
                )
    return None


def _one_too_many(mine: Array, right: Array) -> Difference | None:
    if mine.ndim != right.ndim or not right.size:
        return None
    for axis in range(right.ndim):
        if mine.shape[axis] - right.shape[axis] != 1:
            continue
        moved = np.moveaxis(mine, axis, 0)
        for which, rest in (("end", slice(None, -1)), ("beginning", slice(1, None))):
            if _equal(np.moveaxis(moved[rest], 0, axis), right):
                of = f" of axis {axis}" if right.ndim > 1 else ""
                return Difference(
                    "one-too-many",
                    f"Your answer has one item too many at the {which}{of}.",
                    f"Yours has shape {mine.shape}, the right one {right.shape}; "
                    "all other items are right.",
                )
    return None


def _several_missing_or_too_many(mine: Array, right: Array) -> Difference | None:
    """One of the two begins, along one axis, with the whole of the other."""
    if mine.ndim != right.ndim or not mine.size or not right.size:
        return None
    for axis in range(right.ndim):
        shapes = [list(one.shape) for one in (mine, right)]
        sizes = [shape.pop(axis) for shape in shapes]
        if shapes[0] != shapes[1] or sizes[0] == sizes[1]:
            continue
        common = range(min(sizes))
        if not _equal(np.take(mine, common, axis), np.take(right, common, axis)):
            continue
        of = f" along axis {axis}" if right.ndim > 1 else ""
        less = sizes[0] < sizes[1]
        count = abs(sizes[0] - sizes[1])
        return Difference(
            "too-few" if less else "too-many",
            f"Your answer begins right and {'ends too early' if less else 'goes on too long'}{of}.",
            f"It has {count} items too {'few' if less else 'many'}: shape {mine.shape} instead of "
            f"{right.shape}.",
        )
    return None


def _axis_of_one(mine: Array, right: Array) -> Difference | None:
    if not right.size or mine.size != right.size:
        return None
    if not _equal(np.squeeze(mine), np.squeeze(right)):
        return None
    more = "an axis of size 1 too many" if mine.ndim > right.ndim else "an axis of size 1 too few"
    return Difference(
        "axis-of-one",
        f"The numbers are right, but they have {more}.",
        f"Yours have shape {mine.shape}, the right ones {right.shape}.",
    )


def _another_shape(mine: Array, right: Array) -> Difference | None:
    if mine.size != right.size or not _varied(right):
        return None
    if not _equal(mine.reshape(-1), right.reshape(-1)):
        return None
    return Difference(
        "another-shape",
        "The numbers are right and in the right order, but in another shape.",
        f"Yours have shape {mine.shape}, the right ones {right.shape}.",
    )


def largest(mine: Array, right: Array, begin: str = "The largest difference") -> str:
    """Where two arrays of one shape part most, with both numbers, so that they differ as shown."""
    if mine.shape != right.shape:
        return f"Yours has shape {mine.shape}, the right one {right.shape}."
    with np.errstate(invalid="ignore"):
        gap = np.abs(mine.astype(float) - right.astype(float))
    gap[close(mine, right)] = 0
    place = np.unravel_index(int(np.argmax(np.nan_to_num(gap, nan=np.inf))), gap.shape)
    at = f" is at {index(tuple(int(i) for i in place))}" if gap.ndim else " is"
    one, other = numbers_apart(float(mine[place]), float(right[place]))
    return f"{begin}{at}: yours {one}, expected {other}."


def numbers_apart(one: float, other: float) -> tuple[str, str]:
    """Two different numbers with as many digits as it takes that they differ as shown."""
    for digits in range(4, 17):
        shown = number(one, digits), number(other, digits)
        if shown[0] != shown[1]:
            return shown
    return shown


_OF_ONE_SHAPE: tuple[Comparison, ...] = (
    _sign,
    _ratio,
    _offset,
    _transformed,
    _all_alike,
    _transposed,
    _shifted,
    _reversed,
    _same_positions,
    _axes_permuted,
    _some_samples,
    _another_order,
)
_OF_TWO_SHAPES: tuple[Comparison, ...] = (
    _item_missing,
    _one_too_many,
    _several_missing_or_too_many,
    _axis_of_one,
    _transposed,
    _axes_permuted,
    _another_shape,
)
