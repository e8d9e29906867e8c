"""Students' answers to 01/decay."""

import math

import numpy as np
import torch

from students.ch01_averages.shared import _mean, decay_loop


def decay_softmax(T, decay):
    t = torch.arange(T)
    scores = (t[:, None] - t[None, :]) * math.log(decay)
    return scores.masked_fill(t[:, None] < t, -torch.inf).softmax(dim=-1)


def decay_numpy(T, decay):
    back = np.subtract.outer(np.arange(T), np.arange(T))
    weights = np.where(back >= 0, decay ** back.astype(float), 0.0)
    return weights / weights.sum(axis=1, keepdims=True)


def decay_closed_form(T, decay):
    t = torch.arange(T, dtype=torch.float64)
    weights = torch.tril(decay ** (t[:, None] - t))
    return weights * (1 - decay) / (1 - decay ** (t + 1))[:, None]


def _shrinking(T, decay):
    back = np.subtract.outer(np.arange(T), np.arange(T)).astype(float)
    return torch.from_numpy(np.where(back >= 0, decay**back, 0.0))


def decay_recursion(T, decay):
    rows = [torch.eye(T)[0]]
    for t in range(1, T):
        rows.append(decay * rows[-1] + (1 - decay) * torch.eye(T)[t])
    return torch.stack(rows)


def decay_recursion_from_zero(T, decay):
    rows, state = [], torch.zeros(T)
    for t in range(T):
        state = decay * state + (1 - decay) * torch.eye(T)[t]
        rows.append(state)
    return torch.stack(rows)


def decay_growing(T, decay):
    t = torch.arange(T)
    scores = (t[None, :] - t[:, None]) * math.log(decay)
    return scores.masked_fill(t[:, None] < t, -torch.inf).softmax(dim=-1)


def decay_both_sides(T, decay):
    back = np.abs(np.subtract.outer(np.arange(T), np.arange(T)))
    weights = decay ** back.astype(float)
    return weights / weights.sum(1, keepdims=True)


def decay_upper(T, decay):
    weights = torch.zeros(T, T)
    for t in range(T):
        for s in range(t, T):
            weights[t, s] = decay ** (s - t)
    return _mean(weights)


def decay_zero_scores(T, decay):
    t = torch.arange(T)
    scores = (t[:, None] - t[None, :]) * math.log(decay)
    return scores.masked_fill(t[:, None] < t, 0.0).softmax(dim=-1)


def decay_twice_exponential(T, decay):
    seen = torch.ones(T, T).tril()
    powers = torch.exp(_shrinking(T, decay)) * seen
    return _mean(powers)


def decay_linear(T, decay, lost_at_once=0.05):
    """Shrinks by a constant step, not by a constant factor."""
    t = torch.arange(T)
    return _mean((1 - (t[:, None] - t) * lost_at_once).tril())


def decay_loses_as_much_each_time(T, decay):
    """Takes what the first step takes off from every later weight, too, until nothing is left."""
    lost = [max(1 - step * (1 - decay), 0) for step in range(T)]
    rows = [lost[t::-1] + [0.0] * (T - 1 - t) for t in range(T)]
    return _mean(torch.tensor(rows, dtype=torch.float64))


def decay_future_times_zero(T, decay):
    """Where a power is infinite, 0 times it is NaN."""
    t = torch.arange(T)
    return _mean(decay ** (t[:, None] - t) * torch.ones(T, T).tril())


def _distances(T):
    t = torch.arange(T)
    return (t[:, None] - t).clamp(min=0).float()


def decay_present_on_top(T, decay):
    weights = torch.eye(T)
    for t in range(1, T):
        past = decay ** torch.arange(t, 0, -1)
        weights[t, :t] = past / past.sum()
    return weights


def decay_in_integers(T, decay):
    weights = torch.zeros(T, T, dtype=torch.long)
    for t in range(T):
        for s in range(t + 1):
            weights[t, s] = decay ** (t - s)
    return weights / weights.sum(dim=1, keepdim=True)


def decay_divides_on_the_way(T, decay):
    rows, present = [], torch.eye(T)
    for t in range(T):
        new = present[t] + (decay * rows[-1] if rows else 0)
        rows.append(new / new.sum())
    return torch.stack(rows)


RIGHT = {
    "loop": decay_loop,
    "softmax of distances": decay_softmax,
    "numpy": decay_numpy,
    "closed form": decay_closed_form,
}


def decay_any_distance(T, decay):
    t = torch.arange(T, dtype=torch.float64)
    return _mean(torch.exp((t[:, None] - t) * math.log(decay)))


