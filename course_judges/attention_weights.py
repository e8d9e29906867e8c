"""What a table of attention weights shows: over which positions it is a softmax, of which scores,
and by what these were divided.

Judges use it for weights that an answer returns, and for weights that follow from its output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from course_judges.wording import first_upper, listed, number, numbers_apart, row
from course_tasks.answers import Array

# A smaller weight is taken for 0, since those that follow from outputs are rounded.
_NOTHING = 1e-5
# Weights that follow from outputs are no better than this where they should be 0.
_ROUNDING = 1e-6
# Weights that follow from outputs in float32 are known about as well as this.
_EXACT = 5e-4


def rows_beside(mine: Array, right: Array) -> tuple[str, str]:
    """Two rows with two digits, or with as many as it takes to see that they aren't the same."""
    for digits in range(2, 8):
        shown = row(mine, digits), row(right, digits)
        if shown[0] != shown[1]:
            return shown
    return row(mine), row(right)


def softmax(scores: Array, seen: Array) -> Array:
    """Weights (…, S) of scores over what is seen; 0 in rows that see nothing."""
    masked = np.where(seen, scores.astype(float), -np.inf)
    top = masked.max(axis=-1, keepdims=True)
    powers = np.exp(masked - np.where(np.isfinite(top), top, 0.0))
    sums = powers.sum(axis=-1, keepdims=True)
    return np.asarray(powers / np.where(sums == 0, 1.0, sums))


def weights_on(values: Array, found: Array) -> Array | None:
    """The weights (n,) with which vectors (n, D) add up to what was found (D,); None if there are
    none, or more than one choice of them.
    """
    values, found = values.astype(float), found.astype(float)
    if len(values) > values.shape[1] or not np.isfinite(found).all():
        return None
    weights: Array = np.linalg.lstsq(values.T, found, rcond=None)[0]
    return weights if np.allclose(weights @ values, found, rtol=1e-3, atol=1e-3) else None


def weights_behind(found: Array, values: Array) -> Array | None:
    """The weights (B, T, S) with which values (B, S, E) make outputs (B, T, E).

    None if some output is no mixture of its values, or of more than one. Where there are as many
    values as channels, every output is a mixture, so these weights have to look like weights.
    """
    found, values = found.astype(float), values.astype(float)
    if values.shape[1] > values.shape[2] or not np.isfinite(found).all():
        return None
    solved = (
        np.linalg.lstsq(own.T, ones.T, rcond=None)[0].T
        for own, ones in zip(values, found, strict=True)
    )
    weights = np.stack(list(solved))
    if not np.allclose(weights @ values, found, rtol=1e-3, atol=1e-3):
        return None
    if values.shape[1] == values.shape[2] > 1 and (weights < -_EXACT).any():
        return None
    return np.where(np.abs(weights) < _ROUNDING, 0.0, weights)


def causal_divisor(found: Array, products: Array, values: Array) -> float | None:
    """What a causal head divided its products of queries and keys by, if that is all that matters.

    Parameters
    ----------
    found : (B, T, D) float
        Its outputs.
    products : (B, T, T) float
        The right scores before they are scaled.
    values : (B, T, D) float
    """
    if products.shape[-1] < 2:
        return None
    apart = values[0, 0] - values[0, 1]
    share = float((found[0, 1] - values[0, 1]) @ apart / (apart @ apart))  # on position 0
    if not 0 < share < 1:
        return None
    logit = np.log(share / (1 - share))
    divisor = float((products[0, 1, 0] - products[0, 1, 1]) / logit) if logit else np.inf
    past = np.tril(np.ones(products.shape, dtype=bool))
    right = softmax(products / divisor, past) @ values
    return divisor if np.allclose(found, right, rtol=1e-3, atol=2e-3) else None


