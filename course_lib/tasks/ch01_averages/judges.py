"""How the tasks of chapter 01 are judged: weights that sum to 1, on the past, along the right axis.

Reference answers and mistakes are written as a student would write them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_lib.tasks.answers import Array
from course_lib.tasks.ch01_averages.probes import DECAY, FIND_FAULT, PAST_MEAN, WINDOW
from course_lib.tasks.judging import Evidence, Mistake, Part, Property, Task, matches
from course_lib.tasks.probing import Probe, run
from course_lib.tasks.properties import no_weight_on_the_future, rows_sum_to_one
from course_lib.tasks.verdict import Finding, Section

_CHAPTER = "01-averages"
SIDES = Section(_CHAPTER, "Rows or columns")
TRIANGLE = Section(_CHAPTER, "The same sums, as one multiplication")
MEANS = Section(_CHAPTER, "From sums to means")
FUTURE = Section(_CHAPTER, "Nothing from the future")
SOFTMAX = Section(_CHAPTER, "The same matrix as a softmax")
FILL = Section(_CHAPTER, "Why −inf and not 0")
WRITES = Section(_CHAPTER, "Where masked_fill writes")
KERNEL = Section(_CHAPTER, "An average is attention with fixed weights")

# Below this a weight counts as 0: float32 leaves less, and no mistake of the chapter does.
_NOTHING = 1e-5
_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


# words for numbers


def _number(value: float, digits: int = 3) -> str:
    if np.isnan(value):
        return "NaN"
    text = f"{value + 0.0:.{digits}g}".replace("-", "−")
    return re.sub(r"e([+−]?)0*(\d)", r"e\1\2", text).replace("e+", "e")


def _row(values: Array) -> str:
    """A row of weights as a person reads it: "[1, 0.33, 0]"."""
    return "[" + ", ".join(_number(float(v), 2) for v in values) + "]"


def _list(positions: Iterable[int]) -> str:
    return ", ".join(str(int(s)) for s in positions)


def _positions(row: Array) -> str:
    """Where a row of weights looks, in words."""
    seen = np.flatnonzero(np.abs(row) > _NOTHING)
    if not len(seen):
        return "no position"
    if len(seen) > 4 and seen[-1] - seen[0] + 1 == len(seen):
        return f"positions {seen[0]} … {seen[-1]}"
    return f"position{'s' if len(seen) > 1 else ''} {_list(seen)}"


def _word(number: int) -> str:
    return _WORDS[number] if number < len(_WORDS) else str(number)


# evidence


def _weights(evidence: Evidence) -> Array:
    """(T, T) weights of the student's answer."""
    mine = evidence.yours("weights")
    return np.asarray(mine[0] if mine.ndim == 3 else mine, dtype=np.float64)


def _any_of(probe: Probe, cases: tuple[str, ...], *variants: Any) -> Callable[[Evidence], bool]:
    """True of an answer that equals one of several ways to make the same mistake."""

    def fits(evidence: Evidence) -> bool:
        outcomes = (run(probe, variant, evidence.inputs).answers for variant in variants)
        return any(
            Evidence(evidence.inputs, wrong, evidence.answers).same(*cases) for wrong in outcomes
        )

    return fits


def _same_places(case: str, first_row: int = 0) -> Callable[[Evidence], bool]:
    """True of weights that are 0 where the reference's are, and nowhere else."""

    def holds(evidence: Evidence) -> bool:
        mine, right = evidence.yours(case), evidence.right(case)
        if mine.shape != right.shape:
            return False
        mine, right = mine[..., first_row:, :], right[..., first_row:, :]
        finite = bool(np.isfinite(mine).all())
        return finite and np.array_equal(np.abs(mine) > _NOTHING, np.abs(right) > _NOTHING)

    return holds


def _sees_the_right_positions(evidence: Evidence) -> Finding | None:
    """A property of weights that have to look at some positions, all of them, and no others."""
    mine, right = _weights(evidence), evidence.right("weights").reshape(_weights(evidence).shape)
    seen, expected = np.abs(mine) > _NOTHING, np.abs(right) > _NOTHING
    wrong = np.flatnonzero((seen != expected).any(axis=1))
    if not len(wrong):
        return None
    t = int(wrong[0])
    sizes = f" (with {evidence.sizes()})" if evidence.sizes() else ""
    return Finding(
        "wrong-positions",
        "The weights lie on other positions than asked for.",
        f"Row {t} of yours gives weight to {_positions(mine[t])}; it should be "
        f"{_positions(right[t])}{sizes}.",
        FUTURE,
    )


def _column_sums(evidence: Evidence) -> str:
    mine = _weights(evidence)
    return (
        f"The columns of your matrix sum to 1; row 0 sums to {_number(mine[0].sum())}, "
        f"row {len(mine) - 1} to {_number(mine[-1].sum())}. Row t says what position t sees, "
        "so it is the rows that have to sum to 1: `sum(dim=1, keepdim=True)`."
    )


def _keepdim_sums(evidence: Evidence) -> str:
    mine = _weights(evidence)
    T, sums = len(mine), mine.sum(1)
    t = int(np.argmax(np.nan_to_num(np.abs(sums - 1), nan=np.inf)))
    return (
        f"`sum(dim=1)` has shape ({T},), and broadcasting lays it along a row: column s is divided "
        f"by the sum of row s. No error, but row {t} of your matrix sums to "
        f"{_number(sums[t])}. With `keepdim=True` the sums keep the shape ({T}, 1), "
        "one for each row."
    )


_COLUMNS = "You divided by the sums of the columns."
_KEEPDIM = "You divided by the row sums along the wrong axis: `keepdim=True` is missing."


# running-sum


def running_sum(x: Tensor) -> Tensor:
    """A right answer to 01/running-sum: (B, C, T) → (B, C, T)."""
    T = x.shape[-1]
    return x @ torch.triu(torch.ones(T, T))  # (B, C, T) @ (T, T) → (B, C, T)


