"""Wrong answers to chapter 02 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch

# 02/cosine


# Got NaN, found `clamp` in the hint, and took the first bound that came to mind.
# "Return the cosine of every vector of `x` with every vector of `y` in the same sample."
def short_vectors_keep_their_length(x, y):
    x = x / x.norm(dim=-1, keepdim=True).clamp(min=1)
    y = y / y.norm(dim=-1, keepdim=True).clamp(min=1)
    return x @ y.transpose(1, 2)


# Saves memory, as in NumPy.
# "Unless a task says otherwise, your functions leave what they are given as it was."
def callers_vectors_made_unit(x, y):
    x /= x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y /= y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return x @ y.transpose(1, 2)


# 02/safe-softmax


# Read "as small as −10,000" and wrote this number for −∞, so that there is no NaN.
# "some of them −∞ because a mask has hidden them"
def ten_thousand_for_infinity(scores):
    scores = scores.clamp(min=-10_000)
    powers = (scores - scores.amax(dim=-1, keepdim=True)).exp()
    return powers / powers.sum(dim=-1, keepdim=True)


# Goes through the rows and looks whether the first score is hidden.
# "rows in which every score is −∞. Such a row may see nothing: all its weights are 0."
def first_score_speaks_for_the_row(scores):
    weights = torch.zeros_like(scores)
    for t in range(len(scores)):
        if scores[t, 0] == -torch.inf:
            continue
        powers = (scores[t] - scores[t].max()).exp()
        weights[t] = powers / powers.sum()
    return weights


# Knows that exp overflows at 88 and cuts everything off below.
# "scores as large as 10,000 and as small as −10,000, also in the same row"
def large_scores_cut_off(scores):
    powers = scores.clamp(max=80).exp()
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-38)


# 02/variance


# Comes from statistics: the variance of a sum is the sum of the variances.
# "the variance, over the N pairs, of the dot product of the first d entries"
def variances_added_up(queries, keys):
    variances = (queries * keys).var(dim=0).cumsum(dim=0)
    d = torch.arange(1, len(variances) + 1)
    return variances, variances / d


# Copied "divided by √D" with one D for all.
# "the same after each of these dot products has been divided by √d"
def whole_head_size_under_every_root(queries, keys):
    products = (queries * keys).cumsum(dim=1)
    scaled = products / math.sqrt(queries.shape[-1])
    return products.var(dim=0), scaled.var(dim=0)


# Took the mean of the squares, because the mean is 0 for normal vectors.
# "the variance, over the N pairs, of the dot product of the first d entries"
def mean_taken_for_zero(queries, keys):
    products = (queries * keys).cumsum(dim=1)
    d = torch.arange(1, products.shape[1] + 1)
    return products.square().mean(dim=0), (products / d.sqrt()).square().mean(dim=0)


# 02/evenness


# Learned entropy in bits, and took the divisor from the hint.
# "An evenness of 1 means that all of them count the same"
def bits_over_nats(weights):
    logs = torch.where(weights > 0, weights.clamp(min=1e-30).log2(), 0.0)
    entropy = -(weights * logs).sum(dim=-1)
    largest = torch.arange(1, weights.shape[-1] + 1).log()
    largest[0] = 1
    return entropy / largest


# Found the chapter's "as wide as" nicer than the entropy.
# "its entropy as a share of the largest entropy that a row with t + 1 visible positions can have"
def width_as_a_share(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    share = entropy.exp() / torch.arange(1, weights.shape[-1] + 1)
    share[:, 0] = 0
    return share


# 02/smoother


# Wrote the fraction as it is spoken.
# "The score of a place and a station is −|at − known|² / (2 · width²)"
def times_the_square_of_the_width(at, known, values, width):
    squares = (at[:, None] - known).square().sum(dim=-1)
    return (-squares / 2 * width**2).softmax(dim=-1) @ values


# Got 0/0 far away, and read that such places "need an average, too".
# "every place averages the stations with the softmax of its scores"
def plain_mean_far_away(at, known, values, width):
    squares = (at[:, None] - known).square().sum(dim=-1)
    powers = (-squares / (2 * width**2)).exp()
    sums = powers.sum(dim=-1, keepdim=True)
    equal = torch.full_like(powers, 1 / len(known))
    return torch.where(sums > 0, powers / sums.clamp(min=1e-30), equal) @ values


# Added the differences first, since the minus disappears in the square anyway.
# "|at − known|²", the square of a distance on the map
def coordinates_added_before_the_square(at, known, values, width):
    squares = (at[:, None] - known).sum(dim=-1).square()
    return (-squares / (2 * width**2)).softmax(dim=-1) @ values


# 02/find-fault


# Divides what is divided already.
# "the scores were divided by C"
def divided_by_c_once_more(x, weights):
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = x @ x.T / math.sqrt(C)
    plain = (x @ x.T).masked_fill(future, -torch.inf).softmax(dim=-1)
    suspects = {
        "sound": scores.masked_fill(future, -torch.inf).softmax(dim=-1),
        "no scale": plain,
        "divided by C": (scores / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": plain / math.sqrt(C),
        "no mask": scores.softmax(dim=-1),
        "zero mask": scores.masked_fill(future, 0.0).softmax(dim=-1),
        "columns": scores.masked_fill(future, -torch.inf).softmax(dim=0),
    }
    for name, suspect in suspects.items():
        if torch.allclose(weights, suspect, rtol=1e-4):
            return name
    return "sound"


# Looks for marks of each fault, and takes every weight in the future for a missing mask.
# "`zero mask`: 0 instead of −∞"
def any_future_is_no_mask(x, weights):
    T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    if weights[future].max() > 0:
        return "no mask"
    sums = weights.sum(dim=1)
    if not torch.allclose(sums, torch.ones(T), atol=1e-4):
        return "scaled too late" if sums.std() < 1e-4 else "columns"
    for name, scale in (("sound", math.sqrt(C)), ("no scale", 1), ("divided by C", C)):
        scores = (x @ x.T / scale).masked_fill(future, -torch.inf)
        if torch.allclose(weights, scores.softmax(dim=-1), rtol=1e-4):
            return name
    return "zero mask"


WRITTEN = {
    "02/cosine": [short_vectors_keep_their_length, callers_vectors_made_unit],
    "02/safe-softmax": [
        ten_thousand_for_infinity,
        first_score_speaks_for_the_row,
        large_scores_cut_off,
    ],
    "02/variance": [
        variances_added_up,
        whole_head_size_under_every_root,
        mean_taken_for_zero,
    ],
    "02/evenness": [
        bits_over_nats,
        width_as_a_share,
    ],
    "02/smoother": [
        times_the_square_of_the_width,
        plain_mean_far_away,
        coordinates_added_before_the_square,
    ],
    "02/find-fault": [
        divided_by_c_once_more,
        any_future_is_no_mask,
    ],
}

ASIDE = {
    "short_vectors_keep_their_length",
    "first_score_speaks_for_the_row",
    "mean_taken_for_zero",
    "times_the_square_of_the_width",
    "divided_by_c_once_more",
    "any_future_is_no_mask",
}
