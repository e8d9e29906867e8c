"""From which pairs, how and by which measure an answer to 13/longer may have got its errors.

An error is made of five choices: the pairs that a map is fitted on, how it is fitted, the pairs
that it is tested on, what is predicted, and the measure. If an answer's errors come out with one or
two of them made in another way, these are what to say.
"""

# ruff: noqa: ARG005

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from course_tasks.answers import Array

# Errors that differ by less, or by less than this share, come from the same choices.
_NEAR = 1e-6


class Choice(NamedTuple):
    """One way to choose: a name, a sentence that says what an answer does, and how it is done."""

    name: str
    says: str
    make: Callable[..., Any]


@dataclass(eq=False)
class Setting:
    """What one error is asked for: positions (L, C), the shift, n, and all that are `trained`."""

    table: Array
    shift: int
    n: int
    trained: tuple[int, ...]
    _maps: dict[Any, Array] = field(default_factory=dict)
    _gaps: dict[Any, Array] = field(default_factory=dict)

    @property
    def known(self) -> int:
        """How many pairs lie within the first n positions."""
        return self.n - self.shift

    @property
    def pairs(self) -> int:
        """How many pairs the table holds."""
        return len(self.table) - self.shift

    def error(
        self, fitted: Choice, fit: Choice, tested: Choice, gap: Choice, size: Choice
    ) -> float:
        """The error, with each of its choices made in some way; NaN if there is nothing to test."""
        key = fitted, fit, tested, gap
        if key not in self._gaps:
            self._gaps[key] = self._gap(*key)
        found = self._gaps[key]
        with np.errstate(all="ignore"):
            return float(size.make(found, self)) if found.size else math.nan

    def _gap(self, fitted: Choice, fit: Choice, tested: Choice, gap: Choice) -> Array:
        if (fitted, fit) not in self._maps:
            pairs = fitted.make(self)
            self._maps[fitted, fit] = fit.make(self.before(pairs), self.after(pairs))
        return np.asarray(gap.make(self, self._maps[fitted, fit], tested.make(self)))

    def before(self, begins: range) -> Array:
        """The earlier positions of the pairs that begin here."""
        return np.asarray(self.table[np.array(begins, dtype=int)])

    def after(self, begins: range) -> Array:
        """The later positions of the pairs that begin here; behind the last one comes the first."""
        return np.asarray(self.table[(np.array(begins, dtype=int) + self.shift) % len(self.table)])


Begins: TypeAlias = Callable[[Setting], range]

_FITTED: tuple[tuple[str, str, Begins], ...] = (
    ("known-pairs", "", lambda s: range(s.known)),
    (
        "n-pairs-fitted",
        "You fit the map on n pairs, but only n − shift lie within the first n positions.",
        lambda s: range(min(s.n, s.pairs)),
    ),
    (
        "n-minus-1-pairs-fitted",
        "You fit the map on n − 1 pairs, but only n − shift lie within the first n positions.",
        lambda s: range(min(s.n - 1, s.pairs)),
    ),
    (
        "one-pair-more-fitted",
        "You fit the map on one pair more than lie within the first n positions.",
        lambda s: range(min(s.known + 1, s.pairs)),
    ),
    (
        "one-pair-less-fitted",
        "You fit the map on one pair fewer than lie within the first n positions.",
        lambda s: range(s.known - 1),
    ),
    (
        "fitted-from-1",
        "You fit the map on n − shift pairs, but the first of them begins at position 1.",
        lambda s: range(1, min(s.known + 1, s.pairs)),
    ),
    ("all-pairs-fitted", "You fit the map on all pairs of the table.", lambda s: range(s.pairs)),
    (
        "last-pairs-fitted",
        "You fit the map on the last n − shift pairs of the table instead of the first ones.",
        lambda s: range(s.pairs - s.known, s.pairs),
    ),
    (
        "every-shift-th-fitted",
        "Of the pairs within the first n positions, you fit the map only on every shift-th.",
        lambda s: range(0, s.known, s.shift),
    ),
    (
        "fitted-for-the-largest-n",
        "All your maps are fitted on the pairs of the largest n in `trained`.",
        lambda s: range(max(s.trained) - s.shift),
    ),
    (
        "fitted-for-the-first-n",
        "All your maps are fitted on the pairs of the first n in `trained`.",
        lambda s: range(s.trained[0] - s.shift),
    ),
    (
        "fitted-for-the-last-n",
        "All your maps are fitted on the pairs of the last n in `trained`.",
        lambda s: range(s.trained[-1] - s.shift),
    ),
)


