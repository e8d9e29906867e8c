"""Students' answers to 01/past-mean."""

import math

import numpy as np
import torch
from torch.nn import functional as F


def past_roll(x):
    T = x.shape[1]
    mean = x.cumsum(dim=1) / torch.arange(1, T + 1).view(1, T, 1)
    y = torch.zeros_like(x)
    y[:, 1:] = mean[:, :-1]
    return y


def past_softmax(x):
    T = x.shape[1]
    scores = torch.zeros(T, T)
    scores[torch.triu(torch.ones(T, T)) == 1] = float("-inf")
    return torch.nan_to_num(torch.softmax(scores, dim=1)) @ x


def past_loop(x):
    B, T, C = x.shape
    y = torch.zeros(B, T, C)
    for b in range(B):
        for t in range(1, T):
            y[b, t] = x[b, :t].mean(dim=0)
    return y


def past_numpy(x):
    x = x.double().numpy()
    T = x.shape[1]
    w = np.tril(np.ones((T, T)), -1) / np.maximum(np.arange(T), 1)[:, None]
    return np.einsum("ts,bsc->btc", w, x)


def past_nan(x):
    T = x.shape[1]
    hidden = torch.ones(T, T, dtype=torch.bool).triu(0)
    return torch.zeros(T, T).masked_fill(hidden, -math.inf).softmax(1) @ x


def past_rolled_round(x):
    T = x.shape[1]
    mean = x.cumsum(dim=1) / torch.arange(1, T + 1)[:, None]
    return torch.roll(mean, 1, dims=1)


def past_keeps_first(x):
    y = x.clone()
    for t in range(1, x.shape[1]):
        y[:, t] = x[:, :t].mean(dim=1)
    return y


def past_inclusive(x):
    return x.cumsum(1) / (torch.arange(x.shape[1]) + 1)[:, None]


def past_divides_by_t_plus_one(x):
    return (x.cumsum(1) - x) / (torch.arange(x.shape[1]) + 1)[:, None]


def past_sums(x):
    return x.cumsum(1) - x


def past_everything(x):
    return x.mean(dim=1, keepdim=True).expand(x.shape)


def past_softmax_of_ones(x):
    T = x.shape[1]
    mask = (torch.arange(T)[:, None] > torch.arange(T)).float()
    return F.softmax(mask, dim=1) @ x


def past_looks_one_ahead(x):
    T = x.shape[1]
    return torch.stack([x[:, : t + 2].mean(dim=1) for t in range(T)], dim=1)


def past_is_future(x):
    T = x.shape[1]
    y = torch.zeros_like(x)
    for t in range(T - 1):
        y[:, t] = x[:, t + 1 :].mean(dim=1)
    return y


def past_is_future_nan(x):
    T = x.shape[1]
    w = torch.ones(T, T).triu(1)
    return w / w.sum(-1, keepdim=True) @ x


def past_columns(x):
    T = x.shape[1]
    w = torch.ones(T, T).tril(-1)
    n = w.sum(0)
    n[n == 0] = 1
    return (w / n) @ x


def past_keepdim(x):
    T = x.shape[1]
    w = torch.ones(T, T).tril(-1)
    return w.div(torch.clamp(w.sum(-1), min=1)) @ x


def past_other_half(x):
    """Averages the positions before t, but only the second half of them."""
    y = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        y[:, t] = x[:, t // 2 : t].mean(dim=1)
    return y


def past_median(x):
    y = [torch.zeros_like(x[:, 0])]
    for t in range(1, x.shape[1]):
        y.append(x[:, :t].sort(dim=1).values[:, (t - 1) // 2])
    return torch.stack(y, dim=1)


def past_of(x, made):
    y = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        y[:, t] = made(x[:, :t])
    return y


RIGHT = {
    "shifted running mean": past_roll,
    "softmax": past_softmax,
    "loop": past_loop,
    "numpy, float64": past_numpy,
}


def past_shifted(x):
    return F.pad(x, (0, 0, 1, 0))[:, :-1]


def past_rolled_without_dims(x):
    counts = torch.arange(1, x.shape[1] + 1).view(1, -1, 1)
    running = x.cumsum(1) / counts
    past = torch.roll(running, shifts=1)
    past[:, 0] = torch.zeros(x.shape[2])
    return past


def past_first_sample_cleared(x):
    y = past_rolled_round(x)
    y[0] = 0
    return y


def past_updated_by_half(x):
    y, mean = torch.zeros_like(x), x[:, 0]
    for t in range(1, x.shape[1]):
        y[:, t] = mean
        mean = (mean + x[:, t]) / 2
    return y


WRONG = {
    "divides-columns": past_columns,
    "moved-along-the-numbers": past_rolled_without_dims,
    "first-row-nan": past_nan,
    "first-row-uniform": past_rolled_round,
    "first-row-itself": past_keeps_first,
    "diagonal-included": past_inclusive,
    "next-included": past_looks_one_ahead,
    "keepdim-forgotten": past_keepdim,
    "along-another-dimension": lambda x: past_loop(x.mT).mT,
    "divides-by-one-too-many": past_divides_by_t_plus_one,
    "sums-not-means": past_sums,
    "zero-mask": past_everything,
    "multiplied-mask": past_softmax_of_ones,
    "updated-by-half": past_updated_by_half,
    "sample-for-position": past_first_sample_cleared,
    "something-else-of-the-past": past_median,
}


ODD = [
    (past_shifted, "something-else-of-the-past"),
    (past_is_future, "transposed-the-past-of-each-position"),
    (past_is_future_nan, "not-finite"),
    (
        lambda x: past_of(x, lambda past: past.sum(dim=1) / (past.shape[1] + 0.01)),
        "divides-by-another-count",
    ),
    (past_other_half, "wrong-positions"),
    (lambda x: x.mean(dim=1), "shape"),
    (lambda x: past_loop(x).squeeze(-1), "axis-of-one"),
    (lambda x: past_loop(x) if x.shape[1] > 1 else x, "wrong-for-one-position"),
    (lambda x: torch.tril(torch.ones(3, 3)) @ x, "error"),
]


# --- Answers that no list names ---


def mean_of_two(x):
    out = torch.zeros_like(x)
    out[:, 1] = x[:, 0]
    out[:, 2:] = (x[:, 1:-1] + x[:, :-2]) / 2
    return out


def mean_of_all_others(x):
    T = x.shape[1]
    w = 1 - torch.eye(T)
    return (w / w.sum(1, keepdim=True)) @ x


def mean_with_a_counter(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = x[:, :t].sum(1) / (t - 1 if t > 1 else 1)
    return out


def mean_rounded(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = (x[:, :t].mean(1) * 10).round() / 10
    return out


def mean_without_the_oldest(x):
    out = torch.zeros_like(x)
    for t in range(2, x.shape[1]):
        out[:, t] = x[:, 1:t].mean(1)
    return out


# "the mean of positions 0 … t − 1": with a count that is at least 2, position 1 gets one half
def counts_clamped_at_two(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=2) @ x


UNLISTED = {
    1: [
        (mean_of_two, "error"),
        (mean_of_all_others, "sees-the-future"),
        (
            mean_with_a_counter,
            "moved-how-many-positions-come-before-one-place-on-along-the-axis-before-the-last",
        ),
        (mean_rounded, "another-mean"),
        (mean_without_the_oldest, "wrong-positions"),
    ],
    5: [(counts_clamped_at_two, "used-2-instead-of-1-in-your-weights")],
}
