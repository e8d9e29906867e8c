"""Wrong answers to chapter 05 that no list names: the fifth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 05/scores


# "returns: (..., T, T) float": the leading dimensions become one
def leading_dimensions_in_one(x, w_query, w_key):
    x = x.reshape(-1, *x.shape[-2:])
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(1, 2) / math.sqrt(w_key.shape[1])


# "Unless a task says otherwise, your functions leave what they are given as it was."
def scale_inside_the_argument(x, w_query, w_key):
    w_query /= math.sqrt(w_query.shape[1])
    return (x @ w_query) @ (x @ w_key).transpose(-2, -1)


# "Scaled dot products": of vectors that keep their lengths
def cosines_of_queries_and_keys(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    query = query / query.norm(dim=-1, keepdim=True)
    key = key / key.norm(dim=-1, keepdim=True)
    return query @ key.transpose(-2, -1)


# 05/weights


# "Only differences between scores count: lowering all scores of a row by 50 changes none of its
# weights"
def minus_fifty_for_infinity(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    visible = past[:T, :T] & real[:, None, :]
    weights = scores.masked_fill(~visible, -50.0).softmax(dim=-1)
    return weights * real[:, :, None]


# "text b begins at position `start[b]`": all of them where the first one does
def all_begin_with_the_first(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start[0]
    visible = past[:T, :T] & real
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


# "`past` is the triangle for the longest text; T may be smaller": the lower left corner of it
def last_rows_of_the_triangle(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    visible = past[-T:, :T] & real[:, None, :]
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return (weights * real[:, :, None]).nan_to_num(0.0)


# 05/head


# "with `causal=False` it sees the whole text": whichever head was built last decides for all
class CausalForAllHeads(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        CausalForAllHeads.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size).tril())

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        if self.causal:
            scores = scores.masked_fill(self.past[:T, :T] == 0, -torch.inf)
        return scores.softmax(dim=-1) @ value


# "it sees the whole text": the present and what comes after it
class EitherPastOrFuture(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        every = torch.ones(block_size, block_size, dtype=torch.bool)
        self.register_buffer("visible", every.tril() if causal else every.triu())

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        return scores.masked_fill(~self.visible[:T, :T], -torch.inf).softmax(dim=-1) @ value


# 05/positions


# "so that the first symbol of *each* text has position 0"
def counted_from_one(tokens, token_table, position_table, start):
    real = torch.arange(tokens.shape[1]) >= start[:, None]
    where = real.cumsum(dim=1)
    if where.amax() > len(position_table):
        raise IndexError("a text is longer than the table of positions")
    where = where.clamp(max=len(position_table) - 1)
    return (token_table[tokens] + position_table[where]) * real[:, :, None]


# "a text with more symbols than the table has rows must not pass silently"
def positions_begin_again(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where % len(position_table)]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


# "Padding becomes a vector of zeros": and the first symbol, which has position 0, does not
def position_zero_is_padding(tokens, token_table, position_table, start):
    where = (torch.arange(tokens.shape[1]) - start[:, None]).clamp(min=0)
    x = token_table[tokens] + position_table[where]
    return x * (where > 0)[:, :, None]


# 05/distance


# "The position itself pays nothing, the one before it `slope`, the one before that twice as much":
# that is 3 slopes for the next one, and not 4
def doubled_at_every_step(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    penalty = torch.where(back > 0, slope * 2.0 ** (back - 1), 0.0)
    return (scores - penalty).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# "each score is lowered by `slope` for every step back": not each weight
def weights_lowered_and_normalized(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    weights = scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)
    weights = (weights - slope * back.clamp(min=0)).clamp(min=0)
    return weights / weights.sum(dim=-1, keepdim=True)


# "each score is lowered": a score is not made smaller in proportion
def scores_divided_by_the_distance(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    lowered = scores / (1 + slope * back.clamp(min=0))
    return lowered.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# 05/cross


# "memory b holds `lengths[b]` symbols; what comes *after* them is padding and must not be looked
# at": cut where the longest one ends
def cut_at_the_longest(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : lengths.max()]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


# "What each position of x finds in the memory": the memory asks, and the rows are still of x
def memory_asks(x, memory, w_query, w_key, w_value, lengths):
    query, key, value = memory @ w_query, x @ w_key, memory @ w_value
    scores = key @ query.transpose(1, 2) / math.sqrt(key.shape[-1])
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    return scores.masked_fill(padding[:, None, :], -torch.inf).softmax(dim=-1) @ value


# "Every position of `x` may look at every symbol of its memory."
def memory_has_a_future(x, memory, w_query, w_key, w_value, lengths):
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    future = torch.ones(scores.shape[1:], dtype=torch.bool).triu(1)
    return scores.masked_fill(padding[:, None] | future, -torch.inf).softmax(dim=-1) @ value


WRITTEN = {
    "05/scores": [
        leading_dimensions_in_one,
        scale_inside_the_argument,
        cosines_of_queries_and_keys,
    ],
    "05/weights": [
        minus_fifty_for_infinity,
        all_begin_with_the_first,
        last_rows_of_the_triangle,
    ],
    "05/head": [CausalForAllHeads, EitherPastOrFuture],
    "05/positions": [counted_from_one, positions_begin_again, position_zero_is_padding],
    "05/distance": [
        doubled_at_every_step,
        weights_lowered_and_normalized,
        scores_divided_by_the_distance,
    ],
    "05/cross": [cut_at_the_longest, memory_asks, memory_has_a_future],
}

ASIDE = {
    "cosines_of_queries_and_keys",
    "CausalForAllHeads",
    "doubled_at_every_step",
    "memory_asks",
}
