"""Wrong answers to chapter 01 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch

# 01/running-sum


# Comes from Java and declares the total before both loops.
# "at position t, the sum of positions 0 … t of the same channel"
def one_total_for_all_channels(x):
    B, C, T = x.shape
    result = torch.zeros_like(x)
    for b in range(B):
        total = 0.0
        for c in range(C):
            for t in range(T):
                total = total + x[b, c, t]
                result[b, c, t] = total
    return result


# 01/past-mean


# Shifted the chapter's mean by one and did not think of what comes in at the front.
# "There is nothing before position 0, so we define its mean as 0 in every channel."
def rolled_from_the_end(x):
    T = x.shape[1]
    triangle = torch.tril(torch.ones(T, T))
    mean = (triangle / triangle.sum(dim=1, keepdim=True)) @ x
    return torch.roll(mean, 1, dims=1)


# Got NaN in row 0, and read that −1e9 helps.
# "There is nothing before position 0, so we define its mean as 0 in every channel."
def first_row_sees_everything(x):
    T = x.shape[1]
    hidden = torch.triu(torch.ones(T, T, dtype=torch.bool))
    scores = torch.zeros(T, T).masked_fill(hidden, -1e9)
    return scores.softmax(dim=-1) @ x


# Took the running sum without the present, and the count of the chapter with it.
# "Return, for every position t, the mean of positions 0 … t − 1."
def one_too_many_to_divide_by(x):
    count = torch.arange(1, x.shape[1] + 1)[:, None]
    return (x.cumsum(dim=1) - x) / count


# 01/window


# Writes loops, and forgot that a negative start of a slice counts from the end.
# "Where there are fewer than `width`, average the ones that exist"
def early_rows_stay_empty(T, width):
    weights = torch.zeros(T, T)
    for t in range(T):
        weights[t, t - width + 1 : t + 1] = 1
    return weights / weights.sum(dim=1, keepdim=True).clamp(min=1)


# Knows windows from filters of images, which look to both sides.
# "Return the weights that average only the last `width` positions, including t."
def window_around_the_present(T, width):
    t = torch.arange(T)
    near = ((t[:, None] - t).abs() < width).float()
    return near / near.sum(dim=1, keepdim=True)


# Followed hint 2 with a matrix of ones, not with the triangle.
# "row t averages positions max(0, t - width + 1) … t"
def window_open_to_the_right(T, width):
    window = torch.triu(torch.ones(T, T), diagonal=1 - width)
    return window / window.sum(dim=1, keepdim=True)


# 01/decay


# Comes from statistics, where smoothing starts at the first value and passes on the rest.
# "The weights of row t are proportional to decay^(t − s)"
def smoothing_as_in_time_series(T, decay):
    weights = torch.zeros(T, T)
    weights[0, 0] = 1.0
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] += 1 - decay
    return weights


# Remembers that weights come out of a softmax.
# "For `decay = 0.5`, row 1 is (1/3, 2/3, 0, …)"
def softmax_of_the_powers(T, decay):
    t = torch.arange(T)
    powers = decay ** (t[:, None] - t).float()
    future = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    return powers.masked_fill(future, -torch.inf).softmax(dim=-1)


# 01/masked-softmax


# Comes from NumPy and picks what is visible with one index, which puts all rows together.
# "every row sums to 1"
def all_visible_in_one_softmax(scores, visible):
    weights = torch.zeros_like(scores)
    weights[visible] = scores[visible].softmax(dim=0)
    return weights


# Read that a mask is added to the scores, and added this one.
# "0 for every position that may not be seen"
def true_adds_one(scores, visible):
    return (scores + visible.float()).softmax(dim=-1)


# Took the mask of the first sample, because all masks of the chapter were (T, T).
# "`visible` is True where position t may see position s"
def first_mask_for_all(scores, visible):
    return scores.masked_fill(~visible[0], -torch.inf).softmax(dim=-1)


# 01/find-fault


# Got NaN and cleaned the matrix before anything else.
# "Every other row is faulty, and so is a row that holds NaN."
def nan_cleaned_away(weights):
    weights = weights.nan_to_num(0.0)
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    return ahead | negative | ((weights.sum(dim=1) - 1).abs() >= 1e-5)


# Thinks of rounding as of `round`.
# "allow sums that differ from 1 by less than 1e-5"
def sums_rounded_to_whole_numbers(weights):
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    return ahead | negative | (weights.sum(dim=1).round() != 1)


# Comes from probabilities: if one is negative, another one has to be larger than 1.
# "no weight is negative"
def negative_only_beside_more_than_one(weights):
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    too_large = (weights > 1).any(dim=1)
    adds_up = (weights.sum(dim=1) - 1).abs() < 1e-5
    return ahead | too_large | ~adds_up


WRITTEN = {
    "01/running-sum": [
        one_total_for_all_channels,
    ],
    "01/past-mean": [
        rolled_from_the_end,
        first_row_sees_everything,
        one_too_many_to_divide_by,
    ],
    "01/window": [
        early_rows_stay_empty,
        window_around_the_present,
        window_open_to_the_right,
    ],
    "01/decay": [
        smoothing_as_in_time_series,
        softmax_of_the_powers,
    ],
    "01/masked-softmax": [
        all_visible_in_one_softmax,
        true_adds_one,
        first_mask_for_all,
    ],
    "01/find-fault": [
        nan_cleaned_away,
        sums_rounded_to_whole_numbers,
        negative_only_beside_more_than_one,
    ],
}

ASIDE = {
    "rolled_from_the_end",
    "smoothing_as_in_time_series",
    "first_mask_for_all",
    "nan_cleaned_away",
    "sums_rounded_to_whole_numbers",
    "negative_only_beside_more_than_one",
}
