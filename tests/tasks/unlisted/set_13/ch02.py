"""Wrong answers to chapter 02 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch

# 02/cosine


def normalized_along_the_default(x, y):
    """Calls `normalize` without `dim`: its default is 1, so each channel is scaled along time."""
    x = torch.nn.functional.normalize(x)
    y = torch.nn.functional.normalize(y)
    return x @ y.transpose(1, 2)


def lengths_at_least_one(x, y):
    """Clamps lengths to at least 1 against 0 / 0, so vectors shorter than 1 aren't normalized."""
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1)
    return x @ y.transpose(1, 2)


def one_zero_makes_a_zero_vector(x, y):
    """Takes a vector for zero if any entry is 0 instead of all, and sets all its cosines to 0."""
    cosines = torch.cosine_similarity(x[:, :, None], y[:, None], dim=-1)
    empty = (x == 0).any(dim=-1)[:, :, None] | (y == 0).any(dim=-1)[:, None]
    return cosines.masked_fill(empty, 0.0)


# 02/safe-softmax


def maximum_at_least_zero(scores):
    """Clamps the row's maximum to at least 0 against -inf: a row of very low scores gets all 0."""
    top = scores.max(dim=-1, keepdim=True).values.clamp(min=0)
    powers = (scores - top).exp()
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total.clamp(min=1e-30)


def infinity_made_finite(scores):
    """Replaces -inf by -1e9, so that a row that may see nothing gets equal weights instead of 0."""
    scores = scores.masked_fill(scores == -torch.inf, -1e9)
    powers = (scores - scores.max(dim=-1, keepdim=True).values).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


def partly_hidden_rows_emptied(scores):
    """Sets the rows to 0 in which any score is -inf, instead of those in which all are."""
    hidden = (scores == -torch.inf).any(dim=-1, keepdim=True)
    top = scores.max(dim=-1, keepdim=True).values
    powers = (scores - top).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights.masked_fill(hidden, 0.0)


# 02/variance


def variances_added_up(queries, keys):
    """Adds up the variances of the single products, as if the entries were uncorrelated."""
    d = torch.arange(1, queries.shape[1] + 1)
    plain = (queries * keys).var(dim=0).cumsum(dim=0)
    return plain, plain / d


def products_divided_before_the_sum(queries, keys):
    """Divides each product by the root of its own place before the sum, not the sum by root d."""
    products = queries * keys
    d = torch.arange(1, products.shape[1] + 1)
    scaled = (products / d.sqrt()).cumsum(dim=1)
    return products.cumsum(dim=1).var(dim=0), scaled.var(dim=0)


def slices_one_entry_short(queries, keys):
    """Slices `[:, :d]` with d counted from 0, so each dot product lacks its last entry."""
    plain, scaled = [], []
    for d in range(queries.shape[1]):
        dots = (queries[:, :d] * keys[:, :d]).sum(dim=1)
        plain.append(dots.var())
        scaled.append((dots / math.sqrt(d + 1)).var())
    return torch.stack(plain), torch.stack(scaled)


# 02/evenness


def share_of_the_largest_seen(weights):
    """Divides by the largest entropy that row t has in the batch, not by the largest possible."""
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = entropy.max(dim=0).values
    return entropy / largest.clamp(min=1e-9)


def log1p_counts_one_too_many(weights):
    """Takes log1p of t + 1, which is log(t + 2): every row counts one visible position too many."""
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log1p()
    return entropy / largest


def share_of_effective_positions(weights):
    """Divides exp(entropy) by t + 1, a share of positions, instead of the entropy by log(t + 1)."""
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    share = entropy.exp() / torch.arange(1, weights.shape[-1] + 1)
    share[:, 0] = 0
    return share


# 02/smoother


def plain_mean_far_away(at, known, values, width):
    """Averages without a softmax, and far away, where all kernels are 0, takes the plain mean."""
    squares = (at[:, None] - known).square().sum(dim=-1)
    kernel = (-squares / (2 * width**2)).exp()
    total = kernel.sum(dim=-1, keepdim=True)
    equal = torch.full_like(kernel, 1 / len(known))
    weights = torch.where(total > 0, kernel / total, equal)
    return weights @ values