def decay_short_sums(T, decay):
    sums = torch.tensor([sum(decay**step for step in range(t)) for t in range(T)])
    return _shrinking(T, decay) / sums[:, None]


WRONG = {
    "softmax-of-zeros": lambda T, decay: torch.softmax(_shrinking(T, decay), 1),
    "future-not-cut": decay_any_distance,
    "one-power-too-few": decay_short_sums,
    "powers-out-of-range": decay_future_times_zero,
    "unnormalised-decay": _shrinking,
    "uncorrected-start": decay_recursion_from_zero,
    "started-at-the-first": decay_recursion,
    "reversed-decay": decay_growing,
    "falls-along-a-line": decay_loses_as_much_each_time,
    "complement": lambda T, decay: decay_numpy(T, 1 - decay),
    "no-causal-mask": decay_both_sides,
    "upper-triangle": decay_upper,
    "divides-columns": lambda T, decay: (
        _shrinking(T, decay) / _shrinking(T, decay).sum(0, keepdim=True)
    ),
    "keepdim-forgotten": lambda T, decay: (
        _shrinking(T, decay).numpy() / _shrinking(T, decay).numpy().sum(axis=1)
    ),
    "softmax-of-weights": decay_twice_exponential,
    "zero-mask": decay_zero_scores,
    "diagonal-excluded": lambda T, decay: _mean(_shrinking(T, decay).tril(-1)),
    "one-sum-for-all": lambda T, decay: _shrinking(T, decay) / _shrinking(T, decay).sum(),
    "cut-too-late": lambda T, decay: torch.softmax(
        (torch.arange(T)[:, None] - torch.arange(T)) * math.log(decay), dim=1
    ).tril(),
    "last-sum-for-all": lambda T, decay: (
        _shrinking(T, decay) / sum(decay**step for step in range(T))
    ),
    "distance-raised": lambda T, decay: torch.nan_to_num(_mean(_distances(T).tril() ** decay)),
    "past-divided-alone": decay_present_on_top,
    "itself-alone": decay_in_integers,
    "divided-rows-go-on": decay_divides_on_the_way,
}


def decay_quotient_of_powers(T, decay):
    powers = decay ** torch.arange(T)
    return _mean((powers[:, None] / powers).tril())


ODD = [
    (lambda T, decay: _mean((1 / (1 + _distances(T))).tril()), "wrong-ratio"),
    (lambda T, decay: _mean((decay ** (_distances(T) ** 2)).tril()), "wrong-ratio"),
    (decay_linear, "wrong-ratio"),
    (lambda T, decay: decay_loop(T, decay).T, "sees-the-future"),
    (lambda T, decay: decay_loop(T, decay) / 2, "other-divisors"),
    (
        lambda T, decay: torch.nan_to_num(_mean(_shrinking(T, decay).tril(-1))),
        "diagonal-excluded",
    ),
    (lambda T, decay: torch.full((T, T), math.nan), "not-finite"),
    (lambda T, decay: decay_loop(T, decay).squeeze(), "axis-of-one"),
    (
        lambda T, decay: decay_loop(T, decay) if T > 1 else torch.zeros(1, 1),
        "wrong-for-one-position",
    ),
    (decay_quotient_of_powers, "powers-out-of-range"),
    # A memory that fades faster than by one half, or to nothing.
    (lambda T, decay: decay_loop(T, max(decay, 1 - decay)), "wrong-ratio"),
    (lambda T, decay: torch.threshold(decay_loop(T, decay), 1e-3, 0.0), "wrong-positions"),
]


# --- Answers that no list names ---


def decay_squared(T, decay):
    t = torch.arange(T)
    w = torch.tril(decay ** ((t[:, None] - t) * 2))
    return w / w.sum(1, keepdim=True)


def decay_whole_steps(T, decay):
    w = torch.zeros(T, T)
    for t in range(T):
        for s in range(t + 1):
            w[t, s] = decay ** ((t - s) // 2)
    return w / w.sum(1, keepdim=True)


# "each step further back counts decay times as much as the step before"
def exponential_of_the_distance(T, decay):
    t = torch.arange(T)
    distance = t[:, None] - t
    weights = torch.exp(-decay * distance).tril()
    return weights / weights.sum(dim=1, keepdim=True)


UNLISTED = {
    1: [(decay_squared, "wrong-ratio"), (decay_whole_steps, "wrong-ratio")],
    4: [(exponential_of_the_distance, "wrong-ratio")],
}
