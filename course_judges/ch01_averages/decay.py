"""Judging 01/decay: weights on the past that shrink by the same factor at every step."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, SOFTMAX, TRIANGLE
from course_judges.ch01_averages.weights import (
    column_sums,
    laid_along_a_row,
    matrix,
    not_divided,
    right_but_alone,
    sees_the_future,
    sees_the_right_positions,
)
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import NEGLIGIBLE, rows_sum_to_one
from course_judges.wording import listed, number, row, rows_apart, unwrapped, word
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def _powers(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    return torch.tril(decay ** (t[:, None] - t).clamp(min=0).float())


def decay_weights(T: int, decay: float) -> Tensor:
    """A right answer to 01/decay: (T, T)."""
    weights = _powers(T, decay)
    return weights / weights.sum(dim=1, keepdim=True)


def _decay_before(T: int, decay: float, least: float = 0.0) -> Tensor:
    weights = _powers(T, decay).tril(-1)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


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
        much. {_made_of_decay(ratios, decay)}""").strip(),
        MEANS,
    )


def _made_of_decay(ratios: Array, decay: float) -> str:
    """What was made of the decay, if each step of a row shrinks by the same wrong factor."""
    for value, words in (
        (np.exp(-decay), "e^(−decay), but `decay` is the factor itself, not an exponent."),
        (decay**2, "decay², as if each step counted twice."),
        (decay**0.5, "√decay."),
        (1.0, "no decay at all, because everything that a row sees counts the same."),
        (0.5, "the decay of the task's example. Do you use the argument?"),
        (1 / decay, "1 / decay, so your weights grow with the distance."),
    ):
        if np.abs(ratios - value).max() < 1e-4:
            return f"That is {words}"
    steps = np.arange(1, len(ratios) + 1)
    if np.abs(ratios - steps / (steps + 1)).max() < 1e-4:
        return "That is 1 / (1 + distance), in which `decay` plays no part."
    if np.abs(ratios.cumprod() - 1 / (1 + decay * steps)).max() < 1e-4:
        return "That is 1 / (1 + decay · distance), but the distance is an exponent of `decay`."
    if np.abs(ratios - decay ** (2 * steps - 1)).max() < 1e-4:
        return "That is `decay` to the power of the squared distance."
    power = float(np.log(ratios[0]) / np.log(decay))
    if np.ptp(ratios) < 1e-4 and np.isfinite(power):
        for base, words in ((10, "log10"), (2, "log2")):
            if np.isclose(power, 1 / np.log(base), rtol=1e-3):
                return unwrapped(f"""It is the same factor at each step, decay^{number(power)}.
                Scores of distance · {words}(decay) make that in a softmax, which takes powers of e,
                so the logarithm has to be the natural one.""")
        return unwrapped(f"""It is the same factor at each step, {number(float(ratios[0]))}, which
        is decay^{number(power)}.""")
    if np.ptp(np.diff(ratios.cumprod(), prepend=1)) < 1e-4:
        return "Each of your steps subtracts the same amount, but it should multiply by `decay`."
    exponents = np.log(ratios).cumsum() / np.log(decay)
    if np.isfinite(exponents).all() and np.abs(exponents - exponents.round()).max() < 1e-3:
        powers = listed([0, *exponents.round()])
        return (
            f"Counted back from the present, your weights are `decay` to the powers {powers}, but "
            f"they should be {listed(range(len(ratios) + 1))}."
        )
    return ""


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


_unnormalised_decay = mistake(
    "Your weights shrink as they should, but they aren't an average yet.",
    not_divided,
)(_powers)


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
    "Your weights shrink toward the present, so the oldest position counts most.",
    lambda e: unwrapped(f"""{_last_row_against(e)} The exponent is the distance t − s, which is 0 on
    the diagonal."""),
    TRIANGLE,
)
def _reversed_decay(T: int, decay: float) -> Tensor:
    weights = torch.tril(decay ** torch.arange(T).float().expand(T, T))
    return weights / weights.sum(dim=1, keepdim=True)


@mistake(
    "You used 1 − decay instead of decay.",
    lambda e: unwrapped(f"""In your last row, one step back counts
    {number(matrix(e)[-1, -2] / matrix(e)[-1, -1])} times as much as the present, but with
    `decay = {_decay_of(e)}` it should count {_decay_of(e)} times as much."""),
)
def _complement(T: int, decay: float) -> Tensor:
    return decay_weights(T, 1 - decay)


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


def _along_a_line(T: int, least: float, step: float) -> Tensor:
    """Weights that fall by the same step with each position back, and no lower than `least`."""
    t = torch.arange(T)
    weights = torch.tril((1 - step * (t[:, None] - t)).clamp(min=least))
    return weights / weights.sum(dim=1, keepdim=True)


def _falls_by(evidence: Evidence) -> str:
    """The end of the last row as parts of its diagonal, and what they should be."""
    last, decay = matrix(evidence)[-1], float(evidence.inputs["decay"])
    back = last[:-5:-1] / last[-1]
    return unwrapped(f"""In your last row, the weights of the present and of one, two and three
    steps back have the proportions {row(back, 3)}, because each step subtracts
    {number(1 - back[1])}. Each should multiply by `decay = {_decay_of(evidence)}` instead, which
    makes {row(decay ** np.arange(4), 3)}.""")


@mistake(
    "Your weights fall by the same amount with each step back instead of by the same factor.",
    _falls_by,
    also=(
        lambda T, decay: _along_a_line(T, -np.inf, 1 - decay),
        lambda T, decay: _along_a_line(T, 0, decay),
        lambda T, decay: _along_a_line(T, -np.inf, decay),
        lambda T, decay: _along_a_line(T, 0, decay / T),
        lambda T, decay: _along_a_line(T, 0, 1 / T),  # noqa: ARG005
    ),
)
def _falls_along_a_line(T: int, decay: float) -> Tensor:
    return _along_a_line(T, 0, 1 - decay)


