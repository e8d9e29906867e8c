"""Students' answers to 05/distance."""

import math

import numpy as np
import torch

from students.ch05_head.shared import INF


def distance_by_loop(scores, slope):
    B, T, _ = scores.shape
    out = torch.zeros(B, T, T)
    for t in range(T):
        penalty = slope * torch.arange(t, -1, -1)
        out[:, t, : t + 1] = (scores[:, t, : t + 1] - penalty).softmax(-1)
    return out


def distance_by_columns(scores, slope):
    """Rows may move by a constant: −slope · (t − s) and +slope · s are the same weights."""
    T = scores.shape[1]
    tilted = scores + slope * torch.arange(T)
    return tilted.masked_fill(torch.ones(T, T).triu(1).bool(), -INF).softmax(-1)


def distance_in_numpy(scores, slope):
    s = scores.numpy().astype(np.float32)
    t = np.arange(s.shape[1])
    e = np.exp(s - slope * np.abs(t[:, None] - t)) * (t[:, None] >= t)
    return e / e.sum(-1, keepdims=True)


def distance_with_sdpa_bias(scores, slope):
    T = scores.size(1)
    bias = torch.full((T, T), -INF, dtype=scores.dtype)
    for t in range(T):
        for s in range(t + 1):
            bias[t, s] = -slope * (t - s)
    return torch.softmax(scores + bias, 2)


def tilted_scores(scores, slope):
    t = torch.arange(scores.shape[1])
    return scores - slope * (t.unsqueeze(1) - t)


def tilted(cost):
    """Causal weights with `cost(score, distance, slope, T)` subtracted, entry by entry."""

    def answer(scores, slope):
        B, T, _ = scores.shape
        out = torch.zeros(B, T, T, dtype=scores.dtype)
        for t in range(T):
            back = torch.arange(t, -1, -1)
            row = scores[:, t, : t + 1]
            out[:, t, : t + 1] = (row - cost(row, back, slope, T)).softmax(-1)
        return out

    return answer


def causal_only(scores):
    return distance_by_loop(scores, 0.0).double()


def subtracted_late(scores, slope):
    T = scores.shape[1]
    back = (torch.arange(T)[:, None] - torch.arange(T)).tril()
    return causal_only(scores) - slope * back


def decayed(scores, slope):
    T = scores.shape[1]
    back = (torch.arange(T)[:, None] - torch.arange(T)).tril()
    return causal_only(scores) * torch.exp(-slope * back)


def open_both(scores, slope):
    T = scores.shape[1]
    gap = torch.cdist(torch.arange(T)[:, None].float(), torch.arange(T)[:, None].float(), p=1)
    return (scores - slope * gap).softmax(-1)


