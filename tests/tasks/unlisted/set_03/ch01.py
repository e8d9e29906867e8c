"""Wrong answers to chapter 01 that no list names: the third set."""

import torch

# 01/running-sum


def loop_stops_before_the_last_step(x):
    total = x.clone()
    for t in range(1, x.shape[-1] - 1):
        total[..., t] = total[..., t - 1] + x[..., t]
    return total


# 01/past-mean


def mean_with_oneself_and_a_zero_in_front(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))
    mean = (weights / weights.sum(dim=1, keepdim=True)) @ x
    mean[:, 0] = 0
    return mean


# 01/window


def first_rows_divided_by_their_number(T, width):
    past = torch.tril(torch.ones(T, T))
    window = torch.triu(past, diagonal=1 - width)
    count = torch.arange(T).clamp(min=1, max=width)
    return window / count[:, None]


# 01/decay


def the_usual_recursion(T, decay):
    weights = torch.zeros(T, T)
    weights[0, 0] = 1.0
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


def all_rows_divided_by_the_last_sum(T, decay):
    t = torch.arange(T)
    weights = torch.tril(decay ** (t[:, None] - t))
    return weights / weights[-1].sum()


# 01/masked-softmax


def mask_of_the_first_sample(scores, visible):
    return scores.masked_fill(~visible[0], -torch.inf).softmax(dim=-1)


# 01/find-fault


def sums_rounded_to_five_decimals(weights):
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    sums = weights.sum(dim=1)
    return ahead | negative | (sums.round(decimals=5) != 1)


WRITTEN = {
    "01/running-sum": [loop_stops_before_the_last_step],
    "01/past-mean": [mean_with_oneself_and_a_zero_in_front],
    "01/window": [first_rows_divided_by_their_number],
    "01/decay": [the_usual_recursion, all_rows_divided_by_the_last_sum],
    "01/masked-softmax": [mask_of_the_first_sample],
    "01/find-fault": [sums_rounded_to_five_decimals],
}
