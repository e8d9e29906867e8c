"""Wrong answers to chapter 02, second set."""

import math

import torch


def cosine_by_the_length_of_everything(x, y):
    return (x / x.norm()) @ (y / y.norm()).transpose(1, 2)


def cosine_without_roots(x, y):
    x = x / x.square().sum(dim=-1, keepdim=True).clamp(min=1e-8)
    y = y / y.square().sum(dim=-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


def cosine_never_negative(x, y):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return (x @ y.transpose(1, 2)).clamp(min=0)


def softmax_less_the_largest_of_all(scores):
    powers = (scores - scores.max()).exp()
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


def softmax_with_a_finite_minimum(scores):
    empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
    scores = scores.nan_to_num(neginf=-1e4)
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return (powers / powers.sum(dim=-1, keepdim=True)).masked_fill(empty, 0.0)


def variance_divided_by_the_root(queries, keys):
    variance = (queries * keys).cumsum(dim=1).var(dim=0)
    return variance, variance / torch.arange(1, len(variance) + 1).sqrt()


def variance_with_late_roots(queries, keys):
    products = (queries * keys).cumsum(dim=1)
    roots = torch.arange(products.shape[1]).clamp(min=1).sqrt()
    return products.var(dim=0), (products / roots).var(dim=0)


def variance_of_single_products(queries, keys):
    """The variances of the D products, added up from the left."""
    products = queries * keys
    d = torch.arange(1, products.shape[1] + 1)
    added = products.var(dim=0).cumsum(0)
    return added, added / d


def evenness_in_bits(weights):
    entropy = -(weights * weights.clamp(min=1e-30).log2()).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log()
    largest[0] = 1
    return entropy / largest


def evenness_among_what_is_used(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = (weights > 0).sum(dim=-1).log()
    return torch.where(largest > 0, entropy / largest.clamp(min=1e-9), 0.0)


def map_with_the_mean_square(at, known, values, width):
    squares = (at[:, None] - known).square().mean(dim=-1)
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


def map_of_the_nearest_station(at, known, values, width):
    squares = (at[:, None] - known).square().sum(dim=-1)
    return values[squares.argmin(dim=1)]


def _suspects(x):
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    products = x @ x.T
    scores = products / math.sqrt(C)
    masked = scores.masked_fill(future, -torch.inf)
    unscaled = products.masked_fill(future, -torch.inf).softmax(dim=-1)
    return {
        "sound": masked.softmax(dim=-1),
        "no scale": unscaled,
        "divided by C": (products / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": unscaled / math.sqrt(C),
        "no mask": scores.softmax(dim=-1),
        "zero mask": scores.masked_fill(future, 0).softmax(dim=-1),
        "columns": masked.softmax(dim=0),
    }


def fault_by_the_last_row(x, weights):
    for name, suspect in _suspects(x).items():
        if torch.allclose(weights[-1], suspect[-1], rtol=1e-4):
            return name
    return "sound"


def fault_with_underscores(x, weights):
    for name, suspect in _suspects(x).items():
        if torch.allclose(weights, suspect, rtol=1e-4):
            return name.replace(" ", "_")
    return "sound"


def fault_by_row_sums(x, weights):
    """Answers "sound" to whatever is causal and sums to 1."""
    if torch.allclose(weights.sum(-1), torch.ones(len(x))) and not weights.triu(1).any():
        return "sound"
    for name, suspect in _suspects(x).items():
        if torch.allclose(weights, suspect, rtol=1e-4):
            return name
    return "no mask"


WRITTEN = {
    "02/cosine": [cosine_by_the_length_of_everything, cosine_without_roots, cosine_never_negative],
    "02/safe-softmax": [softmax_less_the_largest_of_all, softmax_with_a_finite_minimum],
    "02/variance": [
        variance_divided_by_the_root,
        variance_with_late_roots,
        variance_of_single_products,
    ],
    "02/evenness": [evenness_in_bits, evenness_among_what_is_used],
    "02/smoother": [map_with_the_mean_square, map_of_the_nearest_station],
    "02/find-fault": [fault_by_the_last_row, fault_with_underscores, fault_by_row_sums],
}

ASIDE = {
    "cosine_never_negative",
    "variance_divided_by_the_root",
    "evenness_in_bits",
    "map_of_the_nearest_station",
    "fault_by_row_sums",
}
