"""Judges 13/longer: a shift that is learned on some positions and tried on the rest."""

# mypy: allow-untyped-defs

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from course_judges.ch13_two_sequences.learned_shift import explanation
from course_judges.ch13_two_sequences.sections import LONGER, POSITIONS
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import listed, number, rows_apart, unwrapped
from course_tasks.verdict import Finding

# Smaller errors are rounding.
_NOISE = 1e-9
# In double precision, no way to fit is off by more than a thousandth of this.
_ROUNDED = 1e-5
_TABLES = "sines", "drawn"


@dataclass(frozen=True)
class Shift:
    """An answer that makes one of its choices differently."""

    leak: bool = False
    tested: str = "beyond"
    root: bool = True
    summed: bool = False
    backwards: bool = False
    transposed: bool = False
    largest: bool = False
    half_outside: bool = True
    relative: bool = False
    ridge: float = 0.0
    absolute: bool = False
    first: int = 0
    roots: bool = False
    lengths: bool = False
    channels: bool = False
    constant: bool = False
    short: int = 0
    fit_more: int = 0
    test_later: int = 0
    centered: bool = False
    median: bool = False
    once: bool = False
    steps: str = ""

    def __call__(self, table, shift, trained):
        """The error of each map, beyond the positions that it was fitted on."""
        if self.centered:
            table = table - table.mean(dim=0)
        before, after = table[:-shift], table[shift:]
        if self.short:
            before, after = before[: -self.short], after[: -self.short]
        if self.constant:
            before = torch.cat([before, torch.ones_like(before[:, :1])], dim=1)
        if self.backwards:
            before, after = after, before
        errors = []
        for n in trained[:1] * len(trained) if self.once else trained:
            known = n if self.leak else n - shift
            fitted = known + self.fit_more
            x, y = before[self.first : fitted], after[self.first : fitted]
            if self.ridge:
                C = table.shape[1]
                M = torch.linalg.solve(x.T @ x + self.ridge * torch.eye(C).to(x), x.T @ y)
            else:
                M = torch.linalg.pinv(x) @ y
            if self.steps:
                known_steps = known if self.steps == "as many as shifts" else n - 1
                step = torch.linalg.pinv(table[:known_steps]) @ table[1 : known_steps + 1]
                M = torch.linalg.matrix_power(step, shift)
            if self.transposed:
                M = M.T
            first = {"trained": 0, "all": 0}.get(self.tested, known if self.half_outside else n)
            first = max(0, first + self.test_later)
            last = known if self.tested == "trained" else len(before)
            gap = (before[first:last] @ M - after[first:last]).square()
            if self.median:
                errors.append(gap.sqrt().median())
                continue
            if self.roots:
                errors.append(gap.mean(dim=1).sqrt().mean())
                continue
            if self.channels:
                errors.append(gap.mean(dim=0).sqrt().mean())
                continue
            if self.lengths:
                errors.append(gap.sum(dim=1).sqrt().mean())
                continue
            error = gap.sum() if self.summed else gap.max() if self.largest else gap.mean()
            if self.absolute:
                error = gap.sqrt().mean() ** 2  # of which the root is taken below
            if self.relative:
                error = error / after[first:last].square().mean()
            errors.append(error.sqrt() if self.root else error)
        return torch.stack(errors)


beyond = Shift()


def _close(case: str):
    """Whether measured values are right, but for the last digits, in which ways to fit differ."""
    return lambda e: (
        e.comparable(case)
        and bool(np.allclose(e.yours(case), e.right(case), rtol=0.01, atol=_ROUNDED))
        and bool((e.right(case) > 0.05).any())
    )


def _both(evidence: Evidence) -> str:
    case = "sines" if not _close("sines")(evidence) else "drawn"
    told = "sines" if case == "sines" else "a drawn table"
    errors = evidence.yours(case), evidence.right(case)
    noise = [(one != 0) & (np.abs(one) < _NOISE) for one in errors]
    mine, right = rows_apart(*(np.where(n, 0.0, one) for n, one in zip(noise, errors, strict=True)))
    zeros = " The zeros are zero up to rounding." if any(map(np.any, noise)) else ""
    return unwrapped(f"""With {told} and {", ".join(str(n) for n in evidence.inputs["trained"])}
    positions, your errors are {mine} instead of {right}.{zeros}""")


_on_trained = mistake(
    "You measured the error on the pairs that the map was fitted on.",
    lambda e: (
        f"{_both(e)} Your errors tell how well the map fits, but not whether it works elsewhere."
    ),
)(Shift(tested="trained"))

