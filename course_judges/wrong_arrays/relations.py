"""How a wrong array comes from the right one or from what was given: part of it is right, something
was added, each row is scaled, or a function was applied to it.

These are asked after `comparisons`, which is about order, shape and sign. Each function gets both
arrays, of one shape, and the inputs of the run, and says only what holds for all numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

import numpy as np

from course_judges.equality import close
from course_judges.wording import index, listed, number
from course_judges.wrong_arrays import places
from course_judges.wrong_arrays.comparisons import TRANSFORMS, of_the_wrong
from course_judges.wrong_arrays.differences import Difference, largest
from course_tasks.answers import Array

# Fewer numbers can be in any relation by chance.
_FEW = 4

Relation: TypeAlias = Callable[[Array, Array, Mapping[str, Array]], Difference | None]

# What may have been done to every number, also where numbers are too few for a comparison.
_FUNCTIONS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    *TRANSFORMS,
    ("e to the power of minus the right one", lambda x: np.exp(-x)),
    ("the right one, or 0 if that is negative", lambda x: np.maximum(x, 0)),
    ("the right one, rounded", np.round),
)


def related(mine: Array, right: Array, inputs: Mapping[str, Array]) -> Difference | None:
    """The first relation that holds between two different arrays of one shape.

    Parameters
    ----------
    mine, right : ndarray
        The student's, and the right one.
    inputs : mapping of str to ndarray
        What the answer was run on.
    """
    if mine.shape != right.shape:
        return None
    if mine.dtype.kind == right.dtype.kind == "b":
        return places.marked(mine, right, inputs)
    if right.dtype.kind not in "fiu" or mine.dtype.kind not in "fiu":
        return None
    relations = _RELATIONS if right.dtype.kind == "f" else _OF_WHOLE_NUMBERS
    mine, right = mine.astype(float), right.astype(float)
    if not np.isfinite(mine).all() or not np.isfinite(right).all():
        return None
    with np.errstate(all="ignore"):
        for relation in relations:
            found = relation(mine, right, inputs)
            if found is not None:
                return found
    return None


def of_numbers(mine: Array, right: Array) -> Difference | None:
    """All of some single numbers too large, or all too small."""
    wrong = ~close(mine, right)
    larger = mine > right
    if not wrong.all() or not (larger.all() or not larger.any()):
        return None
    side = "larger" if larger.all() else "smaller"
    return Difference(f"all-{side}", f"All your numbers are {side} than the right ones.", "")


def _an_input(mine: Array, right: Array, inputs: Mapping[str, Array]) -> Difference | None:
    """An input itself, or the right answer with an input added."""
    for name, given in inputs.items():
        if given.shape != right.shape or right.size < _FEW or not _varied(given):
            continue
        given = given.astype(float)
        if close(mine, given).all():
            return Difference(
                "input-returned", f"You return `{name}` unchanged.", largest(mine, right)
            )
        times = _factor(mine - right, given)
        if times is not None:
            what = {1.0: "plus", -1.0: "minus"}.get(
                round(times, 3), f"plus {number(times, 3)} times"
            )
            return Difference(
                "input-added",
                f"Your answer is the right one {what} `{name}`.",
                largest(mine, right),
            )
    return None


def _a_function(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    if right.size < _FEW - 1 or not _varied(right):
        return None
    for words, function in _FUNCTIONS:
        made = function(right)
        if np.isfinite(made).all() and _varied(made) and close(mine, made).all():
            return Difference(
                "function-taken", f"Each of your numbers is {words}.", largest(mine, right)
            )
    return None


def _a_line(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Each number times the same factor, plus the same constant."""
    if right.size < 2 * _FEW or not _varied(right):
        return None
    slope, offset = np.polyfit(right.ravel(), mine.ravel(), 1)
    if abs(slope) < 1e-3 or not close(mine, slope * right + offset).all():
        return None
    return Difference(
        "factor-and-offset",
        "Each of your numbers is the right one times a factor, plus a constant.",
        f"The factor is {number(slope, 4)}, and the constant is {number(offset, 4)}. "
        + largest(mine, right),
    )


