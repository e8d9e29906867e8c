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


def past_columns_nan(x):
    T = x.shape[1]
    w = torch.ones(T, T).tril(-1)
    return torch.einsum("ts,bsc->btc", w / w.sum(0, keepdim=True), x)


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


def past_doubled(x):
    return 2 * past_loop(x)


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


def past_reads_what_it_wrote(x):
    x = x.numpy().copy()
    for t in range(1, x.shape[1]):
        x[:, t] = x[:, :t].mean(axis=1)
    x[:, 0] = 0
    return x


RIGHT = {
    "shifted running mean": past_roll,
    "softmax": past_softmax,
    "loop": past_loop,
    "numpy, float64": past_numpy,
}


def past_by_count(x):
    return torch.stack([x[:, : t + 1].sum(1) / max(t, 1) for t in range(x.shape[1])], dim=1)


def past_shifted(x):
    return F.pad(x, (0, 0, 1, 0))[:, :-1]


def past_without_the_last(x):
    means = torch.zeros_like(x)
    for t in range(2, x.shape[1]):
        means[:, t] = x[:, : t - 1].mean(1)
    return means


def past_of_all_channels(x):
    means = torch.zeros_like(x)
    for b in range(len(x)):
        for t in range(1, x.shape[1]):
            means[b, t] = torch.mean(x[b, :t])
    return means


def past_rolled_without_dims(x):
    counts = torch.arange(1, x.shape[1] + 1).view(1, -1, 1)
    running = x.cumsum(1) / counts
    past = torch.roll(running, shifts=1)
    past[:, 0] = torch.zeros(x.shape[2])
    return past


def past_of_all_samples(x):
    means = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        means[:, t] = x[:, :t].mean(0).mean(0)
    return means


WRONG = {
    "means-of-samples": lambda x: torch.stack(
        [torch.zeros_like(x[0]), *(x[:b].mean(dim=0) for b in range(1, len(x)))]
    ),
    "moved-along-the-numbers": past_rolled_without_dims,
    "sums-include-itself": past_by_count,
    "previous-alone": past_shifted,
    "past-ends-too-early": past_without_the_last,
    "mixes-channels": past_of_all_channels,
    "mixes-samples": past_of_all_samples,
    "first-row-nan": past_nan,
    "first-row-uniform": past_rolled_round,
    "first-row-itself": past_keeps_first,
    "diagonal-included": past_inclusive,
    "divides-by-one-too-many": past_divides_by_t_plus_one,
    "sums-not-means": past_sums,
    "zero-mask": past_everything,
    "multiplied-mask": past_softmax_of_ones,
    "next-included": past_looks_one_ahead,
    "upper-triangle": past_is_future,
    "divides-columns": past_columns,
    "keepdim-forgotten": past_keepdim,
    "median": past_median,
    "means-of-channels": lambda x: past_loop(x.mT).mT,
    "subtracted-from-the-mean": lambda x: past_inclusive(x) - x,
    "own-results-averaged": past_reads_what_it_wrote,
}


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


ODD = [
    (lambda x: past_of(x, lambda past: past.amax(dim=1)), "something-else-of-the-past"),
    (lambda x: past_of(x, lambda past: past.abs().mean(dim=1)), "something-else-of-the-past"),
    (past_updated_by_half, "uneven-weights"),
    (
        lambda x: past_of(x, lambda past: past.sum(dim=1) / (past.shape[1] + 0.01)),
        "divides-by-another-count",
    ),
    (past_doubled, "divides-by-another-count"),
    (past_other_half, "wrong-positions"),
    (past_is_future_nan, "upper-triangle"),
    (past_columns_nan, "divides-columns"),
    (lambda x: x.mean(dim=1), "shape"),
    (lambda x: past_loop(x).squeeze(-1), "axis-of-one"),
    (past_first_sample_cleared, "sample-for-position"),
    (lambda x: past_loop(x) if x.shape[1] > 1 else x, "wrong-for-one-position"),
    (lambda x: torch.roll(x, 1, dims=1), "sees-the-future"),
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


def mean_of_means(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = (out[:, t - 1] + x[:, t - 1]) / 2
    return out


def mean_rounded(x):
    out = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        out[:, t] = (x[:, :t].mean(1) * 10).round() / 10
    return out


def mean_divided_by_all(x):
    T = x.shape[1]
    return torch.tril(torch.ones(T, T), -1) @ x / T


def mean_without_the_oldest(x):
    out = torch.zeros_like(x)
    for t in range(2, x.shape[1]):
        out[:, t] = x[:, 1:t].mean(1)
    return out


def mean_with_oneself_and_a_zero_in_front(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))
    mean = (weights / weights.sum(dim=1, keepdim=True)) @ x
    mean[:, 0] = 0
    return mean


# "the mean of positions 0 … t − 1": with a count that is at least 2, position 1 gets one half
def counts_clamped_at_two(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=2) @ x


_strict_weights = None


# "(B, T, C) float → (B, T, C) float": T of the first call stays the largest there is
def weights_of_the_first_call(x):
    global _strict_weights
    T = x.shape[1]
    if _strict_weights is None:
        weights = torch.ones(T, T).tril(-1)
        _strict_weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1)
    return _strict_weights[:T, :T] @ x


UNLISTED = {
    1: [
        (mean_of_two, "error"),
        (mean_of_all_others, "sees-the-future"),
        (mean_with_a_counter, "divides-by-another-count"),
        (mean_of_means, "uneven-weights"),
        (mean_rounded, "another-mean"),
        (mean_divided_by_all, "divides-by-another-count"),
        (mean_without_the_oldest, "wrong-positions"),
    ],
    3: [(mean_with_oneself_and_a_zero_in_front, "diagonal-included")],
    5: [(counts_clamped_at_two, "divides-by-another-count")],
    6: [(weights_of_the_first_call, "error")],
}
