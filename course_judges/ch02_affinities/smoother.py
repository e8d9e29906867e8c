"""Judging 02/smoother: attention over places on a map."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch02_affinities.sections import DEPENDS, KERNEL, ROLES, STABLE
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, row, unwrapped
from course_tasks.verdict import Finding


def _squares(at: Tensor, known: Tensor) -> Tensor:
    """(N, M) squared distances."""
    return (at[:, None] - known).square().sum(-1)


def smooth_map(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    """A right answer to 02/smoother: (N, 2), (M, 2), (M, C) → (N, C)."""
    return (-_squares(at, known) / (2 * width**2)).softmax(-1) @ values


def _with_scores(scores: Any) -> Any:
    """A smoother whose scores are this function of squared distance and width."""

    def answer(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
        result: Tensor = scores(_squares(at, known), width).softmax(-1) @ values
        return result

    return answer


_no_minus_answer = _with_scores(lambda d2, h: d2 / (2 * h**2))
_ROOTS = tuple(
    _with_scores(scores)
    for scores in (
        lambda d2, h: -d2.sqrt() / (2 * h**2),
        lambda d2, h: -d2.sqrt() / h,
        lambda d2, h: -d2.sqrt() / (2 * h),
        lambda d2, h: -d2.sqrt() / h**2,
    )
)
_WIDTHS = tuple(
    _with_scores(scores)
    for scores in (
        lambda d2, h: -d2 / (2 * h),
        lambda d2, h: -d2 / h,
        lambda d2, h: -d2 / (2**0.5 * h),
    )
)
_no_two = _with_scores(lambda d2, h: -d2 / h**2)
_no_width = _with_scores(lambda d2, h: -d2 / 2)  # noqa: ARG005
_no_width_no_two = _with_scores(lambda d2, h: -d2)  # noqa: ARG005
_MULTIPLIED = tuple(
    _with_scores(scores)
    for scores in (
        lambda d2, h: -d2 / 2 * h**2,
        lambda d2, h: -d2 * h**2,
        lambda d2, h: -d2 * 2 * h**2,
        lambda d2, h: -d2 * h,
        lambda d2, h: -d2 / 2 * h,
    )
)


def _powers(at: Tensor, known: Tensor, width: float) -> Tensor:
    return (-_squares(at, known) / (2 * width**2)).exp()


def _underflows(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    powers = _powers(at, known, width)
    return powers / powers.sum(-1, keepdim=True) @ values


def _guarded(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    return _underflows(at, known, values, width).nan_to_num(nan=0.0)


def _plain_dot_products(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:  # noqa: ARG001
    return (at @ known.T).softmax(-1) @ values


def _scaled_dot_products(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:  # noqa: ARG001
    return (at @ known.T / 2**0.5).softmax(-1) @ values


def _first_place(evidence: Evidence) -> str:
    mine, right = evidence.yours("near")[0], evidence.right("near")[0]
    return f"At the first place you return {row(mine)}, but {row(right)} is expected."


def _squared(evidence: Evidence) -> str:
    """Squared distance from the first place to its nearest station."""
    gaps = evidence.inputs["near"][0] - evidence.inputs["known"]
    return number(float(np.square(gaps).sum(-1).min()))


def _width(evidence: Evidence) -> float:
    return float(evidence.inputs["width"])


def _far_off(evidence: Evidence) -> str:
    """How far the first of the places far away is from its nearest station."""
    gaps = evidence.inputs["far"][0] - evidence.inputs["known"]
    return f"a distance of about {float(np.hypot(*gaps.T).min()):.0f}"


def _outside_the_values(evidence: Evidence) -> Finding | None:
    mine, values = evidence.yours("near"), evidence.inputs["values"]
    low, high = values.min(0), values.max(0)
    if mine.shape[-1] != len(low):
        return None
    outside = np.flatnonzero(((mine < low - 1e-4) | (mine > high + 1e-4)).any(axis=0))
    if not len(outside):
        return None
    c = int(outside[0])
    return Finding(
        "not-an-average",
        "Some of your values lie outside everything that was measured.",
        unwrapped(f"""In column {c}, yours go from {number(mine[:, c].min())} to
        {number(mine[:, c].max())}, but the measured ones go from {number(low[c])} to
        {number(high[c])}, and an average stays in between."""),
        KERNEL,
    )


_underflow = mistake(
    "Far away from all stations, your average is lost.",
    lambda e: unwrapped(f"""At {_far_off(e)} from the nearest station with `width = {_width(e):g}`,
    every e^score is rounded to 0, so you return {row(e.yours("far")[0])}, but
    {row(e.right("far")[0])} is expected. Dividing zeros by their sum doesn't help, so shift the
    scores first, or let `softmax` do it."""),
    STABLE,
    cases=("near", "far"),
    also=(_guarded,),
)(_underflows)


def _shifted_together(shift: Any) -> Any:
    """A smoother that shifts the scores of all places by one number."""

    def answer(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
        scores = -_squares(at, known) / (2 * width**2)
        powers = (scores - shift(scores)).exp()
        result: Tensor = powers / powers.sum(-1, keepdim=True) @ values
        return result

    return answer


_one_shift_for_all = mistake(
    "You shifted the scores of all places by the same number, but each place needs its own.",
    lambda e: unwrapped(f"""Some places are at {_far_off(e)} from all stations, and others twice as
    far. With one shift for both, the powers of one of them are all 0 or infinite, so
    {int((~close(e.yours("far"), e.right("far"))).any(-1).sum())} of your {e.number("N")} averages
    are lost. Shift each row by its own maximum, `amax(dim=-1, keepdim=True)`, or let `softmax` do
    it."""),
    STABLE,
    cases=("near", "far"),
    also=(
        _shifted_together(lambda scores: scores.min()),
        lambda *given: _shifted_together(lambda scores: scores.max())(*given).nan_to_num(0.0),
        lambda *given: _shifted_together(lambda scores: scores.min())(*given).nan_to_num(0.0),
    ),
)(_shifted_together(lambda scores: scores.max()))


@mistake(
    "Far away from all stations, you return the plain mean of what they measured.",
    lambda e: unwrapped(f"""At {_far_off(e)} from the nearest station, you return
    {row(e.yours("far")[0])} for every place, but {row(e.right("far")[0])} is expected for the first
    one. The nearest station still counts most there, however small all e^score are, because a
    softmax shifts the scores before it takes the exponential."""),
    STABLE,
    cases=("near", "far"),
)
def _plain_mean_far_away(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    lost = _powers(at, known, width).sum(-1, keepdim=True) == 0
    return torch.where(lost, values.mean(0), _guarded(at, known, values, width))


@mistake(
    "Far away from all stations, you take only the value of the nearest one.",
    lambda e: unwrapped(f"""At {_far_off(e)} from the nearest station, you return
    {row(e.yours("far")[0])}, but {row(e.right("far")[0])} is expected. Stations that are almost
    equally near share the weight there, too. A softmax shifts the scores before it takes the
    exponential, so nothing is lost."""),
    STABLE,
    cases=("near", "far"),
)
def _nearest_far_away(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    lost = _powers(at, known, width).sum(-1, keepdim=True) == 0
    nearest = values[_squares(at, known).argmin(-1)]
    return torch.where(lost, nearest, _guarded(at, known, values, width))


_no_minus = mistake(
    "The minus sign is missing, so the stations that are farthest away count most.",
    lambda e: unwrapped(f"""{_first_place(e)} A score should be high where something fits, which
    here is near, not far."""),
)(_no_minus_answer)


@mistake(
    "Your weights don't sum to 1, so this is a sum instead of an average.",
    lambda e: f"{_first_place(e)} Divide by the sum of the powers, as a softmax does.",
)
def _not_normalised(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    return _powers(at, known, width) @ values


_distance_not_squared = mistake(
    "Your scores use distances, but the task asks for squared distances.",
    lambda e: unwrapped(f"""{_first_place(e)} The nearest station has the squared distance
    {_squared(e)}. `torch.cdist` and `norm` give the root of that."""),
    also=(*_ROOTS[1:],),
)(_ROOTS[0])

_width_not_squared = mistake(
    "You divided by the width, but the task divides by twice its square.",
    lambda e: unwrapped(f"""{_first_place(e)} With `width = {_width(e):g}`, the divisor is
    {number(2 * _width(e) ** 2)}, because a squared distance needs a squared width."""),
    also=(*_WIDTHS[1:],),
)(_WIDTHS[0])

_two_forgotten = mistake(
    "The 2 in 2 · width² is missing.",
    lambda e: unwrapped(f"""{_first_place(e)} Your scores are twice as large, which is half the
    temperature, so your map is sharper than asked for."""),
)(_no_two)

_width_ignored = mistake(
    "Your width has no effect.",
    lambda e: f"{_first_place(e)} With `width = {_width(e):g}`, divide by 2 · width².",
    also=(_no_width_no_two,),
)(_no_width)

_width_multiplied = mistake(
    "You multiplied by the width where the task divides by it.",
    lambda e: unwrapped(f"""{_first_place(e)} A wide kernel sees far, so a large width has to make
    scores small. (`d / 2 * width**2` multiplies, so use brackets.)"""),
    also=(*_MULTIPLIED[1:],),
)(_MULTIPLIED[0])


_width_of_ones_own = mistake(
    "You scaled the distances by a number of your own instead of `width`.",
    lambda e: unwrapped(f"""{_first_place(e)} Your scores are those of a width of 0.5, but here it
    is {_width(e):g}. Use the argument."""),
)(_with_scores(lambda d2, h: -d2 / (2 * 0.5**2)))  # noqa: ARG005

_quotient_squared = mistake(
    "You squared too much. The task squares the distance and then divides by 2 · width².",
    lambda e: unwrapped(f"""{_first_place(e)} With the distance d, the score is −d² / (2 · width²).
    Neither the quotient nor the squared distance is squared again."""),
    also=(
        _with_scores(lambda d2, h: -d2 / (2 * h**2) ** 2),
        _with_scores(lambda d2, h: -(d2**2) / (2 * h**2)),
        _with_scores(lambda d2, h: -((d2 / (2 * h)) ** 2)),
    ),
)(_with_scores(lambda d2, h: -((d2 / (2 * h**2)) ** 2)))


@mistake(
    "You took the softmax of the powers, so you took the exponential twice.",
    lambda e: f"{_first_place(e)} A softmax takes the exponential itself, so give it the scores.",
)
def _softmax_of_powers(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    return _powers(at, known, width).softmax(-1) @ values


@mistake(
    "Your weights fall as 1 over the squared distance, but the task takes the softmax of scores.",
    lambda e: unwrapped(f"""{_first_place(e)} The weight of a station is e^score divided by the sum
    of these powers."""),
)
def _inverse_squares(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:  # noqa: ARG001
    weights = 1 / _squares(at, known).clamp(min=1e-8)
    return weights / weights.sum(-1, keepdim=True) @ values


@mistake(
    "Your softmax runs over the places that ask instead of over the stations.",
    lambda e: unwrapped(f"""{_first_place(e)} The scores have shape ({e.number("N")},
    {e.number("M")}), one row per place, and each row has to add up to 1, `dim=-1`."""),
    DEPENDS,
)
def _softmax_over_queries(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    return (-_squares(at, known) / (2 * width**2)).softmax(0) @ values


@mistake(
    "You averaged the stations' places instead of what was measured there.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("near").shape}, but
    {e.right("near").shape} is expected. `known` is what the question is compared with, and `values`
    is what comes back."""),
    ROLES,
)
def _raw_values(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:  # noqa: ARG001
    return smooth_map(at, known, known, width)


@mistake(
    "You took the value of the nearest station, but the others count, too.",
    lambda e: f"{_first_place(e)} That is what the average becomes as the width goes to 0.",
)
def _nearest_only(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:  # noqa: ARG001
    return values[_squares(at, known).argmin(-1)]


@mistake(
    "You give every place the mean of all stations, so the distances have no effect.",
    lambda e: f"{_first_place(e)} Equal scores make equal weights.",
)
def _equal_weights(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:  # noqa: ARG001
    return values.mean(0).expand(len(at), -1)


@mistake(
    "You added the two differences before squaring.",
    lambda e: unwrapped(f"""{_first_place(e)} One step to the east and one to the south would
    cancel. A squared distance is the sum of squares, so square first, then add."""),
)
def _differences_added_first(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    squares = (at[:, None] - known).sum(-1).square()
    return (-squares / (2 * width**2)).softmax(-1) @ values


@mistake(
    "Your scores are dot products, but the task asks for distances.",
    lambda e: unwrapped(f"""{_first_place(e)} The two agree only if all stations have the same
    length, that is, the same distance from (0, 0)."""),
    also=(
        _plain_dot_products,
        _scaled_dot_products,
    ),
)
def _dots_for_distances(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    return (at @ known.T / width**2).softmax(-1) @ values


def _of_squares(squares: Any) -> Any:
    """A smoother with this instead of squared distances, made of the differences (N, M, 2)."""

    def answer(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
        result: Tensor = (-squares(at[:, None] - known) / (2 * width**2)).softmax(-1) @ values
        return result

    return answer


_half_the_scores = mistake(
    "Your scores are half of what they should be, or less, so your map is too flat.",
    lambda e: unwrapped(f"""{_first_place(e)} Two ways lead there. (2 · width)² is 4 · width², twice
    the divisor of the task, so square the width before you double it. And the mean of two squares
    is half of their sum, but the squared distance is the sum."""),
    also=(_with_scores(lambda d2, h: -d2 / (2 * h) ** 2 / 2),),
)(_with_scores(lambda d2, h: -d2 / (2 * h) ** 2))

_one_coordinate = mistake(
    "Your distances look at only one coordinate.",
    lambda e: unwrapped(f"""{_first_place(e)} A place has two coordinates, so the squared distance
    is the sum of both squared differences."""),
    also=(_of_squares(lambda gaps: gaps[..., 1] ** 2),),
)(_of_squares(lambda gaps: gaps[..., 0] ** 2))

_city_blocks = mistake(
    "You added up absolute differences, but a squared distance adds up squares.",
    lambda e: unwrapped(f"""{_first_place(e)} A place that is 3 to the east and 4 to the north has
    the squared distance 3² + 4² = 25, but its absolute differences add up to 7."""),
    also=(_of_squares(lambda gaps: gaps.abs().sum(-1)),),
)(_of_squares(lambda gaps: gaps.abs().sum(-1) ** 2))


def _wrong_for_one_station(evidence: Evidence) -> Finding | None:
    if int(evidence.inputs["stations"][0]) > 1 or not evidence.same("near"):
        return None
    mine, right = evidence.yours("far"), evidence.right("far")
    if mine.shape != right.shape:
        return None
    return Finding(
        "wrong-for-one-station",
        "Your answer is wrong if there is only one station.",
        unwrapped(f"""Its weight is 1, however far away it is, so every place gets what it has
        measured, {row(right[0])}, but you return {row(mine[0])}."""),
        DEPENDS,
    )


def _weights_too_small(evidence: Evidence) -> Finding | None:
    """Every place has the right average, times a factor below 1 of its own."""
    mine, right = evidence.yours("near"), evidence.right("near")
    if mine.shape != right.shape or evidence.same("near"):
        return None
    factors = (mine * right).sum(-1) / (right * right).sum(-1)
    if not close(mine, factors[:, None] * right).all() or (factors <= 0).any():
        return None
    if (factors >= 1 - 1e-4).any():
        return None
    return Finding(
        "weights-too-small",
        "Your weights don't sum to 1.",
        unwrapped(f"""At the first place, your values are the right ones times
        {number(float(factors[0]))}, so the weights add up to that. Divide the weights of each place
        by their own sum and by nothing else."""),
        DEPENDS,
    )


def _worked_out(evidence: Evidence) -> Finding | None:
    """The weights and values of the two nearest stations, for the place that is farthest off."""
    case = "far" if evidence.same("near") else "near"
    mine, right = evidence.yours(case), evidence.right(case)
    if mine.shape != right.shape:
        return None
    n, c = (int(i) for i in np.unravel_index(int(np.abs(mine - right).argmax()), right.shape))
    count = int(evidence.inputs["stations"][0]) if case == "far" else evidence.number("M")
    squares = np.square(evidence.inputs[case][n] - evidence.inputs["known"][:count]).sum(-1)
    scores = -squares / (2 * float(evidence.inputs["width"]) ** 2)
    weights = np.exp(scores - scores.max())
    weights /= weights.sum()
    first, second = (int(i) for i in np.argsort(squares)[:2])
    stations = evidence.inputs["values"][:, c]
    return Finding(
        "other-weights",
        "Your averages weigh the stations differently than the task does.",
        unwrapped(f"""Stations {first} and {second} are the nearest to place {n}, at distances
        {number(squares[first] ** 0.5)} and {number(squares[second] ** 0.5)}. They should have the
        weights {number(weights[first])} and {number(weights[second])}, and they measured
        {number(stations[first])} and {number(stations[second])} in column {c}. The average is
        {number(right[n, c])}, but yours is {number(mine[n, c])}."""),
        KERNEL,
    )


TASK = Task(
    "A map from a few stations",
    smooth_map,
    KERNEL,
    (
        Part("Near the stations, each place gets the right average.", 3, matches("near")),
        Part("On top of that, it does far away from them, too.", 2, matches("near", "far")),
    ),
    properties=(_weights_too_small, _outside_the_values, _wrong_for_one_station),
    examples=(_worked_out,),
    cases=("near",),
)