def of_another_sample(found: Array, weights: Array, values: Array) -> tuple[int, int] | None:
    """A sample whose right weights meet the values of another one, and which; None if there is
    none.

    Parameters
    ----------
    found : (B, T, E) float
        Outputs of an answer.
    weights : (B, B, T, S) float
        Those of each sample, if it reads the keys of each other one.
    values : (B, S, E) float
    """
    for b, other in np.ndindex(weights.shape[:2]):
        alone = np.allclose(found[b], weights[b, other] @ values[other], rtol=1e-4, atol=1e-4)
        if b != other and alone:
            return b, other
    return None


def masks_taken(found: Array, scores: Array, values: Array, seen: Array) -> Array | None:
    """Which sample's mask each head of each sample used.

    Parameters
    ----------
    found : (B, T, H, D) float
        What the heads of an answer found.
    scores : (B, H, T, S) float
        The right ones, before anything is hidden.
    values : (B, S, H, D) float
    seen : (B, S) bool
        True where a sample may look; no two samples need differ.

    Returns
    -------
    (B, H) int, or None
        A head's own sample wherever its own mask explains what it found. None if the mask of no
        sample explains a head, or if all heads have their own.
    """
    B, H = scores.shape[:2]
    taken = np.empty((B, H), dtype=int)
    for b, h in np.ndindex(B, H):
        for other in (b, *(n for n in range(B) if n != b)):
            made = softmax(scores[b, h], np.broadcast_to(seen[other], scores.shape[2:]))
            if np.allclose(found[b, :, h], made @ values[b, :, h], rtol=1e-3, atol=1e-3):
                taken[b, h] = other
                break
        else:
            return None
    return None if (taken == np.arange(B)[:, None]).all() else taken


def no_mixture(mine: Array, right: Array) -> str:
    """Where to look if outputs are no mixture of the values that they should be made of."""
    if (mine >= 0).all() and (right < 0).any():
        return "None of your numbers is negative, as after a ReLU."
    if np.abs(mine - right).max() < 1e-2 * np.abs(right).max():
        return "Your outputs are right to about two digits. Do you round, or compute in `half`?"
    many = mine.shape[-1] > 2 and mine.shape[:-1] != (1, 1)
    if many and np.abs(mine.mean(axis=-1)).max() < 1e-3 and np.ptp(mine.std(axis=-1)) < 2e-2:
        return "Each of your outputs has mean 0 and the same spread, as after a layer norm."
    return "Are the values what `value` gives, and is the output returned as it is?"