def _least(x: Array, y: Array, cut: float = 1e-15) -> Array:
    return np.asarray(np.linalg.pinv(x, rcond=cut) @ y)


def _difference(x: Array, y: Array) -> Array:
    return np.asarray(_least(x, y - x) + np.eye(x.shape[1]))


_WAYS_TO_FIT = (
    Choice("least", "", _least),
    Choice(
        "difference-fitted",
        "You fit a map to the differences `table[t + shift] − table[t]`. Where many maps fit, the "
        "sum of this one and the identity isn't the one with the smallest entries.",
        _difference,
    ),
    Choice(
        "map-back-fitted",
        "You fit the map that leads back, from `table[t + shift]` to `table[t]`.",
        lambda x, y: _least(y, x),
    ),
    Choice(
        "means-subtracted",
        "You subtract the mean of the rows on both sides before you fit the map, as if there were "
        "a constant part.",
        lambda x, y: _least(x - x.mean(0), y - y.mean(0)),
    ),
    *(
        Choice(
            "small-singular-values-cut",
            "Your fit leaves out small singular values, as a large `rcond` or `rtol` does.",
            lambda x, y, cut=cut: _least(x, y, cut),
        )
        for cut in (0.3, 0.1, 0.03, 1e-2, 1e-3)
    ),
)

_TESTED: tuple[tuple[str, str, Begins], ...] = (
    ("all-others", "", lambda s: range(s.known, s.pairs)),
    ("all-pairs-tested", "Your error includes all pairs of the table.", lambda s: range(s.pairs)),
    (
        "fitted-pairs-tested",
        "You measure the error on the pairs within the first n positions.",
        lambda s: range(s.known),
    ),
    (
        "tested-from-n",
        "Your error leaves out pairs that begin within the first n positions but end beyond them.",
        lambda s: range(s.n, s.pairs),
    ),
    (
        "tested-from-n-minus-1",
        "Your error begins with the pair at n − 1, but the first one not within the first n "
        "positions begins at n − shift.",
        lambda s: range(s.n - 1, s.pairs),
    ),
    (
        "tested-one-later",
        "Your error leaves out the pair from n − shift to n, which isn't within the first n "
        "positions.",
        lambda s: range(s.known + 1, s.pairs),
    ),
    (
        "tested-one-earlier",
        "Your error includes the last pair within the first n positions.",
        lambda s: range(max(0, s.known - 1), s.pairs),
    ),
    (
        "last-pair-not-tested",
        "Your error leaves out the last pair of the table.",
        lambda s: range(s.known, s.pairs - 1),
    ),
    (
        "tested-around-the-end",
        "Your errors also count pairs that go round the end of the table, as `roll` makes them: "
        "from its last positions to its first ones.",
        lambda s: range(s.known, len(s.table)),
    ),
    (
        "only-gap-tested",
        "You test only the pairs that begin within the first n positions and end beyond them.",
        lambda s: range(s.known, min(s.n, s.pairs)),
    ),
    (
        "next-pairs-tested",
        "You test only the next n − shift pairs instead of all that follow.",
        lambda s: range(s.known, min(2 * s.known, s.pairs)),
    ),
    (
        "next-n-pairs-tested",
        "You test only the next n pairs instead of all that follow.",
        lambda s: range(s.known, min(s.known + s.n, s.pairs)),
    ),
    (
        "one-pair-tested",
        "You test only a single pair, the one that begins at n − shift.",
        lambda s: range(s.known, s.known + 1),
    ),
    (
        "only-last-pair-tested",
        "You test only a single pair, the last one of the table.",
        lambda s: range(s.pairs - 1, s.pairs),
    ),
    (
        "first-pairs-tested",
        "You test the map on all pairs but the last n − shift, instead of all but the first ones.",
        lambda s: range(s.pairs - s.known),
    ),
    (
        "tested-beyond-the-largest-n",
        "You test all your maps only beyond the largest n in `trained`.",
        lambda s: range(max(s.trained) - s.shift, s.pairs),
    ),
)


