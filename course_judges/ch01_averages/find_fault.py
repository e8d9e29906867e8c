"""Judging 01/find-fault: which rows are no average of the past."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, SIDES
from course_judges.judging import Evidence, Part, Property, Task, matches, mistake
from course_judges.wording import number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def faulty_rows(weights: Tensor) -> Tensor:
    """A right answer to 01/find-fault: (T, T) → (T,) bool."""
    return _ahead_or_off(weights) | (weights < 0).any(dim=1)


def _ahead_or_off(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1).abs() > 1e-5).any(dim=1)
    averages = (weights.sum(dim=1) - 1).abs() < 1e-5  # False where a weight is NaN
    return ahead | ~averages


def _sums_too_large_only(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | (weights.sum(dim=1) > 1 + 1e-5)


def _first_wrong(evidence: Evidence, case: str) -> tuple[int, Array]:
    """The first row that was judged wrongly, and what it holds."""
    mine, right = evidence.yours(case).astype(bool), evidence.right(case).astype(bool)
    t = int(np.flatnonzero(mine != right)[0])
    return t, evidence.inputs[case][t]


def _sum(weights: Array, rounding: float = 3e-6) -> str:
    """The sum of a row; near 1 by how much it differs, if that is more than this rounding."""
    off = float(weights.sum(dtype=np.float64)) - 1
    return f"1 {_signed(off)}" if rounding < abs(off) < 5e-3 else number(1 + off)


def _wrong_row(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        t, weights = _first_wrong(evidence, case)
        verdict = "faulty" if evidence.yours(case)[t] else "sound"
        return f"You call row {t} {verdict}: {row(weights)}, with sum {_sum(weights)}."

    return say


def _misses(case: str, name: str, what: str) -> Property:
    """Says of a kind of fault that a row with it was missed."""

    def ask(evidence: Evidence) -> Finding | None:
        mine, right = evidence.yours(case).astype(bool), evidence.right(case).astype(bool)
        if mine.shape != right.shape or not (right & ~mine).any():
            return None
        t = int(np.flatnonzero(right & ~mine)[0])
        weights = evidence.inputs[case][t]
        effect = f"You call row {t} sound: {row(weights)}, with sum {_sum(weights)}."
        return Finding(name, what, effect, MEANS)

    return ask


def _accuses(evidence: Evidence) -> Finding | None:
    """Says of a sound row that it was accused, and its sum with the rounding that may be why."""
    for case in ("ahead", "sums", "signs", "nan", "single"):
        mine, right = evidence.yours(case).astype(bool), evidence.right(case).astype(bool)
        if mine.shape != right.shape or not (mine & ~right).any():
            continue
        t = int(np.flatnonzero(mine & ~right)[0])
        weights = evidence.inputs[case][t]
        effect = (
            f"You call row {t} faulty: {row(weights)}, with sum {_sum(weights, rounding=1e-7)}."
        )
        return Finding("sound-row-accused", "A sound row is called faulty.", effect, MEANS)
    return None


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {abs(value):.0e}"


def _within_the_allowance(evidence: Evidence) -> str:
    t, weights = _first_wrong(evidence, "sums")
    return unwrapped(f"""Row {t} sums to 1 {_signed(float(weights.sum(dtype=np.float64)) - 1)}, and
    you call it faulty. Sums may differ from 1 by less than 1e-5. `round(decimals=5)` leaves half of
    that, and 1e-6 a tenth.""")


@mistake("Your answer is the wrong way round: True marks the sound rows.", _wrong_row("sums"))
def _inverted_answer(weights: Tensor) -> Tensor:
    return ~faulty_rows(weights)


@mistake(
    "Your answer calls every row faulty.",
    lambda e: unwrapped(f"""If you compare sums with 1 exactly, rounding is the reason: row 0 of a
    matrix sums to 1 {_signed(float(e.inputs["ahead"].sum(1)[0]) - 1)}, which is float32's noise.
    Allow for it: `torch.isclose`, or a distance of at most 1e-5. If not: a weight of 0 is no fault
    anywhere, and each row is judged by itself."""),
    cases=("ahead", "sums"),
)
def _exact_comparison(weights: Tensor) -> Tensor:
    return (
        (torch.triu(weights, diagonal=1) != 0).any(dim=1)
        | (weights < 0).any(dim=1)
        | (weights.sum(dim=1) != 1)
    )


@mistake(
    "You count the diagonal as future.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} A position may see itself; the future begins at
    `diagonal=1`."""),
    FUTURE,
    cases=("sums", "signs"),
)
def _diagonal_excluded(weights: Tensor) -> Tensor:
    return faulty_rows(weights) | (torch.triu(weights) != 0).any(dim=1)


