"""Judging 01/past-mean: the mean of what comes before, and 0 where nothing does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, WRITES
from course_judges.ch01_averages.weights import (
    divides_by_another_count,
    laid_along_a_row,
    matrix,
    not_divided,
    positions,
    right_but_alone,
    same_places,
    sees_the_future,
    sees_the_right_positions,
    uneven,
)
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Property, Task, matches, mistake
from course_judges.properties import rows_sum_to_one
from course_judges.wording import number, row, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def strict_past_mean(x: Tensor) -> Tensor:
    """A right answer to 01/past-mean: (B, T, C) → (B, T, C)."""
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1)
    return weights @ x


def _strict_sums(x: Tensor) -> Tensor:
    T = x.shape[1]
    return torch.tril(torch.ones(T, T), diagonal=-1) @ x


def _past_by(matrix: Callable[[Tensor], Tensor], axis: int, keep: bool, least: float) -> Any:
    """A wrong way to divide a strict triangle; `least` above 0 guards against 0 / 0."""

    def answer(x: Tensor) -> Tensor:
        T = x.shape[1]
        weights = matrix(torch.ones(T, T))
        return weights / weights.sum(dim=axis, keepdim=keep).clamp(min=least) @ x

    return answer


def _strict_lower(ones: Tensor) -> Tensor:
    return torch.tril(ones, diagonal=-1)


def _strict_upper(ones: Tensor) -> Tensor:
    return torch.triu(ones, diagonal=1)


def _right_from_row_one(evidence: Evidence) -> bool:
    return all(
        evidence.comparable(case)
        and np.allclose(
            evidence.yours(case)[:, 1:], evidence.right(case)[:, 1:], rtol=1e-4, atol=1e-5
        )
        for case in ("means", "weights")
    )


def _by_position(x: Tensor, of_past: Callable[[Tensor], Tensor]) -> Tensor:
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = of_past(x[:, :t])
    return out


def _in_every_row(evidence: Evidence) -> str:
    T = evidence.number("T")
    return f"Row 1 of your weights is {row(matrix(evidence)[1])} (with T = {T})"


@mistake(
    "Position 0 of your output is NaN.",
    lambda e: unwrapped(f"""The other {word(e.number("T") - 1)} positions are right. Nothing comes
    before position 0, so its count is 0, or its softmax has nothing but −inf. Either way the result
    is 0 / 0, which is NaN, and so is every number that is computed from it. The task defines this
    mean as 0."""),
)
def _first_row_nan(x: Tensor) -> Tensor:
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    return weights / weights.sum(dim=1, keepdim=True) @ x


@mistake(
    "Your position 0 averages the whole sequence, including the future.",
    lambda e: unwrapped(f"""Row 0 of your weights is {row(matrix(e)[0])}, but it should be all 0
    because nothing comes before it. All other rows are right. If you shifted with `torch.roll`, it
    brings the last mean round to the front. If you took a softmax, it gives equal weights to a row
    of equal scores, even if each of them is −1e9. Either way, position 0 has to be set to 0."""),
    FILL,
)
def _first_row_uniform(x: Tensor) -> Tensor:
    T = x.shape[1]
    past = torch.tril(torch.ones(T, T), diagonal=-1)
    return torch.zeros(T, T).masked_fill(past == 0, -1e9).softmax(dim=-1) @ x


@mistake(
    "Your position 0 sees itself.",
    lambda e: unwrapped(f"""Row 0 of your weights is {row(matrix(e)[0])}. All other rows are right,
    but in this one the task asks for 0, because nothing comes before it."""),
)
def _first_row_itself(x: Tensor) -> Tensor:
    y = strict_past_mean(x)
    y[:, 0] = x[:, 0]
    return y


@mistake(
    "Your means include the position itself, as in the chapter, but the strict past doesn't.",
    lambda e: unwrapped(f"""{_in_every_row(e)}, so it sees positions 0 and 1. The strict past of
    position 1 is only position 0."""),
    FUTURE,
    also=(lambda x: _running_mean_from_1(x),),
)
def _diagonal_included(x: Tensor) -> Tensor:
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))
    return weights / weights.sum(dim=1, keepdim=True) @ x


def _running_mean_from_1(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = x[:, : t + 1].mean(dim=1)
    return out


@mistake(
    "You add up t + 1 positions, including position t itself, but divide by t.",
    lambda e: unwrapped(f"""{_in_every_row(e)}, because its sum includes positions 0 and 1. Only one
    position comes before position 1, so take the position itself out of the sum."""),
    FUTURE,
    also=(lambda x: x.cumsum(dim=1) / torch.arange(x.shape[1])[:, None],),
)
def _sums_include_itself(x: Tensor) -> Tensor:
    return x.cumsum(dim=1) / torch.arange(x.shape[1]).clamp(min=1)[:, None]


@mistake(
    "Each position gets only the one before it instead of the mean of all that come before.",
    lambda e: unwrapped(f"""Row {len(matrix(e)) - 1} of your weights is {row(matrix(e)[-1])}, but
    its strict past is positions 0 … {len(matrix(e)) - 2}, and each of them counts the same."""),
)
def _previous_alone(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    out[:, 1:] = x[:, :-1]
    return out


def _past_but_one(matrix_of: Callable[[Tensor], Tensor]) -> Any:
    """Weights of positions 0 … t − 2, divided by what `matrix_of` makes of their counts."""

    def answer(x: Tensor) -> Tensor:
        T = x.shape[1]
        weights = torch.tril(torch.ones(T, T), diagonal=-2)
        return weights / matrix_of(weights.sum(dim=1, keepdim=True)) @ x

    return answer


_past_ends_too_early = mistake(
    "Your past ends one position too early, so position t leaves out t − 1.",
    lambda e: unwrapped(f"""Row {len(matrix(e)) - 1} of your weights is {row(matrix(e)[-1])}, but it
    should see positions 0 … {len(matrix(e)) - 2}. If you slice, the end is left out, so `x[:, :t]`
    holds positions 0 … t − 1. If you cut a triangle, `diagonal=-1` leaves out only the
    diagonal."""),
    FUTURE,
    also=(
        _past_but_one(lambda count: count),
        _past_but_one(lambda count: count + 1),
        lambda x: _by_position(x, lambda past: past[:, :-1].mean(dim=1)),
    ),
)(_past_but_one(lambda count: count.clamp(min=1)))


@mistake(
    "You averaged over the channels as well as over time.",
    lambda e: unwrapped(f"""In sample 0, the past of position 1 is {row(e.inputs["x"][0, 0])}, one
    number per channel, but you return {row(e.yours("means")[0, 1])} there. Each channel has its own
    mean. `mean(dim=1)` of (B, T, C) keeps the channels apart, and so does `mean(dim=0)` of a single
    sample, but `mean()` doesn't."""),
    cases=("means",),
    also=(lambda x: _by_position(x, lambda past: past.mean()),),
)
def _mixes_channels(x: Tensor) -> Tensor:
    return _by_position(x, lambda past: past.mean(dim=(1, 2))[:, None])