def _moved(s: Setting, fit: Array, begins: range) -> Array:
    return np.asarray(s.before(begins) @ fit - s.after(begins))


def _from_predictions(s: Setting, fit: Array, begins: range) -> Array:
    """Positions beyond the first n are predicted from predictions, one shift after the other."""
    made = np.array(s.table)
    for t in range(s.n, len(made)):
        made[t] = made[t - s.shift] @ fit
    ends = [t + s.shift for t in begins if t + s.shift < len(made)]
    return np.asarray((made - s.table)[np.array(ends, dtype=int)])


_GAPS = (
    Choice("moved", "", _moved),
    Choice(
        "compared-with-its-own-place",
        "You compare `table[t] @ M` with `table[t]`, the place it starts from, instead of "
        "`table[t + shift]`.",
        lambda s, fit, begins: s.before(begins) @ fit - s.before(begins),
    ),
    Choice(
        "from-predictions",
        "You predict from predicted positions again and again instead of from `table[t]`.",
        _from_predictions,
    ),
    Choice(
        "step-map-applied",
        "You apply the map of one shift `shift` times.",
        lambda s, fit, begins: _moved(s, np.linalg.matrix_power(fit, s.shift), begins),
    ),
    Choice(
        "map-transposed",
        "You apply the transpose of the map that you fitted.",
        lambda s, fit, begins: _moved(s, fit.T, begins),
    ),
)


def _divided(by: Callable[[Setting], float]) -> Callable[..., Any]:
    return lambda gap, s: np.sqrt((gap**2).sum() / by(s))


