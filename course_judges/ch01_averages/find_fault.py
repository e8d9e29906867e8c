"""Judging 01/find-fault: which rows are not an average of the past."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, SIDES
from course_judges.judging import Evidence, Part, Property, Task, matches, mistake
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def faulty_rows(weights: Tensor) -> Tensor:
    """A right answer to 01/find-fault: (T, T) → (T,) bool."""
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    averages = (weights.sum(dim=1) - 1).abs() < 1e-5  # False where a weight is NaN
    return ahead | (weights < 0).any(dim=1) | ~averages


Condition: TypeAlias = Callable[[Tensor], Tensor]


def _looks_ahead(weights: Tensor) -> Tensor:
    return (torch.triu(weights, diagonal=1) != 0).any(dim=1)


def _is_negative(weights: Tensor) -> Tensor:
    return (weights < 0).any(dim=1)


def _is_off(weights: Tensor) -> Tensor:
    return ~((weights.sum(dim=1) - 1).abs() < 1e-5)


def _asking(
    ahead: Condition = _looks_ahead, negative: Condition = _is_negative, off: Condition = _is_off
) -> Condition:
    """An answer that asks these three questions about each row; (T, T) → (T,)."""
    return lambda weights: ahead(weights) | negative(weights) | off(weights)


def _no(weights: Tensor) -> Tensor:
    return torch.zeros(len(weights), dtype=torch.bool)


def _called_faulty(evidence: Evidence, case: str) -> tuple[Array, Array]:
    """Which rows the answer calls faulty, and which are: both of bool."""
    return evidence.yours(case).astype(bool), evidence.right(case).astype(bool)


def _first_wrong(evidence: Evidence, case: str) -> tuple[int, Array]:
    """The first row that was misjudged, and what it holds."""
    mine, right = _called_faulty(evidence, case)
    t = int(np.flatnonzero(mine != right)[0])
    return t, evidence.inputs[case][t]


def _sum(weights: Array, rounding: float = 3e-6) -> str:
    """The sum of a row; near 1 by how much it differs, if that is more than this rounding."""
    off = float(weights.sum(dtype=np.float64)) - 1
    return f"1 {_signed(off)}" if rounding < abs(off) < 5e-3 else number(1 + off)


def _judged(t: int, weights: Array, verdict: str, rounding: float = 3e-6) -> str:
    """What a row was called, what it holds and what it sums to."""
    total = _sum(weights, rounding)
    return f"You call row {t} {verdict}. It is {row(weights)} and sums to {total}."


def _wrong_row(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        t, weights = _first_wrong(evidence, case)
        return _judged(t, weights, "faulty" if evidence.yours(case)[t] else "sound")

    return say


def _misses(case: str, name: str, what: str, hint: str = "") -> Property:
    """Says of a kind of fault that a row with it was missed."""

    def ask(evidence: Evidence) -> Finding | None:
        mine, right = _called_faulty(evidence, case)
        if mine.shape != right.shape or not (right & ~mine).any():
            return None
        t = int(np.flatnonzero(right & ~mine)[0])
        weights = evidence.inputs[case][t]
        return Finding(name, what, f"{_judged(t, weights, 'sound')} {hint}".strip(), MEANS)

    return ask


def _misses_sums(case: str) -> Property:
    """Says of rows that do not sum to 1 that they were missed; shows the one that is farthest off,
    and whether the others that pass were rounded, too.
    """

    def ask(evidence: Evidence) -> Finding | None:
        mine, right = _called_faulty(evidence, case)
        if mine.shape != right.shape or not (right & ~mine).any():
            return None
        weights = evidence.inputs[case].astype(float)
        off = np.abs(weights.sum(axis=1) - 1)
        missed, found = off[right & ~mine], off[right & mine]
        t = int(np.argmax(np.where(right & ~mine, off, -1)))
        rounded = missed.max() > 0.05 and missed.max() < 0.5 and not (found < 0.5).any()
        hint = (
            " Do you round the sum? Rounded to a whole number, everything between 0.5 and 1.5 is "
            "1, so take the distance of the sum from 1 as it is."
        ) * bool(rounded)
        return Finding(
            "sum-missed",
            "You let a row pass that doesn't sum to 1.",
            f"{_judged(t, weights[t], 'sound')}{hint}",
            MEANS,
        )

    return ask


def _accuses(evidence: Evidence) -> Finding | None:
    """Says of a sound row that it was accused, and its sum with the rounding that may be why."""
    for case in ("ahead", "sums", "signs", "nan", "single"):
        mine, right = _called_faulty(evidence, case)
        if mine.shape != right.shape or not (mine & ~right).any():
            continue
        t = int(np.flatnonzero(mine & ~right)[0])
        weights = evidence.inputs[case][t]
        above = " A weight that is a little above 1 is rounding like a sum that is." * bool(
            weights.max() > 1
        )
        return Finding(
            "sound-row-accused",
            "You call a sound row faulty.",
            f"{_judged(t, weights, 'faulty', 1e-7)}{above}",
            MEANS,
        )
    return None


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {number(abs(value), 1)}"


def _within_the_allowance(evidence: Evidence) -> str:
    t, weights = _first_wrong(evidence, "sums")
    return unwrapped(f"""Row {t} sums to 1 {_signed(float(weights.sum(dtype=np.float64)) - 1)}, and
    you call it faulty, but sums may differ from 1 by less than 1e-5. `round(decimals=5)` leaves
    half of that, and a limit of 1e-6 leaves a tenth.""")


_KINDS = ("ahead", "sums", "signs", "nan")


def _zeros_in(weights: Array, diagonal: int) -> Array:
    """Which rows of (T, T) have a 0 up to this diagonal."""
    past = np.tril(np.ones_like(weights, dtype=bool), diagonal)
    return np.asarray((past & (weights == 0)).any(axis=1))


_ZEROS: dict[str, Callable[[Array], Array]] = {
    "don't look at themselves": lambda weights: np.asarray(np.diagonal(weights) == 0),
    "have a weight of 0 on the past or on themselves": lambda weights: _zeros_in(weights, 0),
    "have a weight of 0 on the past": lambda weights: _zeros_in(weights, -1),
}


def _accused_for_zeros(evidence: Evidence) -> str:
    """What kind of weight of 0 the accused rows have, if all rows with it are accused and no other
    row is misjudged; otherwise empty.
    """
    for words, has_zero in _ZEROS.items():
        zero = {case: has_zero(evidence.inputs[case]) for case in _KINDS}
        right = {case: evidence.right(case).astype(bool) for case in _KINDS}
        if any((zero[case] & ~right[case]).any() for case in _KINDS) and all(
            np.array_equal(evidence.yours(case).astype(bool), right[case] | zero[case])
            for case in _KINDS
        ):
            return words
    return ""


def _an_accused_row(evidence: Evidence) -> str:
    case = next(case for case in ("sums", *_KINDS) if not evidence.same(case))
    return _wrong_row(case)(evidence)


def _small_faults_missed(evidence: Evidence) -> list[tuple[float, int, Array]]:
    """The missed rows: by how much each is off, its number and what it holds. Empty if one of them
    is far off, or if a sound row is accused.
    """
    missed = []
    for case in _KINDS:
        mine, right = _called_faulty(evidence, case)
        if (mine & ~right).any():
            return []
        for t in (int(t) for t in np.flatnonzero(right & ~mine)):
            weights = evidence.inputs[case][t].astype(np.float64)
            ahead = np.abs(weights[t + 1 :]).max(initial=0)
            off = float(np.max([abs(weights.sum() - 1), ahead, -weights.min()]))
            if not off < 2e-4:
                return []
            missed.append((off, t, weights))
    return missed


def _says_how_small(evidence: Evidence) -> str:
    off, t, weights = _small_faults_missed(evidence)[0]
    return unwrapped(f"""{_judged(t, weights, "sound")} It is off by {number(off, 2)}, which is more
    than the 1e-5 that a sum may differ by. If you round or allow for rounding, by how much?""")


def _as_made_of_right(evidence: Evidence, made: Callable[[Array], Array]) -> bool:
    """True if the answer is what this makes of the right one, for each kind of fault."""
    return all(
        np.array_equal(_called_faulty(evidence, case)[0], made(_called_faulty(evidence, case)[1]))
        for case in _KINDS
    )


@mistake(
    "Your answer is the wrong way round, because it marks the sound rows with True.",
    _wrong_row("sums"),
)
def _inverted_answer(weights: Tensor) -> Tensor:
    return ~faulty_rows(weights)


_never_faulty = mistake(
    "You call no row faulty, whatever its fault is.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} If you combine the three conditions with `&`, a
    row has to have all faults at once. With `|`, one is enough."""),
    recognized=lambda e: _as_made_of_right(e, np.zeros_like),
)(lambda w: _looks_ahead(w) & _is_negative(w) & _is_off(w))


