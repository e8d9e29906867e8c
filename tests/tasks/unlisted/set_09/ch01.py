"""Wrong answers to chapter 01 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import torch

# 01/running-sum


# Comes from Java and adds up in the array at hand.
# "Unless a task says otherwise, your functions leave what they are given as it was."
def each_step_added_to_the_argument(x):
    T = x.shape[-1]
    for t in range(1, T):
        x[:, :, t] += x[:, :, t - 1]
    return x


# Took the chapter's product, which wanted time in the middle, and then repaired the shape by
# trial and error.
# "Leave the dimensions in their order."
def shape_repaired_by_reshape(x):
    B, C, T = x.shape
    triangle = torch.tril(torch.ones(T, T))
    y = triangle @ x.transpose(1, 2)
    return y.reshape(B, C, T)


# 01/past-mean


# Comes from pandas, where one shifts first and then takes the mean of what there is.
# "the mean of positions 0 … t − 1": of t positions, not of t and a zero
def shifted_then_the_mean_of_the_chapter(x):
    B, T, C = x.shape
    shifted = torch.cat([torch.zeros(B, 1, C), x[:, :-1]], dim=1)
    triangle = torch.tril(torch.ones(T, T))
    weights = triangle / triangle.sum(dim=1, keepdim=True)
    return weights @ shifted


# Met the NaN of the empty mean and made the slice one longer where it was empty.
# "There is nothing before position 0, so we define its mean as 0 in every channel."
def first_position_sees_itself(x):
    y = torch.zeros_like(x)
    for t in range(x.shape[1]):
        y[:, t] = x[:, : max(t, 1)].mean(dim=1)
    return y


# Comes from NumPy and leaves the axis out when in a hurry.
# "the mean of positions 0 … t − 1", channel by channel: (B, T, C) → (B, T, C)
def one_mean_for_all_channels(x):
    B, T, C = x.shape
    y = torch.zeros(B, T, C)
    for b in range(B):
        for t in range(1, T):
            y[b, t] = x[b, :t].mean()
    return y


# 01/window


# Knows the moving average of pandas, which begins when the window is full.
# "Where there are fewer than `width`, average the ones that exist"
def nothing_until_the_window_is_full(T, width):
    weights = torch.zeros(T, T)
    for t in range(width - 1, T):
        weights[t, t - width + 1 : t + 1] = 1 / width
    return weights


# Comes from Java, where a negative index would have been an error.
# "row t averages positions max(0, t - width + 1) … t"
def negative_positions_read_from_the_end(T, width):
    weights = torch.zeros(T, T)
    width = min(width, T)
    for t in range(T):
        for s in range(t - width + 1, t + 1):
            weights[t, s] = 1
    return weights / weights.sum(dim=1, keepdim=True)


# 01/decay


# Knows the recursion of exponential smoothing, whose rows add up to 1 as well.
# "The weights of row t are proportional to decay^(t − s)", that of position 0 too
def smoothing_by_recursion(T, decay):
    weights = torch.zeros(T, T)
    weights[0, 0] = 1.0
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


# Remembers the factor alpha of another library, with which the past fades by 1 − alpha.
# "each step further back counts `decay` times as much as the step before"
def decay_taken_for_what_is_lost(T, decay):
    t = torch.arange(T)
    distance = t[:, None] - t
    weights = torch.tril((1 - decay) ** distance)
    return weights / weights.sum(dim=1, keepdim=True)


# 01/masked-softmax


# Comes from NumPy and writes where the mask says so.
# "Unless a task says otherwise, your functions leave what they are given as it was."
def minus_infinity_written_into_the_scores(scores, visible):
    scores[~visible] = float("-inf")
    return torch.softmax(scores, dim=-1)


# Copied the chapter's cell and put the new mask on top of the old one.
# "Not every mask is a triangle"
def triangle_of_the_chapter_as_well(scores, visible):
    T = scores.shape[-1]
    future = torch.triu(torch.ones(T, T, dtype=torch.bool), diagonal=1)
    scores = scores.masked_fill(future, -1e9)
    scores = scores.masked_fill(~visible, -1e9)
    return scores.softmax(dim=-1)


# Remembered a very large number with a minus in it.
# "0 for every position that may not be seen"
def tiny_number_instead_of_a_large_one(scores, visible):
    scores = torch.where(visible, scores, torch.tensor(-1e-9))
    weights = scores.exp()
    return weights / weights.sum(dim=-1, keepdim=True)


# 01/find-fault


# Thought of weights that count too much, never of those that are missing.
# "its weights add up to 1"
def only_sums_that_are_too_large(weights):
    future = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    too_much = weights.sum(dim=1) - 1 > 1e-5
    nan = weights.isnan().any(dim=1)
    return future | negative | too_much | nan


# Comes from Java, goes through the rows, and reads "no weight is negative" as "all are positive".
# "A weight of 0 is no fault either, wherever it is."
def zeros_of_the_past_reported(weights):
    T = weights.shape[0]
    faulty = torch.zeros(T, dtype=torch.bool)
    for t in range(T):
        past = weights[t, : t + 1]
        future = weights[t, t + 1 :]
        sound = (past > 0).all() and (future == 0).all() and abs(past.sum() - 1) < 1e-5
        faulty[t] = not sound
    return faulty


# Found `allclose` in the chapter and asked it once.
# "it says for each row whether the row is faulty"
def sums_judged_all_together(weights):
    T = len(weights)
    faulty = (weights.triu(1) != 0).any(dim=1) | (weights < 0).any(dim=1)
    faulty |= weights.isnan().any(dim=1)
    if not torch.allclose(weights.sum(dim=1), torch.ones(T), atol=1e-5):
        faulty = torch.ones(T, dtype=torch.bool)
    return faulty


WRITTEN = {
    "01/running-sum": [each_step_added_to_the_argument, shape_repaired_by_reshape],
    "01/past-mean": [
        shifted_then_the_mean_of_the_chapter,
        first_position_sees_itself,
        one_mean_for_all_channels,
    ],
    "01/window": [
        nothing_until_the_window_is_full,
        negative_positions_read_from_the_end,
    ],
    "01/decay": [
        smoothing_by_recursion,
        decay_taken_for_what_is_lost,
    ],
    "01/masked-softmax": [
        minus_infinity_written_into_the_scores,
        triangle_of_the_chapter_as_well,
        tiny_number_instead_of_a_large_one,
    ],
    "01/find-fault": [
        only_sums_that_are_too_large,
        zeros_of_the_past_reported,
        sums_judged_all_together,
    ],
}

ASIDE = {
    "each_step_added_to_the_argument",
    "negative_positions_read_from_the_end",
    "smoothing_by_recursion",
    "tiny_number_instead_of_a_large_one",
    "sums_judged_all_together",
}
