"""Wrong answers to chapter 02 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch

# 02/cosine


def zero_with_any_zero_entry(x, y):
    """Takes every vector that has a zero somewhere for a vector of zeros: any instead of all."""
    lengths = x.norm(dim=-1)[:, :, None] * y.norm(dim=-1)[:, None, :]
    cosines = x @ y.transpose(1, 2) / lengths
    nothing = (x == 0).any(dim=-1)[:, :, None] | (y == 0).any(dim=-1)[:, None, :]
    return cosines.masked_fill(nothing, 0.0)


# 02/safe-softmax


def shifted_by_the_largest_size(scores):
    """Subtracts the largest absolute value of the row instead of its largest value."""
    sizes = scores.nan_to_num(neginf=0.0).abs()
    powers = (scores - sizes.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# 02/variance


def variances_added_up(queries, keys):
    """Adds up the variances of the single products, as if they were independent of each other."""
    single = (queries * keys).var(dim=0)
    total = single.cumsum(dim=0)
    d = torch.arange(1, len(total) + 1)
    return total, total / d


# 02/evenness


def largest_entropy_at_least_one(weights):
    """Keeps the divisor of row 0 away from 0 with clamp(min=1),
    which raises row 1's log 2 as well.
    """
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log().clamp(min=1)
    return entropy / largest


# 02/smoother


def both_squares_dropped(at, known, values, width):
    """Keeps only the mixed term of the square: |at|² cancels in a softmax,
    but |known|² does not.
    """
    scores = at @ known.T / width**2
    return scores.softmax(dim=-1) @ values


# 02/find-fault


def equal_future_is_a_zero_mask(x, weights):
    """Says "zero mask" if row 0 gives its future equal weights,
    which one single weight always is.
    """
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    if T > 1 and weights[future].abs().sum() > 0:
        ahead = weights[0, 1:]
        same = torch.allclose(ahead, ahead[:1].expand_as(ahead), rtol=1e-4)
        return "zero mask" if same else "no mask"
    products = (x @ x.T).masked_fill(future, -torch.inf)
    suspects = {
        "sound": (products / math.sqrt(C)).softmax(dim=-1),
        "no scale": products.softmax(dim=-1),
        "divided by C": (products / C).softmax(dim=-1),
        "scaled too late": products.softmax(dim=-1) / math.sqrt(C),
        "columns": (products / math.sqrt(C)).softmax(dim=0),
    }
    for name, suspect in suspects.items():
        if torch.allclose(weights, suspect, rtol=1e-4):
            return name
    return "sound"


# 02/alike


def letters_once():
    """Wrote a 1 for each letter that a word contains, instead of how often it contains it."""
    return {"text": "shakespeare", "words": 4.807, "dot": 6.350, "cosine": 4.573}


WRITTEN = {
    "02/cosine": [zero_with_any_zero_entry],
    "02/safe-softmax": [shifted_by_the_largest_size],
    "02/variance": [variances_added_up],
    "02/evenness": [largest_entropy_at_least_one],
    "02/smoother": [both_squares_dropped],
    "02/find-fault": [equal_future_is_a_zero_mask],
    "02/alike": [letters_once],
}
