"""Wrong answers to chapter 01 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import torch

# 01/running-sum


def reshaped_back(x):
    """Puts time in the rows for the product, then reshapes to (B, C, T) and doesn't swap back."""
    B, C, T = x.shape
    triangle = torch.tril(torch.ones(T, T))
    sums = triangle @ x.transpose(1, 2)  # (B, T, C)
    return sums.reshape(B, C, T)


# 01/past-mean


def rolled_without_dims(x):
    """Shifts the running means by torch.roll without dims: by one channel, not by a position."""
    T = x.shape[1]
    triangle = torch.tril(torch.ones(T, T))
    means = (triangle / triangle.sum(dim=1, keepdim=True)) @ x
    means = torch.roll(means, 1)
    means[:, 0] = 0
    return means


# 01/window


def width_capped_too_low(T, width):
    """Caps width at T - 1, so with a width of T or more the last row misses position 0."""
    width = min(width, T - 1)
    past = torch.tril(torch.ones(T, T))
    window = torch.triu(past, diagonal=1 - width)
    return window / window.sum(dim=1, keepdim=True)


# 01/decay


def decay_as_rate(T, decay):
    """Takes decay for a rate: weighs by exp(-decay * distance) instead of decay ** distance."""
    t = torch.arange(T)
    distance = t[:, None] - t
    scores = (-decay * distance).masked_fill(distance < 0, -torch.inf)
    return scores.softmax(dim=-1)


# 01/masked-softmax


def lost_weight_shared_equally(scores, visible):
    """Softmax before the mask; the weight lost is then shared out equally among the visible."""
    weights = scores.softmax(dim=-1) * visible
    lost = 1 - weights.sum(dim=-1, keepdim=True)
    return weights + lost * visible / visible.sum(dim=-1, keepdim=True)


# 01/find-fault


def negative_by_absolute_sum(weights):
    """Sums absolute values to catch negative weights, so -0.25 and 0.75 pass as a sound row."""
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    adds_up = (weights.abs().sum(dim=1) - 1).abs() < 1e-5
    return ahead | ~adds_up


# 01/vowels


def memory_before_the_present():
    """Averages the width letters before t and leaves out letter t itself (position 0 guesses 0)."""
    return {"text": "shakespeare", "last_1": 0.4824, "last_4": 0.2656, "all": 0.2367}


WRITTEN = {
    "01/running-sum": [reshaped_back],
    "01/past-mean": [rolled_without_dims],
    "01/window": [width_capped_too_low],
    "01/decay": [decay_as_rate],
    "01/masked-softmax": [lost_weight_shared_equally],
    "01/find-fault": [negative_by_absolute_sum],
    "01/vowels": [memory_before_the_present],
}
