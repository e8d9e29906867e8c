"""Which places of a wrong array are wrong, and what it holds there.

These are relations like those in `relations`, for arrays of one shape. Each function gets the
student's array and the right one, and says only what is true of every wrong place.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from course_judges.equality import close
from course_judges.wording import index, listed, number
from course_judges.wrong_arrays.differences import Difference, largest
from course_tasks.answers import Array

# Anything may be true of fewer wrong places by chance.
_FEW = 3
# Each part of an answer is compared with each right part, which takes long for more numbers.
_MOST_COMPARED = 300_000
# The largest share by which a number may be off and still be called nearly right.
_NEARLY = 0.02
# If more than this share of the numbers is exact, it matters which of them are not.
_MOST_EXACT = 0.2


def same_wrong_number(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Wherever the answer is wrong, it holds the same number."""
    wrong = ~close(mine, right)
    held = np.unique(mine[wrong])
    if wrong.sum() < _FEW or wrong.all() or len(held) != 1 or len(np.unique(right[wrong])) < _FEW:
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Difference(
        "one-number-where-wrong",
        f"Wherever your answer is wrong, it holds {number(float(held[0]))}.",
        f"This happens at {int(wrong.sum())} of {right.size} places, first at {index(first)}, "
        f"where {number(float(right[first]), 4)} belongs.",
    )


def same_number_missed(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Wherever the answer is wrong, the right number is the same."""
    wrong = ~close(mine, right)
    wanted = np.unique(right[wrong])
    if wrong.sum() < _FEW or wrong.all() or len(wanted) != 1:
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    belongs = number(float(wanted[0]))
    all_of_them = bool(wrong[close(right, np.full_like(right, wanted[0]))].all())
    where = f"never hold {belongs}" if all_of_them else f"hold {belongs} only at some of them"
    return Difference(
        "one-number-missed",
        f"Your answer is wrong only at places where {belongs} belongs.",
        f"You {where}. At {int(wrong.sum())} of {right.size} places you have something else, first "
        f"at {index(first)}, where you have {number(float(mine[first]), 4)}.",
    )


def _one_way(mine: Array, right: Array) -> tuple[bool, Array] | None:
    """What wrong entries of True and False hold, and where they are; None if they hold both."""
    more, less = mine & ~right, right & ~mine
    if more.any() == less.any():
        return None
    return (True, more) if more.any() else (False, less)


def marked(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """True at too many places only, or at too few only."""
    found = _one_way(mine, right)
    if found is None or mine.size < _FEW:
        return None
    said, wrong = found
    kind = "many" if said else "few"
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    return Difference(
        f"too-{kind}-true",
        f"Too {kind} of your entries are True, but the others of this call are right.",
        f"At {int(wrong.sum())} of {right.size} places you have {said} instead of {not said}, "
        f"first at {index(first)}.",
    )


def of_questions(mine: Array, right: Array) -> Difference | None:
    """Answers of yes or no that are wrong only where they are yes, or only where they are no."""
    found = _one_way(mine, right)
    if found is None:
        return None
    said, wrong = found
    return Difference(
        f"too-often-{str(said).lower()}",
        f"Where your answer is wrong, it is {said} but should be {not said}.",
        f"This happens for {int(wrong.sum())} of {right.size} questions.",
    )


def nearly(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Slightly off everywhere, as if something small had been added or rounded."""
    counted = np.abs(right) > 1e-6
    if counted.sum() < _FEW or not close(mine[~counted], right[~counted]).all():
        return None
    off = np.abs(mine[counted] / right[counted] - 1)
    exact = close(mine[counted], right[counted]).mean()
    if off.max() > _NEARLY or exact > _MOST_EXACT:
        return None
    percent = 100 * float(off.max())
    digit = 10.0 ** np.floor(np.log10(percent))
    share = number(np.ceil(percent / digit) * digit)  # rounded up, so that it bounds them all
    return Difference(
        "nearly-right",
        f"Your numbers are nearly right, since none is off by more than {share} %.",
        "But that is more than the limited precision of floats explains, so something that "
        "matters little for these numbers is wrong. "
        f"{largest(mine, right)}",
    )


def clipped(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """The right numbers, cut off above or below."""
    low, high = mine.min(), mine.max()
    if low == high or not close(mine, np.clip(right, low, high)).all():
        return None
    ends = [
        f"{side} {number(float(end), 4)}"
        for side, end, cut in (("below", low, right < low), ("above", high, right > high))
        if not close(np.where(cut, end, right), right).all() and cut.sum() >= _FEW
    ]
    if not ends:
        return None
    return Difference(
        "clipped",
        f"Your numbers are the right ones, cut off {' and '.join(ends)}.",
        largest(mine, right),
    )


def bounded(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """All between −1 and 1 like cosines and probabilities, although the right ones are not."""
    beyond = np.abs(right) > 1.5
    if np.abs(mine).max() > 1 or beyond.sum() < _FEW or len(np.unique(mine)) < _FEW:
        return None
    low = "0" if (mine >= 0).all() else "−1"
    return Difference(
        "bounded",
        f"All your numbers lie between {low} and 1, but the right ones don't.",
        f"{int(beyond.sum())} of the {right.size} right ones have an absolute value above 1.5. "
        f"{largest(mine, right)}",
    )


def summed(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Running sums of the right ones along an axis, or their differences."""
    for axis in range(right.ndim):
        if right.shape[axis] < _FEW:
            continue
        of = f" along axis {axis}" if right.ndim > 1 else ""
        if close(mine, right.cumsum(axis)).all():
            return Difference(
                "summed-once-more",
                f"Your numbers are the running sums of the right ones{of}.",
                largest(mine, right),
            )
        if close(mine.cumsum(axis), right).all():
            return Difference(
                "not-summed",
                f"The right numbers are the running sums of yours{of}.",
                largest(mine, right),
            )
    return None


def permuted(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """The right slices along one axis, in another order or some of them more than once."""
    for axis in range(right.ndim - 1, -1, -1):
        size = right.shape[axis]
        if not _FEW <= size <= _MOST_COMPARED / right.size or right.ndim < 2:
            continue
        slices, rights = (np.moveaxis(a, axis, 0).reshape(size, -1) for a in (mine, right))
        equal: Array = np.asarray(close(slices[:, None], rights[None]).all(axis=-1))
        found = equal.argmax(axis=1)
        if len(np.unique(rights, axis=0)) < size or not equal.any(axis=1).all():
            continue  # equal parts could be anywhere, or some parts are not among the right ones
        if len(set(found)) < 2:
            continue
        return Difference(
            "places-permuted",
            f"Your answer has the right parts along axis {axis}, but in the wrong places.",
            f"At places 0, 1, 2, … of that axis (in shape {right.shape}), you have what belongs at "
            f"{listed(found[:8])}{', …' if size > 8 else ''}.",
        )
    return None
