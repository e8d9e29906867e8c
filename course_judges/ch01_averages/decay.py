"""Judging 01/decay: weights on the past that shrink by the same factor at every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, SOFTMAX, TRIANGLE
from course_judges.ch01_averages.weights import (
    laid_along_a_row,
    matrix,
    right_but_alone,
    sees_the_future,
    sees_the_right_positions,
)
from course_judges.equality import same_value
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE, rows_sum_to_one
from course_judges.wording import number, row, rows_apart, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def _powers(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    return torch.tril(decay ** (t[:, None] - t).clamp(min=0).float())


def decay_weights(T: int, decay: float) -> Tensor:
    """A right answer to 01/decay: (T, T)."""
    t = torch.arange(T)
    back = t[:, None] - t  # the distances (t, s)
    powers = decay**back  # your powers of `decay` (t, s)
    seen = powers.tril()  # your powers without the future (t, s)
    sums = seen.sum(dim=1, keepdim=True)  # your divisors (t, 1)
    return seen / sums  # your weights (t, s)


def _right_ratios(evidence: Evidence) -> bool:
    if not evidence.comparable("weights"):
        return False
    mine, right = matrix(evidence), evidence.right("weights")
    if not np.isfinite(mine).all() or (np.diagonal(mine) < NEGLIGIBLE).any():
        return False
    diagonal = np.diagonal(mine)[:, None] / np.diagonal(right)[:, None]
    return np.allclose(mine, right * diagonal, rtol=1e-4, atol=1e-5)


def _decay_of(evidence: Evidence) -> str:
    return f"{float(evidence.inputs['decay']):g}"


def _last_row_against(evidence: Evidence) -> str:
    mine, right = rows_apart(matrix(evidence)[-1], evidence.right("weights")[-1])
    return unwrapped(f"""Your last row is {mine}, but with `decay = {_decay_of(evidence)}` it should
    be {right}.""")


def _shrinks_as_asked(evidence: Evidence) -> Finding | None:
    last = matrix(evidence)[-1][::-1]
    decay = float(evidence.inputs["decay"])
    with np.errstate(all="ignore"):
        ratios = last[1:] / last[:-1]
    wrong = np.flatnonzero(np.abs(ratios - decay) > 1e-4)
    if _right_ratios(evidence) or not len(wrong):
        return None
    back = int(wrong[0])
    steps = (
        ("one step back counts", "the present")
        if back == 0
        else (
            f"{word(back + 1)} steps back count",
            f"{word(back)} step{'s' if back > 1 else ''} back",
        )
    )
    return Finding(
        "wrong-ratio",
        "Your weights don't shrink as asked.",
        unwrapped(f"""In your last row, {steps[0]} {number(ratios[back])} times as much as
        {steps[1]}, but `decay = {_decay_of(evidence)}` asks for {_decay_of(evidence)} times as
        much."""),
        MEANS,
    )


def _other_divisors(evidence: Evidence) -> Finding | None:
    """What rows of the right proportions are divided by, read off their diagonal."""
    mine, right = matrix(evidence), evidence.right("weights")
    if not _right_ratios(evidence) or np.allclose(mine, right, atol=1e-4):
        return None
    by, sums = 1 / np.diagonal(mine), 1 / np.diagonal(right)
    last = len(mine) - 1
    return Finding(
        "other-divisors",
        "Your weights shrink as they should, but you don't divide the rows by their sums.",
        unwrapped(f"""Row {last} of your matrix sums to {number(mine[-1].sum())}. The powers of
        `decay` in the rows add up to {row(sums, 3)}, but you seem to divide by {row(by, 3)}."""),
        MEANS,
    )


@mistake(
    "You multiplied by 1 − decay, which is right only for a past without a beginning.",
    lambda e: unwrapped(f"""1 + decay + decay² + … is 1 / (1 − decay) only if it never ends. Here it
    ends at position 0, so row 0 of your matrix sums to {number(matrix(e)[0].sum())} and row
    {e.number("T") - 1} to {number(matrix(e)[-1].sum())}. Divide each row by its own sum. (A
    recursion that starts from 0 gives the same as yours.)"""),
)
def _uncorrected_start(T: int, decay: float) -> Tensor:
    return (1 - decay) * _powers(T, decay)


@mistake(
    "Your position 0 counts too much, as if the same value had come before it forever.",
    lambda e: unwrapped(f"""This happens if the recursion y = decay · y + (1 − decay) · x starts
    with the first value. {_last_row_against(e)}"""),
)
def _started_at_the_first(T: int, decay: float) -> Tensor:
    weights = torch.zeros(T, T)
    weights[0, 0] = 1
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


@mistake(
    "Your weights shrink in both directions, so you average the future, too.",
    lambda e: unwrapped(f"""Row 0 of your matrix is {row(matrix(e)[0])}, but position 0 may only see
    itself, [1, 0, …]. Cut off the future before you divide."""),
    FUTURE,
)
def _no_causal_mask(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    weights = decay ** (t[:, None] - t).abs().float()
    return weights / weights.sum(dim=1, keepdim=True)


_upper_triangle = families.upper_triangle(
    lambda e: f"Row 0 of your matrix is {row(matrix(e)[0])}, but it may only see position 0.",
    FUTURE,
)(Like("transposed-your-powers-without-the-future"))

_keepdim_forgotten = families.keepdim_forgotten(laid_along_a_row)(
    Like("left-out-keepdim-for-the-sum-in-your-divisors")
)


@mistake(
    "You put weights into a softmax, but it takes scores.",
    lambda e: unwrapped(f"""A softmax takes the exponential before it divides, so in your last row
    one step back counts {number(matrix(e)[-1, -2] / matrix(e)[-1, -1])} times as much as the
    present instead of {_decay_of(e)} times. Divide by the row sums, or put in logarithms."""),
    SOFTMAX,
)
def _softmax_of_weights(T: int, decay: float) -> Tensor:
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    return _powers(T, decay).masked_fill(future, -torch.inf).softmax(dim=-1)


@mistake(
    "In your rows, the future counts as much as the present.",
    lambda e: unwrapped(f"""Row 0 of your matrix is {row(matrix(e)[0])}. A distance or a score of 0
    hides nothing, because decay⁰ and e⁰ are both 1. What comes after t needs a weight of 0, so cut
    the powers instead of their exponents, or use a score of −inf in a softmax."""),
    FILL,
)
def _zero_mask(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    return torch.tril((t[:, None] - t) * float(np.log(decay))).softmax(dim=-1)


_last_sum_for_all = mistake(
    "You divided all rows by one number, the sum of the last row.",
    lambda e: unwrapped(f"""Your last row sums to 1, but row 0 sums to {number(matrix(e)[0].sum())}.
    Every row has its own sum, `sum(dim=1, keepdim=True)`."""),
)(Like("used-the-last-item-of-your-divisors-for-all-items"))


@mistake(
    "You divided each row by its sum and made the next row from the result.",
    lambda e: unwrapped(f"""{_last_row_against(e)} Row t + 1 before the division is `decay` times
    row t before the division, with 1 for the present. If row t sums to 1 already, its positions
    count too little in the next one. Divide at the end, when all rows are there."""),
)
def _divided_rows_go_on(T: int, decay: float) -> Tensor:
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t] = decay * weights[t - 1] if t else 0
        weights[t, t] = 1
        weights[t] /= weights[t].sum()
    return weights


# What somebody may take for decay^distance, of the distances (T, T) up to the diagonal.
_OTHER_POWERS: tuple[tuple[str, Callable[[Array, float], Array]], ...] = (
    (
        "e^(−decay · distance), but `decay` is the factor itself and no rate",
        lambda back, decay: np.exp(-decay * back),
    ),
    (
        "decay^(2 · distance), so each step counts twice",
        lambda back, decay: decay ** (2 * back),
    ),
    (
        "decay^(distance // 2), so only every second step counts",
        lambda back, decay: decay ** (back // 2),
    ),
    (
        "`decay` to the power of the squared distance",
        lambda back, decay: decay ** (back * back),
    ),
    (
        "decay^(−distance), so the weights grow toward the oldest position",
        lambda back, decay: decay**-back,
    ),
    (
        "1 − (1 − decay) · distance, so each step subtracts the same amount",
        lambda back, decay: np.maximum(1 - (1 - decay) * back, 0),
    ),
    ("(1 − decay)^distance, with 1 − decay for decay", lambda back, decay: (1 - decay) ** back),
    ("distance^decay, but it's `decay` that is raised", lambda back, decay: back**decay),
    ("1 / (1 + distance), in which `decay` plays no part", lambda back, _: 1 / (1 + back)),
)


def _other_powers(evidence: Evidence) -> str:
    """What was taken for decay^distance; empty if nothing of the list was."""
    t, decay = np.arange(evidence.number("T")), float(evidence.inputs["decay"])
    back = np.maximum(t[:, None] - t, 0).astype(float)
    for words, made in _OTHER_POWERS:
        powers = np.tril(made(back, decay))
        with np.errstate(invalid="ignore"):
            rows = powers / powers.sum(axis=1, keepdims=True)
        if same_value(np.nan_to_num(matrix(evidence)), np.nan_to_num(rows)):
            return words
    return ""


@mistake(
    lambda e: f"Your weights are in proportion to {_other_powers(e)}.",
    lambda e: unwrapped(f"""{_last_row_against(e)} Position s lies t − s steps back and counts
    decay^(t − s)."""),
    recognized=lambda e: bool(_other_powers(e)),
)
def _made_otherwise(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    scores = -decay * (t[:, None] - t)
    return scores.masked_fill(t[:, None] < t, -torch.inf).softmax(dim=-1)


def _why_nan(evidence: Evidence) -> str:
    """Why rows hold NaN: infinite powers in the first ones, or powers of 0 in the last ones."""
    rows = np.asarray(np.isnan(evidence.yours("long")).any(axis=1))
    infinite = (
        "Far ahead of the diagonal, decay ** (t − s) is infinite, and 0 · ∞ is NaN. Keep the "
        "exponents at 0 or more (`clamp`), or set the future to 0 (`tril`) instead of multiplying "
        "it by 0."
    )
    zero = (
        "For large t, decay ** t is 0, and 0 / 0 is NaN. Raise `decay` to the distance itself, as "
        "a quotient of two powers may be 0 / 0."
    )
    if rows[0] and not rows[-1]:
        return f"They are the first ones. {infinite}"
    if rows[-1] and not rows[0]:
        return f"They are the last ones. {zero}"
    return f"{infinite} {zero}"


@mistake(
    "Your weights become NaN for a longer sequence.",
    lambda e: unwrapped(f"""With T = {int(e.inputs["longer"][0])} and `decay = {_decay_of(e)}`,
    {int(np.isnan(e.yours("long")).any(axis=1).sum())} rows hold NaN, probably because a power is
    too large or too small for a floating-point number. {_why_nan(e)}"""),
    recognized=lambda e: e.same("weights", "alone") and bool(np.isnan(e.yours("long")).any()),
)
def _powers_out_of_range(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    weights = decay ** (t[:, None] - t) * torch.ones(T, T).tril()
    return weights / weights.sum(dim=1, keepdim=True)


TASK = Task(
    "Exponential moving average",
    decay_weights,
    MEANS,
    (
        Part(
            "Each step back counts `decay` times as much.",
            3,
            _right_ratios,
        ),
        Part("Every row sums to 1.", 2, matches("weights", "long", "alone")),
    ),
    properties=(
        right_but_alone("Position 0 sees itself, with weight 1.", MEANS),
        sees_the_future("weights"),
        sees_the_right_positions,
        _shrinks_as_asked,
        _other_divisors,
        rows_sum_to_one("weights", MEANS),
    ),
    cases=("weights",),
    steps={
        "the distances": Step("Position s lies t − s steps back from position t.", TRIANGLE),
        "your powers of `decay`": Step(
            "Each step back counts `decay` times as much as the one before, so t − s of them count "
            "decay^(t − s)."
        ),
        "your powers without the future": Step(
            "Row t averages positions 0 … t, and nothing that comes after t.", FUTURE
        ),
        "your divisors": Step("Each row is an average of its own, so it has its own sum."),
        "your weights": Step("Divided by its own sum, each row sums to 1."),
    },
)
