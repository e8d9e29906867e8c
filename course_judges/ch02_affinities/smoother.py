"""Judging 02/smoother: attention over places on a map."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch02_affinities.sections import DEPENDS, KERNEL, ROLES, STABLE
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Mistake, Part, Step, Task, matches, mistake
from course_judges.wording import number, numbers_apart, rows_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Scores: TypeAlias = Callable[[Tensor, Tensor, float], Tensor]


def smooth_map(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    """A right answer to 02/smoother: (N, 2), (M, 2), (M, C) → (N, C)."""
    apart = at[:, None] - known  # the differences (N, M, 2)
    squares = apart.square().sum(dim=-1)  # the squared distances (N, M)
    divisor = 2 * width**2  # the divisor
    scores = -squares / divisor  # your scores (N, M)
    weights = scores.softmax(dim=-1)  # your weights (N, M)
    return weights @ values  # your averages (N, C)


def _squares(at: Tensor, known: Tensor) -> Tensor:
    """(N, M) squared distances."""
    return (at[:, None] - known).square().sum(-1)


def _powers(at: Tensor, known: Tensor, width: float) -> Tensor:
    return (-_squares(at, known) / (2 * width**2)).exp()


def _underflows(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    powers = _powers(at, known, width)
    return powers / powers.sum(-1, keepdim=True) @ values


def _guarded(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    return _underflows(at, known, values, width).nan_to_num(nan=0.0)


def _first_place(evidence: Evidence) -> str:
    return f"At {_returned(evidence, 'near', _off_place(evidence))}."


def _off_place(evidence: Evidence) -> int:
    """The first place near the stations at which the answer is wrong."""
    off = ~close(evidence.yours("near"), evidence.right("near"))
    return int(off.any(axis=-1).argmax())


def _returned(evidence: Evidence, case: str, n: int) -> str:
    """What the answer returns for a place and what is expected, to go on after "At"."""
    mine, right = rows_apart(evidence.yours(case)[n], evidence.right(case)[n])
    return f"place {n} you return {mine}, but {right} is expected"


def _width(evidence: Evidence) -> float:
    return float(evidence.inputs["width"])


def _far_off(evidence: Evidence) -> str:
    """How far the first of the places far away is from its nearest station."""
    gaps = evidence.inputs["far"][0] - evidence.inputs["known"]
    return f"a distance of about {float(np.hypot(*gaps.T).min()):.0f}"


_underflow = mistake(
    "Far away from all stations, your average is lost.",
    lambda e: (
        unwrapped(f"""The nearest station is at {_far_off(e)}, with `width = {_width(e):g}`. At
    {_returned(e, "far", 0)}. Every e^score is rounded to 0 there, and dividing zeros by their sum
    doesn't help, so shift the scores first, or let `softmax` do it. A limit on the distance must
    not take all weights away, either.""")
    ),
    STABLE,
    cases=("near", "far"),
    also=(_guarded,),
)(_underflows)


@mistake(
    "Far away from all stations, you return the plain mean of what they measured.",
    lambda e: unwrapped(f"""At {_far_off(e)} from the nearest station, you return the same for every
    place. At {_returned(e, "far", 0)}. The nearest station still counts most there, however small
    all e^score are, because a softmax shifts the scores before it takes the exponential."""),
    STABLE,
    cases=("near", "far"),
)
def _plain_mean_far_away(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    lost = _powers(at, known, width).sum(-1, keepdim=True) == 0
    return torch.where(lost, values.mean(0), _guarded(at, known, values, width))


def _scored(what: str, advice: str, *scores: Scores) -> Mistake:
    """A mistake of answers that take a softmax of one of these scores, of `at`, `known` and the
    width.
    """

    def smoother(of: Scores) -> Any:
        return lambda at, known, values, width: of(at, known, width).softmax(-1) @ values

    also = tuple(smoother(of) for of in scores[1:])
    return mistake(what, lambda e: f"{_first_place(e)} {advice}", also=also)(smoother(scores[0]))


_distance_not_squared = _scored(
    "Your scores use distances, but the task asks for squared distances.",
    "`torch.cdist` and `norm` give the root of a squared distance.",
    lambda at, known, h: -_squares(at, known).sqrt() / (2 * h**2),
    lambda at, known, h: -_squares(at, known).sqrt() / h,
    lambda at, known, h: -_squares(at, known).sqrt() / (2 * h),
    lambda at, known, h: -_squares(at, known).sqrt() / h**2,
)

_differences_added_first = _scored(
    "You added the two differences before squaring.",
    "One step to the east and one to the south would cancel. A squared distance is the sum of "
    "squares, so square first, then add.",
    lambda at, known, h: -(at[:, None] - known).sum(-1).square() / (2 * h**2),
)

_dots_for_distances = _scored(
    "Your scores are dot products, but the task asks for distances.",
    "The two agree only if all stations have the same length, that is, the same distance from "
    "(0, 0).",
    lambda at, known, h: at @ known.T / h**2,
    lambda at, known, _: at @ known.T,
    lambda at, known, _: at @ known.T / 2**0.5,
)

_expanded_without_two = _scored(
    "Your squared distances count the dot product once, but it counts twice.",
    "Written out, |at − known|² is |at|² − 2 · at·known + |known|².",
    lambda at, known, h: (at @ known.T - known.square().sum(-1)) / (2 * h**2),
)

_one_coordinate = _scored(
    "Your distances look at only one coordinate.",
    "A place has two coordinates, so the squared distance is the sum of both squared differences.",
    lambda at, known, h: -((at[:, None] - known)[..., 0] ** 2) / (2 * h**2),
    lambda at, known, h: -((at[:, None] - known)[..., 1] ** 2) / (2 * h**2),
)

_city_blocks = _scored(
    "You added up absolute differences, but a squared distance adds up squares.",
    "A place that is 3 to the east and 4 to the north has the squared distance 3² + 4² = 25, but "
    "its absolute differences add up to 7.",
    lambda at, known, h: -((at[:, None] - known).abs().sum(-1) ** 2) / (2 * h**2),
    lambda at, known, h: -(at[:, None] - known).abs().sum(-1) / (2 * h**2),
)

_equal_weights = _scored(
    "You give every place the mean of all stations, so the distances have no effect.",
    "Equal scores make equal weights.",
    lambda at, known, _: torch.zeros_like(_squares(at, known)),
)

_half_the_scores = mistake(
    "Your scores are half of what they should be, so your map is too flat.",
    lambda e: unwrapped(f"""{_first_place(e)} Two ways lead there. (2 · width)² is 4 · width², twice
    the divisor of the task, so square the width before you double it. And the mean of two squares
    is half of their sum, but the squared distance is the sum."""),
)(Like("used-mean-instead-of-sum-in-the-squared-distances"))

_raw_values = mistake(
    "You averaged the stations' places instead of what was measured there.",
    lambda e: unwrapped(f"""Your answer has shape {e.yours("near").shape}, but
    {e.right("near").shape} is expected. `known` is what the question is compared with, and `values`
    is what comes back."""),
    ROLES,
)(Like("used-known-instead-of-values-in-your-averages"))

_softmax_over_queries = families.softmax_over_queries(_first_place, DEPENDS)(
    Like("used-axis-minus-2-instead-of-axis-minus-1-for-the-softmax-in-your-weights")
)


@mistake(
    "You took the value of the nearest station, but the others count, too.",
    lambda e: f"{_first_place(e)} That is what the average becomes as the width goes to 0.",
)
def _nearest_only(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:  # noqa: ARG001
    return values[_squares(at, known).argmin(-1)]


@mistake(
    "You took a softmax for each coordinate alone and then the mean of both.",
    lambda e: unwrapped(f"""{_first_place(e)} A squared distance is the sum of both squared
    differences, so add them up first. Then there is one score for each station, and one
    softmax."""),
)
def _softmax_of_each_coordinate(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    scores = -(at[:, None] - known).square() / (2 * width**2)  # (N, M, 2)
    return scores.softmax(dim=1).mean(dim=-1) @ values


# In double precision, a smaller weight has lost its digits.
_TINY = 1e-250


def _weights_and_gaps(evidence: Evidence) -> tuple[Array, Array] | None:
    """Weights (N, M) that aren't right, and from stations to places (N, M, 2)."""
    mine = np.asarray(evidence.yours("weights"), dtype=np.float64)
    gaps = evidence.inputs["near"][:, None] - evidence.inputs["known"]
    if mine.shape != gaps.shape[:2] or evidence.same("weights") or not (mine >= 0).all():
        return None
    return mine, gaps


