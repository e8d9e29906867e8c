"""Wrong answers to chapter 02 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch

# 02/cosine


def _unit_or_zero(vectors):
    unit = vectors / vectors.norm(dim=-1, keepdim=True)
    padding = (vectors == 0).any(dim=-1, keepdim=True)
    return unit.masked_fill(padding, 0)


def any_zero_taken_for_padding(x, y):
    """Tests for a vector of zeros with any, not all: one entry of 0 makes all its cosines 0."""
    return _unit_or_zero(x) @ _unit_or_zero(y).transpose(1, 2)


# 02/safe-softmax


def hidden_as_low_as_the_lowest(scores):
    """Puts -10,000 for -inf: in a row of scores near -10,000 the hidden ones get weight, too."""
    empty = (scores == -torch.inf).all(dim=-1, keepdim=True)
    finite = scores.masked_fill(scores == -torch.inf, -10_000.0)
    powers = (finite - finite.amax(dim=-1, keepdim=True)).exp()
    weights = powers / powers.sum(dim=-1, keepdim=True)
    return weights.masked_fill(empty, 0)


# 02/variance


def each_product_by_its_own_root(queries, keys):
    """Divides each product by the root of its own place and then adds up, not the sum by root d."""
    products = queries * keys
    d = torch.arange(1, products.shape[1] + 1)
    plain = products.cumsum(dim=1)
    scaled = (products / d.sqrt()).cumsum(dim=1)
    return plain.var(dim=0), scaled.var(dim=0)


# 02/evenness


def share_of_largest_in_batch(weights):
    """Divides by the largest entropy that row t has in this batch, not the one it could have."""
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = entropy.amax(dim=0)
    return entropy / largest.clamp(min=1e-9)


# 02/smoother


def square_expanded_without_two(at, known, values, width):
    """Expands |at - known|² to |at|² + |known|² - at·known and forgets the 2 of the last term."""
    squares = at.square().sum(dim=-1)[:, None] + known.square().sum(dim=-1) - at @ known.T
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


# 02/find-fault


def largest_difference_with_its_sign(x, weights):
    """Forgets abs in largest difference: weights scaled too late, all lower, pass as sound."""
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
        if (weights - suspect).max() < 1e-5:
            return name
    return "none of these"


# 02/alike


def second_largest_of_each_row():
    """Takes topk(2)'s second, as if each word were first in its own row; by dot often it isn't."""
    return {"text": "shakespeare", "words": 4.807, "dot": 6.74, "cosine": 4.627}


WRITTEN = {
    "02/cosine": [any_zero_taken_for_padding],
    "02/safe-softmax": [hidden_as_low_as_the_lowest],
    "02/variance": [each_product_by_its_own_root],
    "02/evenness": [share_of_largest_in_batch],
    "02/smoother": [square_expanded_without_two],
    "02/find-fault": [largest_difference_with_its_sign],
    "02/alike": [second_largest_of_each_row],
}
