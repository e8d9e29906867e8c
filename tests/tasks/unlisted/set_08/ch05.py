"""Wrong answers to chapter 05 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 05/scores


# Tried it on one text, whose second dimension is the head size.
# "`x` has any number of leading dimensions"
def second_dimension_under_the_root(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[1])


# Scales queries and keys, each by the root.
# "Return the scaled scores": products divided by √D
def both_factors_divided(x, w_query, w_key):
    scale = math.sqrt(w_query.shape[1])
    query, key = x @ w_query / scale, x @ w_key / scale
    return query @ key.transpose(-2, -1)


# Copied the chapter's line with the mask in it.
# "No mask and no softmax yet."
def future_hidden_already(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    scores = query @ key.transpose(-2, -1) / math.sqrt(key.shape[-1])
    T = x.shape[-2]
    return scores.masked_fill(torch.ones(T, T, dtype=torch.bool).triu(1), -torch.inf)


# 05/weights


# Divides powers by their sum, with a small number against division by 0.
# "lowering all scores of a row by 50 changes none of its weights"
def small_number_below_the_line(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    visible = past[:T, :T] & real[:, None, :]
    powers = scores.exp() * visible
    return powers / (powers.sum(dim=-1, keepdim=True) + 1e-9)


# Sets the weights of padding to 0 when the softmax is over.
# "rows of symbols sum to 1"
def padding_removed_after_the_softmax(scores, past, start):
    T = scores.shape[-1]
    real = (torch.arange(T) >= start[:, None]).float()
    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)
    return weights * real[:, None, :] * real[:, :, None]


# 05/head


# Copied a head from a well-known video, dropout included.
# "with two features that the chapter's head doesn't have", and no third one
class HeadWithDropout(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))
        self.dropout = nn.Dropout(0.2)
        self.causal = causal

    def forward(self, x):
        T = x.shape[1]
        k, q = self.key(x), self.query(x)
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        if self.causal:
            wei = wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = self.dropout(wei.softmax(dim=-1))
        return wei @ self.value(x)


# Reads the scale off the values, because they were computed last.
# "Its values have a head size of their own, E": the scale is that of queries and keys
class ScaledByTheValues(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size)
        self.key = nn.Linear(n_embd, head_size)
        self.value = nn.Linear(n_embd, value_size)
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size).tril().bool())

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(value.shape[-1])
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1) @ value


# 05/positions


# Got "index out of range" and gave `clamp` a second bound.
# "A text with more symbols than the table has rows must not pass silently."
def last_row_for_all_that_follow(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    rows = where.clamp(0, len(position_table) - 1)
    x = token_table[tokens] + position_table[rows]
    return x * (where >= 0)[:, :, None]


# Comes from Keras, where token 0 is padding.
# "everything before it is padding": `start` says what is, not the token
def token_zero_is_padding(tokens, token_table, position_table, start):
    where = (torch.arange(tokens.shape[1]) - start[:, None]).clamp(min=0)
    x = token_table[tokens] + position_table[where]
    return x * (tokens != 0)[:, :, None]


# Copied the scale of the original Transformer with its embedding.
# "Return the sum of symbol and position embedding"
def symbols_scaled_by_the_root(tokens, token_table, position_table, start):
    C = token_table.shape[1]
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] * math.sqrt(C) + position_table[where.clamp(min=0)]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


# 05/distance


# Took the kernel of chapter 02 for a penalty.
# "the one before it `slope`, the one before that twice as much"
def square_of_the_distance(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    return (scores - slope * back**2).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# Saves a copy of the scores.
# "Unless a task says otherwise, your functions leave what they are given as it was."
def callers_scores_lowered(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    scores -= slope * back
    return scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# 05/cross


# Counts up to and including the length.
# "memory b is padding from position lengths[b] on"
def first_padding_still_seen(x, memory, w_query, w_key, w_value, lengths):
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
    padding = torch.arange(memory.shape[1]) > lengths[:, None]
    return scores.masked_fill(padding[:, None], -torch.inf).softmax(dim=-1) @ value


# Lets a position look at itself as well, as a head does.
# "Now one sequence looks at another."
def sees_itself_beside_the_memory(x, memory, w_query, w_key, w_value, lengths):
    T, S = x.shape[1], memory.shape[1]
    both = torch.cat([memory, x], dim=1)
    scores = (x @ w_query) @ (both @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
    padding = torch.arange(S) >= lengths[:, None]
    hidden = torch.cat([padding, torch.zeros(len(x), T, dtype=torch.bool)], dim=1)
    return scores.masked_fill(hidden[:, None], -torch.inf).softmax(dim=-1) @ (both @ w_value)


WRITTEN = {
    "05/scores": [
        second_dimension_under_the_root,
        both_factors_divided,
        future_hidden_already,
    ],
    "05/weights": [
        small_number_below_the_line,
        padding_removed_after_the_softmax,
    ],
    "05/head": [
        HeadWithDropout,
        ScaledByTheValues,
    ],
    "05/positions": [
        last_row_for_all_that_follow,
        token_zero_is_padding,
        symbols_scaled_by_the_root,
    ],
    "05/distance": [
        square_of_the_distance,
        callers_scores_lowered,
    ],
    "05/cross": [
        first_padding_still_seen,
        sees_itself_beside_the_memory,
    ],
}

ASIDE = {
    "second_dimension_under_the_root",
    "small_number_below_the_line",
    "last_row_for_all_that_follow",
    "symbols_scaled_by_the_root",
    "first_padding_still_seen",
}
