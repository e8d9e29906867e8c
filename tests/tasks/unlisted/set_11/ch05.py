"""Wrong answers to chapter 05 that no list names: the eleventh set.

The comment before each says who the student is and which sentence of the statement it breaks.
"""

import math

import torch

# 05/weights


# Masks after the softmax and divides by the sums, raised to 1 to get rid of NaN.
# "rows of symbols sum to 1": sums below 1 stay as they are
def sums_raised_to_one(scores, past, start):
    T = scores.shape[-1]
    positions = torch.arange(T)
    real = positions[None, :] >= start[:, None]
    visible = past[:T, :T] & real[:, None, :] & real[:, :, None]
    weights = torch.softmax(scores, dim=-1) * visible
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1)


# 05/positions


# Comes from Keras, where the embedding of symbols masks, and masks before positions are added.
# "Padding becomes a vector of zeros": it becomes the vector of position 0
def positions_after_the_mask(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    index = torch.arange(T)[None, :] - start[:, None]
    padding = index < 0
    symbols = token_table[tokens].masked_fill(padding.unsqueeze(-1), 0.0)
    positions = position_table[index.clamp(min=0)]
    return symbols + positions


# 05/distance


# Knows from a library that a bias linear in s is enough, and subtracts it as the text says.
# "each score is lowered by `slope` for every step back from t to s": lowered for steps forward
def bias_by_column(scores, slope):
    T = scores.shape[-1]
    bias = slope * torch.arange(T)
    mask = torch.tril(torch.ones(T, T)) == 0
    scores = scores - bias
    scores = scores.masked_fill(mask, float("-inf"))
    return torch.softmax(scores, dim=-1)


# 05/cross


# Tried `memory[:, :lengths]`, got an error, and tried the maximum.
# "memory b holds `lengths[b]` symbols": all hold as many as the longest
def cut_to_the_longest(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : lengths.max()]
    q = x @ w_query
    k = memory @ w_key
    v = memory @ w_value
    scores = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    return torch.softmax(scores, dim=-1) @ v


WRITTEN = {
    "05/weights": [sums_raised_to_one],
    "05/positions": [positions_after_the_mask],
    "05/distance": [bias_by_column],
    "05/cross": [cut_to_the_longest],
}
