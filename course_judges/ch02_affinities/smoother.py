"""Judging 02/smoother: attention over places on a map."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch02_affinities.sections import DEPENDS, KERNEL, ROLES, STABLE
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, numbers_apart, row, rows_apart, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def _squares(at: Tensor, known: Tensor) -> Tensor:
    """(N, M) squared distances."""
    return (at[:, None] - known).square().sum(-1)


def smooth_map(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    """A right answer to 02/smoother: (N, 2), (M, 2), (M, C) → (N, C)."""
    apart = at[:, None] - known  # the differences (N, M, 2)
    squares = apart.square().sum(dim=-1)  # the squared distances (N, M)
    divisor = 2 * width**2  # the divisor
    scores = -squares / divisor  # your scores (N, M)
    weights = scores.softmax(dim=-1)  # your weights (N, M)
    return weights @ values  # your averages (N, C)


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
    return f"At {_returned(evidence, 'near', _off_place(evidence))}."


def _off_place(evidence: Evidence) -> int:
    """The first place near the stations at which the answer is wrong."""
    off = ~close(evidence.yours("near"), evidence.right("near"))
    return int(off.any(axis=-1).argmax())


def _returned(evidence: Evidence, case: str, n: int) -> str:
    """What the answer returns for a place and what is expected, to go on after "At"."""
    mine, right = rows_apart(evidence.yours(case)[n], evidence.right(case)[n])
    return f"place {n} you return {mine}, but {right} is expected"


def _squared(evidence: Evidence) -> str:
    """Squared distance from the first wrong place to its nearest station."""
    gaps = evidence.inputs["near"][_off_place(evidence)] - evidence.inputs["known"]
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
    lambda e: unwrapped(f"""At {_far_off(e)} from the nearest station, you return the same for every
    place. At {_returned(e, "far", 0)}. The nearest station still counts most there, however small
    all e^score are, because a softmax shifts the scores before it takes the exponential."""),
    STABLE,
    cases=("near", "far"),
)
def _plain_mean_far_away(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    lost = _powers(at, known, width).sum(-1, keepdim=True) == 0
    return torch.where(lost, values.mean(0), _guarded(at, known, values, width))


@mistake(
    "Far away from all stations, you take only the value of the nearest one.",
    lambda e: unwrapped(f"""The nearest station is at {_far_off(e)}. At {_returned(e, "far", 0)}.
    Stations that are almost
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
            ("2 · width³", 2 * width**3),
            ("2 · width⁴", 2 * width**4),
            ("(2 · width²)²", right**2),
            ("√2 · width", np.sqrt(2) * width),
            ("2 · √width", 2 * np.sqrt(width)),
            ("2 · π · width²", np.pi * right),
            ("√(2 · width²)", np.sqrt(right)),
            ("2, which has no width in it", 2.0),
            ("1, which has no width in it", 1.0),
            ("2 divided by width²", 2 / width**2),
            ("√2, which is the root of the number of coordinates", np.sqrt(2)),
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


def _other_expansion(evidence: Evidence) -> Finding | None:
    """Scores that are made of at · known and |known|², with other factors than the right ones."""
    found = _weights_and_gaps(evidence)
    if found is None:
        return None
    mine, gaps = found
    at, known = evidence.inputs["near"], evidence.inputs["known"]
    squares = np.broadcast_to(np.square(known).sum(-1), gaps.shape[:2])
    factors = _fitted(mine, np.stack([at @ known.T, squares], axis=-1))
    if factors is None:
        return _moved(evidence, mine)
    product, square = (float(one) * 2 * _width(evidence) ** 2 for one in factors)
    if max(abs(product - 2), abs(square + 1)) < 1e-3 or max(abs(product), abs(square)) < 1e-3:
        return None
    off = " and ".join(
        f"{what} counts {number(round(mine_counts, 3))} times instead of {wanted}"
        for what, mine_counts, wanted in (("at·known", product, "2"), ("|known|²", square, "−1"))
        if abs(mine_counts - (2 if wanted == "2" else -1)) > 1e-3
    )
    return Finding(
        "another-expansion",
        "Your scores aren't squared distances, but something else made of dot products.",
        unwrapped(f"""Written out, −|at − known|² is −|at|² + 2 · at·known − |known|². In yours,
        {off}, divided by 2 · width². (What |at|² counts doesn't show, since it is the same for all
        stations.)"""),
        KERNEL,
    )


