"""Students' answers to 02/smoother."""

import numpy as np
import torch
from torch.nn import functional as F


def map_cdist(at, known, values, width):
    scores = -(torch.cdist(at, known) ** 2) / (2 * width**2)
    return torch.softmax(scores, dim=1) @ values


def map_numpy(at, known, values, width):
    at, known, values = at.numpy(), known.numpy(), values.numpy()
    d2 = ((at[:, None, :] - known[None]) ** 2).sum(axis=2)
    powers = np.exp(-(d2 - d2.min(axis=1, keepdims=True)) / (2 * width * width))
    return powers @ values / powers.sum(axis=1, keepdims=True)


def map_loop(at, known, values, width):
    result = torch.empty(len(at), values.shape[1], dtype=values.dtype)
    for n, place in enumerate(at):
        scores = torch.stack([-((place - k) ** 2).sum() for k in known]) / (2 * width**2)
        weights = scores.softmax(0)
        result[n] = sum(w * v for w, v in zip(weights, values, strict=True))
    return result


def map_attention(at, known, values, width):
    """Dot products and the stations' squared lengths make the same scores."""
    scores = (at @ known.T - known.square().sum(1) / 2) / width**2
    return torch.einsum("nm,mc->nc", scores.softmax(-1), values)


def _map(at, known, values, score):
    d2 = ((at[:, None] - known) ** 2).sum(-1)
    return torch.softmax(score(d2), dim=-1) @ values


def map_powers(at, known, values, width):
    return torch.exp(-(torch.cdist(at, known) ** 2) / (2 * width**2))


def map_naive(at, known, values, width):
    powers = map_powers(at, known, values, width)
    return (powers @ values) / powers.sum(dim=1, keepdim=True)


def map_plus(at, known, values, width):
    return _map(at, known, values, lambda d2: d2 / (2 * width**2))


def map_sum(at, known, values, width):
    return map_powers(at, known, values, width) @ values


def map_root(at, known, values, width):
    return torch.softmax(-torch.cdist(at, known) / (2 * width**2), dim=-1) @ values


def map_width(at, known, values, width):
    return _map(at, known, values, lambda d2: -d2 / (2 * width))


def map_no_two(at, known, values, width):
    return _map(at, known, values, lambda d2: -d2 / (width * width))


def map_no_width(at, known, values, width):
    return _map(at, known, values, lambda d2: -0.5 * d2)


def map_brackets(at, known, values, width):
    return _map(at, known, values, lambda d2: -d2 / 2 * width**2)


def map_columns(at, known, values, width):
    return F.softmax(-(torch.cdist(at, known) ** 2) / (2 * width**2), dim=0) @ values


def map_places(at, known, values, width):
    return map_cdist(at, known, known, width)


def map_nearest(at, known, values, width):
    return values[torch.cdist(at, known).min(dim=1).indices]


def map_mean(at, known, values, width):
    return torch.ones(len(at), len(known), dtype=values.dtype) @ values / len(known)


def map_east_and_west(at, known, values, width):
    gaps = at.sum(1)[:, None] - known.sum(1)
    return torch.softmax(-(gaps**2) / (2 * width**2), dim=1) @ values


def map_dots(at, known, values, width):
    return torch.softmax(torch.einsum("nk,mk->nm", at, known), dim=-1) @ values


def map_beyond(at, known, values, width):
    """Draws the nearest value away from the mean: no average any more."""
    return 30 * map_cdist(at, known, values, width) - 29 * values.mean(0) - 60


def map_sharper(at, known, values, width):
    return _map(at, known, values, lambda d2: -3 * d2 / width**2)


def map_of_the_nearest_three(at, known, values, width):
    squares = torch.cdist(at, known) ** 2
    near = squares <= squares.sort(dim=1).values[:, : min(3, len(known))][:, -1:]
    return F.softmax((-squares / (2 * width**2)).masked_fill(~near, -torch.inf), dim=1) @ values


def map_scaled_by_the_farthest(at, known, values, width):
    squares = torch.cdist(at, known) ** 2
    squares = squares / squares.amax(dim=1, keepdim=True)
    return torch.softmax(-squares / (2 * width**2), dim=1) @ values