@mistake(
    "You take the past for the future: rows that look back are called faulty.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} Row t may see columns s ≤ t, to the left of
    the diagonal. The future is to the right of it: `torch.triu(weights, diagonal=1)`."""),
    FUTURE,
    cases=("sums", "signs"),
)
def _past_for_future(weights: Tensor) -> Tensor:
    averages = (weights.sum(dim=1) - 1).abs() < 1e-5
    return (torch.tril(weights, diagonal=-1) != 0).any(dim=1) | (weights < 0).any(dim=1) | ~averages


@mistake(
    "You look for weight on the future in columns, not in rows.",
    lambda e: unwrapped(f"""{_wrong_row("ahead")(e)} `dim=1` asks along a row, `dim=0` down a
    column, and says which positions are looked at too early."""),
    SIDES,
    cases=("ahead",),
)
def _future_of_columns(weights: Tensor) -> Tensor:
    averages = (weights.sum(dim=1) - 1).abs() < 1e-5
    return (torch.triu(weights, diagonal=1) != 0).any(dim=0) | (weights < 0).any(dim=1) | ~averages


@mistake(
    "You ask whether the columns sum to 1.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} Row t holds the weights of position t:
    `sum(dim=1)` adds along a row."""),
    SIDES,
    cases=("sums", "signs"),
)
def _divides_columns(weights: Tensor) -> Tensor:
    return (
        (torch.triu(weights, diagonal=1) > 0).any(dim=1)
        | (weights < 0).any(dim=1)
        | ~torch.isclose(weights.sum(dim=0), torch.ones(len(weights)))
    )