def expansion_without_the_two(at, known, values, width):
    """Expands the squared distance as a² - ab + b², without the 2 in front of the product."""
    squares = at.square().sum(dim=-1)[:, None] - at @ known.T + known.square().sum(dim=-1)
    weights = (-squares / (2 * width**2)).softmax(dim=-1)
    return weights @ values


def mean_over_the_coordinates(at, known, values, width):
    """Averages the squared differences of the two coordinates instead of adding them up."""
    squares = (at[:, None] - known).square().mean(dim=-1)
    weights = (-squares / (2 * width**2)).softmax(dim=-1)
    return weights @ values


# 02/find-fault


def _first_match(weights, suspects):
    for name, suspect in suspects.items():
        if torch.allclose(weights, suspect, rtol=1e-4):
            return name
    return "sound"


def zero_mask_on_the_weights(x, weights):
    """Rebuilds "zero mask" by setting future weights to 0 after the softmax, not future scores."""
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
        "zero mask": scores.softmax(dim=-1).masked_fill(future, 0),
        "columns": masked.softmax(dim=0),
    }
    return _first_match(weights, suspects)


def too_late_scaled_twice(x, weights):
    """Rebuilds "scaled too late" from the scaled scores, so it divides by root C twice."""
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal=1)
    products = x @ x.T
    scores = products / math.sqrt(C)
    masked = scores.masked_fill(future, -torch.inf)
    suspects = {
        "sound": masked.softmax(dim=-1),
        "no scale": products.masked_fill(future, -torch.inf).softmax(dim=-1),
        "divided by C": (products / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": masked.softmax(dim=-1) / math.sqrt(C),
        "no mask": scores.softmax(dim=-1),
        "zero mask": scores.masked_fill(future, 0).softmax(dim=-1),
        "columns": masked.softmax(dim=0),
    }
    return _first_match(weights, suspects)


def last_row_decides(x, weights):
    """Compares the last row only: nothing is masked there, so a missing mask passes as sound."""
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
    return _first_match(weights[-1], {name: suspect[-1] for name, suspect in suspects.items()})


# 02/alike


def length_checked_after_the_count():
    """Takes the 300 most frequent words of any length, then drops the short ones: 263 are left."""
    return {"text": "shakespeare", "words": 4.707, "dot": 7.989, "cosine": 4.51}


def chosen_words_counted_once():
    """Takes the mean length of the different chosen words: one that is chosen often counts once."""
    return {"text": "shakespeare", "words": 4.807, "dot": 6.54, "cosine": 4.669}


def cosine_with_one_length():
    """Divides by the length of the word itself only, not of the candidate, for the cosine."""
    return {"text": "shakespeare", "words": 4.807, "dot": 8.13, "cosine": 8.113}


WRITTEN = {
    "02/cosine": [
        normalized_along_the_default,
        lengths_at_least_one,
        one_zero_makes_a_zero_vector,
    ],
    "02/safe-softmax": [maximum_at_least_zero, infinity_made_finite, partly_hidden_rows_emptied],
    "02/variance": [variances_added_up, products_divided_before_the_sum, slices_one_entry_short],
    "02/evenness": [
        share_of_the_largest_seen,
        log1p_counts_one_too_many,
        share_of_effective_positions,
    ],
    "02/smoother": [plain_mean_far_away, expansion_without_the_two, mean_over_the_coordinates],
    "02/find-fault": [zero_mask_on_the_weights, too_late_scaled_twice, last_row_decides],
    "02/alike": [
        length_checked_after_the_count,
        chosen_words_counted_once,
        cosine_with_one_length,
    ],
}

ASIDE = {
    "length_checked_after_the_count",
    "maximum_at_least_zero",
    "mean_over_the_coordinates",
    "one_zero_makes_a_zero_vector",
    "share_of_effective_positions",
    "variances_added_up",
    "zero_mask_on_the_weights",
}
