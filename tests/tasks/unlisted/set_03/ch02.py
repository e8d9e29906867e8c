"""Wrong answers to chapter 02 that no list names: the third set."""

import math

import torch

# 02/cosine


def divided_twice_by_the_length_of_x(x, y):
    lengths = x.norm(dim=-1, keepdim=True)
    return (x @ y.transpose(1, 2) / lengths / lengths).nan_to_num(0.0, 0.0, 0.0)


# 02/safe-softmax


def scores_cut_at_eighty(scores):
    powers = scores.clamp(-80, 80).exp().masked_fill(scores == -torch.inf, 0.0)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-38)


def minus_infinity_replaced_where_it_stands(scores):
    hidden = scores == -torch.inf
    scores[hidden] = -1e30
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp().masked_fill(hidden, 0.0)
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# 02/variance


def variances_of_products_added_up(queries, keys):
    first = (queries * keys).var(dim=0).cumsum(dim=0)
    return first, first / torch.arange(1, queries.shape[1] + 1)


# 02/evenness


def effective_number_over_the_number(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    share = entropy.exp() / torch.arange(1, weights.shape[-1] + 1)
    share[:, 0] = 0
    return share


# 02/smoother


def square_of_the_summed_differences(at, known, values, width):
    differences = at[:, None] - known
    squares = differences.sum(dim=-1).square()
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


# 02/find-fault


def compares_the_last_row(x, weights):
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    products = x @ x.T
    masked = (products / math.sqrt(C)).masked_fill(future, -torch.inf)
    unscaled = products.masked_fill(future, -torch.inf).softmax(dim=-1)
    suspects = {
        "sound": masked.softmax(dim=-1),
        "no scale": unscaled,
        "divided by C": (products / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": unscaled / math.sqrt(C),
        "no mask": (products / math.sqrt(C)).softmax(dim=-1),
        "zero mask": masked.masked_fill(future, 0).softmax(dim=-1),
        "columns": masked.softmax(dim=0),
    }
    for name, suspect in suspects.items():
        if torch.allclose(weights[-1], suspect[-1], rtol=1e-4):
            return name
    return "sound"


WRITTEN = {
    "02/cosine": [divided_twice_by_the_length_of_x],
    "02/safe-softmax": [scores_cut_at_eighty, minus_infinity_replaced_where_it_stands],
    "02/variance": [variances_of_products_added_up],
    "02/evenness": [effective_number_over_the_number],
    "02/smoother": [square_of_the_summed_differences],
    "02/find-fault": [compares_the_last_row],
}