def _lower_from_the_right(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.tril(torch.ones(T, T))


def _from_the_left(x: Tensor) -> Tensor:
    C = x.shape[1]
    return torch.tril(torch.ones(C, C)) @ x


def _time_not_put_back(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return torch.tril(torch.ones(T, T)) @ x.transpose(1, 2)


def _running_mean_instead(x: Tensor) -> Tensor:
    return running_sum(x) / torch.arange(1, x.shape[-1] + 1)


def _strict_running_sum(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.triu(torch.ones(T, T), diagonal=1)


def _sum_of_all(x: Tensor) -> Tensor:
    T = x.shape[-1]
    return x @ torch.ones(T, T)


def _last_is_the_total(evidence: Evidence) -> bool:
    mine = evidence.yours("sums")
    right = evidence.right("sums")
    return mine.shape == right.shape and np.allclose(
        mine[..., -1], right[..., -1], rtol=1e-4, atol=1e-5
    )


def _future_in_time_last(evidence: Evidence) -> Finding | None:
    seen = evidence.yours("weights")[0].T  # row t: what output t makes of each position
    later = np.argwhere(np.abs(np.triu(seen, 1)) > _NOTHING)
    if not len(later):
        return None
    t, s = (int(i) for i in later[0])
    return Finding(
        "sees-the-future",
        "The answer sees the future.",
        f"Output {t} counts position {s}, which comes after it, with weight {_number(seen[t, s])}.",
        FUTURE,
    )


RUNNING_SUM = Task(
    "Running sum, time last",
    running_sum,
    SIDES,
    (
        Part("The last position holds the sum of all positions.", 1, _last_is_the_total),
        Part("Every position holds the sum of its past.", 1, matches("sums", "square")),
    ),
    (
        Mistake(
            "triangle-not-turned",
            _lower_from_the_right,
            "Your triangle points the wrong way: every position sums what comes after it.",
            lambda e: (
                f"Position 0 of your output holds the sum of all {_word(e.number('T'))} positions, "
                f"position {e.number('T') - 1} holds its own value alone. From the right, "
                "output t is x times column t of the matrix: the ones of column t have to stand "
                "in rows s ≤ t."
            ),
            SIDES,
        ),
        Mistake(
            "sums-channels",
            _from_the_left,
            "You summed along the channels, not along time.",
            lambda e: (
                f"With as many channels as positions (C = T = {e.number('T')}) nothing complains: "
                "output (channel c, position t) is the sum of channels 0 … c at that position. "
                f"With C = {e.number('C')} and T = {e.number('T')}, a (T, T) matrix from the left "
                "does not even fit. A matrix from the left mixes the last size but one; here time "
                "is the last."
            ),
            SIDES,
            cases=("square",),
        ),
        Mistake(
            "time-not-put-back",
            _time_not_put_back,
            "The sums are right, but time and channels have changed places.",
            lambda e: (
                f"x has shape {e.right('sums').shape}, your output {e.yours('sums').shape}. "
                "Put the last two sizes back, or multiply from the other side and exchange nothing."
            ),
            SIDES,
            cases=("sums", "square"),
        ),
        Mistake(
            "means-not-sums",
            _running_mean_instead,
            "Your answer holds means; the task asks for sums.",
            lambda e: (
                f"The last position of your first row is {_number(e.yours('sums')[0, 0, -1])}; the "
                f"{_word(e.number('T'))} values add up to {_number(e.right('sums')[0, 0, -1])}."
            ),
            TRIANGLE,
        ),
        Mistake(
            "diagonal-excluded",
            _strict_running_sum,
            "Every position leaves itself out.",
            lambda e: (
                "Position 0 of your output is 0; the sum up to and including it is its own value, "
                f"{_number(e.right('sums')[0, 0, 0])}. The diagonal belongs to the triangle: "
                "`diagonal=0`."
            ),
            FUTURE,
        ),
        Mistake(
            "no-triangle",
            _sum_of_all,
            "Every position holds the sum of the whole sequence.",
            lambda e: (
                f"Position 0 of your first row is {_number(e.yours('sums')[0, 0, 0])}, the same as "
                f"position {e.number('T') - 1}. A matrix of ones sees everything; half of it has "
                "to become 0."
            ),
            TRIANGLE,
        ),
    ),
    (_future_in_time_last,),
)


# past-mean


def strict_past_mean(x: Tensor) -> Tensor:
    """A right answer to 01/past-mean: (B, T, C) → (B, T, C)."""
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1)
    return weights @ x


def _nan_in_front(x: Tensor) -> Tensor:
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    return weights / weights.sum(dim=1, keepdim=True) @ x


def _all_in_front(x: Tensor) -> Tensor:
    T = x.shape[1]
    past = torch.tril(torch.ones(T, T), diagonal=-1)
    return torch.zeros(T, T).masked_fill(past == 0, -1e9).softmax(dim=-1) @ x


def _itself_in_front(x: Tensor) -> Tensor:
    y = strict_past_mean(x)
    y[:, 0] = x[:, 0]
    return y


def _running_mean(x: Tensor) -> Tensor:
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))
    return weights / weights.sum(dim=1, keepdim=True) @ x


def _strict_sums(x: Tensor) -> Tensor:
    T = x.shape[1]
    return torch.tril(torch.ones(T, T), diagonal=-1) @ x


def _one_too_many(x: Tensor) -> Tensor:
    T = x.shape[1]
    return _strict_sums(x) / torch.arange(1, T + 1)[:, None]


def _whole_sequence(x: Tensor) -> Tensor:
    T = x.shape[1]
    future = torch.triu(torch.ones(T, T)) == 1
    return torch.zeros(T, T).masked_fill(future, 0).softmax(dim=-1) @ x


def _softmax_of_the_triangle(x: Tensor) -> Tensor:
    T = x.shape[1]
    return (torch.ones(T, T) * torch.tril(torch.ones(T, T), -1)).softmax(dim=-1) @ x


def _next_included(x: Tensor) -> Tensor:
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=1)
    return weights / weights.sum(dim=1, keepdim=True) @ x