def _fitted(weights: Array, features: Array) -> Array | None:
    """With which factors these features (N, M, F) add up to the scores of a softmax that makes the
    weights, where those are above 0; None if none do.
    """
    seen = weights > _TINY
    counts = seen.sum(1, keepdims=True)
    if seen.sum() < 2 * features.shape[-1] + len(weights) or not counts.all():
        return None
    logs = np.log(np.where(seen, weights, 1))
    logs = logs - logs.sum(1, keepdims=True) / counts
    held = np.where(seen[..., None], features, 0)
    flat = (features - held.sum(1, keepdims=True) / counts[..., None])[seen]
    factors, *_ = np.linalg.lstsq(flat, logs[seen], rcond=None)
    close_enough = np.allclose(flat @ factors, logs[seen], atol=1e-3)
    return np.asarray(factors) if close_enough and np.linalg.matrix_rank(flat) > 0 else None


def _other_factor(evidence: Evidence) -> Finding | None:
    """A softmax of squared distances, divided by another number."""
    found = _weights_and_gaps(evidence)
    if found is None:
        return None
    mine, gaps = found
    factors = _fitted(mine, np.square(gaps).sum(-1)[..., None])
    if factors is None or abs(factors[0]) < 1e-6:
        return None
    width = _width(evidence)
    by, right = -1 / float(factors[0]), 2 * width**2
    if by < 0 or np.isclose(by, right, rtol=1e-3) or not np.allclose(mine.sum(-1), 1, atol=1e-3):
        return None
    known = " or ".join(
        words
        for words, value in (
            ("2 · width", 2 * width),
            ("width", width),
            ("width²", width**2),
            ("4 · width²", 4 * width**2),
            ("(2 · width²)²", right**2),
            ("2, which has no width in it", 2.0),
            ("1, which has no width in it", 1.0),
            ("2 divided by width²", 2 / width**2),
        )
        if np.isclose(by, value, rtol=2e-4)
    )
    made_of = (
        f" That is {known}."
        if known
        else f" That is the map of a width of {number(float(np.sqrt(by / 2)))}."
    )
    sharper = "sharper" if by < right else "flatter"
    return Finding(
        "another-divisor",
        "You divide the squared distances by another number than 2 · width².",
        unwrapped(f"""Your weights are the softmax of −distance² / {number(by)}, but with
        `width = {width:g}` it should be −distance² / {number(right)}, so your map is {sharper} than
        it should be.{made_of}"""),
        KERNEL,
    )


