"""Wrong answers to chapter 02 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch

# 02/cosine


# "the cosine of every vector of x with every vector of y"
def norm_of_the_whole_sample(x, y):
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=1e-8)
    y = y / y.norm(dim=(1, 2), keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


# "the cosine of every vector of x with every vector of y"
def opposite_vectors_count_as_unrelated(x, y):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return (x @ y.transpose(1, 2)).clamp(min=0)


# 02/safe-softmax


# "ordinary scores, some of them −∞ because a mask has hidden them"; "as small as −10,000"
def hidden_becomes_minus_ten_thousand(scores):
    empty = torch.isinf(scores).all(dim=-1, keepdim=True)
    scores = scores.nan_to_num(neginf=-10_000.0)
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).masked_fill(empty, 0.0)


# "rows in which every score is −∞ … all its weights are 0"
def one_hidden_score_empties_a_row(scores):
    empty = torch.isinf(scores).any(dim=-1, keepdim=True)
    shifted = scores - scores.amax(dim=-1, keepdim=True).nan_to_num(neginf=0.0)
    powers = shifted.exp()
    weights = powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)
    return weights.masked_fill(empty, 0.0)


# 02/variance


# "the variance, over the N pairs, of the dot product"
def mean_square_for_variance(queries, keys):
    products = (queries * keys).cumsum(dim=1)
    d = torch.arange(1, products.shape[1] + 1)
    return products.square().mean(dim=0), (products / d.sqrt()).square().mean(dim=0)


# "after each of these dot products has been divided by √d", d = 1, 2, …, D
def sizes_counted_from_zero(queries, keys):
    products = (queries * keys).cumsum(dim=1)
    d = torch.arange(products.shape[1]).clamp(min=1)
    return products.var(dim=0), (products / d.sqrt()).var(dim=0)


# 02/evenness


# "its entropy as a share of the largest entropy that a row … can have"
def entropy_in_bits(weights):
    entropy = -(weights * weights.clamp(min=1e-30).log2()).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log()
    largest[0] = 1
    return entropy / largest


# "0 for row 0"
def row_0_is_perfectly_even(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log()
    share = entropy / largest.clamp(min=1e-9)
    share[:, 0] = 1.0
    return share


# 02/smoother


# the score is minus the squared distance
def square_of_the_summed_difference(at, known, values, width):
    squares = (at[:, None] - known).sum(dim=-1).square()
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


# "some places are very far from every station, and they need an average, too"
def far_places_get_nothing(at, known, values, width):
    squares = (at[:, None] - known).square().sum(dim=-1)
    weights = (-squares / (2 * width**2)).exp()
    return weights @ values / weights.sum(dim=-1, keepdim=True).clamp(min=1e-12)


# 02/find-fault


# "names the fault": step 2 shows in every row but the last
def compares_the_last_row(x, weights):
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    products = x @ x.T
    scores = products / math.sqrt(C)
    masked = scores.masked_fill(future, -torch.inf)
    unscaled = products.masked_fill(future, -torch.inf).softmax(dim=-1)
    suspects = {
        "sound": masked.softmax(dim=-1),
        "no scale": unscaled,
        "divided by C": (products / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": unscaled / math.sqrt(C),
        "no mask": scores.softmax(dim=-1),
        "zero mask": scores.masked_fill(future, 0).softmax(dim=-1),
        "columns": masked.softmax(dim=0),
    }
    for name, suspect in suspects.items():
        if torch.allclose(weights[-1], suspect[-1], rtol=1e-4):
            return name
    return "sound"


WRITTEN = {
    "02/cosine": [norm_of_the_whole_sample, opposite_vectors_count_as_unrelated],
    "02/safe-softmax": [hidden_becomes_minus_ten_thousand, one_hidden_score_empties_a_row],
    "02/variance": [mean_square_for_variance, sizes_counted_from_zero],
    "02/evenness": [entropy_in_bits, row_0_is_perfectly_even],
    "02/smoother": [square_of_the_summed_difference, far_places_get_nothing],
    "02/find-fault": [compares_the_last_row],
}

ASIDE = {
    "opposite_vectors_count_as_unrelated",
    "one_hidden_score_empties_a_row",
    "row_0_is_perfectly_even",
}
