"""Wrong answers to chapter 02 that no list names: the seventh set, as students hand them in.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import math

import torch

# 02/cosine


# Comes from statistics and writes the correlation that she knows.
# "Return the cosine of every vector of `x` with every vector of `y`"
def correlations(x, y):
    x = x - x.mean(dim=-1, keepdim=True)
    y = y - y.mean(dim=-1, keepdim=True)
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


# 02/safe-softmax


# Knows the trick, but takes the maximum of the whole matrix.
# "scores as large as 10,000 and as small as −10,000"
def minus_the_largest_of_all(scores):
    powers = torch.exp(scores - scores.max())
    sums = powers.sum(dim=-1, keepdim=True)
    return torch.where(sums > 0, powers / sums, torch.zeros_like(powers))


# Cured the overflow by trial and error. "scores as large as 10,000 and as small as −10,000"
def clipped_to_what_exp_bears(scores):
    hidden = torch.isinf(scores)
    powers = torch.exp(scores.clamp(-50, 50))
    powers = powers.masked_fill(hidden, 0.0)
    total = powers.sum(dim=1, keepdim=True)
    total[total == 0] = 1.0
    return powers / total


# 02/variance


# Remembers from statistics that variances of sums add up.
# "the variance, over the N pairs, of the dot product of the first d entries"
def added_up_variances(queries, keys):
    variances = (queries * keys).var(dim=0).cumsum(dim=0)
    d = torch.arange(1, len(variances) + 1)
    return variances, variances / d


# Divides the result in place of the dot products.
# "the same after each of these dot products has been divided by √d"
def variances_over_the_root(queries, keys):
    dots = torch.cumsum(queries * keys, dim=1)
    variances = dots.var(dim=0)
    roots = torch.arange(1, queries.shape[1] + 1).float().sqrt()
    return variances, variances / roots


# 02/evenness


# Overlooked a sentence. "Those could be seen, so they count among the t + 1."
def among_those_that_have_weight(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    choices = (weights > 0).sum(dim=-1)
    largest = torch.log(choices.float())
    return torch.where(choices > 1, entropy / largest, torch.zeros_like(entropy))


# Hurried: one divisor for the whole matrix.
# "the largest entropy that a row with t + 1 visible positions can have"
def share_of_the_last_rows_largest(weights):
    T = weights.shape[-1]
    safe = weights.clamp(min=1e-12)
    entropy = -(weights * safe.log()).sum(dim=-1)
    return entropy / math.log(T)


# 02/smoother


# Found `torch.cdist` and didn't square what it gives. "−|at − known|² / (2 · width²)"
def plain_distances(at, known, values, width):
    distances = torch.cdist(at, known)
    weights = torch.softmax(-distances / (2 * width**2), dim=1)
    return weights @ values


# Comes from NumPy, and a warning about 0/0 made him add a small number.
# "Some places are very far from every station, and they need an average, too."
def kernel_with_a_small_number(at, known, values, width):
    diff = at[:, None, :] - known[None, :, :]
    kernel = torch.exp(-(diff**2).sum(-1) / (2 * width**2))
    weights = kernel / (kernel.sum(dim=1, keepdim=True) + 1e-8)
    return weights @ values


# 02/find-fault


# Thinks that the last row, which sees everything, is enough. '"no mask": step 2 is missing'
def told_by_the_last_row(x, weights):
    T, C = x.shape
    products = x @ x.T
    past = torch.ones(T, T).tril().bool()
    hide = torch.full((T, T), float("-inf"))
    masked = torch.where(past, products / C**0.5, hide)
    unscaled = torch.where(past, products, hide)
    by_c = torch.where(past, products / C, hide)
    candidates = [
        ("sound", masked.softmax(1)),
        ("no scale", unscaled.softmax(1)),
        ("divided by C", by_c.softmax(1)),
        ("scaled too late", unscaled.softmax(1) / C**0.5),
        ("no mask", (products / C**0.5).softmax(1)),
        ("zero mask", torch.tril(products / C**0.5).softmax(1)),
        ("columns", masked.softmax(0)),
    ]
    for name, candidate in candidates:
        if torch.allclose(weights[-1], candidate[-1], atol=1e-5):
            return name
    return "sound"


WRITTEN = {
    "02/cosine": [correlations],
    "02/safe-softmax": [minus_the_largest_of_all, clipped_to_what_exp_bears],
    "02/variance": [added_up_variances, variances_over_the_root],
    "02/evenness": [among_those_that_have_weight, share_of_the_last_rows_largest],
    "02/smoother": [plain_distances, kernel_with_a_small_number],
    "02/find-fault": [told_by_the_last_row],
}
