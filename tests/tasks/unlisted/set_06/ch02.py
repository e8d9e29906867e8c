"""Wrong answers to chapter 02 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 02/cosine


# "the cosine of every vector of `x` with every vector of `y`": `normalize` runs along dimension 1
def normalized_along_positions(x, y):
    return F.normalize(x) @ F.normalize(y).transpose(1, 2)


# "0 where one of the two is a vector of zeros": not where its entries add up to 0
def zeros_found_by_their_sum(x, y):
    lengths = x.norm(dim=-1)[:, :, None] * y.norm(dim=-1)[:, None]
    padding = (x.sum(dim=-1) == 0)[:, :, None] | (y.sum(dim=-1) == 0)[:, None]
    return (x @ y.transpose(1, 2) / lengths).masked_fill(padding, 0.0)


# "the cosine of every vector": of short ones, too, which only a vector of zeros is exempt from
def short_vectors_are_padding(x, y):
    lengths = x.norm(dim=-1)[:, :, None] * y.norm(dim=-1)[:, None]
    return x @ y.transpose(1, 2) / lengths.clamp(min=1e-5)


# 02/safe-softmax


# "every row sums to 1, except that a row of nothing but −inf is all 0": so is a row with one −inf
def one_hidden_empties_the_row(scores):
    empty = scores.isinf().any(dim=1, keepdim=True)
    return scores.softmax(dim=1).masked_fill(empty, 0.0)


# "−inf where hidden": beside scores of −10,000 that are not
def hidden_means_ten_thousand(scores):
    empty = scores.isneginf().all(dim=1, keepdim=True)
    finite = scores.nan_to_num(neginf=-10_000.0)
    powers = (finite - finite.amax(dim=1, keepdim=True)).exp()
    return (powers / powers.sum(dim=1, keepdim=True)).masked_fill(empty, 0.0)


# "a row of nothing but −inf is all 0": a row of nothing but −10,000 is not
def smallest_score_is_no_score(scores):
    largest = scores.amax(dim=1, keepdim=True)
    empty = largest <= -10_000
    powers = (scores - largest.masked_fill(empty, 0.0)).exp().masked_fill(empty, 0.0)
    return powers / powers.sum(dim=1, keepdim=True).clamp(min=1e-30)


# 02/variance


# "the dot product of the first d entries": the sum of products, not a product of sums
def product_of_two_sums(queries, keys):
    products = queries.cumsum(dim=1) * keys.cumsum(dim=1)
    d = torch.arange(1, queries.shape[1] + 1)
    return products.var(dim=0), (products / d.sqrt()).var(dim=0)


# "the same after each of these dot products has been divided by √d": each term by a root of its own
def terms_divided_before_the_sum(queries, keys):
    products = queries * keys
    d = torch.arange(1, products.shape[1] + 1)
    return products.cumsum(dim=1).var(dim=0), (products / d.sqrt()).cumsum(dim=1).var(dim=0)


# "the variance, over the N pairs": the mean square is that only if the mean is 0
def mean_square(queries, keys):
    products = (queries * keys).cumsum(dim=1)
    variance = products.square().mean(dim=0)
    return variance, variance / torch.arange(1, products.shape[1] + 1)


# 02/evenness


# "0 that one has everything": the number of positions that count, as a share, is never 0
def effective_number_of_positions(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    share = entropy.exp() / torch.arange(1, weights.shape[-1] + 1)
    share[:, 0] = 0
    return share


# "0 for row 0", also where there is no row 1
def divisor_of_row_one_for_row_zero(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log()
    largest[0] = largest[1]
    return entropy / largest


# "your functions leave what they are given as it was": 1 · log 1 is 0, too
def ones_written_over_zeros(weights):
    weights[weights == 0] = 1
    entropy = -(weights * weights.log()).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log().clamp(min=0.1)
    return entropy / largest


# 02/smoother


# "averages the stations with the softmax of its scores": one softmax for each coordinate
def one_softmax_per_coordinate(at, known, values, width):
    scores = -(at[:, None] - known).square() / (2 * width**2)
    return scores.softmax(dim=1).mean(dim=-1) @ values


# "Some places are very far from every station, and they need an average, too": the one of their
# softmax
def plain_mean_far_away(at, known, values, width):
    powers = (-(at[:, None] - known).square().sum(dim=-1) / (2 * width**2)).exp()
    sums = powers.sum(dim=1, keepdim=True)
    weights = torch.where(sums > 0, powers / sums, 1 / len(known))
    return weights @ values


# "in the unit of the coordinates": in meters from far away, three large numbers leave no difference
def squares_multiplied_out(at, known, values, width):
    squares = at.square().sum(1)[:, None] + known.square().sum(1) - 2 * at @ known.T
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


# 02/find-fault


def _suspects(x):
    T, C = x.shape
    future = torch.ones(T, T).triu(1).bool()
    products = x @ x.T
    scores = products / math.sqrt(C)
    hidden = scores.masked_fill(future, -torch.inf)
    unscaled = products.masked_fill(future, -torch.inf).softmax(dim=1)
    return {
        "sound": hidden.softmax(dim=1),
        "no scale": unscaled,
        "divided by C": (hidden / math.sqrt(C)).softmax(dim=1),
        "scaled too late": unscaled / math.sqrt(C),
        "no mask": scores.softmax(dim=1),
        "zero mask": scores.masked_fill(future, 0.0).softmax(dim=1),
        "columns": hidden.softmax(dim=0),
    }


# '"zero mask": 0 instead of −∞': the future has weight there, although step 2 is not missing
def every_weight_ahead_is_no_mask(x, weights):
    if weights.triu(1).any():
        return "no mask"
    for name, suspect in _suspects(x).items():
        if torch.allclose(weights, suspect, rtol=1e-4):
            return name


# "Which fault made these weights?": differences of both signs add up to 0 wherever rows do to 1
def smallest_sum_of_differences(x, weights):
    suspects = _suspects(x)
    return min(suspects, key=lambda name: abs((weights - suspects[name]).sum().item()))


# "rounding noise of less than a millionth of their value, which is no fault": nor is it in all of
# the weights together
def noise_added_up(x, weights):
    for name, suspect in _suspects(x).items():
        if (weights - suspect).abs().sum() < 1e-6:
            return name


WRITTEN = {
    "02/cosine": [
        normalized_along_positions,
        zeros_found_by_their_sum,
        short_vectors_are_padding,
    ],
    "02/safe-softmax": [
        one_hidden_empties_the_row,
        hidden_means_ten_thousand,
        smallest_score_is_no_score,
    ],
    "02/variance": [product_of_two_sums, terms_divided_before_the_sum, mean_square],
    "02/evenness": [
        effective_number_of_positions,
        divisor_of_row_one_for_row_zero,
        ones_written_over_zeros,
    ],
    "02/smoother": [
        one_softmax_per_coordinate,
        plain_mean_far_away,
        squares_multiplied_out,
    ],
    "02/find-fault": [every_weight_ahead_is_no_mask, smallest_sum_of_differences, noise_added_up],
}

ASIDE = {
    "one_hidden_empties_the_row",
    "smallest_score_is_no_score",
    "effective_number_of_positions",
    "ones_written_over_zeros",
    "squares_multiplied_out",
    "every_weight_ahead_is_no_mask",
}
