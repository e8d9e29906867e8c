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


def map_sharper(at, known, values, width):
    return _map(at, known, values, lambda d2: -3 * d2 / width**2)


def map_of_the_nearest_three(at, known, values, width):
    squares = torch.cdist(at, known) ** 2
    near = squares <= squares.sort(dim=1).values[:, : min(3, len(known))][:, -1:]
    return F.softmax((-squares / (2 * width**2)).masked_fill(~near, -torch.inf), dim=1) @ values


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
    "plain-mean-far-away": map_mean_if_lost,
    "underflow": map_naive,
    "distance-not-squared": map_root,
    "softmax-over-queries": map_columns,
    "raw-values": map_places,
    "nearest-only": map_nearest,
    "equal-weights": map_mean,
    "differences-added-first": map_east_and_west,
    "dots-for-distances": map_dots,
    "half-the-scores": lambda at, known, values, width: _map(
        at, known, values, lambda d2: -d2 / (2 * width) ** 2
    ),
    "one-coordinate": lambda at, known, values, width: map_cdist(
        at[:, :1], known[:, :1], values, width
    ),
    "city-blocks": lambda at, known, values, width: (
        F.softmax(-(torch.cdist(at, known, p=1) ** 2) / (2 * width**2), dim=-1) @ values
    ),
    "expanded-without-two": lambda at, known, values, width: (
        F.softmax((at @ known.T - known.square().sum(1)) / (2 * width**2), dim=-1) @ values
    ),
}


def map_that_leaves_the_station_out(at, known, values, width):
    """Nobody asks for a place where there is a station, it is thought."""
    scores = -torch.cdist(at, known).square() / (2 * width**2)
    return scores.masked_fill(scores > -1e-9, -torch.inf).softmax(-1) @ values


ODD = [
    (map_plus, "left-out-the-sign-in-your-scores"),
    (map_width, "left-out-the-square-of-width-in-the-divisor"),
    (map_no_two, "left-out-the-factor-2-in-the-divisor"),
    (map_no_width, "left-out-the-factor-width-squared-in-the-divisor"),
    (map_brackets, "divided-instead-of-multiplying-by-width-squared-in-the-divisor"),
    (map_sum, "weights-off"),
    (map_with_one_shift, "lost-far-away"),
    (map_nearest_if_lost, "some-rows"),
    (lambda at, known, values, width: map_cdist(at, known, values, 0.5), "another-divisor"),
    (map_sharper, "another-divisor"),
    (map_of_the_nearest_three, "other-weights"),
    (
        lambda at, known, values, width: map_cdist(at, known, values.sort(0).values, width),
        "other-values",
    ),
    (lambda at, known, values, width: map_cdist(at, known, values, width).mean(1), "shape"),
    (lambda at, known, values, width: torch.cdist(at, values), "error"),
    (lambda *given: map_cdist(*given).squeeze(-1), "axis-of-one"),
    (lambda at, known, values, width: map_cdist(at, known, values[:, :1], width), "too-few"),
    (map_that_leaves_the_station_out, "only-the-last"),
]


# --- Answers that no list names ---


def map_mean_added(at, known, values, width):
    w = (-(torch.cdist(at, known) ** 2) / (2 * width**2)).softmax(-1)
    return w @ (values - values.mean(0))


# "in the unit of the coordinates": in meters from far away, three large numbers leave no difference
def squares_multiplied_out(at, known, values, width):
    squares = at.square().sum(1)[:, None] + known.square().sum(1) - 2 * at @ known.T
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


UNLISTED = {
    1: [(map_mean_added, "subtracted-its-mean-from-each-row-of-your-weights")],
}
ACCEPTED = {
    6: [(squares_multiplied_out, "It differs at coordinates far beyond those of any lesson.")],
}