def _past_by(matrix: Callable[[Tensor], Tensor], axis: int, keep: bool, least: float) -> Any:
    """A way to divide a strict triangle wrongly; `least` guards, or does not, against 0 / 0."""

    def answer(x: Tensor) -> Tensor:
        T = x.shape[1]
        weights = matrix(torch.ones(T, T))
        return weights / weights.sum(dim=axis, keepdim=keep).clamp(min=least) @ x

    return answer


def _strict_lower(ones: Tensor) -> Tensor:
    return torch.tril(ones, diagonal=-1)


def _strict_upper(ones: Tensor) -> Tensor:
    return torch.triu(ones, diagonal=1)


def _past_mistake(
    name: str, what: str, effect: Callable[[Evidence], str], section: Section, *variants: Any
) -> Mistake:
    return Mistake(
        name,
        variants[0],
        what,
        effect,
        section,
        recognised=_any_of(PAST_MEAN, ("means", "weights"), *variants),
    )


def _right_from_row_one(evidence: Evidence) -> bool:
    return all(
        evidence.comparable(case)
        and np.allclose(
            evidence.yours(case)[:, 1:], evidence.right(case)[:, 1:], rtol=1e-4, atol=1e-5
        )
        for case in ("means", "weights")
    )


def _in_every_row(evidence: Evidence) -> str:
    T = evidence.number("T")
    return f"Row 1 of your weights is {_row(_weights(evidence)[1])} (with T = {T})"


PAST_MEAN_TASK = Task(
    "Mean of the strict past",
    strict_past_mean,
    MEANS,
    (
        Part(
            "From position 1 on, a position sees what comes before it: not itself, not the future.",
            1,
            _same_places("weights", first_row=1),
        ),
        Part("On top of that, what it sees is averaged.", 1, _right_from_row_one),
        Part(
            "On top of that, position 0, with nothing before it, is 0.",
            1,
            matches("means", "weights"),
        ),
    ),
    (
        _past_mistake(
            "first-row-nan",
            "Position 0 of your output is NaN.",
            lambda e: (
                f"The other {_word(e.number('T') - 1)} positions are right. Nothing comes before "
                "position 0, so its row is divided by a count of 0, or its softmax has nothing but "
                "−inf; either way 0 / 0, which is NaN. The task defines this mean as 0. Every "
                "number that is computed from a NaN is NaN."
            ),
            MEANS,
            _nan_in_front,
        ),
        _past_mistake(
            "first-row-uniform",
            "Position 0 averages the whole sequence, future included.",
            lambda e: (
                f"Row 0 of your weights is {_row(_weights(e)[0])}; with nothing before it, it "
                "should be all 0. A softmax over equal numbers gives equal weights, even where "
                "each of them is −1e9; and `torch.roll` brings the last mean round to the front."
            ),
            FILL,
            _all_in_front,
        ),
        _past_mistake(
            "first-row-itself",
            "Position 0 sees itself.",
            lambda e: (
                f"Row 0 of your weights is {_row(_weights(e)[0])}. All other rows are right; "
                "for this one the task asks for 0, because nothing comes before it."
            ),
            MEANS,
            _itself_in_front,
        ),
        _past_mistake(
            "diagonal-included",
            "Every position counts itself; this is the running mean of the chapter.",
            lambda e: (
                f"{_in_every_row(e)}: it sees positions 0 and 1. The strict past of position 1 is "
                "position 0 alone."
            ),
            FUTURE,
            _running_mean,
        ),
        _past_mistake(
            "divides-by-one-too-many",
            "The right positions, divided by one too many.",
            lambda e: (
                f"Row {len(_weights(e)) - 1} of your weights sums to "
                f"{_number(_weights(e)[-1].sum())}. Position t has t positions before it, "
                "not t + 1."
            ),
            MEANS,
            _one_too_many,
        ),
        _past_mistake(
            "sums-not-means",
            "The sums are right; they are not divided yet.",
            lambda e: (
                f"Row {len(_weights(e)) - 1} of your weights sums to "
                f"{_number(_weights(e)[-1].sum())}; every row of an average sums to 1."
            ),
            MEANS,
            _strict_sums,
        ),
        _past_mistake(
            "zero-mask",
            "Nothing is hidden: every position averages the whole sequence.",
            lambda e: (
                f"Every weight of yours is {_number(_weights(e)[0, 0])}, one over T. "
                "A 0 in place of −inf hides nothing, because e⁰ = 1; neither does a `masked_fill` "
                "whose result is not kept."
            ),
            FILL,
            _whole_sequence,
        ),
        _past_mistake(
            "multiplied-mask",
            "You took the softmax of a triangle of ones and zeros.",
            lambda e: (
                f"{_in_every_row(e)}. A score of 0 is not hidden: it gets e⁰ = 1 beside e¹ = 2.72. "
                "Multiplying scores by a mask leaves zeros where −inf has to be."
            ),
            FILL,
            _softmax_of_the_triangle,
        ),
        _past_mistake(
            "next-included",
            "The diagonal went the other way: every position sees the one after it.",
            lambda e: (
                f"{_in_every_row(e)}: it sees {_positions(_weights(e)[1])}. `diagonal=1` keeps one "
                "diagonal above the main one; a negative number takes diagonals away."
            ),
            FUTURE,
            _next_included,
        ),
        _past_mistake(
            "upper-triangle",
            "You average what comes after each position, not what comes before it.",
            lambda e: (
                f"{_in_every_row(e)}: it sees {_positions(_weights(e)[1])}. That is `triu`; "
                "the past of row t lies to the left of column t, in `tril`."
            ),
            FUTURE,
            _past_by(_strict_upper, 1, True, 1.0),
            _past_by(_strict_upper, 1, True, 0.0),
        ),
        _past_mistake(
            "divides-columns",
            _COLUMNS,
            lambda e: (
                "Row t says what position t sees, so it is the rows that have to sum to 1; "
                f"row {e.number('T') - 1} of yours sums to {_number(_weights(e)[-1].sum())}. "
                "`sum(dim=1, keepdim=True)` adds along a row."
            ),
            MEANS,
            _past_by(_strict_lower, 0, True, 1.0),
            _past_by(_strict_lower, 0, True, 0.0),
        ),
        _past_mistake(
            "keepdim-forgotten",
            _KEEPDIM,
            _keepdim_sums,
            MEANS,
            _past_by(_strict_lower, 1, False, 1.0),
            _past_by(_strict_lower, 1, False, 0.0),
        ),
    ),
    (
        no_weight_on_the_future("weights", FUTURE),
        _sees_the_right_positions,
        rows_sum_to_one("weights", MEANS),
    ),
)