def _moved(evidence: Evidence, mine: Array) -> Finding | None:
    """Squared distances from other places, all moved by the same vector."""
    at, known = evidence.inputs["near"], evidence.inputs["known"]
    if not (mine > _TINY).all():
        return None
    rest = np.log(mine) + np.square(at[:, None] - known).sum(-1) / (2 * _width(evidence) ** 2)
    rest -= rest.mean(1, keepdims=True)
    around = np.broadcast_to(known - known.mean(0), (*mine.shape, 2)).reshape(-1, 2)
    by, *_ = np.linalg.lstsq(around, rest.ravel(), rcond=None)
    if not np.allclose(around @ by, rest.ravel(), atol=1e-3) or np.abs(by).max() < 1e-3:
        return None
    return Finding(
        "moved",
        "You measure distances from other places than the given ones.",
        unwrapped(f"""Your weights are those of places that are all moved by
        {row(by * _width(evidence) ** 2)} against the stations. If you subtract a mean from the
        coordinates, it has to be the same for `at` and `known`."""),
        KERNEL,
    )


def _other_distances(evidence: Evidence) -> Finding | None:
    """Scores that are made of the differences of the coordinates in another way."""
    found = _weights_and_gaps(evidence)
    if found is None:
        return None
    mine, gaps = found
    east, north = gaps[..., 0], gaps[..., 1]
    factors = _fitted(mine, np.stack([east**2, north**2, east * north], axis=-1))
    if factors is not None:
        first, second, both = (-float(one) * 2 * _width(evidence) ** 2 for one in factors)
        if max(abs(first - 1), abs(second - 1), abs(both)) < 1e-3:
            return None
        cross = f", and their product {number(round(both, 3))} times" * (abs(both) > 1e-3)
        return Finding(
            "other-coordinates",
            "Your scores don't count both coordinates as a squared distance does.",
            unwrapped(f"""In them the squared difference of the first coordinate counts
            {number(round(first, 3))} times, and that of the second {number(round(second, 3))}
            times{cross}. A squared distance is the sum of both, each counted once. Square, and then
            add up along the last dimension."""),
            KERNEL,
        )
    distance = np.sqrt(east**2 + north**2)
    apart = (distance > 1e-6).all(1)  # the logarithm of a distance of 0 is infinite
    if _fitted(mine[apart], np.log(np.maximum(distance, 1e-9))[apart][..., None]) is not None:
        return Finding(
            "another-distance",
            "Your weights fall as a power of 1 over the distance.",
            unwrapped(f"""{_first_place(evidence)} The task asks for the softmax of −distance² /
            (2 · width²), in which the distance is in the exponent."""),
            KERNEL,
        )
    lengths = [np.linalg.norm(evidence.inputs[name], axis=1) for name in ("near", "known")]
    cosines = evidence.inputs["near"] @ evidence.inputs["known"].T / np.outer(*lengths)
    for words, made in (
        ("the cosine of place and station", cosines),
        (
            "the logarithm of a sigmoid of the score",
            np.logaddexp(0, distance**2 / (2 * _width(evidence) ** 2)),
        ),
        ("the distance itself", distance),
        ("the fourth power of the distance", distance**4),
        ("the third power of the distance", distance**3),
        ("the larger of the two differences", np.maximum(np.abs(east), np.abs(north))),
        ("the square of the larger difference", np.maximum(np.abs(east), np.abs(north)) ** 2),
        ("the smaller of the two differences", np.minimum(np.abs(east), np.abs(north))),
        ("the sum of the absolute differences", np.abs(east) + np.abs(north)),
        ("the square of that sum of absolute differences", (np.abs(east) + np.abs(north)) ** 2),
        ("the logarithm of 1 plus the squared distance", np.log1p(distance**2)),
        (
            "the logarithm of 1 plus distance² / (2 · width²)",
            np.log1p(distance**2 / (2 * _width(evidence) ** 2)),
        ),
        (
            "the logarithm of 1 plus distance² / width²",
            np.log1p(distance**2 / _width(evidence) ** 2),
        ),
        ("the logarithm of 1 plus the distance", np.log1p(distance)),
    ):
        if _fitted(mine, made[..., None]) is not None:
            return Finding(
                "another-distance",
                f"Your scores go with {words}, not with the squared distance.",
                unwrapped(f"""{_first_place(evidence)} The task asks for −distance² / (2 · width²).
                A squared distance is the sum of the squared differences of both coordinates."""),
                KERNEL,
            )
    return None


