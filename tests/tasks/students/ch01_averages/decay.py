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
    "upper-triangle": decay_upper,
    "zero-mask": decay_zero_scores,
    "powers-out-of-range": decay_future_times_zero,
    "uncorrected-start": decay_recursion_from_zero,
    "started-at-the-first": decay_recursion,
    "no-causal-mask": decay_both_sides,
    "keepdim-forgotten": lambda T, decay: (
        _shrinking(T, decay).numpy() / _shrinking(T, decay).numpy().sum(axis=1)
    ),
    "last-sum-for-all": lambda T, decay: (
        _shrinking(T, decay) / sum(decay**step for step in range(T))
    ),
    "softmax-of-weights": decay_twice_exponential,
    "divided-rows-go-on": decay_divides_on_the_way,
    "made-otherwise": decay_loses_as_much_each_time,
}


def decay_quotient_of_powers(T, decay):
    powers = decay ** torch.arange(T)
    return _mean((powers[:, None] / powers).tril())


ODD = [
    (decay_growing, "made-otherwise"),
    (_shrinking, "left-out-the-division-by-your-divisors-in-your-weights"),
    (
        lambda T, decay: _shrinking(T, decay) / _shrinking(T, decay).sum(0, keepdim=True),
        "used-axis-minus-2-instead-of-axis-1-for-the-sum-in-your-divisors",
    ),
    (
        lambda T, decay: torch.softmax(_shrinking(T, decay), 1),
        "applied-a-softmax-to-your-powers-without-the-future",
    ),
    (
        lambda T, decay: _mean(_shrinking(T, decay).tril(-1)),
        "used-tril-with-diagonal-minus-1-instead-of-0-in-your-powers-without-the-future",
    ),
    (
        lambda T, decay: _shrinking(T, decay) / _shrinking(T, decay).sum(),
        "used-the-sum-over-everything-at-once-in-your-divisors",
    ),
    (
        lambda T, decay: torch.softmax(
            (torch.arange(T)[:, None] - torch.arange(T)) * math.log(decay), dim=1
        ).tril(),
        "used-your-powers-of-decay-instead-of-your-powers-without-the-future-in-your-divisors",
    ),
    (decay_any_distance, "used-the-last-item-of-your-powers-without-the-future-for-all-items"),
    (decay_short_sums, "not-finite"),
    (decay_linear, "wrong-ratio"),
    (lambda T, decay: decay_loop(T, decay).squeeze(), "axis-of-one"),
    (
        lambda T, decay: decay_loop(T, decay) if T > 1 else torch.zeros(1, 1),
        "wrong-for-one-position",
    ),
    (decay_quotient_of_powers, "powers-out-of-range"),
    (lambda T, decay: torch.threshold(decay_loop(T, decay), 1e-3, 0.0), "wrong-positions"),
]