def _lost_far_away(evidence: Evidence) -> Finding | None:
    """Zeros, where some place is far from all stations, and right near them."""
    mine, right = evidence.yours("far"), evidence.right("far")
    if mine.shape != right.shape:
        return None
    lost = ~mine.any(-1) | np.isnan(mine).any(-1)
    if not lost.any():
        return None
    n = int(np.flatnonzero(lost)[0])
    if int(evidence.inputs["stations"][0]) == 1:
        return Finding(
            "lost-for-one-station",
            "With only one station, your average is lost at a place far away.",
            unwrapped(f"""At {_returned(evidence, "far", n)}. A single station has the weight 1 at
            any distance, so every place gets what it has measured. Do you treat one station as a
            case of its own, or do powers of low scores become 0?"""),
            DEPENDS,
        )
    return Finding(
        "lost-far-away",
        "Far away from all stations, your average is lost.",
        unwrapped(f"""At {_returned(evidence, "far", n)}. Its weights have to sum to 1 even if all
        scores are very low. Neither a limit on the distance nor powers that are rounded to 0 may
        take all of them away."""),
        STABLE,
    )


def _sums_of_weights(evidence: Evidence) -> Finding | None:
    """Weights that don't sum to 1."""
    mine = np.asarray(evidence.yours("weights"), dtype=np.float64)
    if mine.shape != evidence.right("weights").shape or np.allclose(mine.sum(-1), 1, atol=1e-4):
        return None
    if not close(mine @ evidence.inputs["values"], evidence.yours("near")).all():
        return None  # something was added, so these are no weights
    n = int(np.abs(mine.sum(-1) - 1).argmax())
    columns = (
        " Over all places, each station's weights sum to 1 instead, so you divided along the other "
        "dimension."
    ) * bool(np.allclose(mine.sum(0), 1, atol=1e-4))
    return Finding(
        "weights-off",
        "Your weights don't sum to 1.",
        unwrapped(f"""If one station has measured 1 and all others 0, your map holds its weights.
        At place {n}, the weights of all stations sum to {number(float(mine[n].sum()))}.{columns}
        Divide the weights of each place by their own sum."""),
        DEPENDS,
    )


