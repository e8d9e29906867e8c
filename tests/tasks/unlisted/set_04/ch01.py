"""Wrong answers to chapter 01 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import torch

# 01/running-sum


# "your functions leave what they are given as it was"
def adds_into_its_argument(x):
    for t in range(1, x.shape[-1]):
        x[..., t] += x[..., t - 1]
    return x


# "the sum of positions 0 … t of the same channel"
def channels_run_on(x):
    return x.flatten(1).cumsum(dim=1).view_as(x)


# 01/past-mean


# "position t holds the mean of positions 0 … t − 1"
def divides_by_one_too_many(x):
    before = x.cumsum(dim=1) - x
    return before / torch.arange(1, x.shape[1] + 1)[:, None]


# "we define its mean as 0 in every channel"
def rolled_mean(x):
    T = x.shape[1]
    mean = x.cumsum(dim=1) / torch.arange(1, T + 1)[:, None]
    return torch.roll(mean, 1, dims=1)


# 01/window


# "where there are fewer than width, average the ones that exist"
def first_position_repeated(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        for back in range(width):
            weights[t, max(0, t - back)] += 1 / width
    return weights


# 01/decay


# "each step further back counts decay times as much as the step before"
def exponential_of_the_distance(T, decay):
    t = torch.arange(T)
    distance = t[:, None] - t
    weights = torch.exp(-decay * distance).tril()
    return weights / weights.sum(dim=1, keepdim=True)


# 01/masked-softmax


# "True where row t may see column s"
def mask_transposed(scores, visible):
    hidden = ~visible.transpose(1, 2)
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


# 01/find-fault


# "it says for each row whether the row is faulty"
def one_negative_weight_condemns_all(weights):
    ahead = (weights.triu(1) != 0).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | ~adds_up | (weights < 0).any()


# "it gives no weight to a position s > t"
def only_the_next_position_is_future(weights):
    ahead = torch.zeros(len(weights), dtype=torch.bool)
    ahead[:-1] = torch.diagonal(weights, 1) != 0
    negative = (weights < 0).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | negative | ~adds_up


# 01/vowels


# "the error is the mean of (guess − truth)²"
def roots_of_the_errors():
    return {"text": "shakespeare", "last_1": 0.803, "last_4": 0.553, "all": 0.487}


WRITTEN = {
    "01/running-sum": [adds_into_its_argument, channels_run_on],
    "01/past-mean": [divides_by_one_too_many, rolled_mean],
    "01/window": [first_position_repeated],
    "01/decay": [exponential_of_the_distance],
    "01/masked-softmax": [mask_transposed],
    "01/find-fault": [one_negative_weight_condemns_all, only_the_next_position_is_future],
    "01/vowels": [roots_of_the_errors],
}

ASIDE = {
    "divides_by_one_too_many",
    "rolled_mean",
    "one_negative_weight_condemns_all",
}