_MEASURES = (
    Choice("root-mean-square", "", lambda gap, s: np.sqrt((gap**2).mean())),
    *(
        Choice(
            "standard-deviation",
            "Your error is the standard deviation of the differences, which subtracts their mean "
            "first. Take the root of the mean of their squares.",
            lambda gap, s, less=less: gap.std(ddof=less),
        )
        for less in (0, 1)
    ),
    Choice(
        "no-root",
        "Your error is a mean of squares, without the root.",
        lambda gap, s: (gap**2).mean(),
    ),
    Choice(
        "half-mean-square",
        "Your error is half of the mean of the squares, without a root.",
        lambda gap, s: (gap**2).mean() / 2,
    ),
    Choice(
        "summed",
        "You take the root of the sum of the squares instead of their mean.",
        lambda gap, s: np.sqrt((gap**2).sum()),
    ),
    Choice(
        "squares-added",
        "Your error is the sum of the squares, with neither a mean nor a root.",
        lambda gap, s: (gap**2).sum(),
    ),
    Choice(
        "summed-over-channels",
        "You add up the squares over the channels instead of averaging them.",
        lambda gap, s: np.sqrt((gap**2).sum(axis=1).mean()),
    ),
    Choice(
        "summed-over-pairs",
        "You add up the squares over the pairs and average only over the channels.",
        lambda gap, s: np.sqrt((gap**2).sum(axis=0).mean()),
    ),
    Choice(
        "no-square",
        "Your error is the mean of the absolute differences, without a square.",
        lambda gap, s: np.abs(gap).mean(),
    ),
    Choice(
        "plain-mean",
        "Your error is the mean of the differences themselves, in which positive and negative ones "
        "cancel each other. Square them first.",
        lambda gap, s: np.abs(gap.mean()),
    ),
    Choice(
        "largest-pair",
        "You return the error of the worst pair instead of one over all pairs.",
        lambda gap, s: np.sqrt((gap**2).mean(axis=1)).max(),
    ),
    Choice(
        "largest-channel",
        "You return the error of the worst channel instead of one over all channels.",
        lambda gap, s: np.sqrt((gap**2).mean(axis=0)).max(),
    ),
    Choice(
        "longest-difference",
        "You return the length of the longest difference, a norm, instead of a root mean square.",
        lambda gap, s: np.sqrt((gap**2).sum(axis=1)).max(),
    ),
    Choice(
        "largest-difference",
        "You return the largest difference instead of the root of the mean square.",
        lambda gap, s: np.abs(gap).max(),
    ),
    Choice(
        "root-for-each-pair",
        "You take a root for each pair and average those instead of averaging all squares first.",
        lambda gap, s: np.sqrt((gap**2).mean(axis=1)).mean(),
    ),
    Choice(
        "root-for-each-channel",
        "You take a root for each channel and average those instead of averaging all squares "
        "first.",
        lambda gap, s: np.sqrt((gap**2).mean(axis=0)).mean(),
    ),
    Choice(
        "mean-length",
        "You average the lengths of the differences, with a root for each pair.",
        lambda gap, s: np.sqrt((gap**2).sum(axis=1)).mean(),
    ),
    Choice(
        "median",
        "You take the median of the absolute differences.",
        lambda gap, s: np.median(np.abs(gap)),
    ),
    Choice(
        "norm-by-pairs",
        "You divide the root of the sum of the squares by the number of pairs. The mean belongs "
        "under the root.",
        lambda gap, s: np.sqrt((gap**2).sum()) / len(gap),
    ),
    Choice(
        "norm-by-numbers",
        "You divide the root of the sum of the squares by their number. The mean belongs under "
        "the root.",
        lambda gap, s: np.sqrt((gap**2).sum()) / gap.size,
    ),
    *(
        Choice(
            f"divided-by-{name}",
            f"You divide the sum of the squares by {words} instead of by their number.",
            _divided(by),
        )
        for name, words, by in (
            ("n", "n", lambda s: s.n),
            ("n-c", "n · C", lambda s: s.n * s.table.shape[1]),
            ("l", "L, the number of positions", lambda s: len(s.table)),
            ("l-c", "L · C, the size of the table", lambda s: s.table.size),
            ("pairs", "the number of all pairs of the table", lambda s: s.pairs),
            (
                "pairs-c",
                "C times the number of all pairs of the table",
                lambda s: s.pairs * s.table.shape[1],
            ),
            ("fitted", "the number of pairs that the map was fitted on", lambda s: s.known),
            (
                "fitted-c",
                "C times the number of pairs that the map was fitted on",
                lambda s: s.known * s.table.shape[1],
            ),
        )
    ),
    Choice(
        "by-spread-of-the-table",
        "You divide your error by the standard deviation of the table.",
        lambda gap, s: np.sqrt((gap**2).mean()) / s.table.std(ddof=1),
    ),
)

_AXES: tuple[Sequence[Choice], ...] = (
    tuple(Choice(*one) for one in _FITTED),
    _WAYS_TO_FIT,
    tuple(Choice(*one) for one in _TESTED),
    _GAPS,
    _MEASURES,
)


def explanation(
    tables: Mapping[str, Array], mine: Mapping[str, Array], shift: int, trained: Sequence[int]
) -> tuple[Choice, ...]:
    """The one or two choices with which exactly these errors come out on all tables, if they are
    made in another way than the task says; empty if there are none.
    """
    asked = [
        (Setting(table, shift, int(n), tuple(map(int, trained))), float(error))
        for name, table in tables.items()
        for n, error in zip(trained, mine[name], strict=True)
    ]
    if not any(math.isfinite(error) for _, error in asked):
        return ()
    right = tuple(axis[0] for axis in _AXES)
    for count in (1, 2):
        for axes in combinations(range(len(_AXES)), count):
            for others in product(*(_AXES[axis][1:] for axis in axes)):
                made = list(right)
                for axis, other in zip(axes, others, strict=True):
                    made[axis] = other
                if all(_same(setting.error(*made), error) for setting, error in asked):
                    return others
    return ()


def _same(one: float, other: float) -> bool:
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return math.isfinite(one) and abs(one - other) <= _NEAR * (1 + abs(other))