def _outside_the_values(evidence: Evidence) -> Finding | None:
    mine, values = evidence.yours("near"), evidence.inputs["values"]
    if mine.shape != evidence.right("near").shape:
        return None
    low, high = values.min(0), values.max(0)
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


def _values_changed(evidence: Evidence) -> Finding | None:
    """Right averages of other values."""
    mine, right = evidence.yours("near"), evidence.right("near")
    values = evidence.inputs["values"]
    weights = evidence.right("weights")
    if mine.shape != right.shape or evidence.same("near"):
        return None
    for words, made in (
        ("what was measured minus its mean", values - values.mean(0)),
        ("what was measured, sorted in each column", np.sort(values, axis=0)),
        ("what was measured, but with the stations in reverse", values[::-1]),
    ):
        if np.isfinite(made).all() and close(mine, weights @ made).all():
            return Finding(
                "other-values",
                f"You average {words}.",
                f"{_first_place(evidence)} The weights are right, but `values` are averaged as "
                "they are.",
                ROLES,
            )
    return None


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
    given = evidence.answers.array("weights")
    my_average, average = numbers_apart(float(mine[n, c]), float(right[n, c]))
    yours = ""
    if case == "near" and given is not None and given.shape == (len(mine), len(stations)):
        yours = f" instead of your {number(given[n, first])} and {number(given[n, second])}"
    return Finding(
        "other-weights",
        "Your averages weigh the stations differently than the task does.",
        unwrapped(f"""Stations {first} and {second} are the nearest to place {n}, at distances
        {number(squares[first] ** 0.5)} and {number(squares[second] ** 0.5)}. They should have the
        weights {number(weights[first])} and {number(weights[second])}{yours}, and they measured
        {number(stations[first])} and {number(stations[second])} in column {c}. The average is
        {average}, but yours is {my_average}."""),
        KERNEL,
    )


TASK = Task(
    "A map from a few stations",
    smooth_map,
    KERNEL,
    (
        Part("Near the stations, each place gets the right average.", 3, matches("near")),
        Part("Far away from them, it does so, too.", 2, matches("near", "far")),
    ),
    properties=(
        _other_factor,
        _values_changed,
        _sums_of_weights,
        _outside_the_values,
        _lost_far_away,
    ),
    examples=(_worked_out,),
    cases=("near",),
    steps={
        "the differences": Step("Each place is compared with each station."),
        "the squared distances": Step("A squared distance is the sum of two squares."),
        "the divisor": Step("The width says how far a station reaches."),
        "your scores": Step("A station that is farther away has a lower score."),
        "your weights": Step("Each place averages over the stations, so its weights sum to 1."),
        "your averages": Step("What a place gets is the weighted average of what was measured."),
    },
)