@mistake(
    "You averaged over the samples as well as over time.",
    lambda e: unwrapped(f"""Position 1 of channel 0 is {number(e.yours("means")[0, 1, 0])} in every
    sample, but the values before it are {row(e.inputs["x"][:, 0, 0])}, one per sample. Each sample
    has its own mean, which is `mean(dim=1)` of (B, T, C)."""),
    cases=("means",),
)
def _mixes_samples(x: Tensor) -> Tensor:
    return _by_position(x, lambda past: past.mean(dim=(0, 1)))


@mistake(
    "You average along the samples instead of along time.",
    lambda e: unwrapped(f"""Of x in shape (B, T, C) = {e.inputs["x"].shape}, your answer takes the
    mean of the samples that come before each of them. Time is the second dimension, `dim=1`."""),
    cases=("means",),
)
def _means_of_samples(x: Tensor) -> Tensor:
    return strict_past_mean(x.transpose(0, 1)).transpose(0, 1)


@mistake(
    "You average the right positions, but divide by one too many.",
    lambda e: unwrapped(f"""Row {len(matrix(e)) - 1} of your weights sums to
    {number(matrix(e)[-1].sum())} instead of 1, because only t positions come before position
    t."""),
)
def _divides_by_one_too_many(x: Tensor) -> Tensor:
    T = x.shape[1]
    return _strict_sums(x) / torch.arange(1, T + 1)[:, None]


