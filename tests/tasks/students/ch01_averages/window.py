"""Students' answers to 01/window."""

import functools

import torch
from torch.nn import functional as F

from students.ch01_averages.shared import _mean, decay_loop


def window_loop(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        first = max(0, t - width + 1)
        weights[t, first : t + 1] = 1 / (t + 1 - first)
    return weights


def window_softmax(T, width):
    t = torch.arange(T)
    distance = t.unsqueeze(1) - t.unsqueeze(0)
    hidden = (distance < 0) | (distance >= width)
    return torch.zeros(T, T).masked_fill(hidden, float("-inf")).softmax(dim=-1)


def window_difference(T, width):
    ones = torch.ones(T, T, dtype=torch.float64)
    band = ones.tril() - ones.tril(-width)
    return (band / band.sum(1)[:, None]).numpy()


def window_lists(T, width):
    rows = []
    for t in range(T):
        seen = [max(0, t - width + 1) <= s <= t for s in range(T)]
        rows.append([float(s) / sum(seen) for s in seen])
    return rows


def _reach(T, first, last):
    """(T, T) 0/1: row t sees distances first … last, counted back from t."""
    t = torch.arange(T)
    back = t[:, None] - t[None, :]
    return ((back >= first) & (back <= last)).float()


def window_before_without_nan(T, width):
    return torch.nan_to_num(_mean(_reach(T, 1, width)))


def window_wraps_around(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t][t + 1 - width : t + 1] = 1
    return weights / weights.sum(1, keepdim=True).clamp(min=1)


# "row t averages positions max(0, t - width + 1) … t"
def window_from_the_end(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        for back in range(min(width, T)):
            weights[t, t - back] = 1
    return weights / weights.sum(1, keepdim=True)


def window_of_the_block(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        start = t - t % width
        weights[t, start : t + 1] = 1 / (t - start + 1)
    return weights


def window_filled_up(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        start = max(0, t - width + 1)
        weights[t, start : start + width] = 1
    return _mean(weights)


RIGHT = {
    "loop": window_loop,
    "softmax": window_softmax,
    "difference of triangles, numpy": window_difference,
    "lists": window_lists,
}


def window_cut_from_means(T, width):
    return _mean(_reach(T, 0, T)) * _reach(T, 0, width - 1)


def window_wrong_diagonal(T, width):
    return _mean(torch.triu(torch.ones(T, T).tril(), diagonal=width)).nan_to_num()


def window_clamped(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        for back in range(width):
            weights[t, max(0, t - back)] += 1 / width
    return weights


WRONG = {
    "upper-triangle": lambda T, width: _mean(_reach(T, 1 - width, 0)),
    "diagonal-excluded": lambda T, width: _mean(_reach(T, 1, width)),
    "first-position-repeated": window_clamped,
    "divides-by-the-past": window_cut_from_means,
    "empty-band": window_wrong_diagonal,
    "divides-by-width": lambda T, width: _reach(T, 0, width - 1) / width,
    "negative-slice": window_wraps_around,
    "window-one-too-wide": lambda T, width: _mean(_reach(T, 0, width)),
    "keepdim-forgotten": lambda T, width: (
        _reach(T, 0, width - 1) / torch.arange(1, T + 1).clamp(max=width)
    ),
    "centred-window": lambda T, width: _mean(_reach(T, -(width // 2), width // 2)),
    "multiplied-mask": lambda T, width: F.softmax(
        torch.ones(T, T) * _reach(T, 0, width - 1), dim=1
    ),
    "whole-number-division": lambda T, width: (
        _reach(T, 0, width - 1).int() // _reach(T, 0, width - 1).int().sum(1)[:, None]
    ),
    "blocks": window_of_the_block,
    "width-limited": lambda T, width: _mean(_reach(T, 0, min(width - 1, T - 2))),
    "from-the-end": window_from_the_end,
    "filled-up": window_filled_up,
}


ODD = [
    (
        lambda T, width: _mean(_reach(T, 0, width - 2)),
        "compared-with-less-instead-of-less-or-equal-in-the-left-edge",
    ),
    (lambda T, width: _mean(_reach(T, 0, T)), "left-out-the-left-edge-in-your-window"),
    (
        lambda T, width: _reach(T, 0, width - 1) / _reach(T, 0, width - 1).sum(0, keepdim=True),
        "used-axis-minus-2-instead-of-axis-1-for-the-sum-in-how-many-positions-each-window-holds",
    ),
    (lambda T, width: _mean(_reach(T, 1 - T, width - 1)), "left-out-the-right-edge-in-your-window"),
    (window_before_without_nan, "diagonal-excluded"),
    (lambda T, width: torch.zeros(T, T).softmax(dim=0), "sees-the-future"),
    (lambda T, width: torch.eye(T).flip(0), "sees-the-future"),
    (lambda T, width: window_loop(T, width)[:-1], "last-missing"),
    (lambda T, width: decay_loop(T, 0.5), "wrong-positions"),
    (lambda T, width: window_loop(T, width).squeeze(), "axis-of-one"),
    (
        lambda T, width: window_loop(T, width) if T > 1 else torch.zeros(1, 1),
        "wrong-for-one-position",
    ),
    # All but one position, and one more than there are.
    (lambda T, width: window_loop(T, width + (width == T - 1)), "wrong-positions"),
]


# --- Answers that no list names ---


def window_triangular(T, width):
    w = torch.zeros(T, T)
    for t in range(T):
        for k in range(min(width, t + 1)):
            w[t, t - k] = width - k
    return w / w.sum(1, keepdim=True)


def window_in_steps_of_two(T, width):
    w = torch.zeros(T, T)
    for t in range(T):
        w[t, list(range(t, max(-1, t - 2 * width), -2))] = 1
    return w / w.sum(1, keepdim=True)


def first_rows_divided_by_their_number(T, width):
    past = torch.tril(torch.ones(T, T))
    window = torch.triu(past, diagonal=1 - width)
    count = torch.arange(T).clamp(min=1, max=width)
    return window / count[:, None]


# "row t averages positions max(0, t - width + 1) … t", unless a caller wrote into the last matrix
@functools.cache
def same_matrix_for_every_caller(T, width):
    band = torch.ones(T, T).tril().triu(1 - width)
    return band / band.sum(dim=1, keepdim=True)


UNLISTED = {
    1: [
        (window_triangular, "uneven-weights"),
        (window_in_steps_of_two, "wrong-positions"),
    ],
    3: [(first_rows_divided_by_their_number, "divides-by-another-count")],
}
ACCEPTED = {
    6: [
        (
            same_matrix_for_every_caller,
            "It differs for a caller who writes into what was returned.",
        )
    ],
}