def low_but_not_lowest(scores, slope):
    T = scores.shape[1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    return torch.where(back >= 0, scores - slope * back, -30.0).softmax(-1)


# "the one before it slope, the one before that twice as much": each step back costs one slope
def penalty_doubles(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    steps = torch.where(back > 0, 2.0 ** (back - 1), 0.0)
    return (scores - slope * steps).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# "Only differences between scores count"
def kept_from_zero(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    powers = torch.exp(scores - slope * back.abs()) * (back >= 0)
    return powers / torch.clamp(powers.sum(-1, keepdim=True), min=1e-8)


# "slope: float, at least 0": a large one, too
def future_cut_from_powers(scores, slope):
    t = torch.arange(scores.shape[-1])
    powers = torch.exp(scores - scores.amax(-1, keepdim=True) + slope * (t - t[:, None]))
    powers = powers * torch.ones_like(powers).tril()
    return powers / powers.sum(-1, keepdim=True)


def hidden_before_the_bonus(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    return (scores.masked_fill(back < 0, -500.0) - slope * back).softmax(-1)


def slope_of_two_at_most(scores, slope):
    return distance_by_loop(scores, min(slope, 2.0))


# (B, T, T): for one text of one symbol
def squeezed(scores, slope):
    return distance_by_loop(scores, slope).squeeze()


def share_of_the_way(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = (t[:, None] - t) / t.max()  # 0 / 0 where there is one symbol
    lowered = scores - slope * t.max() * back
    return lowered.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


RIGHT = {
    "loop": distance_by_loop,
    "by columns": distance_by_columns,
    "numpy": distance_in_numpy,
    "added bias": distance_with_sdpa_bias,
}


def itself_forgotten(scores, slope):
    back = torch.arange(scores.shape[1])[:, None] - torch.arange(scores.shape[1])
    return (scores - slope * back).masked_fill(back < 1, -INF).softmax(-1)


def no_slope_no_mask(scores, slope):
    return distance_by_loop(scores, slope) if slope > 0 else scores.softmax(-1)


WRONG = {
    "zeros-hidden": lambda scores, slope: torch.where(
        (kept := torch.tril(tilted_scores(scores, slope))) == 0, -INF, kept
    ).softmax(-1),
    "slope-of-its-own": lambda scores, slope: distance_by_loop(scores, 0.5),
    "penalty-doubles": penalty_doubles,
    "no-penalty": tilted(lambda row, d, m, T: m * len(d)),
    "same-for-all-distances": tilted(lambda row, d, m, T: m * d.clamp(max=1)),
    "distance-squared": tilted(lambda row, d, m, T: m * d * d),
    "logarithm-of-distance": tilted(lambda row, d, m, T: m * torch.log1p(d)),
    "share-of-the-length": tilted(lambda row, d, m, T: m * d / T),
    "penalty-multiplied": tilted(lambda row, d, m, T: row * m * d),
    "scores-ignored": tilted(lambda row, d, m, T: row + m * d),
    "scaled-again": tilted(lambda row, d, m, T: row - row / T**0.5 + m * d),
    "penalty-after-softmax": subtracted_late,
    "decay-not-normalised": decayed,
    "both-ways": open_both,
    "moderate-fill": low_but_not_lowest,
    "limited-sum": kept_from_zero,
    "future-overflows": future_cut_from_powers,
    "first-step-is-free": tilted(lambda row, d, m, T: m * (d - 1).clamp(min=0)),
    "itself-hidden": itself_forgotten,
    "past-hidden": lambda scores, slope: torch.where(
        torch.ones_like(scores).tril(-1) == 1, -INF, scores + slope * torch.arange(scores.shape[1])
    ).softmax(-1),
    "slope-zero-sees-all": no_slope_no_mask,
}


def shares_after_the_penalty(scores, slope):
    T = scores.shape[1]
    back = (torch.arange(T)[:, None] - torch.arange(T)).tril()
    weights = torch.relu(causal_only(scores) - slope * back)
    return weights / weights.sum(-1, keepdim=True)


ODD = [
    (tilted(lambda row, d, m, T: m * d.clamp(max=3)), "another-penalty"),
    (tilted(lambda row, d, m, T: math.log1p(m) * d), "another-slope"),
    (shares_after_the_penalty, "penalty-after-softmax"),
    (tilted(lambda row, d, m, T: 2 * m * d), "as-if-slope-double"),
    (lambda s, m: torch.full(s.shape, 1 / s.shape[1]), "other-weights"),
    (lambda s, m: distance_by_loop(s, m) / 2, "halved-your-weights"),
    (hidden_before_the_bonus, "future-with-a-large-slope"),
    (slope_of_two_at_most, "wrong-with-a-large-slope"),
    (squeezed, "axis-of-one"),
    (share_of_the_way, "not-finite"),
]


# --- Answers that no list names ---


# Saves a copy of the scores.
# "Unless a task says otherwise, your functions leave what they are given as it was."
def callers_scores_lowered(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    scores -= slope * back
    return scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


UNLISTED = {
    8: [(callers_scores_lowered, "changes-its-input")],
}