_sums_not_means = mistake(
    "Your sums are right, but you haven't divided them yet.",
    not_divided,
)(_strict_sums)


@mistake(
    "You don't hide anything, so every position averages the whole sequence.",
    lambda e: unwrapped(f"""Every weight of yours is {number(matrix(e)[0, 0])}, one over T. If you
    hide positions before a softmax, a 0 instead of −inf hides nothing, because e⁰ = 1, and neither
    does a `masked_fill` whose result you don't keep. A mean over `dim=1` sees all, too."""),
    FILL,
)
def _zero_mask(x: Tensor) -> Tensor:
    T = x.shape[1]
    future = torch.triu(torch.ones(T, T)) == 1
    return torch.zeros(T, T).masked_fill(future, 0).softmax(dim=-1) @ x


@mistake(
    "You took the softmax of a triangle of ones and zeros.",
    lambda e: unwrapped(f"""{_in_every_row(e)}. A score of 0 isn't hidden, because it gets e⁰ = 1
    next to e¹ = 2.72. Multiplying scores by a mask leaves zeros where −inf has to be."""),
    FILL,
)
def _multiplied_mask(x: Tensor) -> Tensor:
    T = x.shape[1]
    return (torch.ones(T, T) * torch.tril(torch.ones(T, T), -1)).softmax(dim=-1) @ x


@mistake(
    "Each of your means includes the position itself and the next one.",
    lambda e: unwrapped(f"""{_in_every_row(e)}, so it sees {positions(matrix(e)[1])}. If you use
    `tril`, `diagonal=1` keeps one diagonal above the main one, while a negative number takes
    diagonals away."""),
    FUTURE,
)
def _next_included(x: Tensor) -> Tensor:
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=1)
    return weights / weights.sum(dim=1, keepdim=True) @ x


@mistake(
    "You averaged along the channels instead of along time.",
    lambda e: unwrapped(f"""In sample 0, your position 0 holds {row(e.yours("means")[0, 0])}, where
    channel c has the mean of channels 0 … c − 1. In (B, T, C), time is in the middle. A matrix from
    the left mixes it, and so does `dim=1`."""),
    cases=("means",),
)
def _means_of_channels(x: Tensor) -> Tensor:
    return strict_past_mean(x.transpose(1, 2)).transpose(1, 2)


@mistake(
    "You took the median of what comes before instead of the mean.",
    lambda e: unwrapped(f"""In sample 0, the past of position 3 in channel 0 is
    {row(e.inputs["x"][0, :3, 0])}. The number in the middle is {number(e.yours("means")[0, 3, 0])},
    but the mean is {number(e.right("means")[0, 3, 0])}."""),
    cases=("means",),
    also=(lambda x: _by_position(x, lambda past: past.quantile(0.5, dim=1)),),
)
def _median(x: Tensor) -> Tensor:
    return _by_position(x, lambda past: past.median(dim=1).values)


_upper_triangle = families.upper_triangle(
    lambda e: f"{_in_every_row(e)}, so it sees {positions(matrix(e)[1])}.",
    FUTURE,
    also=(_past_by(_strict_upper, 1, True, 0.0),),
)(_past_by(_strict_upper, 1, True, 1.0))

