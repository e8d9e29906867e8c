"""Wrong answers to chapter 01 that no list names: the eleventh set.

The comment before each says who the student is and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F

# 01/past-mean


# Shifts a running mean as `np.roll` does without an axis, across rows and channels.
# "Position t holds the mean of positions 0 … t - 1": t holds those of other channels
def rolled_over_everything(x):
    T = x.shape[1]
    count = torch.arange(1, T + 1).view(1, T, 1)
    mean = x.cumsum(dim=1) / count
    mean = torch.roll(mean, 1)
    mean[:, 0] = 0
    return mean


# 01/decay


# Comes from statistics and knows the recursion y = (1 - decay) x + decay y; its rows sum to 1.
# "The weights of row t are proportional to decay^(t-s)": the first column is not
def recursion_of_a_smoother(T, decay):
    weights = torch.zeros(T, T)
    weights[0, 0] = 1.0
    for t in range(1, T):
        weights[t] = decay * weights[t - 1]
        weights[t, t] = 1 - decay
    return weights


# 01/masked-softmax


# Renormalizes with a function found by its name, whose default is the Euclidean length.
# "every row sums to 1": here the squares do
def normalized_by_length(scores, visible):
    weights = torch.softmax(scores, dim=-1)
    weights = weights * visible
    return F.normalize(weights, dim=-1)


# 01/find-fault


# Is in a hurry and forgets `abs`, testing only with a row that holds too much.
# "its weights add up to 1": a row that adds up to less passes
def only_too_large_a_sum(weights):
    future = torch.triu(weights, diagonal=1).ne(0).any(dim=1)
    negative = (weights < 0).any(dim=1)
    wrong_sum = weights.sum(dim=1) - 1 >= 1e-5
    nan = weights.isnan().any(dim=1)
    return future | negative | wrong_sum | nan


WRITTEN = {
    "01/past-mean": [rolled_over_everything],
    "01/decay": [recursion_of_a_smoother],
    "01/masked-softmax": [normalized_by_length],
    "01/find-fault": [only_too_large_a_sum],
}
