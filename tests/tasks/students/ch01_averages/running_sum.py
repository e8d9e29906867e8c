"""Students' answers to 01/running-sum."""

import numpy as np
import torch
from torch.nn import functional as F


def sum_turned_triangle(x):
    T = x.size(2)
    return x @ torch.tril(torch.ones(T, T)).T


def sum_einsum(x):
    T = x.shape[-1]
    sees = (torch.arange(T)[:, None] >= torch.arange(T)).float()
    return torch.einsum("ts,bcs->bct", sees, x)


def sum_transposed(x):
    T = x.shape[-1]
    return (torch.tril(torch.ones(T, T)) @ x.transpose(1, 2)).transpose(1, 2)


def sum_loop(x):
    y = torch.empty_like(x)
    for t in range(x.shape[-1]):
        y[:, :, t] = x[:, :, : t + 1].sum(dim=-1)
    return y


def sum_numpy(x):
    return np.cumsum(x.numpy(), axis=-1)


def sum_wrong_turn(x):
    T = x.shape[-1]
    return torch.einsum("ts,bct->bcs", torch.tril(torch.ones(T, T)), x)


def sum_channels(x):
    return x.cumsum(dim=1)


def sum_stays_turned(x):
    return x.permute(0, 2, 1).cumsum(dim=1)


def sum_total(x):
    return x.sum(dim=-1, keepdim=True).expand_as(x)


RIGHT = {
    "turned triangle": sum_turned_triangle,
    "einsum": sum_einsum,
    "there and back": sum_transposed,
    "loop": sum_loop,
    "numpy": sum_numpy,
}


def sum_viewed(x):
    B, C, T = x.shape
    return (torch.ones(T, T).tril() @ x.reshape(B, T, C)).reshape(B, C, T)


def sum_to_the_next(x):
    T = x.shape[-1]
    return torch.stack([x[..., : min(t + 2, T)].sum(-1) for t in range(T)], dim=-1)


def sum_of_all_channels(x):
    sums = torch.zeros_like(x)
    for t in range(x.shape[-1]):
        sums[:, :, t] = x[:, :, : t + 1].sum(dim=(1, 2))[:, None]
    return sums


WRONG = {
    "time-not-put-back": sum_stays_turned,
    "reshaped-for-transposed": sum_viewed,
    "sums-of-something-else": sum_of_all_channels,
    "sums-channels": sum_channels,
    "no-triangle": sum_total,
    "channels-run-on": lambda x: x.reshape(len(x), -1).cumsum(-1).reshape(x.shape),
    "reshaped-not-turned-back": lambda x: sum_stays_turned(x).reshape(x.shape),
}


ODD = [
    (lambda x: x.numpy().sum(axis=-1), "sums-of-something-else"),
    (
        sum_wrong_turn,
        "transposed-what-each-sum-holds",
    ),
    (sum_to_the_next, "compared-with-less-or-equal-instead-of-less-in-what-each-sum-holds"),
    (lambda x: x.sum(dim=-1, keepdim=True) - x.cumsum(dim=-1), "sees-the-future"),
    (lambda x: sum_loop(sum_loop(x)), "counts-otherwise"),
    (lambda x: x + F.pad(x, (1, 0))[..., :-1], "other-positions-added"),
    (lambda x: sum_loop(x).squeeze(), "axis-of-one"),
]


# --- Answers that no list names ---


def sum_twice(x):
    """Adds the present a second time."""
    return x.cumsum(-1) + x


def sum_loses_a_step(x):
    total = torch.zeros(x.shape[0], x.shape[1])
    out = []
    for t in range(x.shape[2] - 1):
        total = total + x[:, :, t]
        out.append(total)
    return torch.stack(out, dim=-1)


def sum_restarts(x):
    """Begins anew in the middle, as if a batch ended there."""
    half = x.shape[-1] // 2
    return torch.cat([x[..., :half].cumsum(-1), x[..., half:].cumsum(-1)], -1)


def sum_runs_on_over_channels_and_samples(x):
    return x.flatten().cumsum(0).view_as(x)


# "your functions leave what they are given as it was"
def adds_into_its_argument(x):
    for t in range(1, x.shape[-1]):
        x[..., t] += x[..., t - 1]
    return x


def sum_by_doubling(x):
    """Adds shifted copies, 1, 2, 4, … back, and stops one doubling early unless T is a
    power of 2.
    """
    total = x.clone()
    shift = 1
    while shift * 2 <= x.shape[-1]:
        later = total.clone()
        later[..., shift:] += total[..., :-shift]
        total = later
        shift *= 2
    return total


UNLISTED = {
    1: [
        (sum_twice, "added-x-to-your-sums"),
        (sum_loses_a_step, "last-missing"),
        (sum_restarts, "other-positions-added"),
    ],
    2: [(sum_runs_on_over_channels_and_samples, "channels-run-on")],
    4: [(adds_into_its_argument, "changes-its-input")],
    12: [(sum_by_doubling, "other-positions-added")],
}
