"""What can be said about rows of probabilities, some of which should be 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from course_judges.ch08_gpt.sections import CHOICE
from course_judges.judging import Evidence, Property
from course_judges.wording import listed, number
from course_tasks.verdict import Finding


def sets_agree(value: str) -> Callable[[Evidence], bool]:
    """True if the answer is positive exactly where the reference is, and 0 elsewhere."""

    def ask(evidence: Evidence) -> bool:
        if not evidence.comparable(value):
            return False
        mine, right = evidence.yours(value), evidence.right(value)
        allowed = np.isfinite(mine).all() and (mine >= 0).all()
        return bool(allowed and ((mine > 1e-9) == (right > 0)).all())

    return ask


def exactly_zero(*values: str) -> Callable[[Evidence], bool]:
    """True if the symbols to be cut have a probability of exactly 0, not a small number."""

    def ask(evidence: Evidence) -> bool:
        return all((evidence.yours(v)[evidence.right(v) == 0] == 0).all() for v in values)

    return ask


def nearly_zero(*values: str) -> Property:
    """Symbols that are cut must have a probability of exactly 0; said if nothing else is wrong."""

    def ask(evidence: Evidence) -> Finding | None:
        if evidence.wrong_values:
            return None
        for value in values:
            mine, right = evidence.yours(value), evidence.right(value)
            left = np.where(right == 0, mine, 0.0)
            if not left.any():
                continue
            row, symbol = (int(i) for i in np.unravel_index(int(left.argmax()), left.shape))
            return Finding(
                "nearly-zero",
                "A symbol that should be cut still has a tiny probability.",
                f"In row {row}, symbol {symbol} has {number(float(left[row, symbol]))}, but it"
                " should have exactly 0. If you replace logits by a large negative number, use −∞"
                " instead, because other logits may be very low, too.",
                CHOICE,
            )
        return None

    return ask


def row_that_differs(value: str) -> Callable[[Evidence], str]:
    """The first row that differs: the symbols it keeps and those it should keep."""

    def say(evidence: Evidence) -> str:
        mine, right = evidence.yours(value), evidence.right(value)
        row = int(np.argmax((np.abs(mine - right) > 1e-5).any(axis=-1)))
        kept, wanted = np.flatnonzero(mine[row] > 1e-9), np.flatnonzero(right[row] > 0)
        if kept.tolist() != wanted.tolist():
            return f"row {row} keeps {_symbols(kept)}, but it should keep {_symbols(wanted)}."
        v = int(np.abs(mine[row] - right[row]).argmax())
        return (
            f"row {row} keeps the right symbols, but gives symbol {v} a probability of"
            f" {mine[row, v]:.3f} instead of {right[row, v]:.3f}. The row sums to"
            f" {mine[row].sum():.3f}."
        )

    return say


def probabilities(value: str) -> Property:
    """Rows must be distributions: not negative, and summing to 1."""

    def ask(evidence: Evidence) -> Finding | None:
        mine = evidence.yours(value)
        sums = mine.sum(axis=-1)
        wrong = np.flatnonzero((np.abs(sums - 1) > 1e-4) | (mine < 0).any(axis=-1))
        if not len(wrong):
            return None
        row = int(wrong[0])
        return Finding(
            "no-distribution",
            "Your rows aren't probability distributions.",
            f"Row {row} sums to {number(round(float(sums[row]), 3))}, and its smallest entry is"
            f" {number(float(mine[row].min()))}.",
            CHOICE,
        )

    return ask


def replaced(value: str, logits: Callable[[Evidence], np.ndarray]) -> Property:
    """What should be cut must not get the chance that some number as a logit would give it;
    `logits`, (B, V), are those of which a softmax is taken.
    """

    def ask(evidence: Evidence) -> Finding | None:
        mine, right = evidence.yours(value).astype(float), evidence.right(value)
        if mine.shape != right.shape or not (mine > 0).all() or sets_agree(value)(evidence):
            return None
        given = logits(evidence)
        best = right.argmax(axis=-1)[:, None]
        as_if = np.log(mine / np.take_along_axis(mine, best, 1))
        as_if += np.take_along_axis(given, best, 1)
        cut = right == 0
        instead = float(as_if[cut].mean())
        kept_well = np.allclose(as_if[~cut], given[~cut], atol=1e-3)
        if not kept_well or np.ptp(as_if[cut]) > 1e-2 or abs(instead) < 1e-3:
            return None
        row, symbol = (int(i) for i in np.argwhere(cut)[0])
        return Finding(
            "replaced-by-a-number",
            f"You set the other symbols' logits to about {number(instead)}, which still leaves them"
            " a chance.",
            f"In row {row}, symbol {symbol} gets a probability of"
            f" {number(float(mine[row, symbol]))} instead of 0. Set these logits to −inf.",
            CHOICE,
        )

    return ask


def other_symbols(value: str, shares: Callable[[Evidence], np.ndarray]) -> Property:
    """The right symbols must be kept: likely ones, and as many as the task asks for. `shares` are
    the probabilities of all symbols, (B, V).
    """

    def ask(evidence: Evidence) -> Finding | None:
        if sets_agree(value)(evidence):
            return None
        mine, right = evidence.yours(value) > 1e-9, evidence.right(value) > 0
        given = shares(evidence)
        told = row_that_differs(value)(evidence)
        odd = _unlikelier(mine, given)
        if odd is not None:
            row, kept, cut = odd
            return Finding(
                "other-symbols",
                "You cut symbols that are likelier than some of those that you keep.",
                f"In row {row} you keep symbol {kept} with a probability of"
                f" {given[row, kept]:.3f}, but cut symbol {cut} with {given[row, cut]:.3f}. "
                f"Altogether, {told}",
                CHOICE,
            )
        counts, wanted = mine.sum(axis=-1), right.sum(axis=-1)
        held = (given * mine).sum(axis=-1)
        of = f"Your rows keep {listed(counts)} symbols instead of {listed(wanted)}."
        if (counts >= wanted).all() or (counts <= wanted).all():
            side = "many" if (counts >= wanted).all() else "few"
            what = f"You keep the likeliest symbols, but too {side} of them."
        else:
            what = (
                "You keep the likeliest symbols, but too many in some rows and too few in others."
            )
        return Finding(
            "other-counts",
            what,
            f"{of} Their probabilities sum to between {held.min():.3f} and {held.max():.3f}. For"
            f" example, {told}",
            CHOICE,
        )

    return ask


def _unlikelier(kept: np.ndarray, shares: np.ndarray) -> tuple[int, int, int] | None:
    """A row, a symbol that it keeps, and a likelier one that it cuts; None if there is none."""
    for row, (keep, given) in enumerate(zip(kept, shares, strict=True)):
        if keep.any() and not keep.all():
            last = int(np.where(keep, given, np.inf).argmin())
            first = int(np.where(keep, -np.inf, given).argmax())
            if given[first] > given[last]:
                return row, last, first
    return None


def alone(*cases: str) -> Property:
    """A batch of one row, and rows of one symbol, must be treated like any others."""

    def ask(evidence: Evidence) -> Finding | None:
        wrong = {name.split(".")[0] for name in evidence.wrong_values}
        first = next((case for case in cases if evidence.comparable(case) and case in wrong), None)
        if first is None or not wrong <= {*cases}:
            return None
        mine, right = evidence.yours(first), evidence.right(first)
        place = tuple(np.argwhere(~(np.abs(mine - right) <= 1e-5))[0])
        return Finding(
            "dimension-of-one",
            "Your answer is wrong when a dimension is 1.",
            f"For logits of shape {right.shape} you give symbol {int(place[1])} a probability of"
            f" {number(float(mine[place]))} instead of {number(float(right[place]))}.",
            CHOICE,
        )

    return ask


def _symbols(symbols: np.ndarray) -> str:
    if not len(symbols):
        return "no symbol"
    return f"symbol{'s' * (len(symbols) > 1)} {listed(symbols)}"
