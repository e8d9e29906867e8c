"""Wrong answers to chapter 05 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 05/scores


# Took `d_k = query.size(-1)` from a library and moved the line below the product: "scaled", by the
# root of D and not of T
def scale_of_the_scores_axis(x, w_query, w_key):
    scores = (x @ w_query) @ (x @ w_key).transpose(-2, -1)
    d_k = scores.size(-1)
    return scores / math.sqrt(d_k)


# Writes `einsum` with letters of their own and mixes them up at the end: "Row t holds the scores of
# the query at position t."
def einsum_with_rows_of_keys(x, w_query, w_key):
    q = torch.einsum("...tc,cd->...td", x, w_query)
    k = torch.einsum("...tc,cd->...td", x, w_key)
    return torch.einsum("...id,...jd->...ji", q, k) / math.sqrt(w_query.shape[1])


# 05/weights


# Put the mask of symbols on the rows until the shapes agreed: "no future, no padding"
def padding_hidden_in_rows(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    visible = past[:T, :T] & real[:, :, None]
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return weights.nan_to_num(0.0)


# Read `start` as the last position of the padding: "text b begins at position `start[b]`"
def text_begins_after_its_start(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T)[None, :] > start[:, None]
    visible = past[:T, :T] & real[:, None, :]
    weights = torch.softmax(scores.masked_fill(~visible, float("-inf")), dim=-1)
    return torch.where(weights.isnan(), 0.0, weights)


# Had the chapter's causal weights already and only cleaned up the padding: "rows of symbols sum
# to 1"
def padding_wiped_out_afterwards(scores, past, start):
    T = scores.shape[-1]
    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)
    real = (torch.arange(T) >= start[:, None]).float()
    return weights * real[:, :, None] * real[:, None, :]


# 05/head


# From Java, where a method changes its object: "with `causal=False` it sees the whole text", and
# here with `causal=True` as well
class TriangleThrownAway(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size)
        self.key = nn.Linear(n_embd, head_size)
        self.value = nn.Linear(n_embd, value_size)
        self.head_size = head_size
        mask = torch.ones(block_size, block_size, dtype=torch.bool)
        if causal:
            mask.tril()
        self.register_buffer("mask", mask)

    def forward(self, x):
        T = x.shape[1]
        scores = self.query(x) @ self.key(x).transpose(-2, -1) / self.head_size**0.5
        scores = scores.masked_fill(self.mask[:T, :T] == 0, float("-inf"))
        return F.softmax(scores, dim=-1) @ self.value(x)


# Took the library's function and believes that it divides by `scale`: each output is no longer the
# average by *scaled* scores of "one head of self-attention"
class ScaleUpsideDown(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.scale = math.sqrt(head_size)
        self.causal = causal

    def forward(self, x):
        return F.scaled_dot_product_attention(
            self.query(x), self.key(x), self.value(x), is_causal=self.causal, scale=self.scale
        )


# 05/positions


# Used to libraries in which token 0 is padding: "Padding becomes a vector of zeros", and here
# `start` says where it is
def token_zero_as_padding(tokens, token_table, position_table, start):
    real = tokens != 0
    where = (torch.arange(tokens.shape[1]) - start[:, None]).clamp(min=0)
    x = token_table[tokens] + position_table[where]
    return x * real[:, :, None]


# Got an IndexError and clamped at both ends: "A text with more symbols than the table has rows must
# not pass silently."
def clamped_at_both_ends(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    rows = where.clamp(0, len(position_table) - 1)
    x = token_table[tokens] + position_table[rows]
    x[where < 0] = 0
    return x


# Remembers `attention_mask.cumsum(-1)` from a library without the `- 1`: "the first symbol of
# *each* text has position 0"
def positions_from_one(tokens, token_table, position_table, start):
    mask = (torch.arange(tokens.shape[1]) >= start[:, None]).long()
    positions = mask.cumsum(dim=-1)
    return (token_table[tokens] + position_table[positions]) * mask.unsqueeze(-1)


# 05/distance


# From statistics, lets the scores decay like weights: "each score is lowered by `slope` for every
# step back"
def scores_that_decay(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t[None, :]
    decayed = scores * torch.exp(-slope * back.clamp(min=0))
    return decayed.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# Hurried, takes the row and the column of the two ranges the wrong way round: "The position itself
# pays nothing, the one before it `slope`"
def distance_the_wrong_way_round(scores, slope):
    T = scores.shape[-1]
    distance = torch.arange(T)[None, :] - torch.arange(T)[:, None]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    return (scores - slope * distance).masked_fill(~past, -torch.inf).softmax(dim=-1)


# 05/cross


# Compares with the wrong sign of inequality: "what comes *after* them is padding", which begins at
# position lengths[b]
def first_padding_let_in(x, memory, w_query, w_key, w_value, lengths):
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    padding = torch.arange(memory.shape[1]) > lengths[:, None]
    weights = scores.masked_fill(padding[:, None, :], -torch.inf).softmax(dim=-1)
    return weights @ value


# Started from their own head and left its triangle in: "Every position of `x` may look at every
# symbol of its memory."
def triangle_left_in(x, memory, w_query, w_key, w_value, lengths):
    T, S = x.shape[1], memory.shape[1]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    symbols = torch.arange(S) < lengths[:, None]
    past = torch.ones(T, S, dtype=torch.bool).tril()
    scores = scores.masked_fill(~(past & symbols[:, None, :]), -torch.inf)
    return scores.softmax(dim=-1) @ value


# Tired, cuts the batch to its longest memory and takes that for the mask: "memory b holds
# `lengths[b]` symbols; what comes *after* them is padding and must not be looked at"
def cut_to_the_longest_memory(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : lengths.max()]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(w_key.shape[1])
    return scores.softmax(dim=-1) @ value


WRITTEN = {
    "05/scores": [scale_of_the_scores_axis, einsum_with_rows_of_keys],
    "05/weights": [
        padding_hidden_in_rows,
        text_begins_after_its_start,
        padding_wiped_out_afterwards,
    ],
    "05/head": [TriangleThrownAway, ScaleUpsideDown],
    "05/positions": [token_zero_as_padding, clamped_at_both_ends, positions_from_one],
    "05/distance": [scores_that_decay, distance_the_wrong_way_round],
    "05/cross": [first_padding_let_in, triangle_left_in, cut_to_the_longest_memory],
}

ASIDE = {
    "scale_of_the_scores_axis",
    "einsum_with_rows_of_keys",
    "padding_hidden_in_rows",
    "text_begins_after_its_start",
    "padding_wiped_out_afterwards",
    "clamped_at_both_ends",
    "scores_that_decay",
    "triangle_left_in",
}
