"""How an array differs from the right one where no mistake of the task explains it.

Each function gets both arrays and returns a name with two sentences, or None if its relation does
not hold. Only what holds in every draw of a check is said, so a coincidence would have to happen
twice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_judges.equality import close, same_value
from course_judges.wording import listed, number, rows_apart
from course_judges.wrong_arrays import shapes
from course_judges.wrong_arrays.differences import FEW, Comparison, Difference, largest, varied
from course_tasks.answers import Array

# Rows of at most so many numbers are quoted whole.
_SHORT = 8


def compared(mine: Array, right: Array) -> Difference | None:
    """The first relation that holds between two different arrays."""
    asked = _OF_ONE_SHAPE if mine.shape == right.shape else _OF_TWO_SHAPES
    for comparison in asked:
        found = comparison(mine, right)
        if found is not None:
            return found
    return None


def of_numbers(mine: Array, right: Array) -> Difference | None:
    """The first relation that holds between two lists of numbers whose order means nothing."""
    for comparison in (_all_alike, _sign, _ratio, _offset, _transformed):
        found = comparison(mine, right)
        if found is not None:
            return found
    return None


def _sign(mine: Array, right: Array) -> Difference | None:
    if (
        not varied(right)
        or not np.isfinite(right).all()
        or not same_value(mine, -right.astype(float))
    ):
        return None
    return Difference(
        "sign", "Your numbers are the right ones with the opposite sign.", largest(mine, right)
    )


def _ratio(mine: Array, right: Array) -> Difference | None:
    counted = np.abs(right.astype(float)) > 1e-3
    if counted.sum() < FEW or not varied(right) or not np.isfinite(right).all():
        return None
    ratio = float(np.median(mine[counted].astype(float) / right[counted].astype(float)))
    if (
        not np.isfinite(ratio)
        or abs(ratio) < 1e-3
        or not same_value(mine, ratio * right.astype(float))
    ):
        return None
    return Difference(
        "constant-ratio",
        "Each of your numbers is the right one times the same factor.",
        f"The factor is {number(ratio, 4)} here. {largest(mine, right)}",
    )


def _offset(mine: Array, right: Array) -> Difference | None:
    if not varied(right) or not np.isfinite(right).all():
        return None
    offset = float(np.median(mine.astype(float) - right.astype(float)))
    if not np.isfinite(offset) or not same_value(mine, right.astype(float) + offset):
        return None
    side = "large" if offset > 0 else "small"
    return Difference(
        "constant-difference",
        "All your numbers are off by the same amount.",
        f"They are too {side} by {number(abs(offset), 4)}. {largest(mine, right)}",
    )


# What may have been done to every number: in words, and the function.
TRANSFORMS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("the absolute value of the right one", np.abs),
    ("the square of the right one", np.square),
    ("the square root of the right one", np.sqrt),
    ("the logarithm of the right one", np.log),
    ("minus the logarithm of the right one", lambda right: -np.log(right)),
    ("e to the power of the right one", np.exp),
    ("1 minus the right one", lambda right: 1 - right),
    ("1 divided by the right one", lambda right: 1 / right),
)


def _transformed(mine: Array, right: Array) -> Difference | None:
    if not varied(right) or not np.isfinite(right).all():
        return None
    with np.errstate(all="ignore"):
        for said, transform in TRANSFORMS:
            if same_value(mine, transform(right.astype(float))):
                return Difference(
                    "transformed", f"Each of your numbers is {said}.", largest(mine, right)
                )
    return None


def _all_alike(mine: Array, right: Array) -> Difference | None:
    """The same number everywhere, or the same row, although the right ones differ."""
    if right.size < FEW or not varied(right) or not np.isfinite(mine).all():
        return None
    if same_value(mine, np.full_like(mine, mine.flat[0])):
        return Difference(
            "all-alike",
            "All your numbers are the same.",
            f"Each is {number(float(mine.flat[0]))}, but the right ones lie between "
            f"{number(float(np.nanmin(right)))} and {number(float(np.nanmax(right)))}.",
        )
    for axis, said in ((-2, "rows"), (0, "samples")):
        if mine.ndim < (2 if axis == -2 else 3) or mine.shape[axis] < 2:
            continue
        first, first_right = np.take(mine, [0], axis), np.take(right, [0], axis)
        alike = same_value(mine, np.broadcast_to(first, mine.shape))
        if alike and not same_value(right, np.broadcast_to(first_right, right.shape)):
            return Difference(
                "all-alike", f"All {said} of your answer are the same.", largest(mine, right)
            )
    return None


def _shifted(mine: Array, right: Array) -> Difference | None:
    for axis in range(right.ndim - 1, -1, -1):
        size = right.shape[axis]
        if size < FEW:
            continue
        m, r = np.moveaxis(mine, axis, 0), np.moveaxis(right, axis, 0)
        if same_value(r[1:], r[:-1]) or not varied(r[1:-1]):
            continue
        where = f"along axis {axis} of shape {right.shape}" if right.ndim > 1 else ""
        for ahead, shifted in (
            (True, same_value(m[:-1], r[1:])),
            (False, same_value(m[1:], r[:-1])),
        ):
            if shifted:
                side = "too early" if ahead else "too late"
                place = (0, 1) if ahead else (1, 0)
                return Difference(
                    "off-by-one-position",
                    f"Your values are one position {side}.",
                    f"What you have at position {place[0]} belongs at position {place[1]}, and so "
                    f"on {where}".rstrip()
                    + ".",
                )
    return None


def _reversed(mine: Array, right: Array) -> Difference | None:
    for axis in range(right.ndim):
        if right.shape[axis] >= 2 and varied(right) and same_value(mine, np.flip(right, axis)):
            where = f" along axis {axis}" if right.ndim > 1 else ""
            return Difference(
                "reversed",
                f"Your values are in reverse order{where}.",
                "What you have first belongs last.",
            )
    return None


def _another_order(mine: Array, right: Array) -> Difference | None:
    if right.size < FEW or not varied(right):
        return None
    if not same_value(np.sort(mine, axis=None), np.sort(right, axis=None)):
        return None
    return Difference(
        "another-order",
        "You have the right numbers, but in the wrong places.",
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
    effect = f"Right: {listed(right_ones)}. Wrong: {listed(others)}. "
    if right.ndim == 2 and right.shape[1] <= _SHORT:
        yours, wanted = rows_apart(mine[first], right[first])
        effect += f"Your row {first} is {yours} instead of {wanted}."
    else:
        effect += largest(mine[first], right[first], f"In {rows} {first}, the largest difference")
    return Difference(
        "some-samples" if right.ndim > 2 else "some-rows",
        f"Some {rows}s of your answer{of} are right, but others aren't.",
        f"{effect} {of_the_wrong(mine[~good], right[~good])}".strip(),
    )


def of_the_wrong(mine: Array, right: Array) -> str:
    """A sentence on a relation that holds for the wrong parts alone; empty if none is known."""
    for comparison in (_sign, _ratio, _offset, _transformed, _all_alike, _shifted, _reversed):
        found = comparison(mine, right)
        if found is not None:
            return f"Where they are wrong, {found.what[:1].lower()}{found.what[1:]}"
    return ""


def _same_positions(mine: Array, right: Array) -> Difference | None:
    """Wrong only at the first or the last position of some axis."""
    differs = ~close(mine, right)
    for axis in range(right.ndim - 1, -1, -1):
        if right.shape[axis] < FEW:
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


_OF_ONE_SHAPE: tuple[Comparison, ...] = (
    _sign,
    _ratio,
    _offset,
    _transformed,
    _all_alike,
    shapes.transposed,
    _shifted,
    _reversed,
    _same_positions,
    shapes.axes_permuted,
    _some_samples,
    _another_order,
)
_OF_TWO_SHAPES: tuple[Comparison, ...] = (
    shapes.item_missing,
    shapes.one_too_many,
    shapes.several_missing_or_too_many,
    shapes.axis_of_one,
    shapes.transposed,
    shapes.axes_permuted,
    shapes.another_shape,
    shapes.repeated,
)
