"""Wrong answers to chapter 05 that no list names: the seventh set, as students hand them in.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 05/scores


# Remembers `C**-0.5` from a video, where C and the head size were mixed up.
# "Return the scaled scores": a score is a sum of D products
def scaled_by_the_channels(x, w_query, w_key):
    C = x.shape[-1]
    q = x @ w_query
    k = x @ w_key
    return q @ k.transpose(-2, -1) * C**-0.5


# Likes einsum, and wrote the two letters in the order of the alphabet.
# "entry (t, s) compares the query of t with the key of s"
def letters_in_alphabetical_order(x, w_query, w_key):
    q = torch.einsum("...tc,cd->...td", x, w_query)
    k = torch.einsum("...tc,cd->...td", x, w_key)
    scores = torch.einsum("...td,...sd->...st", q, k)
    return scores / math.sqrt(q.shape[-1])


# 05/weights


# Tried both places for the new axis and kept the first that ran.
# "A symbol sees the symbols of its own text up to itself: no future, no padding."
def rows_of_padding_hidden_only(scores, past, start):
    T = scores.shape[-1]
    symbol = torch.arange(T)[None, :] >= start[:, None]  # (B, T)
    visible = past[:T, :T] & symbol.unsqueeze(-1)
    weights = scores.masked_fill(~visible, float("-inf")).softmax(dim=-1)
    return torch.nan_to_num(weights)


# Copied the smallest number from a library, which never meets NaN. "Rows of padding are 0
# throughout"
def smallest_number_of_a_library(scores, past, start):
    T = scores.shape[-1]
    mask = past[:T, :T].unsqueeze(0)
    padding = torch.arange(T)[None, None, :] < start[:, None, None]
    mask = mask & ~padding
    scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return F.softmax(scores, dim=-1)


# 05/head


# Overlooked that methods without an underscore return something new.
# "whether the future is hidden"
class MaskNotAssigned(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size)
        self.key = nn.Linear(n_embd, head_size)
        self.value = nn.Linear(n_embd, value_size)
        self.head_size = head_size
        self.causal = causal
        self.register_buffer("tril", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        T = x.shape[1]
        q = self.query(x)
        k = self.key(x)
        v = self.value(x)
        wei = q @ k.transpose(-2, -1) * self.head_size**-0.5
        if self.causal:
            wei.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        wei = F.softmax(wei, dim=-1)
        return wei @ v


# 05/positions


# Sets the symbols of the padding to 0 and stops there. "Padding becomes a vector of zeros."
def zero_symbols_with_a_position(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    where = torch.arange(T).unsqueeze(0) - start.unsqueeze(1)
    symbols = token_table[tokens] * (where >= 0).unsqueeze(-1)
    return symbols + position_table[where.clamp(min=0)]


# An IndexError came, and clamping on both sides made it go away. "a text with more symbols than
# the table has rows must not pass silently"
def clamped_on_both_sides(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    index = torch.arange(T) - start[:, None]
    real = index >= 0
    index = index.clamp(0, len(position_table) - 1)
    x = token_table[tokens] + position_table[index]
    return x * real[:, :, None]


# 05/distance


# Takes the distance the other way round. "lowered by `slope` for every step back from t to s"
def bonus_for_the_distant(scores, slope):
    T = scores.shape[-1]
    t = torch.arange(T)
    distance = t[None, :] - t[:, None]
    penalized = scores - slope * distance
    future = torch.ones(T, T).triu(diagonal=1).bool()
    return penalized.masked_fill(future, float("-inf")).softmax(dim=-1)


# Takes the triangle that averaged in chapter 01. "Return causal weights"
def triangle_of_scores(scores, slope):
    T = scores.size(-1)
    i = torch.arange(T).view(T, 1)
    j = torch.arange(T).view(1, T)
    scores = torch.tril(scores - slope * (i - j))
    return torch.softmax(scores, dim=-1)


# 05/cross


# Took over the triangle of the chapter's head. "Every position of `x` may look at every symbol of
# its memory."
def triangle_over_the_memory(x, memory, w_query, w_key, w_value, lengths):
    T, S = x.shape[1], memory.shape[1]
    q = x @ w_query
    k = memory @ w_key
    v = memory @ w_value
    scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    tril = torch.tril(torch.ones(T, S, dtype=torch.bool))
    real = torch.arange(S)[None, :] < lengths[:, None]
    mask = tril[None] & real[:, None, :]
    weights = F.softmax(scores.masked_fill(~mask, float("-inf")), dim=-1)
    return weights @ v


# Believes that zeros are not looked at. "what comes *after* them is padding and must not be looked
# at"
def zeros_for_padding(x, memory, w_query, w_key, w_value, lengths):
    S = memory.shape[1]
    keep = (torch.arange(S) < lengths[:, None]).float()
    memory = memory * keep.unsqueeze(2)
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(w_key.shape[1])
    return torch.bmm(scores.softmax(dim=2), value)


WRITTEN = {
    "05/scores": [scaled_by_the_channels, letters_in_alphabetical_order],
    "05/weights": [rows_of_padding_hidden_only, smallest_number_of_a_library],
    "05/head": [MaskNotAssigned],
    "05/positions": [zero_symbols_with_a_position, clamped_on_both_sides],
    "05/distance": [bonus_for_the_distant, triangle_of_scores],
    "05/cross": [triangle_over_the_memory, zeros_for_padding],
}