@families.upper_triangle(
    lambda e: f"Row 0 of your matrix is {row(matrix(e)[0])}, but it may only see position 0.",
    FUTURE,
)
def _upper_triangle(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay).T
    return weights / weights.sum(dim=1, keepdim=True)


@families.divides_columns(column_sums)
def _divides_columns(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay)
    return weights / weights.sum(dim=0)


@families.keepdim_forgotten(laid_along_a_row)
def _keepdim_forgotten(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay)
    return weights / weights.sum(dim=1)


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
    "You put weights into a softmax, which takes scores, and hid the future with 0.",
    lambda e: unwrapped(f"""Row 0 of your matrix is {row(matrix(e)[0])}. A softmax takes the
    exponential of everything, so a 0 in the future becomes e⁰ = 1, next to e¹ = 2.72 for the
    present. Divide the weights by their row sums, without a softmax."""),
    SOFTMAX,
)
def _softmax_of_zeros(T: int, decay: float) -> Tensor:
    return _powers(T, decay).softmax(dim=-1)


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


_diagonal_excluded = mistake(
    "In your weights, no position sees itself.",
    lambda e: unwrapped(f"""The diagonal of your matrix is
    {row(np.nan_to_num(np.diagonal(matrix(e))))}. Distance 0 counts with decay⁰ = 1, and row 0 has
    nothing else to average."""),
    FUTURE,
    also=(lambda T, decay: _decay_before(T, decay, 1e-9),),
)(_decay_before)


@mistake(
    "You raised the distance to the power `decay`, but it's `decay` that is raised.",
    lambda e: unwrapped(f"""{_last_row_against(e)} In `a**b`, b is the exponent: the weight is
    `decay**distance`, which is 1 for the distance 0, where yours is 0."""),
    also=(lambda T, decay: _distances_to_the_power(T, decay, 0.0),),
)
def _distance_raised(T: int, decay: float) -> Tensor:
    return _distances_to_the_power(T, decay, 1e-9)


def _distances_to_the_power(T: int, decay: float, least: float) -> Tensor:
    t = torch.arange(T)
    weights = torch.tril((t[:, None] - t).clamp(min=0).float() ** decay)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=least)


@mistake(
    "Every row of yours sees only its own position.",
    lambda e: unwrapped(f"""{_last_row_against(e)} If your weights are in a tensor of integers,
    {_decay_of(e)} becomes 0 there, and only decay⁰ = 1 is left. If your powers are right, do you
    keep more than the diagonal?"""),
)
def _itself_alone(T: int, decay: float) -> Tensor:  # noqa: ARG001
    return torch.eye(T)


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


@mistake(
    "You divided the past by its own sum, without the present.",
    lambda e: unwrapped(f"""The weights before the diagonal sum to 1 in each row, and so the whole
    row {e.number("T") - 1} sums to {number(matrix(e)[-1].sum())}. The present belongs to the sum
    like every other position, with decay⁰ = 1."""),
)
def _past_divided_alone(T: int, decay: float) -> Tensor:
    return _decay_before(T, decay, 1e-9) + torch.eye(T)


@mistake(
    "You divided all rows by one number, the sum of the last row.",
    lambda e: unwrapped(f"""Your last row sums to 1, but row 0 sums to {number(matrix(e)[0].sum())}.
    Every row has its own sum, `sum(dim=1, keepdim=True)`."""),
)
def _last_sum_for_all(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay)
    return weights / weights[-1].sum()


@mistake(
    "You divided all rows by one number, the sum of the whole matrix.",
    lambda e: unwrapped(f"""All your weights together sum to 1, but row 0 sums to
    {number(matrix(e)[0].sum())}. Every row has its own sum, `sum(dim=1, keepdim=True)`."""),
)
def _one_sum_for_all(T: int, decay: float) -> Tensor:
    weights = _powers(T, decay)
    return weights / weights.sum()


@mistake(
    "You cut off the future after you had divided, so its share is missing.",
    lambda e: unwrapped(f"""Row 0 of your matrix sums to {number(matrix(e)[0].sum())}, and row
    {e.number("T") - 1}, which has no future, to {number(matrix(e)[-1].sum())}. The sums still held
    the powers ahead of the diagonal, so cut first, then divide."""),
    FUTURE,
    also=(lambda T, decay: torch.tril(_no_causal_mask.answer(T, decay)),),
)
def _cut_too_late(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    weights = decay ** (t[:, None] - t).float()
    return torch.tril(weights / weights.sum(dim=1, keepdim=True))


@mistake(
    "All your rows equal the last one, so you average the future, too.",
    lambda e: unwrapped(f"""Row 0 of your matrix is {row(matrix(e)[0])}, but it may only see itself.
    If you take all powers decay^(t − s), the exponents ahead of the diagonal are negative, which
    makes these powers larger than 1. Set them to 0 (`tril`) before you divide."""),
    FUTURE,
)
def _future_not_cut(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    weights = decay ** (t[:, None] - t).float()
    return weights / weights.sum(dim=1, keepdim=True)


@mistake(
    "You divided row t by the sum of t powers, but it has t + 1.",
    lambda e: unwrapped(f"""Row 0 of your matrix is divided by 0, and row {e.number("T") - 1} sums
    to {number(matrix(e)[-1].sum())}. Row t adds up decay⁰ … decayᵗ, which is (1 − decay^(t + 1)) /
    (1 − decay)."""),
)
def _one_power_too_few(T: int, decay: float) -> Tensor:
    t = torch.arange(T)
    return _powers(T, decay) * (1 - decay) / (1 - decay**t)[:, None]


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
)