_two_faults_cancel = mistake(
    "You let rows pass that have two faults.",
    lambda e: unwrapped(f"""{_wrong_row("ahead")(e)} It looks ahead, and one of its weights is
    negative. With `^`, two faults cancel, and a count of the conditions that are true may be more
    than 1. With `|`, one or more are enough."""),
    cases=("ahead", "signs"),
    also=(lambda w: _looks_ahead(w).int() + _is_negative(w).int() + _is_off(w).int() == 1,),
)(lambda w: _looks_ahead(w) ^ _is_negative(w) ^ _is_off(w))


_zero_accused = mistake(
    lambda e: f"You call rows faulty that {_accused_for_zeros(e)}.",
    lambda e: unwrapped(f"""{_an_accused_row(e)} A weight of 0 is no fault, wherever it is. Only a
    weight below 0 is negative, and a position needn't use all that it may see."""),
    recognized=lambda e: bool(_accused_for_zeros(e)),
)(_asking(negative=lambda w: _is_negative(w) | (w.diagonal() == 0)))


_rounds_too_much = mistake(
    "You let rows with small faults pass.",
    _says_how_small,
    recognized=lambda e: bool(_small_faults_missed(e)),
)(_asking(off=lambda w: ~((w.sum(dim=1) - 1).abs() < 1e-3)))