_on_all = mistake(
    "Your error also includes the pairs that the map was fitted on.",
    _both,
)(Shift(tested="all"))

_leak = mistake(
    "You also fitted the map on pairs that begin within the first n positions but end beyond them.",
    lambda e: (
        unwrapped(f"""With a shift of {e.number("shift")}, the pair that begins at n − 1 ends at
    n − 1 + {e.number("shift")}, which isn't one of the first n. {_both(e)}""")
    ),
)(Shift(leak=True))

_one_step_repeated = mistake(
    "You fitted the map of a single step and applied it `shift` times.",
    lambda e: (
        unwrapped(f"""Fit the map of the whole shift, on pairs (t, t + {e.number("shift")}) instead
    of (t, t + 1). With a shift of 1 the two are the same. {_both(e)}""")
    ),
    also=(Shift(steps="as many as shifts"),),
)(Shift(steps="all"))

_one_pair_more_fitted = mistake(
    "You fitted the map on one pair too many, whose later position is beyond the first n.", _both
)(Shift(fit_more=1))

_one_pair_less_fitted = mistake(
    "You fitted the map on one pair fewer than there are within the first n positions.",
    lambda e: f"With n positions and a shift of k there are n − k pairs. {_both(e)}",
)(Shift(fit_more=-1))

_tested_one_later = mistake(
    "Your error leaves out the pair from n − shift to n, which isn't within the first n positions.",
    _both,
)(Shift(test_later=1))

_tested_one_earlier = mistake(
    "Your error includes one pair too many, the last one that the map was fitted on.", _both
)(Shift(test_later=-1))

_table_centered = mistake(
    "You subtracted the mean of each channel from the table instead of using it as it is.",
    _both,
)(Shift(centered=True))

_median_of_gaps = mistake(
    "You took the median of the absolute differences instead of the root of their mean square.",
    _both,
)(Shift(median=True))

_first_of_trained = mistake(
    "All your errors belong to the first entry of `trained`, but each entry has its own.",
    _both,
)(Shift(once=True))

_root_of_the_sum_over_channels = mistake(
    "You added up the squares over the channels instead of averaging them.",
    lambda e: f"So your errors are √C times as large, with C = {e.number('C')}. {_both(e)}",
)(
    lambda table, shift, trained: [
        error * table.shape[1] ** 0.5 for error in beyond(table, shift, trained)
    ]
)

_gap_left_out = mistake(
    "Your error leaves out pairs that begin within the first n positions but end beyond them.",
    _both,
)(Shift(half_outside=False))

_backwards = mistake(
    "Your map goes from the later position to the earlier one instead of the other way round.",
    _both,
    POSITIONS,
)(Shift(backwards=True))

_transposed = mistake("You applied the transpose of the map that you fitted.", _both, POSITIONS)(
    Shift(transposed=True)
)

_absolute = mistake(
    "Your error is the mean of the absolute differences instead of the root of their mean square.",
    lambda e: f"{_both(e)} A square counts large gaps more, so the root of its mean is larger.",
)(Shift(absolute=True))

_mean_of_roots = mistake(
    "You took a root for each pair and averaged those instead of averaging all squares first.",
    lambda e: f"{_both(e)} A square counts large gaps more, so the root of its mean is larger.",
)(Shift(roots=True))

_mean_of_lengths = mistake(
    "You averaged the lengths of the differences, with a root for each pair.",
    lambda e: f"{_both(e)} Average the squares over channels and pairs, and then take one root.",
)(Shift(lengths=True))

_root_for_each_channel = mistake(
    "You took a root for each channel and averaged those instead of averaging all squares first.",
    _both,
)(Shift(channels=True))

_no_root = mistake("You returned the mean of the squares without taking its root.", _both)(
    Shift(root=False)
)

_summed = mistake("You returned the root of the sum of the squares instead of their mean.", _both)(
    Shift(summed=True)
)

_largest = mistake("You returned the largest error instead of the root of the mean square.", _both)(
    Shift(largest=True)
)

_relative = mistake("You divided the error by the root mean square of the positions.", _both)(
    Shift(relative=True)
)

_first_pair_missing = mistake(
    "Your fit leaves out the pair that begins at position 0.",
    _both,
)(Shift(first=1))

_last_pair_missing = mistake(
    "You left out the last pair of the table.",
    _both,
)(Shift(short=1))

_constant_added = mistake(
    "You fitted a constant along with the matrix, but a linear map has none.",
    _both,
)(Shift(constant=True))

_ridge = mistake(
    "Your fit is regularized, as if you had added a multiple of the identity to XᵀX.",
    _both,
    also=tuple(Shift(ridge=added) for added in (1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)),
)(Shift(ridge=0.1))


