"""Wrong answers to chapter 01 that no list names: the seventh set, as students hand them in.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import torch

# 01/running-sum


# Tired, and used to (B, T, C) from the chapter. "time as the **last** dimension: (B, C, T)"
def sum_down_the_channels(x):
    return torch.cumsum(x, dim=1)


# Copied the chapter's product and turned x until it ran. "Leave the dimensions in their order."
def product_of_the_chapter_on_turned_x(x):
    T = x.shape[-1]
    weights = torch.tril(torch.ones(T, T))
    x = x.permute(0, 2, 1)  # (B, T, C)
    return weights @ x


# 01/past-mean


# Comes from NumPy and shifts the running mean by one.
# "There is nothing before position 0, so we define its mean as 0 in every channel."
def rolled_running_mean(x):
    T = x.shape[1]
    counts = torch.arange(1, T + 1)[:, None]
    mean = x.cumsum(dim=1) / counts
    return torch.roll(mean, shifts=1, dims=1)


# Changed the diagonal of the chapter's cell and kept its divisor.
# "for every position t, the mean of positions 0 … t − 1"
def strict_sum_over_all_positions(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    weights = weights / torch.arange(1, T + 1).view(T, 1)
    return weights @ x


# 01/window


# Comes from Java, writes loops, and doesn't know that a slice may begin at a negative number.
# "Where there are fewer than `width`, average the ones that exist"
def slices_from_negative_positions(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        start = t - width + 1
        seen = weights[t, start : t + 1]
        if len(seen) > 0:
            weights[t, start : t + 1] = 1.0 / len(seen)
    return weights


# Hurried: read the hint on `triu` and tried -width first. "the last `width` positions, including t"
def one_diagonal_too_many(T, width):
    ones = torch.ones(T, T)
    band = torch.tril(ones) * torch.triu(ones, diagonal=-width)
    return band / band.sum(1, keepdim=True)


# 01/decay


# Comes from finance, where the recursion m = decay · m + (1 − decay) · x begins with the first x.
# "The weights of row t are proportional to decay^(t−s)"
def recursion_that_begins_with_the_first(T, decay):
    weights = torch.zeros(T, T)
    weights[0, 0] = 1.0
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


# Has read that a softmax makes rows add up to 1, and takes the decay for a rate.
# "each step further back counts `decay` times as much as the step before"
def softmax_of_a_rate(T, decay):
    steps = torch.arange(T)
    distance = (steps[:, None] - steps[None, :]).float()
    scores = -decay * distance
    scores = scores.masked_fill(distance < 0, float("-inf"))
    return torch.softmax(scores, dim=1)


# 01/masked-softmax


# Comes from Keras, where he has always added a large negative number times a padding mask.
# "`visible` is True where position t **may see** position s."
def large_negative_where_visible(scores, visible):
    scores = scores + visible.float() * -1e9
    return torch.softmax(scores, dim=-1)


# 01/find-fault


# Translated the three conditions one by one. "and so is a row that holds NaN"
def three_conditions_turned_round(weights):
    future = torch.triu(weights, diagonal=1)
    looks_ahead = (future > 0).any(dim=1) | (future < 0).any(dim=1)
    wrong_sum = torch.abs(weights.sum(dim=1) - 1) >= 1e-5
    negative = (weights < 0).any(dim=1)
    return looks_ahead | wrong_sum | negative


WRITTEN = {
    "01/running-sum": [sum_down_the_channels, product_of_the_chapter_on_turned_x],
    "01/past-mean": [rolled_running_mean, strict_sum_over_all_positions],
    "01/window": [slices_from_negative_positions, one_diagonal_too_many],
    "01/decay": [recursion_that_begins_with_the_first, softmax_of_a_rate],
    "01/masked-softmax": [large_negative_where_visible],
    "01/find-fault": [three_conditions_turned_round],
}