_divides_columns = families.divides_columns(
    lambda e: unwrapped(f"""Row t says what position t sees, so it's the rows that have to sum to 1,
    but row {e.number("T") - 1} of yours sums to {number(matrix(e)[-1].sum())}.
    `sum(dim=1, keepdim=True)` adds along a row."""),
    also=(_past_by(_strict_lower, 0, True, 0.0),),
)(_past_by(_strict_lower, 0, True, 1.0))

_keepdim_forgotten = families.keepdim_forgotten(
    laid_along_a_row, also=(_past_by(_strict_lower, 1, False, 0.0),)
)(_past_by(_strict_lower, 1, False, 1.0))


def _of_weights(ask: Property) -> Property:
    """Asks it only if the weights read off the identity also make the output of x."""

    def asked(evidence: Evidence) -> Finding | None:
        x, mine = evidence.inputs["x"], evidence.yours("means")
        made = evidence.yours("weights")[0] @ x
        if mine.shape != made.shape or not np.allclose(made, mine, rtol=1e-3, atol=1e-4):
            return None
        return ask(evidence)

    return asked


def _a_sample_for_a_position(evidence: Evidence) -> Finding | None:
    """Sample 0 is 0 instead of position 0."""
    mine, right = evidence.yours("means"), evidence.right("means")
    if mine.shape != right.shape or mine[0].any() or not right[0, 1:].all():
        return None
    if not np.allclose(mine[1:, 1:], right[1:, 1:], atol=1e-4):
        return None
    too = mine[1:, 0].any()
    return Finding(
        "sample-for-position",
        "Your sample 0 is all 0, but it's position 0 of every sample that should be 0.",
        "The first index of (B, T, C) is the sample, so `y[0] = 0` clears sample 0, while "
        "`y[:, 0] = 0` clears position 0."
        + f" In sample 1, your position 0 holds {number(mine[1, 0, 0])} in channel 0."
        * bool(too),
        MEANS,
    )


def _rolled_flat(x: Tensor) -> Tensor:
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))
    return (weights / weights.sum(dim=1, keepdim=True) @ x).roll(1)


def _moved_by_a_number(evidence: Evidence) -> str:
    mine, right = evidence.yours("means"), evidence.right("means")
    return unwrapped(f"""Position 1 of sample 0 holds, in channel 1, the mean of positions 0 and 1
    in channel 0: {number(mine[0, 1, 1])} instead of {number(right[0, 1, 1])}. Without `dims`,
    `torch.roll` moves every number on to the next place, even into another channel, position or
    sample. Give it `dims=1`, and set position 0 to 0.""")


@mistake(
    "Your running means moved by one number instead of one position.",
    _moved_by_a_number,
    cases=("means",),
    also=(_rolled_flat,),
)
def _moved_along_the_numbers(x: Tensor) -> Tensor:
    y = _rolled_flat(x)
    y[:, 0] = 0
    return y


@mistake(
    "You subtracted the position itself from its running mean.",
    lambda e: unwrapped(f"""{_in_every_row(e)}, so position 1 counts itself negatively. To take a
    position out of a mean, take it out of the sum, and then divide by t instead of t + 1."""),
)
def _subtracted_from_the_mean(x: Tensor) -> Tensor:
    return x.cumsum(dim=1) / torch.arange(1, x.shape[1] + 1)[:, None] - x


@mistake(
    "You averaged your own results instead of the inputs.",
    lambda e: unwrapped(f"""Row {len(matrix(e)) - 1} of your weights is {row(matrix(e)[-1])}, so it
    sees only position 0, which is all that is left after position 1 became its mean, and position 2
    the mean of these two. If you write into the tensor that you average, a later mean reads what an
    earlier step has written, so read from `x` and write into a new tensor."""),
    WRITES,
)
def _own_results_averaged(x: Tensor) -> Tensor:
    y = x.clone()
    for t in range(1, x.shape[1]):
        y[:, t] = y[:, :t].mean(dim=1)
    y[:, 0] = 0
    return y