def _factors_of_places(evidence: Evidence) -> Finding | None:
    """A softmax of squared distances, divided by another number for each place."""
    found = _weights_and_gaps(evidence)
    if found is None:
        return None
    mine, gaps = found
    squares = np.square(gaps).sum(-1)[..., None]
    factors = [_fitted(mine[[n]], squares[[n]]) for n in range(len(mine))]
    if any(one is None or one[0] > -1e-9 for one in factors):
        return None
    by = np.array([-1 / float(one[0]) for one in factors if one is not None])
    right = 2 * _width(evidence) ** 2
    # In a draw with one place, there is nothing to compare.
    if np.ptp(by) < 1e-3 * by.max() and (len(by) > 1 or np.isclose(by[0], right, rtol=1e-3)):
        return None
    return Finding(
        "divisors-of-places",
        "You divide the squared distances by another number at each place.",
        unwrapped(f"""From place to place, yours are {row(by, 3)}, but the divisor is 2 · width² =
        {number(right)} everywhere. Don't divide by a maximum, a sum or a mean
        of the distances."""),
        KERNEL,
    )


def _factors_of_stations(evidence: Evidence) -> Finding | None:
    """Right weights, but each station's times a factor of its own."""
    mine, right = evidence.yours("weights"), evidence.right("weights")
    if mine.shape != right.shape or evidence.same("weights") or not (mine > _TINY).all():
        return None
    rest = np.log(mine.astype(np.float64)) - np.log(right.astype(np.float64))
    rest -= rest.mean(1, keepdims=True)
    if (len(mine) > 1 and np.abs(rest - rest[0]).max() > 1e-3) or np.ptp(rest[0]) < 1e-3:
        return None
    if not np.allclose(mine.sum(-1), 1, atol=1e-4):
        return None
    factors = np.exp(rest[0] - rest[0].max())
    return Finding(
        "factors-of-stations",
        "Some stations count less than others, wherever the place is.",
        unwrapped(f"""Your weights are what they should be if the stations' powers were multiplied
        by {row(factors)}. If you shift the scores by a maximum, it has to be that of each place,
        `amax(dim=-1, keepdim=True)`, not that of each station."""),
        DEPENDS,
    )


def _some_places(evidence: Evidence) -> Finding | None:
    """Zeros at some places, and right averages at all others."""
    mine, right = evidence.yours("near"), evidence.right("near")
    if mine.shape != right.shape:
        return None
    empty, good = ~mine.any(-1), close(mine, right).all(-1)
    if not empty.any() or not good.any() or not (empty | good).all():
        return None
    places = listed(np.flatnonzero(empty))
    return Finding(
        "places-left-out",
        "Some of your places hold only zeros, and all others are right.",
        f"Only zeros are in rows {places} of {len(mine)}. If you loop over the places, does the "
        "loop reach all of them?",
        KERNEL,
    )


def _columns_alike(evidence: Evidence) -> Finding | None:
    """The same number for each of several quantities."""
    mine, right = evidence.yours("near"), evidence.right("near")
    if mine.shape != right.shape or mine.shape[1] < 2 or np.ptp(mine, axis=1).max() > 1e-5:
        return None
    return Finding(
        "columns-alike",
        "You return the same number for all quantities.",
        unwrapped(f"""{_first_place(evidence)} Each of the {mine.shape[1]} columns of `values` is a
        quantity of its own, with an average of its own: `weights @ values` keeps them apart."""),
        ROLES,
    )


@mistake(
    "You averaged with the logarithms of the weights.",
    lambda e: unwrapped(f"""{_first_place(e)} `log_softmax` gives logarithms, which are negative.
    Take `softmax`, or the exponential of what you have."""),
)
def _logarithms(at: Tensor, known: Tensor, values: Tensor, width: float) -> Tensor:
    return (-_squares(at, known) / (2 * width**2)).log_softmax(-1) @ values