_exact_comparison = mistake(
    lambda e: (
        "You call every row faulty."
        if all(e.yours(case).all() for case in _KINDS)
        else "You call nearly every row faulty."
    ),
    lambda e: unwrapped(f"""If you compare sums with 1 exactly, rounding is the reason: row 0 of one
    matrix sums to 1 {_signed(float(e.inputs["ahead"].sum(1)[0]) - 1)}, which is float32's noise.
    Allow for it with `torch.isclose` or a distance of at most 1e-5. Otherwise, remember that it's
    the sum of a row that has to be 1, that neither a weight on the past nor one of 0 is a fault,
    and that each row is judged by itself."""),
    cases=("ahead", "sums"),
)(_asking(off=lambda w: w.sum(dim=1) != 1))


_diagonal_excluded = mistake(
    "You call rows faulty that look at themselves, although they may.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} A position may see itself, so the future begins
    at `diagonal=1`, and the weight of the position itself belongs to the sum."""),
    FUTURE,
    cases=("sums", "signs"),
)(_asking(ahead=lambda w: (torch.triu(w) != 0).any(dim=1)))


_past_for_future = mistake(
    "You take the past for the future, so you call rows faulty that look back.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} Row t may see the columns s ≤ t, up to the
    diagonal. The future is to the right of it, in `torch.triu(weights, diagonal=1)`."""),
    FUTURE,
    cases=("sums", "signs", "ahead", "leak", "below"),
)(_asking(ahead=lambda w: (torch.tril(w, diagonal=-1) != 0).any(dim=1)))


_future_of_columns = mistake(
    "You look for weight on the future in columns instead of rows.",
    lambda e: unwrapped(f"""{_wrong_row("ahead")(e)} `dim=1` asks about each row, while `dim=0` asks
    about each column and finds the positions that are looked at too early."""),
    SIDES,
    cases=("ahead",),
)(_asking(ahead=lambda w: (torch.triu(w, diagonal=1) != 0).any(dim=0)))


_divides_columns = mistake(
    "You check whether the columns sum to 1, but it's the rows that should.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} Row t holds the weights of position t, and
    `sum(dim=1)` adds along a row."""),
    SIDES,
    cases=("sums", "signs"),
)(_asking(off=lambda w: ~((w.sum(dim=0) - 1).abs() < 1e-5)))


_sums_inverted = mistake(
    "Your check of the sums is the wrong way round, so you call rows faulty that sum to 1.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} `isclose` is True where a sum is right, so
    negate it with `~` to find the faulty rows."""),
    cases=("sums", "ahead"),
)(_asking(off=lambda w: (w.sum(dim=1) - 1).abs() < 1e-5))


