"""Wrong answers to chapter 01 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import torch

# 01/running-sum


def carried_into_next_channel(x):
    """Flattens channels and time into one row, so each channel goes on from the channel before."""
    B, C, T = x.shape
    rows = x.reshape(B, C * T)
    weights = torch.triu(torch.ones(C * T, C * T))
    return (rows @ weights).reshape(B, C, T)


# 01/past-mean


def halfway_to_the_newest(x):
    """Averages the mean so far and the newest position half and half, whatever t is."""
    means = torch.zeros_like(x)
    for t in range(1, x.shape[1]):
        if t == 1:
            means[:, t] = x[:, 0]
        else:
            means[:, t] = (means[:, t - 1] + x[:, t - 1]) / 2
    return means


# 01/window


def first_position_repeated(T, width):
    """Fills short windows by repeating position 0, which counts several times in the first rows."""
    t = torch.arange(T)
    positions = (t[:, None] - torch.arange(width)).clamp(min=0)  # (T, width)
    weights = torch.zeros(T, T)
    return weights.scatter_add_(1, positions, torch.full((T, width), 1 / width))


# 01/decay


def made_from_divided_row(T, decay):
    """Makes each row from the row before after its division, so the past fades too fast."""
    weights = torch.zeros(T, T)
    weights[0, 0] = 1
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1
        weights[t] = weights[t] / weights[t].sum()
    return weights


# 01/masked-softmax


def softmax_of_selected_scores(scores, visible):
    """Softmax of scores[visible], one flat list: all visible weights together add up to 1."""
    weights = torch.zeros_like(scores)
    weights[visible] = scores[visible].softmax(dim=-1)
    return weights


# 01/find-fault


def two_faults_cancel(weights):
    """Joins the conditions with ^ (exclusive or), so a row with two faults counts as sound."""
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead ^ negative ^ ~adds_up


# 01/vowels


def guess_rounded_to_yes_or_no():
    """Rounds each share to 0 or 1 (0.5 to 0) before the error, as a guess of yes or no."""
    return {"text": "shakespeare", "last_1": 0.6449, "last_4": 0.4219, "all": 0.3833}


WRITTEN = {
    "01/running-sum": [carried_into_next_channel],
    "01/past-mean": [halfway_to_the_newest],
    "01/window": [first_position_repeated],
    "01/decay": [made_from_divided_row],
    "01/masked-softmax": [softmax_of_selected_scores],
    "01/find-fault": [two_faults_cancel],
    "01/vowels": [guess_rounded_to_yes_or_no],
}