def _stations_left_out(evidence: Evidence) -> Finding | None:
    """Places with weight on only some of the stations."""
    mine, right = evidence.yours("weights"), evidence.right("weights")
    gaps = evidence.inputs["near"][:, None] - evidence.inputs["known"]
    if mine.shape != right.shape:
        return None
    out = (np.abs(mine) < 1e-12) & (right > 1e-6)
    never = np.flatnonzero(~mine.any(axis=0))
    if 0 < len(never) < mine.shape[1] and (len(mine) > 1 or len(never) == 1):
        stations, get = ("Stations", "get") if len(never) > 1 else ("Station", "gets")
        return Finding(
            "stations-left-out",
            "You leave out stations at every place.",
            unwrapped(f"""{stations} {listed(never)} of {mine.shape[1]} {get} no weight anywhere. At
            place 0, station {never[0]} should have the weight {number(float(right[0, never[0]]))}.
            If you loop or cut slices, do they begin at the first station and reach the last?"""),
            KERNEL,
        )
    if not out.any() or out.all(-1).any():
        return None
    distance = np.sqrt(np.square(gaps).sum(-1))
    n = int(np.flatnonzero(out.any(-1))[0])
    kept = ~out
    count = int(kept[n].sum())
    if all(distance[n][kept[n]].max() <= distance[n][out[n]].min() for n in _some(out)):
        which = (
            f"the nearest {count}"
            if (kept.sum(-1) == count).all()
            else f"those up to a distance of about {number(float(distance[n][kept[n]].max()))}"
        )
        return Finding(
            "stations-left-out",
            "You leave out stations that are farther away than others.",
            unwrapped(f"""Place {n} gives weight to {count} of the {evidence.number("M")} stations,
            {which}. In a softmax over all stations, the ones left out have
            {number(100 * float(right[n][out[n]].sum()), 2)} % of its weight."""),
            KERNEL,
        )
    if (distance[out] < 1e-6).all():
        return Finding(
            "own-place-left-out",
            "You leave out a station that is exactly at the place.",
            unwrapped(f"""Place {n} is where a station is, so their distance is 0, and so is their
            score. That is the largest score there is, and its station counts most:
            {number(float(right[n][out[n]][0]))}."""),
            KERNEL,
        )
    return None


def _some(out: Array) -> Array:
    return np.flatnonzero(out.any(-1))


def _at_a_station(evidence: Evidence) -> Finding | None:
    """Wrong only at a place where a station is."""
    mine, right = evidence.yours("near"), evidence.right("near")
    gaps = evidence.inputs["near"][:, None] - evidence.inputs["known"]
    there = (np.square(gaps).sum(-1) < 1e-9).any(-1)
    if mine.shape != right.shape or not there.any():
        return None
    if not np.array_equal(~close(mine, right).all(-1), there):
        return None
    n = int(np.flatnonzero(there)[0])
    m = int(np.square(gaps[n]).sum(-1).argmin())
    own = close(mine[n], evidence.inputs["values"][m]).all()
    what = " That is what this station alone has measured." * bool(own)
    return Finding(
        "at-a-station",
        "Your map is right except at a place where a station is.",
        unwrapped(f"""Place {n} is exactly where station {m} is. At
        {_returned(evidence, "near", n)}.{what} A distance of 0 is nothing special: the
        score is 0, and all stations share the weight, as everywhere else."""),
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


def _values_changed(evidence: Evidence) -> Finding | None:
    """Right averages of other values."""
    mine, right = evidence.yours("near"), evidence.right("near")
    values = evidence.inputs["values"]
    weights = evidence.right("weights")
    if mine.shape != right.shape or evidence.same("near"):
        return None
    for words, made in (
        ("what was measured minus its mean", values - values.mean(0)),
        ("what was measured divided by its spread", values / values.std(0)),
        ("what was measured divided by its spread", values / values.std(0, ddof=1)),
        ("absolute values of what was measured", np.abs(values)),
        ("the squares of what was measured", np.square(values)),
        ("what was measured, without fractions", np.trunc(values)),
        ("what was measured, but by the station before", np.roll(values, 1, axis=0)),
        ("what was measured, but by the station after", np.roll(values, -1, axis=0)),
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
        unwrapped(f"""At place 0, your values are the right ones times
        {numbers_apart(float(factors[0]), 1)[0]}, so the weights add up to that. Divide the weights
        of each place by their own sum and by nothing else."""),
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
        _at_a_station,
        _some_places,
        _columns_alike,
        _other_factor,
        _other_expansion,
        _other_distances,
        _factors_of_places,
        _factors_of_stations,
        _stations_left_out,
        _values_changed,
        _weights_too_small,
        _outside_the_values,
        _sums_of_weights,
        _wrong_for_one_station,
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