def map_shifted_by_stations(at, known, values, width):
    scores = -(torch.cdist(at, known) ** 2) / (2 * width**2)
    powers = torch.exp(scores - scores.amax(dim=0))
    return powers @ values / powers.sum(dim=1, keepdim=True)


RIGHT = {
    "cdist": map_cdist,
    "numpy": map_numpy,
    "loop": map_loop,
    "dot products": map_attention,
}


def map_mean_if_lost(at, known, values, width):
    powers = torch.exp(-(torch.cdist(at, known) ** 2) / (2 * width**2))
    rows = [p @ values / p.sum() if p.sum() > 0 else values.mean(dim=0) for p in powers]
    return torch.stack(rows)


def map_nearest_if_lost(at, known, values, width):
    powers = torch.exp(-(torch.cdist(at, known) ** 2) / (2 * width**2))
    near = torch.cdist(at, known).argmin(dim=1)
    rows = [
        p @ values / p.sum() if p.sum() > 0 else values[m]
        for p, m in zip(powers, near, strict=True)
    ]
    return torch.stack(rows)


def map_inverse(at, known, values, width):
    weights = 1 / (torch.cdist(at, known).square() / width**2).clamp(min=1e-9)
    return weights @ values / weights.sum(1, keepdim=True)


def map_with_one_shift(at, known, values, width):
    scores = -torch.cdist(at, known).square() / (2 * width**2)
    powers = torch.exp(scores - torch.max(scores))
    return torch.nan_to_num(powers @ values / powers.sum(1, keepdim=True))


def map_of_two_softmaxes(at, known, values, width):
    weights = [
        F.softmax(-((at[:, i, None] - known[:, i]) ** 2) / (2 * width**2), dim=1) for i in (0, 1)
    ]
    return (weights[0] + weights[1]) / 2 @ values


WRONG = {
    "softmax-of-each-coordinate": map_of_two_softmaxes,
    "one-shift-for-all": map_with_one_shift,
    "width-of-ones-own": lambda at, known, values, width: map_cdist(at, known, values, 0.5),
    "quotient-squared": lambda at, known, values, width: _map(
        at, known, values, lambda d2: -((d2 / (2 * width**2)) ** 2)
    ),
    "softmax-of-powers": lambda at, known, values, width: _map(
        at, known, values, lambda d2: torch.exp(-d2 / (2 * width**2))
    ),
    "inverse-squares": map_inverse,
    "plain-mean-far-away": map_mean_if_lost,
    "underflow": map_naive,
    "no-minus": map_plus,
    "not-normalised": map_sum,
    "distance-not-squared": map_root,
    "width-not-squared": map_width,
    "two-forgotten": map_no_two,
    "width-ignored": map_no_width,
    "width-multiplied": map_brackets,
    "softmax-over-queries": map_columns,
    "raw-values": map_places,
    "nearest-only": map_nearest,
    "equal-weights": map_mean,
    "differences-added-first": map_east_and_west,
    "dots-for-distances": map_dots,
    "nearest-far-away": map_nearest_if_lost,
    "half-the-scores": lambda at, known, values, width: _map(
        at, known, values, lambda d2: -d2 / (2 * width) ** 2
    ),
    "one-coordinate": lambda at, known, values, width: map_cdist(
        at[:, :1], known[:, :1], values, width
    ),
    "city-blocks": lambda at, known, values, width: (
        F.softmax(-(torch.cdist(at, known, p=1) ** 2) / (2 * width**2), dim=-1) @ values
    ),
    "logarithms": lambda at, known, values, width: (
        F.log_softmax(-(torch.cdist(at, known) ** 2) / (2 * width**2), dim=1) @ values
    ),
}


def map_of_the_first_quadrant(at, known, values, width):
    return map_cdist(at.abs(), known.abs(), values, width)


def map_that_leaves_the_station_out(at, known, values, width):
    """Nobody asks for a place where there is a station, it is thought."""
    scores = -torch.cdist(at, known).square() / (2 * width**2)
    return scores.masked_fill(scores > -1e-9, -torch.inf).softmax(-1) @ values


