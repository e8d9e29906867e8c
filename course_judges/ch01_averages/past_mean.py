"""Judging 01/past-mean: the mean of what comes before, and 0 where nothing does."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS
from course_judges.ch01_averages.weights import (
    divides_by_another_count,
    laid_along_a_row,
    matrix,
    positions,
    right_but_alone,
    same_places,
    sees_the_future,
    sees_the_right_positions,
    uneven,
)
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Property, Step, Task, matches, mistake
from course_judges.properties import rows_sum_to_one
from course_judges.wording import number, row, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def strict_past_mean(x: Tensor) -> Tensor:
    """A right answer to 01/past-mean: (B, T, C) → (B, T, C)."""
    T = x.shape[1]
    t = torch.arange(T)
    past = (t <= t[:, None] - 1).float()  # the past of each position (t, s)
    counts = past.sum(dim=1, keepdim=True)  # how many positions come before (t, 1)
    weights = past / counts.clamp(min=1)  # your weights (t, s)
    return weights @ x  # your means (B, T, C)


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
    return f"Row 1 of your weights is {row(matrix(evidence)[1])} (with T = {T})"


_first_row_nan = mistake(
    "Position 0 of your output is NaN.",
    lambda e: unwrapped(f"""The other {word(e.number("T") - 1)} positions are right. Nothing comes
    before position 0, so its count is 0, or its softmax has nothing but −inf. Either way the result
    is 0 / 0, which is NaN, and so is every number that is computed from it. The task defines this
    mean as 0."""),
)(Like("left-out-the-limit-in-your-weights"))


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


_diagonal_included = mistake(
    "Your means include the position itself, as in the chapter, but the strict past doesn't.",
    lambda e: unwrapped(f"""{_in_every_row(e)}, so it sees positions 0 and 1. The strict past of
    position 1 is only position 0."""),
    FUTURE,
    also=(lambda x: _running_mean_from_1(x),),
)(Like("left-out-the-subtraction-of-1-in-the-past-of-each-position"))


def _running_mean_from_1(x: Tensor) -> Tensor:
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = x[:, : t + 1].mean(dim=1)
    return out


def _by_columns(x: Tensor) -> Tensor:
    past = torch.ones(x.shape[1], x.shape[1]).tril(-1)
    return past / past.sum(dim=0) @ x


_divides_columns = families.divides_columns(
    lambda e: unwrapped(f"""Row t says what position t sees, so it's the rows that have to sum to 1,
    but row {e.number("T") - 1} of yours sums to {number(matrix(e)[-1].sum())}. No row sees the last
    position, so the sum of its column is 0. `sum(dim=1, keepdim=True)` adds along a row."""),
    also=(
        Like("used-axis-minus-2-instead-of-axis-1-for-the-sum-in-how-many-positions-come-before"),
    ),
)(_by_columns)


_next_included = mistake(
    "Each of your means includes the position itself and the next one.",
    lambda e: unwrapped(f"""{_in_every_row(e)}, so it sees {positions(matrix(e)[1])}. If you use
    `tril`, `diagonal=1` keeps one diagonal above the main one, while a negative number takes
    diagonals away."""),
    FUTURE,
)(Like("added-instead-of-subtracting-1-in-the-past-of-each-position"))


_divides_by_one_too_many = mistake(
    "You average the right positions, but divide by one too many.",
    lambda e: unwrapped(f"""Row {len(matrix(e)) - 1} of your weights sums to
    {number(matrix(e)[-1].sum())} instead of 1, because only t positions come before position
    t."""),
)(Like("added-1-to-how-many-positions-come-before"))


_sums_not_means = mistake(
    "Your sums are right, but you haven't divided them yet.",
    lambda e: unwrapped(f"""Row {e.number("T") - 1} of yours sums to {number(matrix(e)[-1].sum())},
    but the weights of an average sum to 1."""),
)(Like("used-mean-instead-of-sum-in-how-many-positions-come-before"))


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


_keepdim_forgotten = families.keepdim_forgotten(laid_along_a_row)(
    Like("left-out-keepdim-for-the-sum-in-how-many-positions-come-before")
)


@mistake(
    "You average along another dimension than time.",
    unwrapped("""In (B, T, C), time is in the middle, so each mean is one over `dim=1`, which a
    matrix from the left mixes, too. Yours are taken along the channels or the samples."""),
    cases=("means",),
    also=(lambda x: strict_past_mean(x.transpose(0, 1)).transpose(0, 1),),
)
def _along_another_dimension(x: Tensor) -> Tensor:
    return strict_past_mean(x.transpose(1, 2)).transpose(1, 2)


def _of_weights(ask: Property) -> Property:
    """Asks it only if the weights read off the identity also make the output of x."""

    def asked(evidence: Evidence) -> Finding | None:
        x, mine = evidence.inputs["x"], evidence.yours("means")
        made = evidence.yours("weights")[0] @ x
        if mine.shape != made.shape or not np.allclose(made, mine, rtol=1e-3, atol=1e-4):
            return None
        return ask(evidence)

    return asked


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
    "You update your mean by half of each new value.",
    lambda e: unwrapped(f"""Row {len(matrix(e)) - 1} of your weights is {row(matrix(e)[-1])}. Half
    of (mean + new) gives the newest position a weight of one half, however many came before it. For
    a mean of n values, the share of the n-th is 1 / n, so add up first, and then divide by n."""),
    also=(lambda x: _halfway(x, torch.zeros_like(x[:, 0]), 0),),
)
def _updated_by_half(x: Tensor) -> Tensor:
    return _halfway(x, x[:, 0], 1)


def _halfway(x: Tensor, mean: Tensor, first: int) -> Tensor:
    y = torch.zeros_like(x)
    y[:, first] = mean
    for t in range(first + 1, x.shape[1]):
        mean = (mean + x[:, t - 1]) / 2
        y[:, t] = mean
    return y


def _sample_0_cleared(evidence: Evidence) -> bool:
    mine, right = evidence.yours("means"), evidence.right("means")
    return (
        mine.shape == right.shape
        and not mine[0].any()
        and bool(right[0, 1:].all())
        and bool(close(mine[1:, 1:], right[1:, 1:]).all())
    )


@mistake(
    "Your sample 0 is all 0, but it's position 0 of every sample that should be 0.",
    lambda e: unwrapped(f"""The first index of (B, T, C) is the sample, so `y[0] = 0` clears sample
    0, while `y[:, 0] = 0` clears position 0. In sample 1, your position 0 holds
    {number(e.yours("means")[1, 0, 0])} in channel 0."""),
    recognized=_sample_0_cleared,
)
def _sample_for_position(x: Tensor) -> Tensor:
    y = (x.cumsum(dim=1) / torch.arange(1, x.shape[1] + 1)[:, None]).roll(1, dims=1)
    y[0] = 0
    return y


# What somebody may make of the strict past (B, t, C): one number for each channel of each sample,
# or one that several of them share.
_OF_OTHERS: tuple[tuple[str, Callable[[Array], Array]], ...] = (
    ("largest number of the strict past", lambda past: past.max(1)),
    ("first number of the strict past", lambda past: past[:, 0]),
    ("last number of the strict past", lambda past: past[:, -1]),
    ("median of the strict past", lambda past: np.median(past, axis=1)),
    (
        "lower median of the strict past",
        lambda past: np.sort(past, axis=1)[:, (past.shape[1] - 1) // 2],
    ),
    ("mean of the absolute values of the strict past", lambda past: np.abs(past).mean(1)),
    ("mean over all samples and channels of the strict past", lambda past: past.mean()),
    ("mean over all channels of the strict past", lambda past: past.mean((1, 2))[:, None]),
    ("mean over all samples of the strict past", lambda past: past.mean((0, 1))),
)


def _other(evidence: Evidence) -> str:
    """What was made of the strict past instead of its mean; empty if nothing of the list was."""
    x, mine = evidence.inputs["x"].astype(np.float64), evidence.yours("means")
    for words, of_past in _OF_OTHERS:
        made = np.zeros_like(x)
        for t in range(1, x.shape[1]):
            made[:, t] = of_past(x[:, :t])
        if mine.shape == x.shape and close(mine[:, 1:], made[:, 1:]).all():
            return words
    return ""


def _of_the_past(evidence: Evidence) -> str:
    mine, right = evidence.yours("means"), evidence.right("means")
    wrong = ~close(mine, right) & (np.arange(mine.shape[1])[:, None] > 0)
    b, t, c = (int(i) for i in np.argwhere(wrong)[0])
    return unwrapped(f"""In sample {b}, the past of position {t} in channel {c} is
    {row(evidence.inputs["x"][b, :t, c])}, with the mean {number(right[b, t, c])}, but you return
    {number(mine[b, t, c])}. Each channel of each sample has a mean of its own, over all positions
    before t.""")


@mistake(
    lambda e: f"You return the {_other(e)} instead of the mean of each channel.",
    _of_the_past,
    recognized=lambda e: bool(_other(e)),
)
def _something_else_of_the_past(x: Tensor) -> Tensor:
    y = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        y[:, t] = x[:, :t].median(dim=1).values
    return y


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
        right_but_alone("Nothing comes before position 0, so its mean is 0.", MEANS),
        *(
            _of_weights(ask)
            for ask in (
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
    steps={
        "the past of each position": Step(
            "The strict past of position t holds the positions 0 … t − 1, but not t.", FUTURE
        ),
        "how many positions come before": Step(
            "Row t says what position t sees, so its sum is the number of positions before t."
        ),
        "your weights": Step(
            "Each row divided by its own count sums to 1, and row 0, with nothing before it, is 0."
        ),
        "your means": Step("Each channel of each sample has means of its own, along time."),
    },
)
