"""Wrong answers to chapter 01 that no list names: the tenth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch

# 01/running-sum


# Fixed an error about shapes by trial and error, with `reshape` where `transpose` was needed.
# "Leave the dimensions in their order."
def time_brought_forward_by_reshape(x):
    B, C, T = x.shape
    weights = torch.tril(torch.ones(T, T))  # as in the chapter
    sums = weights @ x.reshape(B, T, C)
    return sums.reshape(B, C, T)


# 01/past-mean


# Comes from NumPy, where `roll` without an axis works on the flat array as well.
# "Return, for every position t, the mean of positions 0 … t − 1."
def running_mean_rolled_without_an_axis(x):
    T = x.shape[1]
    weights = torch.tril(torch.ones(T, T))
    weights = weights / weights.sum(dim=1, keepdim=True)
    past = torch.roll(weights @ x, 1)
    past[:, 0] = 0
    return past


# 01/decay


# Comes from statistics, and knows the recursion mean = decay · mean + (1 − decay) · x, which starts
# with the first number. "The weights of row t are proportional to decay^(t − s)"
def recursion_that_starts_with_the_first(T, decay):
    weights = torch.zeros(T, T)
    weights[0, 0] = 1.0
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


# 01/masked-softmax


# Comes from Keras, whose layer adds (1 − mask) · −1e9, and forgot the "1 −".
# "`visible` is True where position t may see position s."
def adder_of_what_may_be_seen(scores, visible):
    adder = visible.to(scores.dtype) * -1e9
    return torch.softmax(scores + adder, dim=-1)


# 01/find-fault


# Tired, and read "Rounding is no fault" as a call to round.
# "allow sums that differ from 1 by less than 1e-5"
def sums_rounded_to_two_decimals(weights):
    T = len(weights)
    future = torch.ones(T, T).triu(diagonal=1).bool()
    looks_ahead = (weights.masked_fill(~future, 0) != 0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    wrong_sum = torch.round(weights.sum(dim=1), decimals=2) != 1
    return looks_ahead | negative | wrong_sum


WRITTEN = {
    "01/running-sum": [time_brought_forward_by_reshape],
    "01/past-mean": [running_mean_rolled_without_an_axis],
    "01/decay": [recursion_that_starts_with_the_first],
    "01/masked-softmax": [adder_of_what_may_be_seen],
    "01/find-fault": [sums_rounded_to_two_decimals],
}