def map_with_a_narrow_kernel(at, known, values, width):
    return map_cdist(at, known, values, min(width, 2.0))


def map_of_two_stations_at_least(at, known, values, width):
    return map_cdist(at, known, values, width) if len(known) > 1 else torch.zeros(len(at), 1)


ODD = [
    (
        lambda at, known, values, width: (
            map_cdist(at, known[:-1], values[:-1], width)
            if len(known) > 1
            else map_cdist(at, known, values, width)
        ),
        "stations-left-out",
    ),
    (map_scaled_by_the_farthest, "divisors-of-places"),
    (map_shifted_by_stations, "factors-of-stations"),
    (
        lambda at, known, values, width: map_cdist(
            at * at.new_tensor([1, 2]), known * at.new_tensor([1, 2]), values, width
        ),
        "other-coordinates",
    ),
    (
        lambda at, known, values, width: (
            F.softmax((at @ known.T - known.square().sum(1)) / (2 * width**2), dim=-1) @ values
        ),
        "another-expansion",
    ),
    (
        lambda at, known, values, width: (
            F.normalize(1 / (1 + torch.cdist(at, known) ** 2), p=1, dim=-1) @ values
        ),
        "another-distance",
    ),
    (
        lambda at, known, values, width: map_cdist(
            at - at.new_tensor([1, 0]), known, values, width
        ),
        "moved",
    ),
    (map_of_the_nearest_three, "stations-left-out"),
    (
        lambda at, known, values, width: map_cdist(at, known, values.abs() ** 2, width),
        "other-values",
    ),
    (map_beyond, "not-an-average"),
    (map_sharper, "another-divisor"),
    (
        lambda at, known, values, width: (
            map_sum(at, known, values, width)
            / (1 + map_powers(at, known, width=width, values=values).sum(1, keepdim=True))
        ),
        "weights-too-small",
    ),
    (lambda at, known, values, width: map_cdist(at, known, values, width).mean(1), "shape"),
    (lambda at, known, values, width: torch.cdist(at, values), "error"),
    (lambda *given: map_cdist(*given).squeeze(-1), "axis-of-one"),
    (lambda *given: map_cdist(*given).squeeze(0), "axis-of-one"),
    (lambda at, known, values, width: map_cdist(at, known, values[:, :1], width), "too-few"),
    (map_of_the_first_quadrant, "other-weights"),
    (map_that_leaves_the_station_out, "at-a-station"),
    (map_with_a_narrow_kernel, "another-divisor"),
    (map_of_two_stations_at_least, "wrong-for-one-station"),
]


# --- Answers that no list names ---


def map_mean_added(at, known, values, width):
    w = (-(torch.cdist(at, known) ** 2) / (2 * width**2)).softmax(-1)
    return w @ (values - values.mean(0))


# "some places are very far from every station, and they need an average, too"
def far_places_get_nothing(at, known, values, width):
    squares = (at[:, None] - known).square().sum(dim=-1)
    weights = (-squares / (2 * width**2)).exp()
    return weights @ values / weights.sum(dim=-1, keepdim=True).clamp(min=1e-12)


# "in the unit of the coordinates": in meters from far away, three large numbers leave no difference
def squares_multiplied_out(at, known, values, width):
    squares = at.square().sum(1)[:, None] + known.square().sum(1) - 2 * at @ known.T
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


def both_squares_dropped(at, known, values, width):
    """Keeps only the mixed term of the square: |at|² cancels in a softmax,
    but |known|² does not.
    """
    scores = at @ known.T / width**2
    return scores.softmax(dim=-1) @ values


UNLISTED = {
    1: [(map_mean_added, "subtracted-its-mean-from-each-row-of-your-weights")],
    4: [(far_places_get_nothing, "underflow")],
    12: [(both_squares_dropped, "dots-for-distances")],
}
ACCEPTED = {
    6: [(squares_multiplied_out, "It differs at coordinates far beyond those of any lesson.")],
}