@mistake(
    "You ask for a wrong sum on one side of 1 only.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} A row can sum to too little and to too much:
    take the distance from 1, `.abs()`."""),
    cases=("sums",),
    also=(_sums_too_large_only,),
)
def _one_sided_sum(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | (weights.sum(dim=1) < 1 - 1e-5)


@mistake(
    "Rows that look ahead pass as sound.",
    lambda e: unwrapped(f"""{_wrong_row("ahead")(e)} It sums to 1, but column s of row t is the
    future for every s > t."""),
    FUTURE,
    cases=("ahead",),
)
def _future_unasked(weights: Tensor) -> Tensor:
    negative = (weights < 0).any(dim=1)
    return negative | ~torch.isclose(weights.sum(dim=1), torch.ones(len(weights)))


@mistake(
    "Rows that do not sum to 1 pass as sound.",
    lambda e: f"{_wrong_row('sums')(e)} It looks at the past alone, but it is no average.",
    cases=("sums",),
)
def _sums_unasked(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | weights.isnan().any(dim=1)


@mistake(
    "Rows with a negative weight pass as sound.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} It sums to 1, but the mean of some numbers
    never lies outside them; with a negative weight it can."""),
    cases=("signs",),
)
def _signs_unasked(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    return ahead | ~torch.isclose(weights.sum(dim=1), torch.ones(len(weights)))


@mistake(
    "A row with a NaN passes as sound.",
    lambda e: unwrapped(f"""{_wrong_row("nan")(e)} Every comparison with NaN is False, `nan > 1e-5`
    too. Ask what a sound row fulfils and negate that, or use `isnan`."""),
    FILL,
    cases=("nan",),
)
def _nan_slips_through(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 1e-5).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | ((weights.sum(dim=1) - 1).abs() > 1e-5)


@mistake(
    "You allow a sum less rounding than the task does.", _within_the_allowance, cases=("sums",)
)
def _stricter_than_asked(weights: Tensor) -> Tensor:
    return faulty_rows(weights) | ((weights.sum(dim=1) - 1).abs() > 3e-6)


@mistake(
    "You look for negative weights in columns, not in rows.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} `dim=1` asks along a row, `dim=0` down a
    column."""),
    SIDES,
    cases=("signs",),
)
def _signs_of_columns(weights: Tensor) -> Tensor:
    return _ahead_or_off(weights) | (weights < 0).any(dim=0)


def _counts_faults(evidence: Evidence) -> Finding | None:
    """More than 1 where a row has several faults, and right but for that."""
    for case in ("ahead", "sums", "signs", "nan"):
        mine, right = evidence.yours(case), evidence.right(case).astype(bool)
        if mine.shape != right.shape or not np.array_equal(mine != 0, right):
            return None
    most = max(float(evidence.yours(case).max()) for case in ("ahead", "sums", "signs", "nan"))
    if most <= 1:
        return None
    return Finding(
        "counts-faults",
        "You return numbers; each row is to be True or False.",
        f"The rows that you find are the right ones, and the largest of your numbers is "
        f"{number(most)}. `|` and `any` keep truths; `+` and `sum` count them.",
        MEANS,
    )


def _last_row_never_faulty(evidence: Evidence) -> Finding | None:
    """All that is missed is the last row, of whatever fault."""
    for case in ("sums", "signs", "nan"):
        mine, right = evidence.yours(case).astype(bool), evidence.right(case).astype(bool)
        if not np.array_equal(mine[:-1], right[:-1]) or mine[-1]:
            return None
    if not evidence.right("signs")[-1]:
        return None
    return Finding(
        "last-row-never-faulty",
        "You never find a fault in the last row.",
        f"{_wrong_row('signs')(evidence)} The last row has no future, but its sum, its signs and "
        "a NaN count as in any other. If you loop over the rows: does the loop reach it?",
        MEANS,
    )


def _all_for_one(evidence: Evidence) -> Finding | None:
    """All rows are accused as soon as one has a fault of some kind."""
    for case, words in (
        ("signs", "a negative weight"),
        ("nan", "a NaN"),
        ("ahead", "a weight on the future"),
    ):
        mine, right = evidence.yours(case).astype(bool), evidence.right(case).astype(bool)
        if not mine.all() or right.all():
            continue
        if evidence.yours("sums").astype(bool).all():
            return None
        t = int(np.flatnonzero(~right)[0])
        return Finding(
            "all-for-one",
            f"Where one row has {words}, you call all rows faulty.",
            f"Row {t} of that matrix is sound: {row(evidence.inputs[case][t])}. Each row is judged "
            "by itself: without `dim`, `.any()` asks the whole matrix, and with `dim=1` each row.",
            MEANS,
        )
    return None


TASK = Task(
    "Find the fault",
    faulty_rows,
    MEANS,
    (
        Part("Rows that look ahead are found, and no others.", 2, matches("ahead")),
        Part("Rows that do not sum to 1 are found, and no others.", 1, matches("sums", "single")),
        Part("Rows with a negative weight are found, and no others.", 1, matches("signs")),
        Part("Rows with a NaN are found, and no others.", 2, matches("nan")),
    ),
    properties=(
        _counts_faults,
        _last_row_never_faulty,
        _all_for_one,
        _misses("ahead", "future-missed", "A row that looks ahead passes as sound."),
        _misses("sums", "sum-missed", "A row that does not sum to 1 passes as sound."),
        _misses("signs", "sign-missed", "A row with a negative weight passes as sound."),
        _misses("nan", "nan-missed", "A row with a NaN passes as sound."),
        _misses("single", "sum-missed", "A row that does not sum to 1 passes as sound."),
        _accuses,
    ),
)
