"""Judges 05/distance: causal weights that fall with the distance."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch05_head.sections import FUTURE, PLACE, SCORES
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import no_weight_on_the_future, rows_sum_to_one
from course_judges.wording import number, row, unwrapped
from course_tasks.answers import Array
from course_tasks.ch05_head.distance import STEEP
from course_tasks.verdict import Finding


def _back(T: int) -> Tensor:
    """(T, T) How far back position s lies from position t; negative in the future."""
    t = torch.arange(T)
    return t[:, None] - t


def penalised_weights(scores: Tensor, slope: float) -> Tensor:
    """A right answer to 05/distance: (B, T, T), float → (B, T, T)."""
    back = _back(scores.shape[-1])
    return (scores - slope * back).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


_Change = Callable[[Tensor, Tensor, float], Tensor]


def _with(change: _Change) -> Callable[[Tensor, float], Tensor]:
    """An answer that changes the scores in its own way: (scores, distances, slope)."""

    def answer(scores: Tensor, slope: float) -> Tensor:
        back = _back(scores.shape[-1])
        changed = change(scores, back.clamp(min=0).to(scores.dtype), slope)
        return changed.masked_fill(back < 0, -torch.inf).softmax(dim=-1)

    return answer


def _without_the_past(scores: Tensor, slope: float, nearest: int) -> Tensor:
    back = _back(scores.shape[-1])
    return (scores - slope * back).masked_fill(back >= nearest, -torch.inf).softmax(dim=-1)


def _without_itself(scores: Tensor, slope: float) -> Tensor:
    back = _back(scores.shape[-1])
    return (scores - slope * back).masked_fill(back <= 0, -torch.inf).softmax(dim=-1)


def _causal(scores: Tensor) -> Tensor:
    return penalised_weights(scores, 0.0)


def _last_row(evidence: Evidence) -> str:
    slope = float(evidence.inputs["slope"])
    mine, right = evidence.yours("gentle")[0, -1], evidence.right("gentle")[0, -1]
    return unwrapped(f"""With slope {number(slope)} the last row of sample 0 is {row(mine)}; it
    should be {row(right)}.""")


def _first_weight(evidence: Evidence) -> str:
    level, gentle = evidence.yours("level")[0, -1, 0], evidence.yours("gentle")[0, -1, 0]
    far = evidence.number("T") - 1
    return unwrapped(f"""The weight that lies {far} back in sample 0 is {number(level)} with slope 0
    and {number(gentle)} with slope {number(float(evidence.inputs["slope"]))}.""")


def _low_row(evidence: Evidence) -> str:
    mine, scores = evidence.yours("low")[0, 0], evidence.inputs["low"][0, 0]
    return unwrapped(f"""Row 0 of sample 0 can see itself only, with a score of
    {number(scores[0])}, and is {row(mine)}. −inf is below everything, and e to the power of −inf is
    exactly 0.""")


def _fails_when_low(evidence: Evidence) -> bool:
    return evidence.same("level", "gentle", "steep") and not evidence.same("low")


def _last_row_off(evidence: Evidence) -> bool:
    """True if a row is wrong among low scores in which nothing is hidden."""
    mine, right = evidence.yours("low")[:, -1], evidence.right("low")[:, -1]
    return not np.allclose(mine, right, rtol=1e-4, atol=1e-5)


def _first_row(evidence: Evidence) -> str:
    mine = evidence.yours("gentle")[0, 0]
    return f"Row 0 of sample 0 can see itself only, and is {row(mine)}."


def _sum(evidence: Evidence) -> str:
    total = float(evidence.yours("gentle")[0, -1].sum())
    if abs(total - 1) < 1e-3:  # divided by its sum again
        return ""
    return f"The last row of sample 0 sums to {number(total)}, not to 1."


def _lowered_and_normalized(scores: Tensor, slope: float) -> Tensor:
    weights = _causal(scores) - slope * _back(scores.shape[-1]).clamp(min=0)
    return weights.clamp(min=0) / weights.clamp(min=0).sum(dim=-1, keepdim=True)


_bonus_for_distance = mistake(
    "What lies far back gains weight in your answer; it should lose weight.",
    lambda e: unwrapped(f"""{_first_weight(e)} What is subtracted is slope · (t − s): nothing on the
    diagonal, and most at s = 0. {_last_row(e)}"""),
)(_with(lambda s, d, m: s + m * d))

_no_penalty = mistake(
    "The slope has no effect on your weights.",
    lambda e: (
        unwrapped(f"""{_first_weight(e)} Either it is not used, or only what is hidden pays, or
    the same is subtracted from a whole row, which cancels in the softmax: what is seen has to pay
    for its distance.""")
    ),
    cases=("level", "gentle", "steep"),
)(_with(lambda s, d, m: s))  # noqa: ARG005


def _constant(evidence: Evidence) -> float | None:
    """The slope that your weights have, whatever they are told; None if there is none."""
    taken = _slope_taken(evidence, "level"), _slope_taken(evidence)
    alike = taken[0] is not None and taken[1] is not None and abs(taken[0] - taken[1]) < 1e-3
    return taken[0] if alike and abs(taken[0] or 0.0) > 1e-3 else None


_slope_of_its_own = mistake(
    "You take one and the same slope, whatever `slope` says.",
    lambda e: unwrapped(f"""With slope 0 and with slope {number(float(e.inputs["slope"]))} your
    weights are those of {number(_constant(e) or 0.0)}. {_last_row(e)}"""),
    recognized=lambda e: _constant(e) is not None,
)(lambda scores, slope: penalised_weights(scores, 0.5))  # noqa: ARG005

_same_for_all_distances = mistake(
    "Everything but the position itself pays the same; the penalty does not grow.", _last_row
)(_with(lambda s, d, m: s - m * (d > 0)))

_distance_squared = mistake("Your penalty grows with the square of the distance.", _last_row)(
    _with(lambda s, d, m: s - m * d**2)
)

_penalty_doubles = mistake(
    "Your penalty doubles with every step back; each step adds one slope.", _last_row
)(_with(lambda s, d, m: s - m * torch.where(d > 0, 2.0 ** (d - 1), 0.0)))

_logarithm_of_distance = mistake(
    "Your penalty grows with the logarithm of the distance.", _last_row
)(_with(lambda s, d, m: s - m * (d + 1).log()))

_share_of_the_length = mistake(
    "You divided the distance by the length of the text.",
    lambda e: unwrapped(f"""{_last_row(e)} Being {e.number("T") - 1} positions back costs you less
    than one slope; it should cost {e.number("T") - 1}."""),
)(_with(lambda s, d, m: s - m * d / s.shape[-1]))

_penalty_multiplied = mistake(
    "You multiplied or divided the scores; the penalty is subtracted from them.",
    lambda e: unwrapped(f"""{_last_row(e)} What you take off is in proportion to the score, so
    positive ones are lowered and negative ones are raised. The penalty depends on the distance
    alone: subtract slope · (t − s)."""),
    also=(
        _with(lambda s, d, m: s / (1 + m * d)),
        _with(lambda s, d, m: s * (-m * d).exp()),
        _with(lambda s, d, m: s * (1 - m) ** d),
    ),
)(_with(lambda s, d, m: s * (1 - m * d)))

_scores_ignored = mistake(
    "Only the distance counts; the scores are gone.",
    lambda e: f"{_last_row(e)} All samples have the same weights.",
    SCORES,
)(_with(lambda s, d, m: -m * d + 0 * s))

_scaled_again = mistake(
    "You divided the scores once more; they come scaled already.",
    lambda e: f"{_last_row(e)} Differences between scores became too small.",
    SCORES,
)(_with(lambda s, d, m: s / math.sqrt(s.shape[-1]) - m * d))


_first_step_is_free = mistake(
    "The position one step back pays nothing; every step back costs one slope, the first as well.",
    lambda e: unwrapped(f"""{_last_row(e)} A distance of 1 costs one slope: t − s is all that there
    is to multiply by."""),
)(_with(lambda s, d, m: s - m * (d - 1).clamp(min=0)))


@mistake(
    "A position does not see itself in your weights.",
    lambda e: unwrapped(f"""Row 0 of sample 0 can see itself only, and is
    {row(e.yours("gentle")[0, 0])}; it should be {row(e.right("gentle")[0, 0])}. What is hidden lies
    above the diagonal, not on it."""),
    FUTURE,
    also=(lambda scores, slope: _without_itself(scores, slope).nan_to_num(0.0),),
)
def _itself_hidden(scores: Tensor, slope: float) -> Tensor:
    return _without_itself(scores, slope)


@mistake(
    "Your mask is the wrong way round: you hid the past.",
    lambda e: unwrapped(
        f"""{_first_row(e)} What is hidden lies above the diagonal, where s > t."""
    ),
    FUTURE,
    also=(
        lambda scores, slope: _without_the_past(scores, slope, 0),
        lambda scores, slope: _without_the_past(scores, slope, 0).nan_to_num(0.0),
    ),
)
def _past_hidden(scores: Tensor, slope: float) -> Tensor:
    return _without_the_past(scores, slope, 1)


@mistake(
    "With slope 0 your weights are not causal.",
    lambda e: unwrapped(f"""With slope 0 row 0 of sample 0, which can see itself only, is
    {row(e.yours("level")[0, 0])}. Without a penalty the future is hidden as with one."""),
    FUTURE,
    cases=("level", "gentle"),
)
def _slope_zero_sees_all(scores: Tensor, slope: float) -> Tensor:
    return penalised_weights(scores, slope) if slope else scores.softmax(dim=-1)


@mistake(
    "You subtracted the penalty from the weights, after the softmax.",
    lambda e: f"{_sum(e)} {_last_row(e)} The penalty belongs to the scores.".strip(),
    also=(_lowered_and_normalized,),
)
def _penalty_after_softmax(scores: Tensor, slope: float) -> Tensor:
    return _causal(scores) - slope * _back(scores.shape[-1]).clamp(min=0)


@mistake(
    "You let the weights decay after the softmax, and their sum with them.",
    lambda e: unwrapped(f"""{_sum(e)} Subtract from the scores before the softmax, and it divides by
    the new sum by itself."""),
)
def _decay_not_normalised(scores: Tensor, slope: float) -> Tensor:
    return _causal(scores) * (-slope * _back(scores.shape[-1]).clamp(min=0)).exp()


@mistake("The future is not hidden, and its negative distance is a bonus.", _first_row, FUTURE)
def _no_causal_mask(scores: Tensor, slope: float) -> Tensor:
    return (scores - slope * _back(scores.shape[-1])).softmax(dim=-1)


@mistake("The future is not hidden; it pays for its distance like the past.", _first_row, FUTURE)
def _both_ways(scores: Tensor, slope: float) -> Tensor:
    return (scores - slope * _back(scores.shape[-1]).abs()).softmax(dim=-1)


@families.zero_mask(_first_row, FUTURE)
def _zero_mask(scores: Tensor, slope: float) -> Tensor:
    back = _back(scores.shape[-1])
    return (scores - slope * back).masked_fill(back < 0, 0.0).softmax(dim=-1)


def _hidden_zero(evidence: Evidence) -> str:
    scores = evidence.inputs["scores"]
    b, t, s = (int(i) for i in np.argwhere(np.tril(scores == 0.0))[0])
    return unwrapped(f"""In sample {b} row {t} has a score of 0 for position {s}. With slope 0 your
    weight there is {number(evidence.yours("level")[b, t, s])}; expected
    {number(evidence.right("level")[b, t, s])}.""")


@families.zeros_hidden(_hidden_zero, FUTURE, cases=("level", "gentle"))
def _zeros_hidden(scores: Tensor, slope: float) -> Tensor:
    seen = (scores - slope * _back(scores.shape[-1])).tril()
    return seen.masked_fill(seen == 0, -torch.inf).softmax(dim=-1)


@families.softmax_over_queries(
    lambda e: unwrapped(f"""{_sum(e)} Column 0 sums to
    {number(e.yours("gentle")[0, :, 0].sum())}."""),
    FUTURE,
)
def _softmax_over_queries(scores: Tensor, slope: float) -> Tensor:
    back = _back(scores.shape[-1])
    return (scores - slope * back).masked_fill(back < 0, -torch.inf).softmax(dim=1)


@mistake(
    "What you hide gets a score that is low, but not lower than every score.",
    _low_row,
    FUTURE,
    recognized=lambda e: _fails_when_low(e) and not _last_row_off(e),
)
def _moderate_fill(scores: Tensor, slope: float) -> Tensor:
    back = _back(scores.shape[-1])
    return (scores - slope * back).masked_fill(back < 0, -20.0).softmax(dim=-1)


@mistake(
    "Among low scores your rows do not sum to 1.",
    lambda e: unwrapped(f"""The last row of sample 0, in which nothing is hidden, sums to
    {number(e.yours("low")[0, -1].sum())}. Something is added to what you divide by, or keeps it
    from being small: e to the power of −50 is about 2e−22, and a limit like 1e−9 is large beside
    it. A softmax subtracts the largest score of each row first."""),
    recognized=lambda e: (
        _fails_when_low(e)
        and bool((np.nan_to_num(e.yours("low")).sum(axis=-1) < 0.5).all())
        and _last_row_off(e)
    ),
)
def _limited_sum(scores: Tensor, slope: float) -> Tensor:
    back = _back(scores.shape[-1])
    powers = (scores - slope * back.abs()).exp() * (back >= 0)
    return powers / (powers.sum(dim=-1, keepdim=True) + 1e-9)


@mistake(
    "With a large slope your answer holds NaN.",
    lambda e: unwrapped(f"""With slope {number(STEEP * float(e.inputs["slope"]))} the last of
    {e.number("T")} positions lies {e.number("T") - 1} ahead of the first, and gains
    {number(STEEP * float(e.inputs["slope"]) * (e.number("T") - 1))} if it is not hidden before: e
    to the power of that is infinite, and 0 · ∞ is NaN. If the largest score of each row is
    subtracted first, it is one of the future, all others are rounded to 0, and 0 / 0 is NaN. Hide
    the future before both, with −inf."""),
    FUTURE,
    recognized=lambda e: e.same("level", "gentle") and bool(np.isnan(e.yours("steep")).any()),
)
def _future_overflows(scores: Tensor, slope: float) -> Tensor:
    back = _back(scores.shape[-1])
    powers = (scores - scores.amax(dim=-1, keepdim=True) - slope * back).exp() * (back >= 0)
    return powers / powers.sum(dim=-1, keepdim=True)


def _slope_taken(evidence: Evidence, case: str = "gentle") -> float | None:
    """The slope for which your weights would be right; None if there is none."""
    scores, mine = evidence.inputs["scores"], evidence.yours(case)
    with np.errstate(divide="ignore", invalid="ignore"):
        slope = float(np.log(mine[0, 1, 1] / mine[0, 1, 0]) - scores[0, 1, 1] + scores[0, 1, 0])
    if not np.isfinite(slope):
        return None
    wrong = penalised_weights(torch.from_numpy(scores), slope).numpy()
    return slope if np.allclose(mine, wrong, rtol=1e-3, atol=1e-5) else None


def _paid(scores: Array, weights: Array) -> str:
    """By how much scores were lowered to have these weights, beside the last one's; empty if one
    has none.
    """
    if (weights <= 0).any():
        return ""
    paid = scores - scores[-1] - np.log(weights / weights[-1])
    return f", as if the scores were lowered by {row(paid)}"


def _another_penalty(evidence: Evidence) -> Finding | None:
    """The row that is farthest off, from its scores to its weights, where slope 0 is right."""
    if not evidence.same("level") or evidence.same("gentle"):
        return None
    mine, right = evidence.yours("gentle"), evidence.right("gentle")
    if np.abs(mine.sum(axis=-1) - 1).max() > 1e-3 or np.abs(np.triu(mine, 1)).max() > 1e-5:
        return None
    b, t, _ = (int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), mine.shape))
    slope, seen = float(evidence.inputs["slope"]), slice(0, t + 1)
    taken = _slope_taken(evidence)
    if taken is not None:
        # Twice the slope or half of it: what it would be right for is said without this.
        known = any(math.isclose(taken, one, rel_tol=1e-3) for one in (2 * slope, slope / 2, 1.0))
        return (
            None
            if known
            else Finding(
                "another-slope",
                "Your weights are those of another slope.",
                f"With slope {number(slope)} they are what they should be with {number(taken)}. "
                f"{_last_row(evidence)}",
                PLACE,
            )
        )
    return Finding(
        "some-positions",
        "With slope 0 your weights are right; with a slope your penalty is another one.",
        f"Row {t} of sample {b} has the scores {row(evidence.inputs['scores'][b, t, seen])}. With "
        f"slope {number(slope)} they are lowered by {row(slope * np.arange(t, -1, -1))}, and the "
        f"weights are {row(right[b, t, seen])}; yours are {row(mine[b, t, seen])}"
        f"{_paid(evidence.inputs['scores'][b, t, seen], mine[b, t, seen])}.",
        PLACE,
    )


TASK = Task(
    "A penalty on distance",
    penalised_weights,
    PLACE,
    (
        Part("With slope 0 these are plain causal weights.", 1, matches("level")),
        Part("A small slope lowers what lies far back.", 2, matches("gentle")),
        Part("So does a large one, and so it does among low scores.", 1, matches("steep", "low")),
    ),
    properties=(
        no_weight_on_the_future("gentle", FUTURE),
        no_weight_on_the_future("steep", FUTURE),
        rows_sum_to_one("gentle", FUTURE),
        _another_penalty,
    ),
    cases=("gentle",),
)