def _rows(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Each row along the last axis times a factor of its own, or plus a number of its own."""
    if right.ndim < 2 or right.shape[-1] < _FEW - 1:
        return None
    m, r = (a.reshape(-1, right.shape[-1]) for a in (mine, right))
    factors = _factors(m, r)
    if factors is not None:
        worst = int(np.abs(np.log(np.abs(factors))).argmax())
        row = index(int(i) for i in np.unravel_index(worst, right.shape[:-1]))
        return Difference(
            "rows-scaled",
            "Each of your rows is the right row times a factor of its own.",
            f"The factors range from {number(factors.min())} to {number(factors.max())}. "
            f"Your row {row} sums to {number(m[worst].sum(), 4)} instead of "
            f"{number(r[worst].sum(), 4)}.",
        )
    offsets = _offsets(m, r)
    if offsets is not None:
        return Difference(
            "rows-shifted",
            "Each of your rows is the right row plus a number of its own.",
            f"These numbers range from {number(offsets.min())} to {number(offsets.max())}.",
        )
    return None


def _columns(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Each column times a factor of its own, or plus a number of its own, in all rows."""
    if right.ndim < 2 or right.shape[-1] < 2:
        return None
    m, r = (a.reshape(-1, right.shape[-1]).T for a in (mine, right))
    if r.shape[1] < _FEW:
        return None
    offsets = _offsets(m, r)
    if offsets is not None:
        return Difference(
            "columns-shifted",
            "Each position of your last axis is off by a number of its own.",
            f"These numbers range from {number(offsets.min())} to {number(offsets.max())} and are "
            "the same in all rows.",
        )
    factors = _factors(m, r)
    if factors is not None:
        return Difference(
            "columns-scaled",
            "Each position of your last axis is multiplied by a factor of its own.",
            f"The factors range from {number(factors.min())} to {number(factors.max())} and are "
            "the same in all rows.",
        )
    return None


def _some_positions(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Right at some positions of an axis, and wrong at all others."""
    off = ~close(mine, right)
    for axis in range(min(1, right.ndim - 1), right.ndim):
        if right.shape[axis] < _FEW - 1:
            continue
        others = tuple(a for a in range(right.ndim) if a != axis)
        wrong = np.asarray(off.any(axis=others))
        # It means nothing to be right where all numbers are 0.
        said = np.asarray((np.abs(right) > 1e-3).any(axis=others) | wrong)
        fine = said & ~wrong
        if not fine.any() or not wrong.any():
            continue
        zeros = "" if said.all() else f" At {_places(~said)}, both answers hold only zeros."
        of = f" along axis {axis} of shape {right.shape}" if right.ndim > 1 else ""
        return Difference(
            "some-positions",
            f"Your numbers are right at some places{of}, but wrong at others.",
            f"Right: {_places(fine)}. Wrong: {_places(wrong)}.{zeros} {largest(mine, right)} "
            f"{_of_the_wrong(mine, right, axis, wrong)}".strip(),
        )
    return None


def _of_the_wrong(mine: Array, right: Array, axis: int, wrong: Array) -> str:
    """A sentence on a relation that holds for the wrong positions of an axis alone."""
    if right.ndim == 1 or wrong.sum() < 2:
        return ""
    return of_the_wrong(np.compress(wrong, mine, axis), np.compress(wrong, right, axis))


def _normed(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """Rows of mean 0 and standard deviation 1, of length 1 or of sum 1, unlike the right ones."""
    if right.ndim < 2 or right.shape[-1] < _FEW:
        return None
    for what, holds in (
        (
            "mean 0 and standard deviation 1",
            lambda a: np.stack([a.mean(-1) + 1, a.std(-1)]),
        ),
        ("length 1", lambda a: (a * a).sum(-1)),
        ("sum 1", lambda a: a.sum(-1)),
    ):
        if np.allclose(holds(mine), 1, atol=2e-3) and not np.allclose(holds(right), 1, atol=2e-2):
            first = right.reshape(-1, right.shape[-1])[0]
            return Difference(
                "rows-normed",
                f"Each of your rows has {what}, but the right ones don't.",
                f"The first right row has mean {number(first.mean())} and standard deviation "
                f"{number(first.std())}.",
            )
    return None


def _one_sided(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """No negative numbers, or too many zeros."""
    if right.size < 2 * _FEW:
        return None
    negative, zeros = (right < -1e-3).mean(), (mine == 0) & (np.abs(right) > 1e-3)
    if negative > 0.2 and (mine >= 0).all():
        return Difference(
            "never-negative",
            "None of your numbers is negative.",
            f"But {100 * negative:.0f} % of the right ones are. {largest(mine, right)}",
        )
    if 3 <= zeros.sum() < right.size:
        return Difference(
            "zeros",
            "Some of your numbers are exactly 0, but shouldn't be.",
            f"This happens at {int(zeros.sum())} of {right.size} places. {largest(mine, right)}",
        )
    return None


def _tendency(mine: Array, right: Array, _: Mapping[str, Array]) -> Difference | None:
    """All absolute values too large, or all too small."""
    if right.size < 2 * _FEW:
        return None
    off = ~close(mine, right)
    gap = np.abs(mine) - np.abs(right)
    same_side = (np.sign(mine) == np.sign(right))[off].all()
    if not same_side or not off.all() or np.sign(gap[off]).min() != np.sign(gap[off]).max():
        return None
    side = "larger" if gap[off][0] > 0 else "smaller"
    ratio = np.abs(mine[off]) / np.abs(right[off])
    absolute = " in absolute value" if (right < 0).any() else ""
    return Difference(
        f"all-{side}",
        f"All your numbers are {side}{absolute} than the right ones, by different factors.",
        f"The factors range from {number(ratio.min())} to {number(ratio.max())}. "
        + largest(mine, right),
    )


def _factors(mine: Array, right: Array) -> Array | None:
    """The factor between each row of `right` and that of `mine`; None if some row has none."""
    size = (right * right).sum(axis=1)
    factors = (mine * right).sum(axis=1) / np.where(size > 0, size, 1)
    holds = close(mine, factors[:, None] * right).all() and np.abs(factors).min() > 1e-3
    return factors if holds else None


def _offsets(mine: Array, right: Array) -> Array | None:
    """The number that each row of `mine` adds to that of `right`; None if some row has none."""
    offsets = (mine - right).mean(axis=1)
    return offsets if close(mine, right + offsets[:, None]).all() else None


def _factor(mine: Array, right: Array) -> float | None:
    """The factor between `right` and `mine`; None if there is none, or it is 0."""
    factor = float((mine * right).sum() / (right * right).sum())
    return factor if abs(factor) > 1e-3 and close(mine, factor * right).all() else None


def _varied(values: Array) -> bool:
    return bool(values.size and values.min() < values.max())


def _places(which: Array) -> str:
    """Positions, as a range if there is no gap between them: "0 to 3"."""
    at = np.flatnonzero(which)
    if len(at) > 2 and at[-1] - at[0] == len(at) - 1:
        return f"{at[0]} to {at[-1]}"
    return listed(at[:8]) + (", …" if len(at) > 8 else "")


_RELATIONS: tuple[Relation, ...] = (
    _an_input,
    _a_function,
    _a_line,
    _rows,
    _columns,
    places.summed,
    places.clipped,
    places.permuted,
    places.nearly,
    places.bounded,
    places.same_wrong_number,
    places.same_number_missed,
    _some_positions,
    _normed,
    _one_sided,
    _tendency,
)
# Whole numbers are more often symbols, positions or counts than amounts.
_OF_WHOLE_NUMBERS: tuple[Relation, ...] = (
    _an_input,
    places.permuted,
    places.same_wrong_number,
    places.same_number_missed,
    _some_positions,
)
