"""Wrong answers to chapter 02 that no list names: the tenth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch

# 02/cosine


# Copied `clamp(min=1)` from the strict past of chapter 01, where the divisors were counts.
# "Return the cosine of every vector of `x` with every vector of `y`"
def lengths_of_at_least_one(x, y):
    x_length = x.norm(dim=-1, keepdim=True).clamp(min=1)
    y_length = y.norm(dim=-1, keepdim=True).clamp(min=1)
    return (x / x_length) @ (y / y_length).transpose(1, 2)


# 02/safe-softmax


# Comes from Java and thinks of special cases first, but asked all rows at once.
# "Such a row may see nothing: all its weights are 0."
def empty_only_if_all_rows_are(scores):
    if (scores == -torch.inf).all():
        return torch.zeros_like(scores)
    largest = scores.max(dim=-1, keepdim=True).values
    powers = torch.exp(scores - largest)
    return powers / powers.sum(dim=-1, keepdim=True)


# 02/variance


# Comes from statistics and takes it for granted that dot products have the mean 0.
# "the variance, over the N pairs, of the dot product of the first d entries"
def mean_of_the_squares(queries, keys):
    dots = torch.cumsum(queries * keys, dim=1)
    d = torch.arange(1, queries.shape[1] + 1)
    variance = (dots**2).mean(dim=0)
    return variance, variance / d


# 02/evenness


# Hurried: got rid of the division by log 1 = 0 with a clamp, which raises log 2 to 1, too.
# "its entropy as a share of the largest entropy that a row with t + 1 visible positions can have"
def divisors_of_at_least_one(weights):
    T = weights.shape[-1]
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.log(torch.arange(1, T + 1).float()).clamp(min=1)
    return entropy / largest


# 02/find-fault


# Read in a hint that row 0 of several suspects is the same, and compared the longest row instead,
# in which no future is left to hide. "`"no mask"` | step 2 is missing"
def only_the_last_row_compared(x, weights):
    T, C = x.shape
    past = torch.tril(torch.ones(T, T)).bool()
    dots = x @ x.T

    def masked(scores):
        return scores.masked_fill(~past, float("-inf"))

    suspects = {
        "sound": masked(dots / math.sqrt(C)).softmax(dim=1),
        "no scale": masked(dots).softmax(dim=1),
        "divided by C": masked(dots / C).softmax(dim=1),
        "scaled too late": masked(dots).softmax(dim=1) / math.sqrt(C),
        "no mask": (dots / math.sqrt(C)).softmax(dim=1),
        "zero mask": (dots / math.sqrt(C)).tril().softmax(dim=1),
        "columns": masked(dots / math.sqrt(C)).softmax(dim=0),
    }
    for name, suspect in suspects.items():
        if torch.allclose(weights[-1], suspect[-1], rtol=1e-4):
            return name


WRITTEN = {
    "02/cosine": [lengths_of_at_least_one],
    "02/safe-softmax": [empty_only_if_all_rows_are],
    "02/variance": [mean_of_the_squares],
    "02/evenness": [divisors_of_at_least_one],
    "02/find-fault": [only_the_last_row_compared],
}
