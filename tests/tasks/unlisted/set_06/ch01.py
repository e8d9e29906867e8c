"""Wrong answers to chapter 01 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import functools

import torch

# 01/running-sum


# "Leave the dimensions in their order.": reshaped to the right shape, not transposed back
def reshaped_instead_of_transposed_back(x):
    B, C, T = x.shape
    weights = torch.tril(torch.ones(T, T))
    return (weights @ x.transpose(1, 2)).reshape(B, C, T)


# "the sum of positions 0 … t of the same channel": a channel starts where the one before it ended
def one_sum_through_all_channels(x):
    return x.flatten(1).cumsum(dim=1).view(x.shape)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def added_up_where_it_stands(x):
    for t in range(1, x.shape[-1]):
        x[:, :, t] += x[:, :, t - 1]
    return x


# 01/past-mean


# "mean of positions 0 … t - 1": of t numbers, divided by t + 1
def counted_with_itself(x):
    before = x.cumsum(dim=1) - x
    count = torch.arange(1, x.shape[1] + 1)
    return before / count[:, None]


# "position 0 holds 0": the first sample does
def first_sample_cleared(x):
    count = torch.arange(1, x.shape[1] + 1)[:, None]
    mean = (x.cumsum(dim=1) / count).roll(1, dims=1)
    mean[0] = 0
    return mean


_strict_weights = None


# "(B, T, C) float → (B, T, C) float": T of the first call stays the largest there is
def weights_of_the_first_call(x):
    global _strict_weights
    T = x.shape[1]
    if _strict_weights is None:
        weights = torch.ones(T, T).tril(-1)
        _strict_weights = weights / weights.sum(dim=1, keepdim=True).clamp(min=1)
    return _strict_weights[:T, :T] @ x


# 01/window


# "row t averages positions max(0, t - width + 1) … t": a negative start counts from the end
def start_before_the_matrix(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t, t - width + 1 : t + 1] = 1
    return weights / weights.sum(dim=1, keepdim=True)


# "`width` may even be larger than T": the last row then averages everything
def width_kept_below_the_length(T, width):
    width = max(1, min(width, T - 1))
    band = torch.ones(T, T).tril().triu(1 - width)
    return band / band.sum(dim=1, keepdim=True)


# "row t averages positions max(0, t - width + 1) … t", unless a caller wrote into the last matrix
@functools.cache
def same_matrix_for_every_caller(T, width):
    band = torch.ones(T, T).tril().triu(1 - width)
    return band / band.sum(dim=1, keepdim=True)


# 01/decay


# "each step further back counts `decay` times as much": the usual recursion, begun with position 0
def recursion_begun_with_the_first(T, decay):
    weights = torch.eye(T)
    for t in range(1, T):
        weights[t] = decay * weights[t - 1] + (1 - decay) * weights[t]
    return weights


# "Weights of the future are 0": where decay ** (t - s) is infinite, 0 times that is NaN
def future_times_zero(T, decay):
    t = torch.arange(T)
    weights = decay ** (t[:, None] - t) * torch.ones(T, T).tril()
    return weights / weights.sum(dim=1, keepdim=True)


# "row t weighs position s ≤ t by decay ** (t - s)": also where decay ** t is rounded to 0
def quotient_of_two_powers(T, decay):
    powers = decay ** torch.arange(T)
    weights = (powers[:, None] / powers).tril()
    return weights / weights.sum(dim=1, keepdim=True)


# 01/masked-softmax


# "Not every mask is a triangle"
def visible_and_past(scores, visible):
    return scores.masked_fill(~visible.tril(), -torch.inf).softmax(dim=-1)


# "visible: (B, T, T) bool": each sample has a mask of its own
def mask_of_the_first_sample(scores, visible):
    return scores.masked_fill(~visible[0], -torch.inf).softmax(dim=-1)


# "the softmax of the scores over the others": a large hidden score leaves them nothing but 0 / 0
def hidden_after_the_softmax(scores, visible):
    weights = scores.softmax(dim=-1) * visible
    return weights / weights.sum(dim=-1, keepdim=True)


# 01/find-fault


# "no weight is negative": asked of columns
def negative_by_column(weights):
    future = (weights.triu(1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=0)
    sums = (weights.sum(dim=1) - 1).abs() < 1e-5
    return future | negative | ~sums


# "Rounding is no fault": but three thirds, rounded here, are not 1
def weights_rounded_first(weights):
    weights = weights.round(decimals=3)
    future = (weights.triu(1) != 0).any(dim=1)
    sums = (weights.sum(dim=1) - 1).abs() < 1e-5
    return future | (weights < 0).any(dim=1) | ~sums


# "your functions leave what they are given as it was": NaN becomes a negative weight
def nan_made_negative(weights):
    weights[weights.isnan()] = -1
    future = (weights.triu(1) != 0).any(dim=1)
    sums = (weights.sum(dim=1) - 1).abs() < 1e-5
    return future | (weights < 0).any(dim=1) | ~sums


WRITTEN = {
    "01/running-sum": [
        reshaped_instead_of_transposed_back,
        one_sum_through_all_channels,
        added_up_where_it_stands,
    ],
    "01/past-mean": [counted_with_itself, first_sample_cleared, weights_of_the_first_call],
    "01/window": [
        start_before_the_matrix,
        width_kept_below_the_length,
        same_matrix_for_every_caller,
    ],
    "01/decay": [
        recursion_begun_with_the_first,
        future_times_zero,
        quotient_of_two_powers,
    ],
    "01/masked-softmax": [visible_and_past, mask_of_the_first_sample, hidden_after_the_softmax],
    "01/find-fault": [
        negative_by_column,
        weights_rounded_first,
        nan_made_negative,
    ],
}

ASIDE = {
    "one_sum_through_all_channels",
    "counted_with_itself",
    "start_before_the_matrix",
    "width_kept_below_the_length",
    "same_matrix_for_every_caller",
    "hidden_after_the_softmax",
    "weights_rounded_first",
}
