"""Wrong answers to chapter 01 that no list names: the fifth set.

The comment before each says which sentence of the statement it breaks.
"""

import torch

# 01/running-sum


# "the sum of positions 0 … t of the same channel"
def channels_of_a_sample_in_one_line(x):
    return x.flatten(1).cumsum(dim=1).view_as(x)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def sums_written_into_the_argument(x):
    for t in range(1, x.shape[-1]):
        x[..., t] += x[..., t - 1]
    return x


# "at position t, the sum of positions 0 … t"
def one_step_too_early(x):
    T = x.shape[-1]
    return x @ torch.triu(torch.ones(T, T), diagonal=-1)


# 01/past-mean


# "There is nothing before position 0, so we define its mean as 0 in every channel."
def means_rolled_by_one(x):
    counts = torch.arange(1, x.shape[1] + 1)[:, None]
    return torch.roll(x.cumsum(dim=1) / counts, shifts=1, dims=1)


# "the mean of positions 0 … t − 1"
def without_itself_but_counted(x):
    counts = torch.arange(1, x.shape[1] + 1)[:, None]
    return (x.cumsum(dim=1) - x) / counts


# "the mean of positions 0 … t − 1": with a count that is at least 2, position 1 gets one half
def counts_clamped_at_two(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T), diagonal=-1)
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=2) @ x


# 01/window


# "Where there are fewer than `width`, average the ones that exist": a negative start of a slice
# counts from the end
def slice_begins_before_zero(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t, t - width + 1 : t + 1] = 1
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=1)


# "`width` may even be larger than T"
def width_cut_to_one_less_than_all(T, width):
    width = min(width, max(T - 1, 1))
    past = torch.tril(torch.ones(T, T))
    window = torch.triu(past, diagonal=1 - width)
    return window / window.sum(dim=1, keepdim=True)


# 01/decay


# "The weights of row t are proportional to decay^(t−s)": the first position keeps what is left
def usual_recursion(T, decay):
    weights = torch.zeros(T, T)
    weights[0, 0] = 1
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


# "and add up to 1 in every row, including the first ones"
def all_rows_by_the_sum_of_the_last(T, decay):
    t = torch.arange(T)
    weights = torch.tril(decay ** (t[:, None] - t))
    return weights / weights[-1].sum()


# 01/masked-softmax


# "0 for every position that may not be seen"
def minus_ten_for_infinity(scores, visible):
    return scores.masked_fill(~visible, -10.0).softmax(dim=-1)


# "visible: (B, T, T) bool, True where row t may see column s": every sample has its own
def mask_of_the_first_sample(scores, visible):
    return scores.masked_fill(~visible[0], -torch.inf).softmax(dim=-1)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def hides_in_the_argument(scores, visible):
    scores[~visible] = -torch.inf
    return torch.softmax(scores, dim=-1)


# 01/find-fault


# "no weight is negative": only sums are allowed to differ a little
def negative_with_tolerance(weights):
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < -1e-4).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | negative | ~adds_up


# "it says for each row whether the row is faulty": the last one is never looked at
def last_row_has_no_future(weights):
    T = weights.shape[0]
    faulty = torch.zeros(T, dtype=torch.bool)
    for t in range(T - 1):
        row = weights[t]
        sound = abs(row.sum() - 1) < 1e-5 and (row >= 0).all() and (row[t + 1 :] == 0).all()
        faulty[t] = not sound
    return faulty


WRITTEN = {
    "01/running-sum": [
        channels_of_a_sample_in_one_line,
        sums_written_into_the_argument,
        one_step_too_early,
    ],
    "01/past-mean": [means_rolled_by_one, without_itself_but_counted, counts_clamped_at_two],
    "01/window": [slice_begins_before_zero, width_cut_to_one_less_than_all],
    "01/decay": [usual_recursion, all_rows_by_the_sum_of_the_last],
    "01/masked-softmax": [
        minus_ten_for_infinity,
        mask_of_the_first_sample,
        hides_in_the_argument,
    ],
    "01/find-fault": [negative_with_tolerance, last_row_has_no_future],
}

ASIDE = {
    "sums_written_into_the_argument",
    "means_rolled_by_one",
    "slice_begins_before_zero",
    "all_rows_by_the_sum_of_the_last",
    "negative_with_tolerance",
}
