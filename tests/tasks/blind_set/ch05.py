"""Wrong answers to chapter 05 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 05/scores


def root_of_the_channels(x, w_query, w_key):
    """Divides by the root of C, the length of x, not of D, the length of a query."""
    q = x @ w_query
    k = x @ w_key
    return q @ k.transpose(-2, -1) / math.sqrt(x.shape[-1])


def queries_and_keys_both_scaled(x, w_query, w_key):
    """Divides queries and keys by the root of D each, so scores are divided by D."""
    scale = w_query.shape[1] ** -0.5
    queries = scale * (x @ w_query)
    keys = scale * (x @ w_key)
    return torch.einsum("...td,...sd->...ts", queries, keys)


# 05/weights


def small_number_against_division_by_zero(scores, past, start):
    """Exponentials over their sum + 1e-9: rows whose scores are all low fade away."""
    T = scores.shape[-1]
    symbol = torch.arange(T) >= start[:, None]
    visible = past[:T, :T] & symbol[:, None, :]
    e = scores.exp() * visible
    return e / (e.sum(dim=-1, keepdim=True) + 1e-9)


def padding_does_not_look_but_is_seen(scores, past, start):
    """Puts the padding into rows, not columns: symbols still look at padding before them."""
    T = scores.shape[-1]
    position = torch.arange(T)
    is_symbol = position[None, :] >= start[:, None]
    weights = scores.masked_fill(~past[:T, :T], float("-inf")).softmax(dim=-1)
    return weights * is_symbol[:, :, None]


# 05/head


class RootOfTheValueSize(nn.Module):
    """Scales by the root of E, the size of values, not of D."""

    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size).tril().bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(-2, -1) / math.sqrt(v.shape[-1])
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], float("-inf"))
        return scores.softmax(dim=-1) @ v


class MaskCutFromTheBottom(nn.Module):
    """Cuts the last T rows and the first T columns of the triangle: short texts see the future."""

    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.scale = head_size**-0.5
        mask = torch.zeros(block_size, block_size)
        if causal:
            mask = mask.masked_fill(torch.ones_like(mask).triu(1) == 1, float("-inf"))
        self.register_buffer("mask", mask)

    def forward(self, x):
        T = x.shape[1]
        scores = self.query(x) @ self.key(x).mT * self.scale
        scores = scores + self.mask[-T:, :T]
        return torch.softmax(scores, dim=-1) @ self.value(x)


# 05/positions


def only_positions_are_cleared(tokens, token_table, position_table, start):
    """Clears the position embedding of padding, but leaves its symbol embedding."""
    T = tokens.shape[1]
    position = torch.arange(T) - start[:, None]
    is_symbol = (position >= 0)[..., None]
    return token_table[tokens] + position_table[position.clamp(min=0)] * is_symbol


def padding_is_whatever_is_token_zero(tokens, token_table, position_table, start):
    """Clears where the token is 0, a symbol like any other, not where `start` says."""
    positions = (torch.arange(tokens.size(1))[None] - start.unsqueeze(1)).clamp(min=0)
    embedded = token_table[tokens] + position_table[positions]
    return embedded.masked_fill((tokens == 0).unsqueeze(-1), 0.0)


# 05/distance


def far_ones_get_a_bonus(scores, slope):
    """Has the sign of the distance wrong: a step back raises the score."""
    T = scores.shape[-1]
    t = torch.arange(T)
    distance = t[None, :] - t[:, None]
    lowered = scores - slope * distance
    lowered = lowered.masked_fill(distance > 0, float("-inf"))
    return lowered.softmax(dim=-1)


def maximum_includes_the_bonus_of_the_future(scores, slope):
    """Subtracts the row's maximum with the future in it: a large slope leaves only zeros."""
    T = scores.shape[-1]
    steps = torch.arange(T)
    lowered = scores - slope * (steps[:, None] - steps)
    e = torch.exp(lowered - lowered.amax(dim=-1, keepdim=True)).tril()
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)


# 05/cross


def one_symbol_of_padding_is_seen(x, memory, w_query, w_key, w_value, lengths):
    """Hides positions above lengths[b], so the padding at lengths[b] is looked at."""
    S = memory.shape[1]
    q, k, v = x @ w_query, memory @ w_key, memory @ w_value
    scores = q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
    padding = torch.arange(S) > lengths[:, None]
    scores = scores.masked_fill(padding[:, None, :], float("-inf"))
    return scores.softmax(dim=-1) @ v


def cut_at_the_longest_memory(x, memory, w_query, w_key, w_value, lengths):
    """Cuts all memories after the longest one and masks nothing: shorter ones show padding."""
    memory = memory[:, : int(lengths.max())]
    queries = x @ w_query
    keys = memory @ w_key
    values = memory @ w_value
    scale = w_key.shape[1] ** 0.5
    weights = torch.softmax(torch.bmm(queries, keys.mT) / scale, dim=-1)
    return torch.bmm(weights, values)


WRITTEN = {
    "05/scores": [root_of_the_channels, queries_and_keys_both_scaled],
    "05/weights": [small_number_against_division_by_zero, padding_does_not_look_but_is_seen],
    "05/head": [RootOfTheValueSize, MaskCutFromTheBottom],
    "05/positions": [only_positions_are_cleared, padding_is_whatever_is_token_zero],
    "05/distance": [far_ones_get_a_bonus, maximum_includes_the_bonus_of_the_future],
    "05/cross": [one_symbol_of_padding_is_seen, cut_at_the_longest_memory],
}
