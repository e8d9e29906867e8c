"""What is wrong with weights that were solved for: which places are seen, by which factor scores
are off, and along which axis weights sum to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from course_judges.wording import number
from course_tasks.answers import Array

# Weights are read off numbers in single precision: smaller ones say little.
READABLE = 5e-3
# What rounding leaves of a weight of 0.
NOTHING = 1e-3
# How far two weights that are read off may differ in proportion.
_NEAR = 3e-2
# How far a divisor may be from the number that it seems to be.
_SAME = 5e-3
# So many scores rarely have one factor in common by chance.
_ENOUGH = 4


class Sight(NamedTuple):
    """The places that are seen and those that aren't, as far as weights tell."""

    seen: tuple[int, ...]
    unseen: tuple[int, ...]


def sight(mine: Array, right: Array, allowed: Array) -> Sight | None:
    """What queries that share a mask see, if all that they see has the right proportions.

    Parameters
    ----------
    mine, right : (n, S)
        The weights of n queries, as they are and as they should be.
    allowed : (S,) bool
        Which places they should see.
    """
    S = mine.shape[1]
    seen, unseen = np.zeros(S, dtype=bool), np.zeros(S, dtype=bool)
    for of_yours, of_right in zip(mine, right, strict=True):
        seen |= of_yours > READABLE
        # Where what should be hidden takes nearly all weight, the rest is too small to be read.
        readable = allowed & (of_right * of_yours[allowed].sum() > READABLE)
        there = readable & (abs(of_yours) > NOTHING)
        ratio = of_yours[there] / of_right[there]
        if len(ratio) and not np.allclose(ratio, ratio[0], rtol=_NEAR):
            return None
        unseen |= readable & ~there
    if (seen & unseen).any():
        return None
    unseen |= ~allowed & ~seen
    return Sight(*(tuple(int(s) for s in np.flatnonzero(of)) for of in (seen, unseen)))


def total_of_each(mine: Array, right: Array) -> Array | None:
    """What the weights (n, S) of each query sum to, if they have the right proportions but don't
    all sum to 1; None otherwise.
    """
    totals = np.asarray(mine.sum(axis=1))
    if abs(totals - 1).max() < READABLE or abs(totals).min() < READABLE:
        return None
    return totals if np.allclose(mine, totals[:, None] * right, atol=READABLE, rtol=_NEAR) else None


def of_no_softmax(mine: Array, right: Array, allowed: Array) -> str:
    """A sentence on weights (n, S) that no softmax gives, or that are equal at all places that are
    allowed, (n, S) bool; empty if there is nothing of the kind.
    """
    alike = np.where(allowed, 1 / np.maximum(1, allowed.sum(axis=1, keepdims=True)), 0)
    if allowed.sum(axis=1).max() > 1 and np.allclose(mine, alike, atol=NOTHING):
        return "Your weights are equal at all places that are seen, as if all scores were equal."
    if not (mine < -READABLE).any():
        return ""
    pairs = [
        (of_yours[both] - of_yours[both][0], np.log(of_right[both] / of_right[both][0]))
        for of_yours, of_right in zip(mine, right, strict=True)
        if (both := of_right > READABLE).sum() > 1
    ]
    if pairs and all(np.allclose(*pair, rtol=_NEAR, atol=_NEAR) for pair in pairs):
        return "Your weights are the scores themselves, but a softmax should come in between."
    return "Some of your weights are below 0, but a softmax gives no such weights."


def factor_of_scores(mine: Array, right: Array) -> float | None:
    """How many times as large as they should be the scores behind weights (n, S) are; None if they
    have no factor in common.
    """
    ours: list[float] = []
    theirs: list[float] = []
    for of_yours, of_right in zip(mine, right, strict=True):
        both = (of_yours > READABLE) & (of_right > READABLE)
        if both.sum() < 2:
            continue
        for logs, of in ((ours, of_yours), (theirs, of_right)):
            scores = np.log(of[both])
            logs.extend(scores[1:] - scores[0])
    a, b = np.array(ours), np.array(theirs)
    if len(a) < _ENOUGH or not (b @ b) > 0:
        return None
    factor = float((a @ b) / (b @ b))
    fits = np.allclose(a, factor * b, rtol=_NEAR, atol=_NEAR) and abs(factor - 1) > _NEAR
    return factor if fits and abs(factor) > _NEAR else None


def of_a_factor(factor: float, D: int, others: Mapping[str, int]) -> str:
    """A sentence on a factor of the scores, which should be divided by √D. `others` are numbers
    that somebody may have divided by, or by their root, by their names.
    """
    root = math.sqrt(D)
    if abs(factor + 1) < _NEAR:
        return "Your scores have the wrong sign, so the place with the largest one weighs least."
    begin = f"Your scores are {number(factor)} times as large as they should be"
    for times, said in (
        (root, f"as if you didn't divide them by √D = {number(root)}."),
        (D, f"as if you multiplied them by √D = {number(root)} instead of dividing by it."),
        (1 / root, f"as if you divided them by D = {D} instead of √D, or by √D twice."),
    ):
        if abs(factor / times - 1) < _SAME:
            return f"{begin}, {said}"
    divisor = root / factor
    ways = [(f"√{name}", math.sqrt(held)) for name, held in others.items()]
    ways += [(name, float(held)) for name, held in others.items()]
    names = [name for name, held in ways if abs(divisor / held - 1) < _SAME]
    which = f" {names[0]} =" if len(names) == 1 else ""
    return f"{begin}, as if you divided them by{which} {number(divisor)} instead of √D."


def of_one_place(mine: Array, right: Array) -> int | None:
    """The place whose weight alone is out of proportion in one query, (S,); None if more are, or
    if too few can be read.
    """
    places = np.flatnonzero((right > READABLE) & (mine > READABLE))
    if len(places) < 3:
        return None
    logs = np.log(mine[places] / right[places])
    off = abs(logs - np.median(logs)) > _NEAR
    return int(places[off][0]) if off.sum() == 1 else None