# window


def _band(T: int, width: int) -> Tensor:
    return torch.triu(torch.tril(torch.ones(T, T)), diagonal=1 - width)


def window_weights(T: int, width: int) -> Tensor:
    """A right answer to 01/window: (T, T)."""
    weights = _band(T, width)
    return weights / weights.sum(dim=1, keepdim=True)


def _divided_by_width(T: int, width: int) -> Tensor:
    return _band(T, width) / width


def _divided_by_columns(T: int, width: int) -> Tensor:
    weights = _band(T, width)
    return weights / weights.sum(dim=0)


def _divided_without_keepdim(T: int, width: int) -> Tensor:
    weights = _band(T, width)
    return weights / weights.sum(dim=1)


def _too_wide(T: int, width: int) -> Tensor:
    return window_weights(T, width + 1)


def _too_narrow(T: int, width: int) -> Tensor:
    return window_weights(T, width - 1)


def _no_window(T: int, width: int) -> Tensor:
    return window_weights(T, max(T, width))


def _window_ahead(T: int, width: int) -> Tensor:
    weights = _band(T, width).T
    return weights / weights.sum(dim=1, keepdim=True)


def _centred(T: int, width: int) -> Tensor:
    t = torch.arange(T)
    weights = ((t[:, None] - t).abs() <= width // 2).float()
    return weights / weights.sum(dim=1, keepdim=True)


def _window_before(T: int, width: int, least: float = 0.0) -> Tensor:
    weights = torch.tril(torch.ones(T, T), -1).triu(-width)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


def _slice_from_the_end(T: int, width: int) -> Tensor:
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t, t - width + 1 : t + 1] = 1 / width
    return weights


def _softmax_of_the_band(T: int, width: int) -> Tensor:
    return _band(T, width).softmax(dim=-1)


def _last_row_sees(evidence: Evidence) -> str:
    T, width = evidence.number("T"), evidence.number("width")
    mine = _weights(evidence)[T - 1]
    return (
        f"With `width = {width}`, row {T - 1} gives weight to {_positions(mine)}. "
        f"The last {_word(width)} up to and including {T - 1} are "
        f"{_list(range(T - width, T))}."
    )


def _window_mistake(
    name: str,
    answer: Any,
    what: str,
    effect: Callable[[Evidence], str],
    section: Section,
    *others: Any,
) -> Mistake:
    return Mistake(
        name,
        answer,
        what,
        effect,
        section,
        recognised=_any_of(WINDOW, ("weights",), answer, *others),
    )


WINDOW_TASK = Task(
    "Sliding window",
    window_weights,
    MEANS,
    (
        Part(
            "The right positions are chosen: nothing from the future, never more than "
            "`width` back.",
            2,
            _same_places("weights"),
        ),
        Part("On top of that, every row averages what it sees.", 2, matches("weights", "wide")),
    ),
    (
        _window_mistake(
            "divides-by-width",
            _divided_by_width,
            "The first rows are too small.",
            lambda e: (
                f"With `width = {e.number('width')}`, row 0 of your matrix sums to "
                f"{_weights(e)[0].sum():.2f}; every row of an average sums to 1. You divided each "
                "row by `width`, but row 0 has only one position to average. Divide by how many "
                "there are."
            ),
            MEANS,
        ),
        _window_mistake(
            "negative-slice",
            _slice_from_the_end,
            "The first rows are empty.",
            lambda e: (
                f"With `width = {e.number('width')}`, row 0 of your matrix sums to "
                f"{_number(_weights(e)[0].sum())}. A slice that starts at a negative number counts "
                f"from the end: `weights[0, {1 - e.number('width')}:1]` holds nothing. Start at "
                "`max(0, t - width + 1)`, and divide by how many positions there are."
            ),
            MEANS,
        ),
        _window_mistake(
            "window-one-too-wide",
            _too_wide,
            "Your window holds one position too many.",
            _last_row_sees,
            FUTURE,
        ),
        _window_mistake(
            "window-one-too-narrow",
            _too_narrow,
            "Your window holds one position too few.",
            _last_row_sees,
            FUTURE,
        ),
        _window_mistake(
            "no-window",
            _no_window,
            "Your window never closes: every row averages its whole past.",
            _last_row_sees,
            TRIANGLE,
        ),
        _window_mistake(
            "sums-not-means",
            _band,
            "The right positions, not divided yet.",
            lambda e: (
                f"Row {e.number('T') - 1} of your matrix sums to "
                f"{_number(_weights(e)[-1].sum())}; every row of an average sums to 1."
            ),
            MEANS,
        ),
        _window_mistake("divides-columns", _divided_by_columns, _COLUMNS, _column_sums, MEANS),
        _window_mistake(
            "keepdim-forgotten", _divided_without_keepdim, _KEEPDIM, _keepdim_sums, MEANS
        ),
        _window_mistake(
            "upper-triangle",
            _window_ahead,
            "Your window looks ahead.",
            lambda e: (
                f"With `width = {e.number('width')}`, row 0 gives weight to "
                f"{_positions(_weights(e)[0])}. Row 0 may see position 0 alone; the past of row t "
                "lies to the left of column t."
            ),
            FUTURE,
        ),
        _window_mistake(
            "centred-window",
            _centred,
            "Your window is centred on each position, so half of it lies in the future.",
            lambda e: (
                f"Row 0 gives weight to {_positions(_weights(e)[0])}; it may see position 0 alone. "
                "The window ends at position t."
            ),
            FUTURE,
        ),
        _window_mistake(
            "diagonal-excluded",
            _window_before,
            "Your window ends one position too early: no position sees itself.",
            _last_row_sees,
            FUTURE,
            lambda T, width: _window_before(T, width, 1.0),
        ),
        _window_mistake(
            "multiplied-mask",
            _softmax_of_the_band,
            "You took the softmax of a band of ones and zeros.",
            lambda e: (
                f"Row 0 of your matrix is {_row(_weights(e)[0])}. A score of 0 is not hidden: it "
                "gets e⁰ = 1 beside e¹ = 2.72. What may not be seen needs −inf."
            ),
            FILL,
        ),
    ),
    (
        no_weight_on_the_future("weights", FUTURE),
        _sees_the_right_positions,
        rows_sum_to_one("weights", MEANS),
    ),
)