_past_sums_alone = mistake(
    "You check whether the past sums to 1, but not whether the future is 0.",
    lambda e: unwrapped(f"""{_wrong_row("leak" if e.same("ahead") else "ahead")(e)} Its weights up
    to position t are an average, but it also gives weight to what comes after t, so check
    `triu(weights, diagonal=1)`."""),
    FUTURE,
    cases=("ahead", "sums", "leak"),
)(
    _asking(
        ahead=_no,
        off=lambda w: ~((torch.tril(w).sum(dim=1) - 1).abs() < 1e-5) | w.isnan().any(dim=1),
    )
)


_one_sided_sum = mistake(
    "You find wrong sums only on one side of 1.",
    lambda e: unwrapped(f"""{_wrong_row("sums")(e)} A row can sum to too little or to too much, so
    take the distance from 1, `.abs()`, of the sum as it is, without rounding it."""),
    cases=("sums", "single"),
    also=(_asking(off=lambda w: w.sum(dim=1) > 1 + 1e-5),),
)(_asking(off=lambda w: w.sum(dim=1) < 1 - 1e-5))


_signs_unasked = mistake(
    "You let rows pass that have a negative weight.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} The mean of some numbers never lies outside
    them, but with a negative weight it can."""),
    cases=("signs",),
)(_asking(negative=_no))


_diagonal_signs_unasked = mistake(
    "You let negative weights pass that lie on the diagonal.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} Before position t you find negative weights,
    but the weight of a position on itself must not be negative either. Do you leave the diagonal
    out, as `torch.tril(weights, diagonal=-1)` and `weights[t, :t]` do?"""),
    FUTURE,
    cases=("signs",),
)(_asking(negative=lambda w: (torch.tril(w, diagonal=-1) < 0).any(dim=1)))


_nan_slips_through = mistake(
    "You let a row pass that has a NaN.",
    lambda e: unwrapped(f"""{_wrong_row("nan")(e)} Every comparison with NaN except `!=` is False,
    even `nan > 1e-5`. Ask what a sound row fulfills and negate that, or use `isnan`."""),
    FILL,
    cases=("nan",),
)(
    _asking(
        ahead=lambda w: (torch.triu(w, diagonal=1) > 0).any(dim=1),
        off=lambda w: (w.sum(dim=1) - 1).abs() > 1e-5,
    )
)


_stricter_than_asked = mistake(
    "You allow sums less rounding than the task does.",
    _within_the_allowance,
    cases=("sums", "ahead", "signs"),
)(_asking(off=lambda w: ~((w.sum(dim=1) - 1).abs() < 3e-6)))


