"""What can be said of an array when no known mistake explains it: about its rows and columns, about
the future and about the batch.

Each function makes a property for `Task.properties`. Given the evidence, the property returns a
finding if it fails and None if it holds.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_judges.judging import Evidence, Property
from course_judges.wording import number, numbers_apart
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Section

_SMALL = 1e-4

# A smaller weight counts as 0. Rounding in float32 leaves less, and every mistake leaves more.
NEGLIGIBLE = 1e-5


def integers(evidence: Evidence, *values: str) -> bool:
    """True if these arrays of an answer hold integers, as tokens and positions have to."""
    return all(evidence.yours(value).dtype.kind in "iu" for value in values)


def holds_integers(values: tuple[str, ...], section: Section) -> Property:
    """Arrays that are right except for their type must hold integers."""

    def ask(evidence: Evidence) -> Finding | None:
        if not evidence.same(*values) or integers(evidence, *values):
            return None
        off = next(value for value in values if not integers(evidence, value))
        return Finding(
            "kind-of-number",
            f"Your numbers are right, but `{off.partition('.')[2]}` doesn't hold integers.",
            "An embedding and a loss need tokens as integers, but `torch.zeros` makes decimal "
            "numbers unless you pass `dtype=torch.long`.",
            section,
        )

    return ask


def rows_sum_to_one(value: str, section: Section) -> Property:
    """Rows of a (…, T, S) array of weights must sum to 1 wherever those of the reference do."""

    def ask(evidence: Evidence) -> Finding | None:
        mine, right = evidence.yours(value).sum(-1), evidence.right(value).sum(-1)
        gap = np.where(np.abs(right - 1) < _SMALL, np.abs(mine - 1), 0.0)
        if not (gap > _SMALL).any():
            return None
        worst = np.unravel_index(int(gap.argmax()), gap.shape)
        columns = evidence.yours(value).sum(-2)
        total, _ = numbers_apart(float(mine[worst]), 1.0)
        effect = f"Row {worst[-1]} sums to {total}, but the weights of an average sum to 1."
        if np.allclose(columns, 1, atol=_SMALL):
            effect += " Your columns sum to 1 instead, so you divided along the other axis."
        what = "The rows of your weights don't sum to 1."
        return Finding("rows-do-not-sum-to-one", what, effect, section)

    return ask


def no_weight_on_the_future(value: str, section: Section) -> Property:
    """Entry (t, s) of a (…, T, T) array must be 0 for every s > t."""

    def ask(evidence: Evidence) -> Finding | None:
        mine = evidence.yours(value)
        wrong = np.argwhere(np.abs(np.triu(mine, 1)) > _SMALL)
        if not len(wrong):
            return None
        *_, t, s = (int(i) for i in wrong[0])
        return Finding(
            "sees-the-future",
            "Your answer sees the future.",
            f"Row {t} gives weight {mine[tuple(wrong[0])]:.3g} to position {s}, "
            "which comes after it.",
            section,
        )

    return ask


def unchanged_by_the_future(before: str, after: str, position: str, section: Section) -> Property:
    """Outputs (B, T, …) before some position must not change when only that position of the input
    and later ones do.

    `before` and `after` are two cases whose inputs differ from the position on that the input named
    `position` holds.
    """

    def ask(evidence: Evidence) -> Finding | None:
        t = evidence.number(position)
        gap = np.abs(evidence.yours(before)[:, :t] - evidence.yours(after)[:, :t])
        if gap.size == 0 or gap.max() <= _SMALL:
            return None
        moved = int(np.argwhere(gap > _SMALL)[0][1])
        return Finding(
            "sees-the-future",
            "Your answer sees the future.",
            f"Position {moved} of your output changes "
            f"when only positions from {t} on change in the input.",
            section,
        )

    return ask


def unchanged_by_other_samples(before: str, after: str, section: Section) -> Property:
    """Output 0 of the batch must not change when only sample 1 and later ones do.

    `before` and `after` are two cases whose inputs differ in every sample but the first.
    """

    def ask(evidence: Evidence) -> Finding | None:
        gap = np.abs(evidence.yours(before)[0] - evidence.yours(after)[0])
        if gap.size == 0 or gap.max() <= _SMALL:
            return None
        return Finding(
            "mixes-the-batch",
            "In your answer, the samples of a batch see each other.",
            "Sample 0 of your output changes when only the other samples of the input change.",
            section,
        )

    return ask


def right_when_called_again(
    first: tuple[str, ...], again: tuple[str, ...], section: Section
) -> Property:
    """A module that is right when it is called must be right when it is called again.

    `first` are values of modules that were called for the first time, and `again` are those of a
    second call of the same module, on a shorter text.
    """

    def ask(evidence: Evidence) -> Finding | None:
        if not evidence.same(*first) or evidence.same(*again):
            return None
        return Finding(
            "wrong-when-called-again",
            "Your module is right when it is called for the first time, but wrong the next time.",
            "The second text is shorter than the first. Does the module keep something from one "
            "call to the next, such as a mask or a list of results? Or does it rely on a fixed "
            "length?",
            section,
        )

    return ask


def scores_times_a_factor(
    value: str, scores: Callable[[Evidence], Array], section: Section
) -> Property:
    """Weights (…, T, S) that are the softmax of the right scores times some factor.

    `scores` gives them, with −inf where something is hidden.
    """

    def ask(evidence: Evidence) -> Finding | None:
        mine = np.asarray(evidence.yours(value), dtype=np.float64)
        given = scores(evidence)
        if mine.shape != given.shape or not np.isfinite(mine).all():
            return None
        seen = np.isfinite(given) & (mine > 1e-12)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(seen, np.log(mine), 0.0)
        count = np.maximum(seen.sum(-1, keepdims=True), 1)
        a = np.where(seen, logs - logs.sum(-1, keepdims=True) / count, 0.0)
        known = np.where(seen, given, 0.0)
        b = np.where(seen, known - known.sum(-1, keepdims=True) / count, 0.0)
        factor = float((a * b).sum() / (b * b).sum())
        if abs(factor - 1) < _SMALL or abs(factor) < _SMALL:
            return None
        if not np.allclose(a, factor * b, atol=1e-3):
            return None
        return Finding(
            "scores-times-a-factor",
            "Your weights are the softmax of the right scores times a factor.",
            f"The factor is {number(factor)}, so {_of_a_factor(factor)}",
            section,
        )

    return ask


def _of_a_factor(factor: float) -> str:
    """What happens to weights if their scores are multiplied by a factor."""
    if factor < 0:
        return "the largest score gets the smallest weight."
    how = "sharper" if factor > 1 else "flatter"
    powers = (
        " That is log 2, so you have powers of 2 instead of e."
        if np.isclose(factor, np.log(2))
        else ""
    )
    return f"your rows are {how} than they should be.{powers}"
