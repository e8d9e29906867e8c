"""How an array of the wrong shape resembles the right one: it has its axes in another order, all
items but one, or the same numbers in other rows.
"""

from __future__ import annotations

from itertools import permutations

import numpy as np

from course_judges.equality import close, same_value
from course_judges.wording import listed, word
from course_judges.wrong_arrays.differences import Difference, shapes_apart, varied
from course_tasks.answers import Array


def transposed(mine: Array, right: Array) -> Difference | None:
    """The right one with its last two axes exchanged."""
    if right.ndim < 2 or not varied(right) or not same_value(mine, np.swapaxes(right, -1, -2)):
        return None
    return Difference(
        "transposed",
        "Your answer is the right one with its last two axes exchanged.",
        f"What you have in row 0 and column 1 belongs in row 1 and column 0. "
        f"{shapes_apart(mine, right)}".strip(),
    )


def axes_permuted(mine: Array, right: Array) -> Difference | None:
    """The right one with its axes in another order."""
    if not 3 <= right.ndim <= 4 or mine.ndim != right.ndim or mine.size != right.size:
        return None
    for order in permutations(range(right.ndim)):
        if order == tuple(range(right.ndim)) or not varied(right):
            continue
        moved = right.transpose(order)
        if moved.shape == mine.shape and close(mine, moved).all():
            return Difference(
                "axes-permuted",
                "Your answer is the right one with its axes in another order.",
                f"Your axes {listed(range(right.ndim))} are the right axes {listed(order)}. "
                f"{shapes_apart(mine, right)}".strip(),
            )
    return None


def item_missing(mine: Array, right: Array) -> Difference | None:
    """The right one without its first or its last item along one axis."""
    if mine.ndim != right.ndim:
        return None
    for axis in range(right.ndim):
        if right.shape[axis] - mine.shape[axis] != 1 or right.shape[axis] < 2:
            continue
        for which, rest in (("last", slice(None, -1)), ("first", slice(1, None))):
            kept = np.moveaxis(np.moveaxis(right, axis, 0)[rest], 0, axis)
            if same_value(mine, kept):
                of = f" along axis {axis}" if right.ndim > 1 else ""
                return Difference(
                    f"{which}-missing",
                    f"Your answer is right, but its {which} item{of} is missing.",
                    shapes_apart(mine, right),
                )
    return None


def one_too_many(mine: Array, right: Array) -> Difference | None:
    """The right one with one item more at the beginning or the end of one axis."""
    if mine.ndim != right.ndim or not right.size:
        return None
    for axis in range(right.ndim):
        if mine.shape[axis] - right.shape[axis] != 1:
            continue
        moved = np.moveaxis(mine, axis, 0)
        for which, rest in (("end", slice(None, -1)), ("beginning", slice(1, None))):
            if same_value(np.moveaxis(moved[rest], 0, axis), right):
                of = f" of axis {axis}" if right.ndim > 1 else ""
                return Difference(
                    "one-too-many",
                    f"Your answer has one item too many at the {which}{of}.",
                    f"{shapes_apart(mine, right)} All other items are right.",
                )
    return None


def several_missing_or_too_many(mine: Array, right: Array) -> Difference | None:
    """One of the two begins with all of the other along some axis."""
    if mine.ndim != right.ndim or not mine.size or not right.size:
        return None
    for axis in range(right.ndim):
        shapes = [list(one.shape) for one in (mine, right)]
        sizes = [shape.pop(axis) for shape in shapes]
        if shapes[0] != shapes[1] or sizes[0] == sizes[1]:
            continue
        common = range(min(sizes))
        if not same_value(np.take(mine, common, axis), np.take(right, common, axis)):
            continue
        of = f" along axis {axis}" if right.ndim > 1 else ""
        less = sizes[0] < sizes[1]
        return Difference(
            "too-few" if less else "too-many",
            f"Your answer begins right but {'ends too early' if less else 'goes on too long'}{of}.",
            shapes_apart(mine, right),
        )
    return None


def axis_of_one(mine: Array, right: Array) -> Difference | None:
    """The right numbers with axes of length 1 that are too many, missing, or in the wrong place."""
    if not right.size or mine.size != right.size:
        return None
    if not same_value(np.squeeze(mine), np.squeeze(right)):
        return None
    if mine.ndim == right.ndim:
        what = "Your numbers are right, but an axis of length 1 is in the wrong place."
    else:
        count = abs(mine.ndim - right.ndim)
        axes = f"{word(count)} {'axis' if count == 1 else 'axes'} of length 1"
        side = "many" if mine.ndim > right.ndim else "few"
        what = f"Your numbers are right, but your answer has {axes} too {side}."
    return Difference("axis-of-one", what, shapes_apart(mine, right))


def repeated(mine: Array, right: Array) -> Difference | None:
    """The right one several times, along an axis that it doesn't have."""
    if mine.ndim != right.ndim + 1 or not right.size or not mine.size:
        return None
    for axis in range(mine.ndim):
        if mine.shape[:axis] + mine.shape[axis + 1 :] != right.shape:
            continue
        parts = [same_value(part, right) for part in np.moveaxis(mine, axis, 0)]
        if not any(parts):
            continue
        count = len(parts)
        which = (
            f"All {count} parts along it are the right answer."
            if all(parts)
            else f"Of its {count} parts, number {parts.index(True)} is the right answer."
        )
        return Difference(
            "axis-too-many",
            f"Your answer has an axis too many, axis {axis} of length {count}.",
            f"{which} {shapes_apart(mine, right)}",
        )
    return None


def another_shape(mine: Array, right: Array) -> Difference | None:
    """The right numbers in the right order, in rows of another length."""
    if mine.size != right.size or not varied(right):
        return None
    if not same_value(mine.reshape(-1), right.reshape(-1)):
        return None
    return Difference(
        "another-shape",
        "Your numbers are right and in the right order, but the shape is wrong.",
        shapes_apart(mine, right),
    )