# decay


def _powers(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    return torch.tril(decay ** (t[:, None] - t).clamp(min=0).float())


def decay_weights(T: int, decay: float) -> Tensor:
    """A right answer to 01/decay: (T, T)."""
    weights = _powers(T, decay)
    return weights / weights.sum(dim=1, keepdim=True)


def _uncorrected(T: int, decay: float) -> Tensor:
    return (1 - decay) * _powers(T, decay)


def _started_at_the_first(T: int, decay: float) -> Tensor:
    weights = torch.zeros(T, T)
    weights[0, 0] = 1
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


def _reversed(T: int, decay: float) -> Tensor:
    weights = torch.tril(decay ** torch.arange(T).float().expand(T, T))
    return weights / weights.sum(dim=1, keepdim=True)


def _complement(T: int, decay: float) -> Tensor:
    return decay_weights(T, 1 - decay)


def _both_ways(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    weights = decay ** (t[:, None] - t).abs().float()
    return weights / weights.sum(dim=1, keepdim=True)


def _ahead_only(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay).T
    return weights / weights.sum(dim=1, keepdim=True)


def _powers_by_columns(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay)
    return weights / weights.sum(dim=0)


def _powers_without_keepdim(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay)
    return weights / weights.sum(dim=1)


def _softmax_of_powers(T: int, decay: float) -> Tensor:
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return _powers(T, decay).masked_fill(future, -torch.inf).softmax(dim=-1)


def _log_powers_zero_filled(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    return torch.tril((t[:, None] - t) * float(np.log(decay))).softmax(dim=-1)


def _decay_before(T: int, decay: float, least: float = 0.0) -> Tensor:
    weights = _powers(T, decay).tril(-1)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


def _right_ratios(evidence: Evidence) -> bool:
    if not evidence.comparable("weights"):
        return False
    mine, right = _weights(evidence), evidence.right("weights")
    if not np.isfinite(mine).all() or (np.diagonal(mine) < _NOTHING).any():
        return False
    diagonal = np.diagonal(mine)[:, None] / np.diagonal(right)[:, None]
    return np.allclose(mine, right * diagonal, rtol=1e-4, atol=1e-5)


def _decay_of(evidence: Evidence) -> str:
    return f"{float(evidence.inputs['decay']):g}"


def _last_row_against(evidence: Evidence) -> str:
    mine, right = _weights(evidence)[-1], evidence.right("weights")[-1]
    return (
        f"Your last row is {_row(mine)}; with `decay = {_decay_of(evidence)}` it is {_row(right)}."
    )


def _shrinks_as_asked(evidence: Evidence) -> Finding | None:
    mine = _weights(evidence)
    ratio = mine[-1, -2] / mine[-1, -1]
    if _right_ratios(evidence) or abs(ratio - float(evidence.inputs["decay"])) < 1e-4:
        return None
    return Finding(
        "wrong-ratio",
        "The weights do not shrink as asked.",
        f"In your last row, one step back counts {_number(ratio)} times as much as the present; "
        f"with `decay = {_decay_of(evidence)}` it counts {_decay_of(evidence)} times as much.",
        MEANS,
    )


DECAY_TASK = Task(
    "Exponential moving average",
    decay_weights,
    MEANS,
    (
        Part(
            "Each step back counts `decay` times as much, and nothing comes from the future.",
            2,
            _right_ratios,
        ),
        Part("On top of that, every row sums to 1.", 2, matches("weights")),
    ),
    (
        Mistake(
            "unnormalised-decay",
            _powers,
            "The weights shrink as they should; they are not an average yet.",
            lambda e: (
                f"Row {e.number('T') - 1} of your matrix sums to "
                f"{_number(_weights(e)[-1].sum())}; every row of an average sums to 1."
            ),
            MEANS,
        ),
        Mistake(
            "uncorrected-start",
            _uncorrected,
            "You multiplied by 1 − decay, which is right only for a past without beginning.",
            lambda e: (
                "1 + decay + decay² + … is 1 / (1 − decay) if it never ends. Here it ends "
                f"at position 0: row 0 of your matrix sums to {_number(_weights(e)[0].sum())}, row "
                f"{e.number('T') - 1} to {_number(_weights(e)[-1].sum())}. Divide each row by "
                "its own sum. (A recursion that starts from 0 does the same as yours.)"
            ),
            MEANS,
        ),
        Mistake(
            "started-at-the-first",
            _started_at_the_first,
            "Position 0 counts too much: it stands for everything that might have come before it.",
            lambda e: (
                "That is what the recursion y = decay · y + (1 − decay) · x does when it starts "
                f"with the first value. {_last_row_against(e)}"
            ),
            MEANS,
        ),
        Mistake(
            "reversed-decay",
            _reversed,
            "Your weights shrink towards the present: the oldest position counts most.",
            lambda e: (
                f"{_last_row_against(e)} The exponent is the distance t − s, which is 0 on the "
                "diagonal."
            ),
            TRIANGLE,
        ),
        Mistake(
            "complement",
            _complement,
            "You used 1 − decay where decay is asked for.",
            lambda e: (
                f"In your last row, one step back counts "
                f"{_number(_weights(e)[-1, -2] / _weights(e)[-1, -1])} times as much as the "
                f"present; with `decay = {_decay_of(e)}` it counts {_decay_of(e)} times as much."
            ),
            MEANS,
        ),
        Mistake(
            "no-causal-mask",
            _both_ways,
            "Your weights shrink in both directions: the future is averaged, too.",
            lambda e: (
                f"Row 0 of your matrix is {_row(_weights(e)[0])}. Position 0 may see itself alone: "
                "[1, 0, …]. Cut the future off before you divide."
            ),
            FUTURE,
        ),
        Mistake(
            "upper-triangle",
            _ahead_only,
            "Your weights lie above the diagonal: every position averages its future.",
            lambda e: (
                f"Row 0 of your matrix is {_row(_weights(e)[0])}. Position 0 may see itself alone; "
                "the past of row t lies to the left of column t."
            ),
            FUTURE,
        ),
        Mistake("divides-columns", _powers_by_columns, _COLUMNS, _column_sums, MEANS),
        Mistake("keepdim-forgotten", _powers_without_keepdim, _KEEPDIM, _keepdim_sums, MEANS),
        Mistake(
            "softmax-of-weights",
            _softmax_of_powers,
            "You put weights into a softmax, which takes scores.",
            lambda e: (
                "A softmax takes the exponential before it divides, so one step back counts "
                f"{_number(_weights(e)[-1, -2] / _weights(e)[-1, -1])} times as much as the "
                f"present in your last row, not {_decay_of(e)} times. Divide by the row sums, or "
                "put in the logarithm of the weights."
            ),
            SOFTMAX,
        ),
        Mistake(
            "zero-mask",
            _log_powers_zero_filled,
            "The future has a score of 0, and a score of 0 is not hidden.",
            lambda e: (
                f"Row 0 of your matrix is {_row(_weights(e)[0])}. The logarithm of a weight can go "
                "into a softmax, but then the future needs −inf: `tril` leaves 0, and e⁰ = 1."
            ),
            FILL,
        ),
        Mistake(
            "diagonal-excluded",
            _decay_before,
            "No position sees itself.",
            lambda e: (
                f"The diagonal of your matrix is {_row(np.nan_to_num(np.diagonal(_weights(e))))}. "
                "Distance 0 counts, with decay⁰ = 1, and row 0 has nothing else to average."
            ),
            FUTURE,
            recognised=_any_of(
                DECAY,
                ("weights",),
                _decay_before,
                lambda T, decay: _decay_before(T, decay, 1e-9),
            ),
        ),
    ),
    (
        no_weight_on_the_future("weights", FUTURE),
        _sees_the_right_positions,
        _shrinks_as_asked,
        rows_sum_to_one("weights", MEANS),
    ),
)


# masked-softmax


def masked_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    """A right answer to 01/masked-softmax: (B, T, T), (B, T, T) → (B, T, T)."""
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)


def _inverted(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(visible, -torch.inf).softmax(dim=-1)


def _dropped(scores: Tensor, visible: Tensor) -> Tensor:
    scores.masked_fill(~visible, -torch.inf)
    return scores.softmax(dim=-1)


def _zero_filled(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, 0).softmax(dim=-1)


def _tiny_filled(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -1e-9).softmax(dim=-1)


def _plus_infinity(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, torch.inf).softmax(dim=-1)


def _cut_afterwards(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.softmax(dim=-1) * visible


def _over_queries(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-2)


def _over_the_batch(scores: Tensor, visible: Tensor) -> Tensor:
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=0)


def _scores_ignored(scores: Tensor, visible: Tensor) -> Tensor:
    return torch.zeros_like(scores).masked_fill(~visible, -torch.inf).softmax(dim=-1)


def _fill_read_off(evidence: Evidence) -> float | None:
    """The number that stood in the hidden places, worked out from the weights.

    Two weights of a row have the quotient of their exponentials, so a hidden one's score is that
    of a visible one plus the difference of their logarithms. None if the hidden places do not
    share one finite number.
    """
    mine = np.asarray(evidence.yours("precise"), dtype=np.float64)
    scores, visible = evidence.inputs["scores"], evidence.inputs["visible"]
    if mine.shape != scores.shape or not (mine > 0).all():
        return None
    implied = np.log(mine) - scores
    offset = np.where(visible, implied, 0).sum(-1) / visible.sum(-1)
    fills = (np.log(mine) - offset[..., None])[~visible]
    consistent = np.abs(np.where(visible, implied - offset[..., None], 0)).max() < 1e-5
    return float(np.median(fills)) if consistent and np.ptp(fills) < 1e-5 else None


def _tiny_fill(evidence: Evidence) -> bool:
    fill = _fill_read_off(evidence)
    digits = 1e-12 if evidence.yours("precise").dtype == np.float64 else 1e-5
    return fill is not None and abs(fill) > digits


def _sample(evidence: Evidence, case: str = "weights") -> tuple[Array, Array]:
    """Row 0 of sample 0: the student's weights, and what it may see."""
    mine = np.asarray(evidence.yours(case), dtype=np.float64)
    return mine[0, 0], evidence.inputs["visible"][0, 0]


def _row_of_the_sample(evidence: Evidence) -> str:
    mine, visible = _sample(evidence)
    return (
        f"Row 0 of sample 0 may see position{'s' if visible.sum() > 1 else ''} "
        f"{_list(np.flatnonzero(visible))}; your weights are {_row(mine)}."
    )


def _hidden_share(evidence: Evidence) -> str:
    mine, visible = np.asarray(evidence.yours("weights")), evidence.inputs["visible"]
    share = np.where(visible, 0, mine).sum() / mine.sum()
    return f"{_number(100 * share, 2)} % of all weight lies on hidden positions."


def _right_proportions(evidence: Evidence) -> bool:
    if not evidence.comparable("weights"):
        return False
    mine, right = evidence.yours("weights"), evidence.right("weights")
    sums = mine.sum(-1, keepdims=True)
    if not np.isfinite(sums).all() or (sums < _NOTHING).any():
        return False
    return np.allclose(mine / sums, right, rtol=1e-4, atol=1e-5)


def _sees_what_is_hidden(evidence: Evidence) -> Finding | None:
    mine, visible = evidence.yours("weights"), evidence.inputs["visible"]
    seen = np.argwhere(~visible & (np.abs(mine) > _NOTHING))
    if not len(seen):
        return None
    b, t, s = (int(i) for i in seen[0])
    return Finding(
        "sees-what-is-hidden",
        "Hidden positions have weight.",
        f"In sample {b}, row {t} may not see position {s}, but gives it {_number(mine[b, t, s])}. "
        f"{_hidden_share(evidence)}",
        FILL,
    )


MASKED_SOFTMAX_TASK = Task(
    "Masked softmax",
    masked_softmax,
    SOFTMAX,
    (
        Part(
            "Hidden positions get weight 0, visible ones weights in proportion to e^score.",
            2,
            _right_proportions,
        ),
        Part("On top of that, every row sums to 1.", 2, matches("weights")),
    ),
    (
        Mistake(
            "inverted-mask",
            _inverted,
            "Your mask is the wrong way round: you hid what may be seen.",
            lambda e: (
                f"{_row_of_the_sample(e)} `masked_fill` writes where its mask is True, and "
                "`visible` is True where you may look."
            ),
            WRITES,
            cases=("weights",),
        ),
        Mistake(
            "dropped-result",
            _dropped,
            "Your mask has no effect: these are the weights without any mask.",
            lambda e: (
                f"{_row_of_the_sample(e)} `masked_fill` returns a new tensor and leaves the old "
                "one as it was: keep what it returns, or use `masked_fill_`."
            ),
            WRITES,
            cases=("weights",),
        ),
        Mistake(
            "tiny-fill",
            _tiny_filled,
            lambda e: (
                f"You filled the hidden places with {_number(_fill_read_off(e) or 0.0)}, "
                "which is too close to the scores."
            ),
            lambda e: (
                f"{_hidden_share(e)} "
                + (
                    "(−1e-9 is −0.000000001; −1e9 is a large number.) "
                    if abs(_fill_read_off(e) or 0.0) < 1e-3
                    else ""
                )
                + "Only −inf makes e^score exactly 0, whatever the other scores are."
            ),
            FILL,
            recognised=_tiny_fill,
        ),
        Mistake(
            "zero-mask",
            _zero_filled,
            "You hid positions by setting their scores to 0.",
            lambda e: (
                f"{_row_of_the_sample(e)} {_hidden_share(e)} A score of 0 is a score like any "
                "other, and e⁰ = 1. Multiplying the scores by the mask does the same, −1e-9 nearly "
                "so."
            ),
            FILL,
            cases=("weights",),
        ),
        Mistake(
            "plus-infinity",
            _plus_infinity,
            "The sign of your infinity is wrong.",
            lambda e: (
                f"{int(np.isnan(e.yours('weights')).sum())} of {e.yours('weights').size} weights "
                "are NaN: e^(+inf) is infinite, and inf / inf is not a number. What is to vanish "
                "needs −inf."
            ),
            FILL,
            cases=("weights",),
        ),
        Mistake(
            "masked-after-softmax",
            _cut_afterwards,
            "You took the softmax first and cut the hidden positions out of it afterwards.",
            lambda e: (
                f"What was cut is missing: row 0 of sample 0 sums to "
                f"{_number(_sample(e)[0].sum())}. Mask the scores before the softmax, or divide "
                "by the new row sums."
            ),
            SOFTMAX,
            cases=("weights",),
        ),
        Mistake(
            "scores-ignored",
            _scores_ignored,
            "All visible positions count the same; the scores have no effect.",
            lambda e: (
                f"{_row_of_the_sample(e)} The chapter's scores were all 0, and equal scores make "
                f"equal weights. With these scores, the row is {_row(e.right('weights')[0, 0])}."
            ),
            KERNEL,
            cases=("weights",),
        ),
        Mistake(
            "softmax-over-queries",
            _over_queries,
            "Your softmax runs down the columns.",
            lambda e: (
                f"In sample 0, column 0 of your weights sums to "
                f"{_number(np.asarray(e.yours('weights'))[0, :, 0].sum())}, row 0 to "
                f"{_number(_sample(e)[0].sum())}. Row t holds the weights of position t: "
                "the softmax runs along it, `dim=-1`."
            ),
            SIDES,
            cases=("weights",),
        ),
        Mistake(
            "softmax-over-batch",
            _over_the_batch,
            "Your softmax runs over the samples of the batch.",
            lambda e: (
                f"Row 0 of sample 0 is {_row(_sample(e)[0])}: its weights compete with those of "
                f"the other {_word(e.number('B') - 1)} samples, not with each other. "
                "`dim=-1` runs along a row; a softmax of three sizes without `dim` takes `dim=0`."
            ),
            SIDES,
            cases=("weights",),
        ),
    ),
    (_sees_what_is_hidden, rows_sum_to_one("weights", SOFTMAX)),
)


# find-fault


def faulty_rows(weights: Tensor) -> Tensor:
    """A right answer to 01/find-fault: (T, T) → (T,) bool."""
    ahead = (torch.triu(weights, diagonal=1).abs() > 1e-5).any(dim=1)
    negative = (weights < 0).any(dim=1)
    averages = (weights.sum(dim=1) - 1).abs() < 1e-5  # False where a weight is NaN
    return ahead | negative | ~averages


def _equality(weights: Tensor) -> Tensor:
    return (
        (torch.triu(weights, diagonal=1) != 0).any(dim=1)
        | (weights < 0).any(dim=1)
        | (weights.sum(dim=1) != 1)
    )


def _by_columns(weights: Tensor) -> Tensor:
    return (
        (torch.triu(weights, diagonal=1) > 0).any(dim=1)
        | (weights < 0).any(dim=1)
        | ~torch.isclose(weights.sum(dim=0), torch.ones(len(weights)))
    )


def _without_the_diagonal(weights: Tensor) -> Tensor:
    return faulty_rows(weights) | (torch.triu(weights) != 0).any(dim=1)


def _the_sound_ones(weights: Tensor) -> Tensor:
    return ~faulty_rows(weights)


def _sums_too_large_only(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | (weights.sum(dim=1) > 1 + 1e-5)


def _sums_too_small_only(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | (weights.sum(dim=1) < 1 - 1e-5)


def _future_unasked(weights: Tensor) -> Tensor:
    negative = (weights < 0).any(dim=1)
    return negative | ~torch.isclose(weights.sum(dim=1), torch.ones(len(weights)))


def _sums_unasked(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | weights.isnan().any(dim=1)


def _signs_unasked(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    return ahead | ~torch.isclose(weights.sum(dim=1), torch.ones(len(weights)))


def _nan_slips_through(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 1e-5).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | ((weights.sum(dim=1) - 1).abs() > 1e-5)


def _first_wrong(evidence: Evidence, case: str) -> tuple[int, Array]:
    """The first row that was judged wrongly, and what it holds."""
    mine, right = evidence.yours(case).astype(bool), evidence.right(case).astype(bool)
    t = int(np.flatnonzero(mine != right)[0])
    return t, evidence.inputs[case][t]


def _wrong_row(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        t, row = _first_wrong(evidence, case)
        verdict = "faulty" if evidence.yours(case)[t] else "sound"
        return f"You call row {t} {verdict}: {_row(row)}, with sum {_number(row.sum())}."

    return say


def _misses(case: str, name: str, what: str) -> Property:
    """Says of a kind of fault that it was missed, or that a sound row was accused."""

    def ask(evidence: Evidence) -> Finding | None:
        if evidence.same(case):
            return None
        t, _ = _first_wrong(evidence, case)
        effect = _wrong_row(case)(evidence)
        if evidence.yours(case)[t]:
            return Finding("sound-row-accused", "A sound row is called faulty.", effect, MEANS)
        return Finding(name, what, effect, MEANS)

    return ask


def _fault_mistake(
    name: str, answer: Any, what: str, case: str, advice: str, section: Section, *others: Any
) -> Mistake:
    return Mistake(
        name,
        answer,
        what,
        lambda e: f"{_wrong_row(case)(e)} {advice}",
        section,
        recognised=lambda e: not e.same(case) and _any_of(FIND_FAULT, (case,), answer, *others)(e),
    )


FIND_FAULT_TASK = Task(
    "Find the fault",
    faulty_rows,
    MEANS,
    (
        Part("Rows that look ahead are found, and no others.", 1, matches("ahead")),
        Part("Rows that do not sum to 1 are found, and no others.", 1, matches("sums")),
        Part("Rows with a negative weight are found, and no others.", 1, matches("signs")),
        Part("Rows with a NaN are found, and no others.", 1, matches("nan")),
    ),
    (
        Mistake(
            "inverted-answer",
            _the_sound_ones,
            "Your answer is the wrong way round: True marks the sound rows.",
            _wrong_row("sums"),
            MEANS,
        ),
        Mistake(
            "exact-comparison",
            _equality,
            "You compare sums with 1 exactly, and rounding makes every row faulty.",
            lambda e: (
                f"Row 0 of a matrix sums to 1 {_signed(float(e.inputs['ahead'].sum(1)[0]) - 1)}, "
                "which is float32's noise and no fault. Allow for it: `torch.isclose`, "
                "or a distance of at most 1e-5."
            ),
            MEANS,
            cases=("ahead", "sums"),
        ),
        _fault_mistake(
            "diagonal-excluded",
            _without_the_diagonal,
            "You count the diagonal as future.",
            "sums",
            "A position may see itself; the future begins at `diagonal=1`.",
            FUTURE,
        ),
        _fault_mistake(
            "divides-columns",
            _by_columns,
            "You ask whether the columns sum to 1.",
            "sums",
            "Row t holds the weights of position t: `sum(dim=1)` adds along a row.",
            SIDES,
        ),
        _fault_mistake(
            "one-sided-sum",
            _sums_too_small_only,
            "You ask for a wrong sum on one side of 1 only.",
            "sums",
            "A row can sum to too little and to too much: take the distance from 1, `.abs()`.",
            MEANS,
            _sums_too_large_only,
        ),
        _fault_mistake(
            "future-unasked",
            _future_unasked,
            "Rows that look ahead pass as sound.",
            "ahead",
            "It sums to 1, but column s of row t is the future for every s > t.",
            FUTURE,
        ),
        _fault_mistake(
            "sums-unasked",
            _sums_unasked,
            "Rows that do not sum to 1 pass as sound.",
            "sums",
            "It looks at the past alone, but it is no average.",
            MEANS,
        ),
        _fault_mistake(
            "signs-unasked",
            _signs_unasked,
            "Rows with a negative weight pass as sound.",
            "signs",
            "It sums to 1, but the mean of some numbers never lies outside them; with a negative "
            "weight it can.",
            MEANS,
        ),
        _fault_mistake(
            "nan-slips-through",
            _nan_slips_through,
            "A row with a NaN passes as sound.",
            "nan",
            "Every comparison with NaN is False, `nan > 1e-5` too. Ask what a sound row fulfils "
            "and negate that, or use `isnan`.",
            FILL,
        ),
    ),
    (
        _misses("ahead", "future-missed", "A row that looks ahead passes as sound."),
        _misses("sums", "sum-missed", "A row that does not sum to 1 passes as sound."),
        _misses("signs", "sign-missed", "A row with a negative weight passes as sound."),
        _misses("nan", "nan-missed", "A row with a NaN passes as sound."),
    ),
)


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {abs(value):.0e}"


TASKS: dict[str, Task] = {
    "running-sum": RUNNING_SUM,
    "past-mean": PAST_MEAN_TASK,
    "window": WINDOW_TASK,
    "decay": DECAY_TASK,
    "masked-softmax": MASKED_SOFTMAX_TASK,
    "find-fault": FIND_FAULT_TASK,
}
