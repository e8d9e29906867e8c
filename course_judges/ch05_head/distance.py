"""Judges 05/distance: causal weights that fall with the distance."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import Weights, rows_beside
from course_judges.ch05_head import wording
from course_judges.ch05_head.sections import FUTURE, PLACE, SCORES
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import no_weight_on_the_future, rows_sum_to_one
from course_judges.wording import number, numbers_apart, row, unwrapped
from course_tasks.answers import Array
from course_tasks.ch05_head.distance import STEEP
from course_tasks.verdict import Finding


def _back(T: int) -> Tensor:
    """(T, T) How far back position s is from position t; negative in the future."""
    t = torch.arange(T)
    return t[:, None] - t


def penalised_weights(scores: Tensor, slope: float) -> Tensor:
    """A right answer to 05/distance: (B, T, T), float → (B, T, T)."""
    T = scores.shape[-1]  # T
    t = torch.arange(T)  # the positions (T,)
    back = t[:, None] - t  # the distances (T, T)
    penalty = slope * back  # the penalty (T, T)
    lowered = scores - penalty  # the lowered scores (B, T, T)
    future = back < 0  # the mask (T, T)
    masked = lowered.masked_fill(future, -torch.inf)  # the masked scores (B, T, T)
    return masked.softmax(dim=-1)  # your weights (B, T, T)


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
    one, other = rows_beside(mine, right)
    return unwrapped(f"""With slope {number(slope)}, the last row of sample 0 is {one}, but it
    should be {other}.""")


def _first_weight(evidence: Evidence) -> str:
    level, gentle = evidence.yours("level")[0, -1, 0], evidence.yours("gentle")[0, -1, 0]
    far = evidence.number("T") - 1
    return unwrapped(f"""In sample 0, the last position gives the first, {far} steps back, a weight
    of {number(level)} with slope 0 and of {number(gentle)} with slope
    {number(float(evidence.inputs["slope"]))}.""")


def _low_row(evidence: Evidence) -> str:
    mine, scores = evidence.yours("low")[0, 0], evidence.inputs["low"][0, 0]
    return unwrapped(f"""Position 0 of sample 0 may see only itself, with a score of
    {number(scores[0])}, but its row is {row(mine)}. {wording.MINUS_INFINITY}""")


def _fails_when_low(evidence: Evidence) -> bool:
    return evidence.same("level", "gentle", "steep") and not evidence.same("low")


def _last_row_off(evidence: Evidence) -> bool:
    """True if rows in which nothing is hidden are wrong when the scores are low."""
    mine, right = evidence.yours("low")[:, -1], evidence.right("low")[:, -1]
    return not np.allclose(mine, right, rtol=1e-4, atol=1e-5)


def _first_row(evidence: Evidence) -> str:
    mine = evidence.yours("gentle")[0, 0]
    return f"Position 0 of sample 0 may see only itself, but its row is {row(mine)}."


def _sum(evidence: Evidence) -> str:
    total = float(evidence.yours("gentle")[0, -1].sum())
    if abs(total - 1) < 1e-3:  # divided by its sum again
        return ""
    return f"The last row of sample 0 sums to {number(total)} instead of 1."


def _lowered_and_normalized(scores: Tensor, slope: float) -> Tensor:
    weights = _causal(scores) - slope * _back(scores.shape[-1]).clamp(min=0)
    return weights.clamp(min=0) / weights.clamp(min=0).sum(dim=-1, keepdim=True)


_no_penalty = mistake(
    "The slope has no effect on your weights.",
    lambda e: unwrapped(f"""{_first_weight(e)} Either you don't use it, or it lowers only scores
    that are hidden, or you subtract the same number from a whole row, which cancels in the softmax.
    Subtract more from the scores that are farther back."""),
    cases=("level", "gentle", "steep"),
)(Like("left-out-the-multiplication-by-the-distances-in-the-penalty"))


def _constant(evidence: Evidence) -> float | None:
    """The slope that your weights have with any `slope`; None if there is none."""
    taken = _slope_taken(evidence, "level"), _slope_taken(evidence)
    alike = taken[0] is not None and taken[1] is not None and abs(taken[0] - taken[1]) < 1e-3
    return taken[0] if alike and abs(taken[0] or 0.0) > 1e-3 else None


_slope_of_its_own = mistake(
    "You always use the same slope, whatever `slope` says.",
    lambda e: unwrapped(f"""With slope 0 and with slope {number(float(e.inputs["slope"]))} alike,
    your weights are the right ones for slope {number(_constant(e) or 0.0)}. {_last_row(e)}"""),
    recognized=lambda e: _constant(e) is not None,
)(lambda scores, slope: penalised_weights(scores, 0.5))  # noqa: ARG005

_same_for_all_distances = mistake(
    "Your penalty is the same for all earlier positions instead of growing with the distance.",
    _last_row,
)(_with(lambda s, d, m: s - m * (d > 0)))

_distance_squared = mistake(
    "Your penalty grows with the square of the distance, not with the distance itself.", _last_row
)(_with(lambda s, d, m: s - m * d**2))

_penalty_doubles = mistake(
    "Your penalty doubles with every step back, but each step should add one slope.", _last_row
)(_with(lambda s, d, m: s - m * torch.where(d > 0, 2.0 ** (d - 1), 0.0)))

_logarithm_of_distance = mistake(
    "Your penalty grows with the logarithm of the distance, not with the distance itself.",
    _last_row,
)(_with(lambda s, d, m: s - m * (d + 1).log()))

_share_of_the_length = mistake(
    "You divided the distance by the length of the text.",
    lambda e: unwrapped(f"""{_last_row(e)} Being {e.number("T") - 1} positions back costs less than
    one slope in your answer, but it should cost {e.number("T") - 1}."""),
)(Like("divided-the-positions-by-T"))

_penalty_multiplied = mistake(
    "You multiplied or divided the scores instead of subtracting the penalty from them.",
    lambda e: unwrapped(f"""{_last_row(e)} What you take off is proportional to the score, so
    positive scores are lowered and negative ones are raised. The penalty should depend only on the
    distance: subtract slope · (t − s)."""),
    also=(
        _with(lambda s, d, m: s / (1 + m * d)),
        _with(lambda s, d, m: s * (-m * d).exp()),
        _with(lambda s, d, m: s * (1 - m) ** d),
    ),
)(Like("multiplied-the-penalty-by-scores"))

_scores_ignored = mistake(
    "Your weights depend only on the distance and not on the scores.",
    lambda e: f"{_last_row(e)} This gives all samples the same weights.",
    SCORES,
)(Like("added-scores-to-the-penalty"))

_scaled_again = mistake(
    "You divided the scores again, although they come scaled already.",
    lambda e: f"{_last_row(e)} This makes the differences between scores too small.",
    SCORES,
)(_with(lambda s, d, m: s / math.sqrt(s.shape[-1]) - m * d))


_first_step_is_free = mistake(
    "The position one step back costs as much as the position itself in your answer, but it should "
    "cost one slope more.",
    lambda e: unwrapped(f"""{_last_row(e)} The position itself pays nothing, and every step back
    costs one slope, including the first, so multiply by t − s itself."""),
)(_with(lambda s, d, m: s - m * (d - 1).clamp(min=0)))


@mistake(
    wording.ITSELF_HIDDEN,
    lambda e: unwrapped(f"""{_first_row(e)} It should be {row(e.right("gentle")[0, 0])}, because
    only what is above the diagonal is hidden."""),
    FUTURE,
    also=(lambda scores, slope: _without_itself(scores, slope).nan_to_num(0.0),),
)
def _itself_hidden(scores: Tensor, slope: float) -> Tensor:
    return _without_itself(scores, slope)


_past_hidden = mistake(
    "Your mask is inverted: it hides the past.",
    lambda e: unwrapped(f"""{_first_row(e)} Hide only what is above the diagonal, where s > t."""),
    FUTURE,
    also=(
        lambda scores, slope: _without_the_past(scores, slope, 0),
        lambda scores, slope: _without_the_past(scores, slope, 0).nan_to_num(0.0),
    ),
)(Like("compared-with-greater-instead-of-less-in-the-mask"))


_slope_zero_sees_all = mistake(
    "With slope 0, your weights aren't causal.",
    lambda e: unwrapped(f"""With slope 0, position 0 of sample 0 may see only itself, but its row is
    {row(e.yours("level")[0, 0])}. The future has to be hidden without a penalty, too."""),
    FUTURE,
    cases=("level", "gentle"),
)(Like("used-the-penalty-instead-of-the-distances-in-the-mask"))


@mistake(
    "You subtracted the penalty from the weights, after the softmax.",
    lambda e: f"{_sum(e)} {_last_row(e)} Subtract it from the scores instead.".strip(),
    also=(_lowered_and_normalized,),
)
def _penalty_after_softmax(scores: Tensor, slope: float) -> Tensor:
    return _causal(scores) - slope * _back(scores.shape[-1]).clamp(min=0)


@mistake(
    "You let the weights decay after the softmax, so they no longer sum to 1.",
    lambda e: unwrapped(f"""{_sum(e)} If you subtract from the scores before the softmax, the
    softmax normalizes the rows for you."""),
)
def _decay_not_normalised(scores: Tensor, slope: float) -> Tensor:
    return _causal(scores) * (-slope * _back(scores.shape[-1]).clamp(min=0)).exp()


_both_ways = mistake(
    "You didn't hide the future, but gave it a penalty like the past.", _first_row, FUTURE
)(Like("used-the-absolute-value-of-the-distances"))


def _hidden_zero(evidence: Evidence) -> str:
    scores = evidence.inputs["scores"]
    b, t, s = (int(i) for i in np.argwhere(np.tril(scores == 0.0))[0])
    return unwrapped(f"""In sample {b}, row {t} has a score of 0 for position {s}. With slope 0,
    your weight there is {number(evidence.yours("level")[b, t, s])} instead of
    {number(evidence.right("level")[b, t, s])}.""")


@families.zeros_hidden(_hidden_zero, FUTURE, cases=("level", "gentle"))
def _zeros_hidden(scores: Tensor, slope: float) -> Tensor:
    seen = (scores - slope * _back(scores.shape[-1])).tril()
    return seen.masked_fill(seen == 0, -torch.inf).softmax(dim=-1)


@mistake(
    wording.LOW_FILL,
    _low_row,
    FUTURE,
    recognized=lambda e: _fails_when_low(e) and not _last_row_off(e),
)
def _moderate_fill(scores: Tensor, slope: float) -> Tensor:
    back = _back(scores.shape[-1])
    return (scores - slope * back).masked_fill(back < 0, -20.0).softmax(dim=-1)


@mistake(
    wording.SUMS_OF_LOW_SCORES,
    lambda e: unwrapped(f"""The last row of sample 0, in which nothing is hidden, sums to
    {number(e.yours("low")[0, -1].sum())}. {wording.LIMITED_DIVISOR}"""),
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
    "With a large slope, your answer contains NaN.",
    lambda e: unwrapped(f"""With slope {number(STEEP * float(e.inputs["slope"]))}, the last of
    {e.number("T")} positions is {e.number("T") - 1} ahead of the first, so unless you hide it
    first, its score rises by {number(STEEP * float(e.inputs["slope"]) * (e.number("T") - 1))}. Then
    e to the power of that is infinite, and 0 · ∞ is NaN. If you subtract the largest score of each
    row, that is one of the future, everything visible is rounded to 0, and 0 / 0 is NaN. Hide the
    future with −inf before either of these steps."""),
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


def _paid(scores: Array, weights: Array) -> Array | None:
    """(t + 1,) By how much the scores would be lowered for these weights, beside the last one; None
    if a weight is 0.
    """
    if (weights <= 0).any():
        return None
    return np.asarray(scores - scores[-1] - np.log(weights / weights[-1]), dtype=float)


def _as_if_lowered(evidence: Evidence, b: int, t: int) -> str:
    """What the row of your weights says of your penalty, and what other rows say."""
    seen = slice(0, t + 1)
    scores, mine = evidence.inputs["scores"], evidence.yours("gentle")
    paid = _paid(scores[b, t, seen], mine[b, t, seen])
    if paid is None:
        return ". A penalty only lowers a weight, but some of yours are exactly 0."
    return f", as if the scores were lowered by {row(paid)}.{_pattern(evidence, b, paid)}"


def _summed(back: Array) -> Array:
    """The sums of all distances up to these."""
    return np.asarray(back * (back + 1) / 2)


def _pattern(evidence: Evidence, b: int, paid: Array) -> str:
    """A sentence on penalties that stop growing, or whose slope differs from row to row."""
    T, slope = evidence.number("T"), float(evidence.inputs["slope"])
    steps = -np.diff(paid)  # what each step costs, from far to near
    flat = int(np.argmax(np.abs(steps) > 1e-3))
    if flat > 1 and np.allclose(steps[flat:], slope, atol=1e-3):
        return f" It stops growing {len(paid) - 1 - flat} steps back."
    back = np.arange(len(paid))[::-1]
    for name, of in (("the root of the distance", np.sqrt), ("0, 1, 3, 6 …", _summed)):
        if len(paid) > 2 and np.allclose(paid, slope * of(back), rtol=1e-3, atol=1e-3):
            return f" That is slope times {name}."
    slopes = np.full((evidence.number("B"), T), np.nan)
    for sample, t in np.ndindex(slopes.shape):
        own = _paid(evidence.inputs["scores"][sample, t, : t + 1], _row_of(evidence, sample, t))
        if t and own is not None and np.ptp(np.diff(own)) < 2e-3 * max(1.0, abs(own[0])):
            slopes[sample, t] = -np.diff(own).mean()
    if np.isnan(slopes[:, 1:]).any():
        return ""
    of_samples, of_rows = slopes[:, 1:].mean(axis=1), slopes[:, 1:].mean(axis=0)
    if np.ptp(of_samples) > 1e-2 and np.ptp(slopes[b, 1:]) < 1e-2:
        each = ", ".join(number(one) for one in of_samples)
        return f" Your slope differs from sample to sample: {each}."
    if np.ptp(of_rows) > 1e-2 and np.ptp(of_samples) < 1e-2:
        return f" Your slope differs from row to row: from row 1 on, it is {row(of_rows)}."
    return ""


def _row_of(evidence: Evidence, b: int, t: int) -> Array:
    return np.asarray(evidence.yours("gentle")[b, t, : t + 1])


# Slopes that people make of one, as functions of it.
_SLOPES: tuple[tuple[str, Callable[[float], float]], ...] = (
    ("the slope without its decimals, as `int(slope)` and `slope // 1` leave it", math.floor),
    ("slope²", lambda m: m**2),
    ("√slope", math.sqrt),
    ("slope · log 2, as if you had powers of 2 instead of e", lambda m: m * math.log(2)),
    ("−log(1 − slope), as if each step multiplied by 1 − slope", lambda m: -math.log(1 - m)),
    ("log(1 + slope), as if each step divided by 1 + slope", math.log1p),
    ("1 − slope", lambda m: 1 - m),
    ("slope / 10", lambda m: m / 10),
)


def _another_slope(evidence: Evidence) -> Finding | None:
    """Right for another slope, if slope 0 is right."""
    if not evidence.same("level") or evidence.same("gentle"):
        return None
    slope, taken = float(evidence.inputs["slope"]), _slope_taken(evidence)
    # Of twice or half the slope, and of 1, the shared judge says it by itself.
    known = (2 * slope, slope / 2, 1.0)
    if taken is None or any(math.isclose(taken, one, rel_tol=1e-3) for one in known):
        return None
    taken = 0.0 if abs(taken) < 1e-5 else taken
    name = next((name for name, of in _SLOPES if abs(of(slope) - taken) < 1e-4), "")
    if not name:
        dimensions = {"T": evidence.number("T"), "B": evidence.number("B")}
        ways = ((f"slope / {n}", slope / d) for n, d in dimensions.items() if d > 1)
        name = next((told for told, one in ways if abs(one - taken) < 1e-4), "")
    named = f" That is {name}." if name else ""
    wanted, given = numbers_apart(slope, taken)
    return Finding(
        "another-slope",
        "Your weights are right for another slope.",
        f"With slope {wanted}, they are what they should be with {given}.{named} "
        f"{_last_row(evidence)}",
        PLACE,
    )


def _shown(evidence: Evidence) -> Weights | None:
    """The weights of the first wrong case of small slopes, beside what makes the right ones."""
    case = next((one for one in ("level", "gentle") if not evidence.same(one)), None)
    if case is None or not evidence.comparable(case):
        return None
    back = _back(evidence.number("T")).numpy()
    slope = 0.0 if case == "level" else float(evidence.inputs["slope"])
    scores = evidence.inputs["scores"].astype(float) - slope * back
    seen = np.broadcast_to(back >= 0, scores.shape)
    return Weights(np.nan_to_num(evidence.yours(case)).astype(float), scores, seen, {})


def _case(evidence: Evidence) -> str:
    if not evidence.same("level"):
        return "This is with slope 0, so without any penalty."
    return f"This is with slope {number(float(evidence.inputs['slope']))}."


def _shown_by_the_weights(evidence: Evidence) -> Finding | None:
    """What the weights are a softmax of, and over which positions."""
    weights = _shown(evidence)
    if weights is None:
        return None
    surely = evidence.number("T") > 1 and evidence.same("level")
    told = weights.told() if surely else weights.described()
    return told and Finding("other-weights", told[0], f"{_case(evidence)} {told[1]}", FUTURE)


def _worked_out(evidence: Evidence) -> Finding | None:
    """A row of the weights beside the right one."""
    weights = _shown(evidence)
    if weights is None:
        return None
    what, effect = weights.described()
    return Finding("other-weights", what, f"{_case(evidence)} {effect}", FUTURE)


def _wrong_when_steep(evidence: Evidence) -> Finding | None:
    """Right with small slopes, but not with a large one."""
    if not evidence.same("level", "gentle") or evidence.same("steep"):
        return None
    mine, right = evidence.yours("steep"), evidence.right("steep")
    slope, T = STEEP * float(evidence.inputs["slope"]), evidence.number("T")
    if mine.shape != right.shape:
        return None
    leaks = np.abs(np.triu(mine, 1)).max() > 1e-5
    gap = np.abs(np.triu(mine, 1)) if leaks else np.abs(mine - right)
    b, t, s = (int(i) for i in np.unravel_index(int(gap.argmax()), mine.shape))
    told = f"With slope {number(slope)}, row {t} of sample {b} gives position {s} a weight of "
    told += f"{number(float(mine[b, t, s]))} instead of {number(float(right[b, t, s]))}. "
    if leaks:
        return Finding(
            "future-with-a-large-slope",
            "With a large slope, your answer sees the future.",
            f"{told}In the future the penalty is a bonus, up to {number(slope * (T - 1))} here. If "
            "you hide the future before that is subtracted, the fill has to stay lower than any "
            "score: −inf stays −inf, but a number like −1000 is lifted.",
            FUTURE,
        )
    return Finding(
        "wrong-with-a-large-slope",
        "Your weights are right with small slopes, but not with a large one.",
        f"{told}The position itself pays nothing, and each step back costs {number(slope)}, so "
        "each position should keep all the weight to itself. Is a penalty, a distance or a score "
        "limited?",
        PLACE,
    )


def _another_penalty(evidence: Evidence) -> Finding | None:
    """The row that is farthest off, worked out from its scores, if slope 0 is right."""
    if not evidence.same("level") or evidence.same("gentle"):
        return None
    mine, right = evidence.yours("gentle"), evidence.right("gentle")
    if np.abs(mine.sum(axis=-1) - 1).max() > 1e-3 or np.abs(np.triu(mine, 1)).max() > 1e-5:
        return None
    b, t, _ = (int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), mine.shape))
    slope, seen = float(evidence.inputs["slope"]), slice(0, t + 1)
    one, other = rows_beside(mine[b, t, seen], right[b, t, seen])
    if _slope_taken(evidence) is not None:
        return None  # `_another_slope` says more, or the shared judge
    return Finding(
        "another-penalty",
        "Your weights are right with slope 0, but otherwise your penalty is wrong.",
        f"Row {t} of sample {b} has the scores {row(evidence.inputs['scores'][b, t, seen])}. With "
        f"slope {number(slope)}, they are lowered by {row(slope * np.arange(t, -1, -1))}, so the "
        f"weights should be {other}. Yours are {one}"
        f"{_as_if_lowered(evidence, b, t)}",
        PLACE,
    )


TASK = Task(
    "A penalty on distance",
    penalised_weights,
    PLACE,
    (
        Part("With slope 0 these are plain causal weights.", 1, matches("level")),
        Part("A small slope lowers the weights of positions far back.", 2, matches("gentle")),
        Part("So does a large slope, even when the scores are low.", 1, matches("steep", "low")),
    ),
    properties=(
        _another_slope,
        _shown_by_the_weights,
        _wrong_when_steep,
        no_weight_on_the_future("gentle", FUTURE),
        rows_sum_to_one("gentle", FUTURE),
        _another_penalty,
    ),
    cases=("gentle",),
    examples=(_worked_out,),
    steps={
        "T": Step("Scores have a row and a column for each position."),
        "the positions": Step("Row t is about position t, and column s about position s."),
        "the distances": Step("Position s is t − s steps back from position t."),
        "the penalty": Step("Each step back costs one slope, and the position itself nothing."),
        "the lowered scores": Step("What is far back should lose weight, so its score gets lower."),
        "the mask": Step("What lies ahead of a position has a negative distance.", FUTURE),
        "the masked scores": Step(wording.MINUS_INFINITY, FUTURE),
        "your weights": Step("Each row is an average of its own, so it sums to 1.", FUTURE),
    },
)