# What is made of the strict past (B, t, C), one number for each channel of each sample.
_OF_OTHERS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("largest number of the strict past", lambda past: past.max(1)),
    ("smallest number of the strict past", lambda past: past.min(1)),
    ("first number of the strict past", lambda past: past[:, 0]),
    ("root of the mean square of the strict past", lambda past: np.sqrt(np.square(past).mean(1))),
    ("mean square of the strict past", lambda past: np.square(past).mean(1)),
    ("mean of the absolute values of the strict past", lambda past: np.abs(past).mean(1)),
    ("absolute value of the mean", lambda past: np.abs(past.mean(1))),
    ("mean of the sample before", lambda past: np.roll(past.mean(1), 1, axis=0)),
    ("mean of sample 0", lambda past: np.broadcast_to(past[:1].mean(1), past[:, 0].shape)),
    ("mean of channel 0", lambda past: np.broadcast_to(past[:, :, :1].mean(1), past[:, 0].shape)),
)


def _something_else_of_the_past(evidence: Evidence) -> Finding | None:
    x, mine, right = evidence.inputs["x"], evidence.yours("means"), evidence.right("means")
    if mine.shape != right.shape or close(mine[:, 1:], right[:, 1:]).all():
        return None
    x = x.astype(np.float64)
    for words, of_past in _OF_OTHERS:
        made = np.stack([of_past(x[:, :t]) for t in range(1, x.shape[1])], axis=1)
        if close(mine[:, 1:], made).all():
            b, t, c = (int(i) for i in np.argwhere(~close(mine, right) & _from_row_1(mine))[0])
            return Finding(
                "something-else-of-the-past",
                f"You return the {words} instead of the mean.",
                unwrapped(f"""In sample {b}, the past of position {t} in channel {c} is
                {row(x[b, :t, c])}, with the mean {number(right[b, t, c])}, but you return
                {number(mine[b, t, c])}."""),
                MEANS,
            )
    return None


def _from_row_1(means: Array) -> Array:
    return np.arange(means.shape[1])[:, None] > 0


def _first_row_otherwise(evidence: Evidence) -> Finding | None:
    """All is right except what position 0 sees."""
    mine = matrix(evidence)
    if not _right_from_row_one(evidence) or not mine[0].any():
        return None
    return Finding(
        "first-row-otherwise",
        "Your position 0 should be 0, but it sees something.",
        unwrapped(f"""Row 0 of your weights is {row(mine[0])}. All other rows are right. Nothing
        comes before position 0, so its mean is defined as 0, and its row should be all 0."""),
        MEANS,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    mine, right = evidence.yours("means"), evidence.right("means")
    if mine.shape != right.shape or evidence.same("means"):
        return None
    b, t, c = (int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    past = evidence.inputs["x"][b, :t, c]
    return Finding(
        "another-mean",
        "Your numbers aren't the means of the strict past.",
        unwrapped(f"""In sample {b}, channel {c}, the past of position {t} is
        {row(past) if t else "empty"}, so its mean should be {number(right[b, t, c])}, but yours is
        {number(mine[b, t, c])}."""),
        MEANS,
    )


TASK = Task(
    "Mean of the strict past",
    strict_past_mean,
    MEANS,
    (
        Part(
            "From position 1 on, a position sees its past.",
            1,
            same_places("weights", first_row=1),
        ),
        Part("What it sees is averaged.", 1, _right_from_row_one),
        Part(
            "Position 0, with nothing before it, is 0.",
            1,
            matches("means", "weights", "alone"),
        ),
    ),
    properties=(
        _a_sample_for_a_position,
        _something_else_of_the_past,
        right_but_alone("Nothing comes before position 0, so its mean is 0.", MEANS),
        *(
            _of_weights(ask)
            for ask in (
                _first_row_otherwise,
                sees_the_future("weights"),
                sees_the_right_positions,
                divides_by_another_count("weights"),
                uneven("weights"),
                rows_sum_to_one("weights", MEANS),
            )
        ),
    ),
    examples=(_worked_out,),
    cases=("means", "weights"),
)
