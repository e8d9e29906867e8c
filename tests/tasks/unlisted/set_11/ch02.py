"""Wrong answers to chapter 02 that no list names: the eleventh set.

The comment before each says who the student is and which sentence of the statement it breaks.
"""

import torch

# 02/cosine


# Comes from statistics, where the cosine is a correlation, and subtracts each vector's mean.
# "Return the cosine of every vector of x with every vector of y"
def correlations(x, y):
    x = x - x.mean(dim=-1, keepdim=True)
    y = y - y.mean(dim=-1, keepdim=True)
    x_length = x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y_length = y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return (x / x_length) @ (y / y_length).transpose(1, 2)


# 02/safe-softmax


# Clips the scores, as gradients are clipped, until nothing overflows.
# "scores as large as 10,000 and as small as −10,000, also in the same row": 10,000 and 9,000 tie
def clipped_scores(scores):
    hidden = scores == float("-inf")
    powers = torch.exp(scores.clamp(-50, 50))
    powers[hidden] = 0
    total = powers.sum(dim=1, keepdim=True)
    total[total == 0] = 1
    return powers / total


# 02/evenness


# Reads "the largest entropy" as the largest that occurs in the text.
# "the largest entropy that a row with t + 1 visible positions can have"
def share_of_the_largest_found(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = entropy.amax(dim=-1, keepdim=True)
    return entropy / largest.clamp(min=1e-9)


# 02/find-fault


# Writes the root as a power without brackets, and takes the nearest since nothing was close.
# "the dot products of all pairs, divided by √C": these are divided by C and by 2
def root_without_brackets(x, weights):
    T, C = x.shape
    mask = torch.tril(torch.ones(T, T)) == 0
    dots = x @ x.T
    scaled = dots / C**1 / 2
    hidden = scaled.masked_fill(mask, float("-inf"))
    no_scale = torch.softmax(dots.masked_fill(mask, float("-inf")), dim=-1)
    candidates = {
        "sound": torch.softmax(hidden, dim=-1),
        "no scale": no_scale,
        "divided by C": torch.softmax((dots / C).masked_fill(mask, float("-inf")), dim=-1),
        "scaled too late": no_scale / C**0.5,
        "no mask": torch.softmax(scaled, dim=-1),
        "zero mask": torch.softmax(scaled.masked_fill(mask, 0.0), dim=-1),
        "columns": torch.softmax(hidden, dim=0),
    }
    return min(candidates, key=lambda name: (candidates[name] - weights).abs().max().item())


WRITTEN = {
    "02/cosine": [correlations],
    "02/safe-softmax": [clipped_scores],
    "02/evenness": [share_of_the_largest_found],
    "02/find-fault": [root_without_brackets],
}
