"""Wrong answers to chapter 01 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import torch

# 01/running-sum


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


# 01/past-mean


def rolled_without_a_dimension(x):
    """Rolls the running mean by one without saying along what, so that it moves by a channel."""
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))
    running = (weights / weights.sum(dim=1, keepdim=True)) @ x
    before = torch.roll(running, 1)
    before[:, 0] = 0
    return before


# 01/window


def width_kept_below_T(T, width):
    """Cuts a width that is too large down to T − 1, so the last row loses position 0."""
    width = min(width, T - 1)
    t = torch.arange(T)
    back = t[:, None] - t
    window = ((back >= 0) & (back < width)).float()
    return window / window.sum(dim=1, keepdim=True).clamp(min=1)


# 01/decay


def fades_along_a_line(T, decay):
    """Takes 1 − decay off for each step back, instead of multiplying by decay each time."""
    t = torch.arange(T)
    distance = t[:, None] - t
    weights = torch.tril((1 - (1 - decay) * distance).clamp(min=0))
    return weights / weights.sum(dim=1, keepdim=True)


# 01/masked-softmax


def hidden_share_dealt_out(scores, visible):
    """Deals the weight of what is hidden out in equal parts, instead of in proportion."""
    weights = scores.softmax(dim=-1) * visible
    missing = 1 - weights.sum(dim=-1, keepdim=True)
    return weights + missing * visible / visible.sum(dim=-1, keepdim=True)


# 01/find-fault


def negative_in_the_strict_past(weights):
    """Mirrors diagonal=1 of the future as diagonal=-1, so no negative weight on the
    diagonal counts.
    """
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (torch.tril(weights, diagonal=-1) < 0).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | negative | ~adds_up


# 01/vowels


def capital_vowels_forgotten():
    """Counted a, e, i, o and u as vowels, but not A, E, I, O and U."""
    return {"text": "shakespeare", "last_1": 0.6194, "last_4": 0.2994, "all": 0.2328}


WRITTEN = {
    "01/running-sum": [sum_by_doubling],
    "01/past-mean": [rolled_without_a_dimension],
    "01/window": [width_kept_below_T],
    "01/decay": [fades_along_a_line],
    "01/masked-softmax": [hidden_share_dealt_out],
    "01/find-fault": [negative_in_the_strict_past],
    "01/vowels": [capital_vowels_forgotten],
}