_signs_of_columns = mistake(
    "You look for negative weights in columns instead of rows.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} `dim=1` asks about each row, while `dim=0` asks
    about each column."""),
    SIDES,
    cases=("signs",),
)(_asking(negative=lambda w: (w < 0).any(dim=0)))


_absolute_values = mistake(
    "You add up absolute values, so a negative weight counts like a positive one.",
    lambda e: unwrapped(f"""{_wrong_row("signs")(e)} Its absolute values sum to 1, so check the
    signs with `(weights < 0).any(dim=1)`, and add up the weights as they are."""),
    cases=("signs", "ahead"),
)(_asking(negative=_no, off=lambda w: ~((w.abs().sum(dim=1) - 1).abs() < 1e-5)))


_next_position_allowed = mistake(
    "You let rows pass that look at the very next position.",
    lambda e: unwrapped(f"""{_wrong_row("ahead")(e)} The future of row t begins at t + 1, so take
    `triu(weights, diagonal=1)` or `weights[t, t + 1 :]`."""),
    FUTURE,
    cases=("ahead", "signs"),
)(_asking(ahead=lambda w: (torch.triu(w, diagonal=2) != 0).any(dim=1)))


_next_position_alone = mistake(
    "You look only at the very next position for weight on the future.",
    lambda e: f"{_wrong_row('ahead')(e)} All positions after t are its future, not only t + 1.",
    FUTURE,
    cases=("ahead", "signs"),
)(_asking(ahead=lambda w: (torch.triu(w, diagonal=1).tril(1) != 0).any(dim=1)))


def _minute_weight(evidence: Evidence, case: str) -> tuple[int, int, str]:
    """The faulty row of this matrix, the position of the weight that it may not have, and that
    weight.
    """
    t = int(np.flatnonzero(evidence.right(case))[0])
    weights = evidence.inputs[case][t]
    s = int(np.argmax(weights * (np.arange(len(weights)) > t) - np.minimum(weights, 0)))
    return t, s, number(float(weights[s]), 2)


_small_leaks_forgiven = mistake(
    "You let a row pass that looks ahead a little.",
    lambda e: unwrapped(f"""You call row {_minute_weight(e, "leak")[0]} sound, but it gives weight
    {_minute_weight(e, "leak")[2]} to position {_minute_weight(e, "leak")[1]}, which comes after it.
    Only sums may be off, by less than 1e-5. Ask of each weight on the future whether it is 0,
    `triu(weights, diagonal=1) != 0`, because neither a limit nor the sum of the past shows so
    little."""),
    FUTURE,
    recognized=lambda e: e.same(*_KINDS, "single") and not e.yours("leak").any(),
)(_asking(ahead=lambda w: (torch.triu(w, diagonal=1).abs() > 1e-5).any(dim=1)))


def _shaped_alike(evidence: Evidence, right_of: Callable[[Array], Array]) -> bool:
    """True of an answer that is right but for its form, which `right_of` makes."""
    return all(
        np.array_equal(evidence.yours(case), right_of(evidence.right(case).astype(bool)))
        for case in ("ahead", "sums", "signs")
    )


@mistake(
    "You return the numbers of the faulty rows, but each row should be True or False.",
    lambda e: unwrapped(f"""For {e.number("T")} rows you return {len(e.yours("sums"))} numbers,
    [{listed(e.yours("sums"))}], but the task asks for {e.number("T")}, one True or False per
    row."""),
    recognized=lambda e: _shaped_alike(e, np.flatnonzero),
)
def _numbers_of_rows(weights: Tensor) -> Tensor:
    return faulty_rows(weights).nonzero().flatten()


def _counts_faults(evidence: Evidence) -> Finding | None:
    """Numbers of faults where True and False were asked for, and otherwise right."""
    for case in ("ahead", "sums", "signs", "nan"):
        mine, right = evidence.yours(case), evidence.right(case).astype(bool)
        if mine.shape != right.shape or not np.array_equal(mine != 0, right):
            return None
    most = max(float(evidence.yours(case).max()) for case in ("ahead", "sums", "signs", "nan"))
    if most <= 1:
        return None
    return Finding(
        "counts-faults",
        "You return numbers, but each row should be True or False.",
        unwrapped(f"""You find the right rows, but the largest of your numbers is {number(most)}.
        `|` and `any` keep True and False, while `+` and `sum` count."""),
        MEANS,
    )


def _last_row_never_faulty(evidence: Evidence) -> Finding | None:
    """All that is missed is the last row, with any of the faults."""
    for case in ("sums", "signs", "nan"):
        mine, right = _called_faulty(evidence, case)
        if not np.array_equal(mine[:-1], right[:-1]) or mine[-1]:
            return None
    if not evidence.right("signs")[-1]:
        return None
    return Finding(
        "last-row-never-faulty",
        "You never find a fault in the last row.",
        unwrapped(f"""{_wrong_row("signs")(evidence)} The last row has no future, but its sum, its
        signs and a NaN count as in any other. If you loop, does the loop reach it?"""),
        MEANS,
    )


def _follows_the_sums(evidence: Evidence) -> bool:
    """True if all rows are accused of each matrix with a wrong sum, and no other is misjudged.

    A NaN is no sum, and an answer may ask for it before or afterwards.
    """
    for case in ("ahead", "sums", "signs"):
        mine = evidence.yours(case).astype(bool)
        wrong = np.abs(evidence.inputs[case].astype(np.float64).sum(axis=1) - 1) > 1e-5
        if not (mine.all() if wrong.any() else evidence.same(case)):
            return False
    return True


def _all_for_one(evidence: Evidence) -> Finding | None:
    """All rows are accused as soon as one has a fault of some kind."""
    for case, words in (
        ("sums", "a wrong sum"),
        ("signs", "a negative weight"),
        ("nan", "a NaN"),
        ("ahead", "a weight on the future"),
    ):
        mine, right = _called_faulty(evidence, case)
        if not mine.all() or right.all():
            continue
        if not (_follows_the_sums(evidence) if case == "sums" else evidence.same("sums")):
            continue
        t = int(np.flatnonzero(~right)[0])
        sound = case == "sums" and evidence.same("ahead")
        return Finding(
            "all-for-one",
            f"You call all rows faulty where one row has {words}.",
            f"You call all {len(mine)} rows of that matrix faulty, but row {t} is sound: "
            f"{row(evidence.inputs[case][t])}. "
            + ("Where no sum is wrong, you call sound rows sound. " if sound else "")
            + "Judge each row by itself: `torch.allclose`, or `.any()` without `dim`, gives one "
            "answer for the whole matrix, while `torch.isclose` and `dim=1` give one for each row.",
            MEANS,
        )
    return None


def _nan_ahead_missed(evidence: Evidence) -> Finding | None:
    """NaN is found on the past, but not on the future."""
    mine, right = _called_faulty(evidence, "nan")
    weights = evidence.inputs["nan"]
    on_past = np.isnan(np.tril(weights)).any(axis=1)
    ahead = np.isnan(np.triu(weights, 1)).any(axis=1) & ~on_past
    if mine.shape != right.shape or (mine != (right & ~ahead)).any():
        return None
    t = int(np.flatnonzero(ahead)[0])
    s = int(np.flatnonzero(np.isnan(weights[t]))[0])
    past = _sum(np.nan_to_num(weights[t, : t + 1]))
    return Finding(
        "nan-ahead-missed",
        "You find a NaN on the past, but not one on the future.",
        unwrapped(f"""You call row {t} sound. It is {row(weights[t])}, with the NaN at position {s},
        which comes after it. Its weights up to position {t} sum to {past}. If you add up the past
        alone, look at the future as well: `triu(weights, diagonal=1) != 0` finds this NaN, while
        `> 0` doesn't."""),
        FUTURE,
    )