def named_divisor(divisor: float, dimensions: Mapping[str, int], exact: float = _EXACT) -> str:
    """What a divisor of scores is in terms of dimensions, as in "√C" or "D / 2", or all of that if
    several fit; empty if none does. The head size has to be called D, and the divisor is known but
    for this share of it.
    """
    D = dimensions["D"]
    ways: list[tuple[str, float]] = [
        ("D / 2", D / 2),
        ("2 · D", 2 * D),
        ("D", D),
        ("1 / √D", D**-0.5),
        ("the fourth root of D", D**0.25),
        ("√(D / 2)", (D / 2) ** 0.5),
        ("√(2 · D)", (2 * D) ** 0.5),
        ("⌊√D⌋", math.isqrt(D)),
        ("⌊D / 2⌋", D // 2 if D % 2 else 0),
        ("2 · √D", 2 * D**0.5),
        ("√D / 2", D**0.5 / 2),
        ("D²", D**2),
        ("log D", math.log(D) if D > 1 else 0.0),
        *((f"√{name}", held**0.5) for name, held in dimensions.items() if name != "D"),
        *((name, held) for name, held in dimensions.items() if name != "D"),
        *(
            (f"√({name} · D)", (held * D) ** 0.5)
            for name, held in dimensions.items()
            if name != "D"
        ),
        *(
            (f"√({name} / D)", (held / D) ** 0.5)
            for name, held in dimensions.items()
            if name != "D"
        ),
    ]
    return " or ".join(name for name, held in ways if held and abs(divisor / held - 1) < exact)


_PRECEDENCE = {
    "D / 2": "`D ** 1 / 2` is that, because `**` binds more tightly than `/`, and so is `D // 2` "
    "if D is even. Write `D ** 0.5`.",
    "2 · D": "This happens with `/ D ** 1 / 2`, which divides by D ** 1 and then by 2. Write "
    "`D ** 0.5`.",
    "⌊√D⌋": "That is the root without its decimals, as `int(…)` and `//` leave it.",
}


def divided_by(divisor: float, dimensions: Mapping[str, int], exact: float = _EXACT) -> str:
    """A sentence on what scores were divided by, if it wasn't √D."""
    D = dimensions["D"]
    name = named_divisor(divisor, dimensions, exact)
    taken, root = numbers_apart(divisor, D**0.5)
    told = (
        f"You divide the scores by {taken}, which is {name}, but √D is {root}."
        if name
        else f"Your weights fit scores divided by {taken}, but √D is {root}."
    )
    return f"{told} {_PRECEDENCE.get(name, '')}".strip()


@dataclass(frozen=True)
class Weights:
    """Weights beside the scores and the mask that make the right ones.

    Attributes
    ----------
    mine : (B, T, S) float
    scores : (B, T, S) float
        The right ones, before anything is hidden.
    seen : (B, T, S) bool
        True where a position may be seen.
    dimensions : mapping of str to int
        Among them D, the head size; empty if the scores came scaled.
    solved : bool
        Whether they follow from outputs, so that nobody computed them if outputs come otherwise.
    """

    mine: Array
    scores: Array
    seen: Array
    dimensions: Mapping[str, int]
    solved: bool = False

    @cached_property
    def right(self) -> Array:
        """(B, T, S) The right weights."""
        return softmax(self.scores, self.seen)

    @cached_property
    def _on(self) -> Array:
        """(B, T, S) True where a position has weight in the answer."""
        return np.asarray(np.abs(self.mine) > _NOTHING)

    @cached_property
    def _rows(self) -> Array:
        """(B, T) True for the rows that see something."""
        return np.asarray(self.seen.any(axis=-1))

    def _equal(self, other: Array) -> bool:
        return bool(np.allclose(self.mine[self._rows], other[self._rows], atol=_EXACT))

    @cached_property
    def worst(self) -> tuple[int, int]:
        """The sample and the position whose weights are farthest off."""
        gap = np.where(self._rows, np.abs(self.mine - self.right).max(axis=-1), -1.0)
        b, t = np.unravel_index(int(np.nanargmax(gap)), gap.shape)
        return int(b), int(t)

    def told(self) -> tuple[str, str] | None:
        """Two sentences on what makes these weights; None if nothing general is known."""
        return self._first_of(
            self._nothing_seen,
            self._all_equal,
            self._one_hot,
            self._of_other_positions,
            self._of_a_factor,
            self._same_rows,
            self._of_a_fill,
            self._twice,
            self._of_all_softmaxes,
            self._turned,
            self._of_moved_scores,
            self._of_bent_scores,
            self._nearly_right,
            self._own_added,
            self._cut_late,
            self._right_shares,
        )

    def described(self) -> tuple[str, str]:
        """The same, or else how a row of these weights differs from the right one."""
        b, t = self.worst
        found = self.told() or self._first_of(self._no_average, self._sums, self._of_other_scores)
        zero = self.solved and (self.mine[b, t] == 0).any()
        rounded = f" A 0 in your row may be a weight below {number(_ROUNDING)}." if zero else ""
        return found or (
            "Your weights are wrong.",
            f"{self.row()} The right scores of this row are {row(self.scores[b, t])}.{rounded}",
        )

    def _first_of(self, *asked: Callable[[], tuple[str, str] | None]) -> tuple[str, str] | None:
        if not np.isfinite(self.mine).all() or self._equal(self.right):
            return None
        return next((said for ask in asked if (said := ask()) is not None), None)

    def _nothing_seen(self) -> tuple[str, str] | None:
        if self._on.any() or self.mine.size == 1:
            return None
        return (
            "All your weights are 0.",
            "Every row of weights should sum to 1. A mask that hides everything gives rows of NaN, "
            "and so does a product like 0 · (−inf), which is NaN itself. `nan_to_num` turns NaN "
            "into 0, so look at your scores after masking, before the softmax.",
        )

    def _of_other_positions(self) -> tuple[str, str] | None:
        """A right softmax of the right scores, but over other positions."""
        on = self._on
        if not self._equal(softmax(self.scores, on)):
            return None
        # Beside these, some scores are so low that weights don't tell if they were hidden.
        top = np.where(on, self.scores.astype(float), -np.inf).max(axis=-1, keepdims=True)
        low = self.scores - np.where(np.isfinite(top), top, np.inf) < np.log(_NOTHING)
        on = on | (self.seen & low & on.any(axis=-1, keepdims=True))
        more, less = on & ~self.seen, self.seen & ~on
        more, less = (which & self._rows[:, :, None] for which in (more, less))
        if not (more.any() or less.any()):
            return None
        off = (more | less).any(axis=-1)
        b, t = (int(i) for i in np.argwhere(off)[0])
        told = (
            f"Row {t} of sample {b} gives weight to {_positions(on[b, t])}, but it should give "
            f"weight to {_positions(self.seen[b, t])}."
        )
        rows = f"{int(off.sum())} of {int(self._rows.sum())} rows are like that"
        which = _only_some(off) + _begins_and_ends(on, self.seen)
        return (
            "Your weights are a softmax of the right scores, but over the wrong positions.",
            f"{told} {rows}{which}. {_kind_of(more, less)}".strip(),
        )

    def _of_a_factor(self) -> tuple[str, str] | None:
        """The softmax of the right scores times a factor."""
        counted = self.seen & (self.mine > 1e-5)
        if (self.mine[~self.seen] > _EXACT).any() or not counted.any():
            return None
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(counted, np.log(np.where(counted, self.mine, 1.0)), 0.0)
        count = np.maximum(counted.sum(-1, keepdims=True), 1)
        a = np.where(counted, logs - logs.sum(-1, keepdims=True) / count, 0.0)
        known = np.where(counted, self.scores.astype(float), 0.0)
        c = np.where(counted, known - known.sum(-1, keepdims=True) / count, 0.0)
        square = float((c * c * self.mine.clip(0, 1)).sum())
        if square < 1e-9:
            return None
        factor = float((a * c * self.mine.clip(0, 1)).sum() / square)
        if abs(factor - 1) < 1e-3 or not self._equal(softmax(factor * self.scores, self.seen)):
            return None
        if abs(factor) < 1e-3:
            return (
                "All positions that may be seen get the same weight in your answer.",
                f"{self.row()} The weights should follow the scores of queries and keys.",
            )
        if factor < 0:
            return (
                "Your scores have the wrong sign, so what fits best gets the least weight.",
                self.row(),
            )
        if "D" not in self.dimensions:
            return (
                "Your weights are the softmax of the right scores times a factor.",
                f"The factor is {number(factor)}. {self.row()}",
            )
        divisor = self.dimensions["D"] ** 0.5 / factor
        if abs(divisor - 1) < 1e-3:
            return ("You didn't divide the scores by √D.", self.row())
        return (
            "Your weights would be right with another scale.",
            f"{divided_by(divisor, self.dimensions)} {self.row()}",
        )

    def _of_a_fill(self) -> tuple[str, str] | None:
        """What should be hidden has one and the same score instead of −inf."""
        on = self.mine > 1e-6
        counted = self._rows & (on & ~self.seen).any(axis=-1) & (on & self.seen).any(axis=-1)
        if not counted.any():
            return None
        mine, seen, shown = self.mine[counted], self.seen[counted], on[counted]  # (N, S)
        scores = self.scores[counted].astype(float)
        best = np.where(seen & shown, scores, -np.inf).argmax(axis=-1)
        rows = np.arange(len(best))
        offset = np.log(mine[rows, best]) - scores[rows, best]
        implied = np.log(np.where(shown, mine, 1.0)) - offset[:, None]
        fill = float(np.median(implied[~seen & shown]))
        filled = np.where(self.seen, self.scores.astype(float), fill)
        if not self._equal(softmax(filled, on | self.seen)):
            return None
        return (
            "You give some of what should be hidden a score of its own instead of −inf.",
            f"That score is about {number(round(fill, 4))}. {self.row()} Only −inf is below every "
            "score, and e to the power of −inf is exactly 0.",
        )

    def _all_equal(self) -> tuple[str, str] | None:
        share = 1 / self.mine.shape[-1]
        if not self._equal(np.full_like(self.mine, share)):
            return None
        return (
            f"All your weights are {number(share)}, whatever the scores are and what is hidden.",
            self.row(),
        )

    def _same_rows(self) -> tuple[str, str] | None:
        alike = np.ptp(self.mine, axis=1).max() < 1e-3
        if self.mine.shape[1] < 2 or not alike or np.ptp(self.right, axis=1).max() < 1e-2:
            return None
        return (
            "All positions of a text have the same weights in your answer.",
            f"{self.row()} Each position should ask with a query of its own.",
        )

    def _one_hot(self) -> tuple[str, str] | None:
        best = np.where(self.seen, self.scores, -np.inf).argmax(axis=-1)
        if not self._equal(np.eye(self.mine.shape[-1])[best]):
            return None
        return (
            "Each position takes only the value with the largest score.",
            f"{self.row()} A softmax gives all visible positions a share.",
        )

    def _twice(self) -> tuple[str, str] | None:
        everything = np.ones_like(self.seen)
        for first, over in (
            (self.right, self.seen),
            (self.right, everything),
            (softmax(self.scores, everything), self.seen),
        ):
            if self._equal(softmax(first, over)):
                return (
                    "You took a softmax of the weights, which have been through a softmax already.",
                    f"{self.row()} A second softmax makes them nearly equal, and it gives weight "
                    "to what the first one hid. Does a function that you call take one, too?",
                )
        return None

    def _of_all_softmaxes(self) -> tuple[str, str] | None:
        """A softmax along another axis, or over several."""
        masked = np.where(self.seen, self.scores.astype(float), -np.inf)
        full = self.scores.astype(float)
        for axis, what in (
            ((0,), "over the samples of the batch"),
            ((1,), "down the columns, over the queries"),
            ((1, 2), "over a whole table at once"),
            ((0, 1, 2), "over all samples at once"),
        ):
            if all(self.mine.shape[a] == 1 for a in axis):
                continue
            for scores in (masked, full):
                top = scores.max(axis=axis, keepdims=True)
                powers = np.exp(scores - np.where(np.isfinite(top), top, 0.0))
                sums = powers.sum(axis=axis, keepdims=True)
                if self._equal(powers / np.where(sums == 0, 1.0, sums)):
                    total = self.mine[self.worst].sum()
                    return (
                        f"Your softmax runs {what}.",
                        f"Row {self.worst[1]} of sample {self.worst[0]} sums to {number(total)}, "
                        "but each row has to be an average of its own: `dim=-1`.",
                    )
        return None

    def _turned(self) -> tuple[str, str] | None:
        if self.scores.shape[-1] != self.scores.shape[-2]:
            return None
        if self._equal(softmax(self.scores.swapaxes(-1, -2), self.seen)):
            return ("You exchanged queries and keys.", self.row())
        return None

    def _of_moved_scores(self) -> tuple[str, str] | None:
        for moved, how in (
            (self.scores[..., ::-1], "in reverse order"),
            (np.roll(self.scores, 1, axis=-1), "one position too late"),
            (np.roll(self.scores, -1, axis=-1), "one position too early"),
        ):
            if self._equal(softmax(moved, self.seen)):
                return (
                    f"Your weights come from the right scores, but each row has them {how}.",
                    f"{self.row()} Keys and values of one position have to be in the same place.",
                )
        return None

    def _of_bent_scores(self) -> tuple[str, str] | None:
        scores = self.scores.astype(float)
        for bent, how in (
            (np.abs(scores), "without their signs"),
            (np.maximum(scores, 0.0), "with 0 for all that are negative, as after a ReLU"),
            (np.tanh(scores), "after a tanh"),
        ):
            if self._equal(softmax(bent, self.seen)):
                return (f"Your weights are a softmax of the right scores {how}.", self.row())
        return None

    def _nearly_right(self) -> tuple[str, str] | None:
        gap = np.abs(self.mine - self.right)[self._rows].max()
        if gap > 6e-3:
            return None
        return (
            "Your weights are right to two or three digits, but no better.",
            f"The largest difference is {number(float(gap))}. Do you round, or compute in `half` "
            "or `bfloat16`? float32 is good for six digits.",
        )

    def _off_sum(self) -> tuple[int, int] | None:
        """A sample and a row whose sum isn't 1; the farthest off if it is one of them."""
        off = self._rows & (np.abs(self.mine.sum(axis=-1) - 1) > 2e-3)
        if not off.any():
            return None
        b, t = self.worst if off[self.worst] else np.argwhere(off)[0]
        return int(b), int(t)

    def _sum(self, b: int, t: int) -> str:
        return f"row {t} of sample {b} sums to {number(float(self.mine[b, t].sum()))}"

    def _own_added(self) -> tuple[str, str] | None:
        more, place = self.mine - self.right, self._off_sum()
        if place is None or more.shape[-1] != more.shape[-2]:
            return None
        own = np.eye(more.shape[-1])
        times = float((more * own).sum(axis=(1, 2)).mean() / len(own))
        if abs(times) < 1e-2 or not self._equal(self.right + times * own):
            return None
        return (
            "Beside what it finds, each position adds its own value, too.",
            f"Your weights are the right ones plus {number(times)} on the diagonal, so "
            f"{self._sum(*place)}.",
        )

    def _cut_late(self) -> tuple[str, str] | None:
        everything = softmax(self.scores, np.ones_like(self.seen))
        if self.seen.all() or not self._equal(np.where(self.seen, everything, 0.0)):
            return None
        return (
            "You took the softmax first and removed the hidden positions afterwards.",
            f"{self.row()} The weight of what is hidden is missing, so the rest of a row doesn't "
            "sum to 1. Hide scores before the softmax.",
        )

    def _right_shares(self) -> tuple[str, str] | None:
        sums, place = self.mine.sum(axis=-1), self._off_sum()
        full = sums[self._rows & (sums != 0)]
        if place is None or np.abs(full - 1).max(initial=0.0) < 2e-3:
            return None
        # A row is known as well as its outputs, whatever it sums to.
        rounding = 5 * _EXACT * np.abs(sums) + 2 * _NOTHING
        off = np.abs(self.mine - sums[..., None] * self.right) > rounding[..., None]
        if off[self._rows].any():
            return None
        apart = sums[self._rows]
        if np.ptp(apart) < 1e-3:
            total = float(apart.mean())
            ways = (
                (told.format(name), value)
                for name, held in self.dimensions.items()
                for told, value in (("1 / {}", 1 / held), ("1 / √{}", held**-0.5), ("{}", held))
            )
            known = [name for name, value in ways if abs(total - value) < 1e-3]
            which = f", which is {' or '.join(known)}" if known else ""
            span = f"All rows sum to {number(total)}{which}"
        else:
            span = f"The rows sum to {number(float(apart.min()))} … {number(float(apart.max()))}"
            if self.mine.shape[1] > 1 and np.abs(sums.sum(axis=1) - 1).max() < 2e-3:
                span += ", and all rows of a sample together to 1"
            elif self.mine.shape[1] > 1 and abs(sums.sum() - 1) < 2e-3:
                span += ", and all rows of all samples together to 1"
        return (
            "Your weights have the right proportions, but their rows don't sum to 1.",
            f"{span}; for example, {self._sum(*place)}. What you divide a row by has to be the sum "
            "of that row, and nothing may be multiplied, added or cut out afterwards.",
        )

    def _no_average(self) -> tuple[str, str] | None:
        """Outputs that aren't averages, so that a sum of weights would mislead."""
        if not self.solved or (self.mine > -2e-3).all():
            return None
        b, t = (int(i) for i in np.argwhere((self.mine <= -2e-3).any(axis=-1))[0])
        return (
            "Your outputs aren't averages of the right values.",
            f"Only with weights like {row(self.mine[b, t])} would these values make your output in "
            f"row {t} of sample {b}. No softmax returns negative ones; the right ones are "
            f"{row(self.right[b, t])}. So check the values, the softmax, and what comes after it.",
        )

    def _sums(self) -> tuple[str, str] | None:
        place = self._off_sum()
        if place is None:
            return None
        return (
            "The rows of your weights don't sum to 1.",
            f"{first_upper(self._sum(*place))}. {self.row(*place)}",
        )

    def _of_other_scores(self) -> tuple[str, str] | None:
        """A softmax over the right positions, but of other scores."""
        b, t = self.worst
        seen, mine = self.seen[b, t], self.mine[b, t]
        hidden = bool((mine[~seen] > _EXACT).any())
        over = np.ones_like(seen) if hidden else seen
        if abs(mine.sum() - 1) > _EXACT or (mine[over] < 1e-6).any() or over.sum() < 2:
            return None
        right = self.scores[b, t][over].astype(float)
        implied = np.log(mine[over])
        # A softmax leaves a number open. It is chosen so that most scores are the right ones.
        shifts = right - implied
        implied += max(shifts, key=lambda one: int((np.abs(shifts - one) < 1e-2).sum()))
        where = f" It should see {_positions(seen)}, but all of them get weight." if hidden else ""
        return (
            "Your weights are a softmax of other scores than the right ones.",
            f"The right scores of row {t} of sample {b} are {row(right)}. Your row is what a "
            f"softmax makes of {row(implied)}, or of these with one number added to all.{where}",
        )

    def row(self, b: int | None = None, t: int | None = None) -> str:
        """A row beside the right one; the one that is farthest off if none is given."""
        if b is None or t is None:
            b, t = self.worst
        mine, right = rows_beside(self.mine[b, t], self.right[b, t])
        return f"Row {t} of sample {b} is {mine}, but it should be {right}."


def _positions(which: Array) -> str:
    """Positions in words: "positions 0 to 4", "position 3", "nothing"."""
    held = np.flatnonzero(which)
    if not len(held):
        return "nothing"
    if len(held) == 1:
        return f"position {held[0]} only"
    if len(held) == held[-1] - held[0] + 1:
        return f"positions {held[0]} to {held[-1]}"
    return f"positions {listed(held)}"


def _only_some(off: Array) -> str:
    """Which samples or positions are right, if the wrong ones are told by that."""
    samples, positions = (~np.asarray(off.any(axis=axis)) for axis in (1, 0))
    if samples.any() and len(samples) > 1:
        return f", none of them in sample {listed(np.flatnonzero(samples))}"
    if positions.any():
        return f", none of them at position {listed(np.flatnonzero(positions))}"
    return ""


def _begins_and_ends(on: Array, seen: Array) -> str:
    """Between which positions each sample has weights, if that is wrong in some; ends the sentence
    before.
    """
    told = []
    for word, moved in (("begin", slice(None)), ("end", slice(None, None, -1))):
        mine, right = (np.argmax(np.any(one, axis=1)[:, moved], axis=-1) for one in (on, seen))
        if moved.step is not None:
            mine, right = (seen.shape[-1] - 1 - one for one in (mine, right))
        if len(mine) > 1 and (mine != right).any():
            told.append(f"{word} at positions {listed(mine)} instead of {listed(right)}")
    return f". Sample by sample, weights {' and '.join(told)}" if told else ""


def _kind_of(more: Array, less: Array) -> str:
    """Where in the table there is weight too many and too few: in the future, at the diagonal."""
    if more.shape[-1] != more.shape[-2]:
        return ""
    t, s = np.indices(more.shape[1:])
    said = []
    if more.any() and not more[:, s <= t].any():
        said.append("All that they see too much lies in the future.")
    if less.any() and not less[:, s != t].any():
        said.append("All that they leave out is the position itself.")
    return " ".join(said)
