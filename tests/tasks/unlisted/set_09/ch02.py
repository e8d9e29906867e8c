"""Wrong answers to chapter 02 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import math

import torch

# 02/cosine


# Took `clamp(min=1)` over from chapter 01, where it kept a count away from 0.
# "Return the cosine of every vector": also of one that is shorter than 1
def short_vectors_taken_for_long_ones(x, y):
    x_length = x.norm(dim=-1, keepdim=True).clamp(min=1)
    y_length = y.norm(dim=-1, keepdim=True).clamp(min=1)
    return (x / x_length) @ (y / y_length).transpose(1, 2)


# Saves memory, as a colleague once advised.
# "Unless a task says otherwise, your functions leave what they are given as it was."
def arguments_brought_to_unit_length(x, y):
    x /= x.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    y /= y.norm(dim=-1, keepdim=True).clamp(min=1e-8)
    return torch.einsum("btc,bsc->bts", x, y)


# 02/safe-softmax


# Saw `inf`, looked up where `exp` overflows, and cut the scores off before that.
# "scores as large as 10,000 and as small as −10,000, also in the same row"
def scores_cut_off_at_eighty(scores):
    powers = scores.clamp(max=80.0).exp()
    total = powers.sum(dim=-1, keepdim=True)
    return powers / total.clamp(min=1e-30)


# Adapted the mask of a well-known library, with which a row of nothing sees everything.
# "Such a row may see nothing: all its weights are 0."
def empty_rows_look_everywhere(scores):
    scores = scores.masked_fill(scores == -torch.inf, -1e9)
    scores = scores - scores.max(dim=-1, keepdim=True).values
    powers = scores.exp()
    return powers / powers.sum(dim=-1, keepdim=True)


# Fixed the division by zero in the way one learns first.
# "every row sums to 1"
def one_added_to_every_sum(scores):
    largest = scores.amax(dim=-1, keepdim=True)
    largest[largest == -torch.inf] = 0
    powers = torch.exp(scores - largest)
    return powers / (1 + powers.sum(dim=-1, keepdim=True))


# 02/variance


# Thought that dividing before or after comes to the same.
# "the same after each of these dot products has been divided by √d"
def variances_divided_by_the_root(queries, keys):
    D = queries.shape[1]
    dots = torch.cumsum(queries * keys, dim=1)
    variance = dots.var(dim=0)
    return variance, variance / torch.arange(1, D + 1).sqrt()


# Comes from statistics: the variance of a sum is the sum of the variances.
# "the variance, over the N pairs, of the dot product of the first d entries"
def variances_of_the_entries_added_up(queries, keys):
    products = queries * keys
    first = products.var(dim=0).cumsum(dim=0)
    d = torch.arange(1, products.shape[1] + 1)
    return first, first / d


# Copied `queries @ keys.T` from the chapter.
# "Query n belongs to key n; other pairs don't matter here."
def every_query_with_every_key(queries, keys):
    first, second = [], []
    for d in range(1, queries.shape[1] + 1):
        dots = queries[:, :d] @ keys[:, :d].T
        first.append(dots.var())
        second.append((dots / math.sqrt(d)).var())
    return torch.stack(first), torch.stack(second)


# 02/evenness


# Used the `clamp` of an earlier task so that nothing is divided by log 1.
# "its entropy as a share of the largest entropy that a row with t + 1 visible positions can have":
# log 2 is below 1, too
def logarithms_raised_to_one(weights):
    T = weights.shape[-1]
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    largest = torch.log(torch.arange(1, T + 1)).clamp(min=1)
    return entropy / largest


# Counts what can be seen in the weights themselves.
# "Those could be seen, so they count among the t + 1."
def only_positions_with_weight_counted(weights):
    entropy = -torch.special.xlogy(weights, weights).sum(dim=-1)
    n = (weights > 0).sum(dim=-1)
    largest = n.float().log()
    return torch.where(n > 1, entropy / largest, torch.zeros_like(entropy))


# Knows entropy in bits and took the divisors from the hint.
# "(B, T) float between 0 and 1"
def bits_divided_by_natural_logarithms(weights):
    T = weights.shape[-1]
    logs = torch.where(weights > 0, weights, torch.ones_like(weights)).log2()
    entropy = -(weights * logs).sum(dim=-1)
    largest = torch.arange(1, T + 1).float().log()
    largest[0] = 1.0
    return entropy / largest


# 02/smoother


# Typed the fraction from left to right.
# The score is −|at − known|² / (2 · width²): width stands below the line
def width_multiplied_instead_of_divided(at, known, values, width):
    squares = torch.cdist(at, known) ** 2
    scores = -squares / 2 * width**2
    return torch.softmax(scores, dim=1) @ values


# Got an (N, M, 2) tensor and wanted to be rid of the last dimension at once.
# The score is −|at − known|² / (2 · width²): the square of a length in two dimensions
def coordinates_added_before_the_square(at, known, values, width):
    differences = at[:, None] - known
    distance = differences.sum(dim=-1)
    scores = -(distance**2) / (2 * width**2)
    return scores.softmax(dim=-1) @ values


# Knows kernel smoothing from a statistics lecture and guarded the division.
# "Some places are very far from every station, and they need an average, too."
def nothing_for_places_far_away(at, known, values, width):
    squares = (at[:, None, :] - known[None, :, :]).pow(2).sum(dim=2)
    kernel = torch.exp(-squares / (2 * width**2))
    return (kernel @ values) / (kernel.sum(dim=1, keepdim=True) + 1e-8)


# 02/find-fault


# Made each suspect from the sound one, with one change.
# "the scores were not divided, the weights were, by √C"
def divided_early_and_late(x, weights):
    T, C = x.shape
    dots = x @ x.T
    future = torch.triu(torch.ones(T, T), diagonal=1).bool()
    scores = dots / C**0.5
    masked = scores.masked_fill(future, float("-inf"))
    candidates = {
        "sound": masked.softmax(dim=1),
        "no scale": dots.masked_fill(future, float("-inf")).softmax(dim=1),
        "divided by C": (dots / C).masked_fill(future, float("-inf")).softmax(dim=1),
        "scaled too late": masked.softmax(dim=1) / C**0.5,
        "no mask": scores.softmax(dim=1),
        "zero mask": scores.masked_fill(future, 0.0).softmax(dim=1),
        "columns": masked.softmax(dim=0),
    }
    for name, candidate in candidates.items():
        if torch.allclose(weights, candidate, rtol=1e-4):
            return name
    return "sound"


# Read that row 0 says little and compared the row that has most to say.
# "no mask": "step 2 is missing", which the last row never shows
def last_rows_compared(x, weights):
    T, C = x.shape
    future = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    product = x @ x.T
    right = product / math.sqrt(C)
    hidden = right.masked_fill(future, -torch.inf)
    no_scale = product.masked_fill(future, -torch.inf).softmax(dim=-1)
    found = {
        "sound": hidden.softmax(dim=-1),
        "no scale": no_scale,
        "divided by C": (product / C).masked_fill(future, -torch.inf).softmax(dim=-1),
        "scaled too late": no_scale / math.sqrt(C),
        "no mask": right.softmax(dim=-1),
        "zero mask": right.masked_fill(future, 0).softmax(dim=-1),
        "columns": hidden.softmax(dim=0),
    }
    for name in found:
        if torch.allclose(found[name][-1], weights[-1], rtol=1e-4):
            return name


WRITTEN = {
    "02/cosine": [
        short_vectors_taken_for_long_ones,
        arguments_brought_to_unit_length,
    ],
    "02/safe-softmax": [
        scores_cut_off_at_eighty,
        empty_rows_look_everywhere,
        one_added_to_every_sum,
    ],
    "02/variance": [
        variances_divided_by_the_root,
        variances_of_the_entries_added_up,
        every_query_with_every_key,
    ],
    "02/evenness": [
        logarithms_raised_to_one,
        only_positions_with_weight_counted,
        bits_divided_by_natural_logarithms,
    ],
    "02/smoother": [
        width_multiplied_instead_of_divided,
        coordinates_added_before_the_square,
        nothing_for_places_far_away,
    ],
    "02/find-fault": [divided_early_and_late, last_rows_compared],
}

ASIDE = {
    "empty_rows_look_everywhere",
    "one_added_to_every_sum",
}