def _last_position_alone(evidence: Evidence) -> Finding | None:
    """Weight on the future is found only if it lies on the last position."""
    mine, right = _called_faulty(evidence, "ahead")
    weights = evidence.inputs["ahead"]
    on_last = (weights[:, -1] != 0) & (np.arange(len(weights)) < len(weights) - 1)
    if mine.shape != right.shape or not np.array_equal(mine, right & on_last):
        return None
    t = int(np.flatnonzero(right & ~mine)[0])
    return Finding(
        "last-position-alone",
        "You find weight on the future only if it lies on the last position.",
        unwrapped(f"""{_judged(t, weights[t], "sound")} All positions after {t} are its future, so
        look at more than the last column: `torch.triu(weights, diagonal=1)`."""),
        FUTURE,
    )


_ANY_SIGN = (
    "A negative weight is a fault by itself, however small it is and whatever the row sums to: "
    "`(weights < 0).any(dim=1)`."
)


TASK = Task(
    "Find the fault",
    faulty_rows,
    MEANS,
    (
        Part("Rows that look ahead are found, and no others.", 2, matches("ahead", "leak")),
        Part("Rows that do not sum to 1 are found, and no others.", 1, matches("sums", "single")),
        Part("Rows with a negative weight are found, and no others.", 1, matches("signs", "below")),
        Part("Rows with a NaN are found, and no others.", 2, matches("nan")),
    ),
    properties=(
        _counts_faults,
        _last_row_never_faulty,
        _all_for_one,
        _last_position_alone,
        _nan_ahead_missed,
        _misses("ahead", "future-missed", "You let a row pass that looks ahead."),
        _misses_sums("sums"),
        _misses(
            "signs", "sign-missed", "You let a row pass that has a negative weight.", _ANY_SIGN
        ),
        _misses(
            "nan",
            "nan-missed",
            "You let a row pass that has a NaN.",
            "Every comparison with NaN except `!=` is False, and `nansum` and `nan_to_num` take it "
            "for another number. Use `isnan`, or ask what a sound row fulfills and negate that.",
        ),
        _misses_sums("single"),
        _misses(
            "below", "sign-missed", "You let a row pass that has a negative weight.", _ANY_SIGN
        ),
        _accuses,
    ),
)