def _other_choices(evidence: Evidence) -> Finding | None:
    """Which one or two other choices explain all errors of both tables."""
    shift, trained = evidence.number("shift"), evidence.inputs["trained"].tolist()
    mine = {name: evidence.shaped(name, (len(trained),)) for name in _TABLES}
    tables = {name: evidence.inputs[name] for name in _TABLES}
    made = explanation(tables, mine, shift, trained)
    if not made:
        return None
    what, *others = [choice.says for choice in made]
    besides = "".join(f"Besides, {says[:1].lower()}{says[1:]} " for says in others)
    alone = "both" if others else "that alone"
    return Finding(
        "other-choices",
        what,
        f"{besides}With {alone}, a right answer has exactly your errors. {_both(evidence)}",
        LONGER,
    )


def _nearly_zero(evidence: Evidence) -> Finding | None:
    """If errors that are 0 up to rounding in a right answer are small, but visible."""
    mine, right = evidence.shaped("sines", evidence.right("sines").shape), evidence.right("sines")
    zero = right < _NOISE
    small = mine[zero & (mine > _ROUNDED)]
    others = _close("drawn")(evidence) and np.allclose(mine[~zero], right[~zero], rtol=0.01)
    if not len(small) or small.max() > 0.01 or not others:
        return None
    return Finding(
        "nearly-zero",
        "Your errors are right except that some, which should be 0 up to rounding, are larger.",
        f"With sines, the largest of these is {number(float(small.max()))}, but rounding in "
        f"float64 leaves less than {number(_NOISE)}. That much is left by a computation in "
        "float32, or by a fit that is regularized, if only a little. Keep the type of `table`, and "
        "fit by least squares alone.",
        LONGER,
    )


def _few_pairs(evidence: Evidence) -> Finding | None:
    """Wrong only where pairs are fewer than channels, so that many maps fit."""
    C, shift = evidence.number("C"), evidence.number("shift")
    few = evidence.inputs["trained"] - shift < C
    wrong = np.zeros(len(few), dtype=bool)
    for name in _TABLES:
        if name in evidence.answers.errors:
            continue  # an inverse of XᵀX may not exist
        mine = evidence.shaped(name, few.shape)
        # Where pairs are nearly alike, an inverse has visible rounding errors as well.
        wrong |= ~np.isclose(mine, evidence.right(name), rtol=0.01, atol=0.02)
    if not wrong.any() or (wrong & ~few).any():
        return None
    ns = listed(evidence.inputs["trained"][wrong])
    return Finding(
        "another-of-many-maps",
        "Your errors are far off only where fewer pairs than channels are known.",
        f"This happens for n = {ns}: with a shift of {shift}, fewer than C = {C} pairs lie within "
        "the first n positions. Many matrices fit these pairs equally well, and the task takes the "
        "one with the smallest entries. `torch.linalg.pinv` finds it for `table` itself, but "
        "`torch.linalg.lstsq`, an inverse of XᵀX, or a fit of something else than the later "
        f"position may give another. {_both(evidence)}",
        LONGER,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """Which pairs a map is fitted on, and which ones its error is measured on."""
    mine, right = evidence.yours("drawn"), evidence.right("drawn")
    if _close("drawn")(evidence) or mine.shape != right.shape or np.ptp(mine - right) < 1e-6:
        return None
    L, C, shift = (evidence.number(name) for name in ("L", "C", "shift"))
    table, trained = torch.as_tensor(evidence.inputs["drawn"]), evidence.inputs["trained"].tolist()
    others = [(1, trained), (shift - 1, trained), (shift + 1, trained), (shift, sorted(trained))]
    if any(np.allclose(beyond(table, k, ns), mine) for k, ns in others if 0 < k < min(ns)):
        return None  # saying which other arguments explain it tells more
    n = int(evidence.inputs["trained"][0])
    return Finding(
        "other-errors",
        "Your errors aren't those that the map of the first n positions makes on all other pairs.",
        f"With n = {n} and a shift of {shift}, fit the map on the {n - shift} pairs that begin at "
        "0 to "
        f"{n - shift - 1}. Its error is the root of the mean of {L - n} · {C} squares, from the "
        f"pairs that begin at {n - shift} to {L - shift - 1}. {_both(evidence)}",
        LONGER,
    )


TASK = Task(
    "Longer than trained",
    beyond,
    LONGER,
    (
        Part("The errors of sines are right.", 3, _close("sines")),
        Part("The errors of a drawn table are right.", 2, _close("drawn")),
    ),
    properties=(_nearly_zero, _other_choices, _few_pairs, _worked_out),
)
