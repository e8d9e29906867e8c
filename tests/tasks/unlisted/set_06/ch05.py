"""Wrong answers to chapter 05 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 05/scores


# "Return the scaled scores": queries and keys are both scaled by the root, so scores by D
def root_taken_from_both(x, w_query, w_key):
    root = math.sqrt(w_query.shape[1])
    query, key = x @ w_query / root, x @ w_key / root
    return query @ key.transpose(-2, -1)


# "(T, C) for a single text": it comes back as a batch of one
def single_text_becomes_a_batch(x, w_query, w_key):
    if x.dim() == 2:
        x = x[None]
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.sqrt(w_key.shape[1])


# "Scaled dot products": the root of 8 is not 2
def whole_root(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.isqrt(w_key.shape[1])


# 05/weights


# "A symbol sees the symbols of its own text up to itself: … no padding": the mask is on the rows
def padding_hidden_as_rows_only(scores, past, start):
    T = scores.shape[-1]
    symbols = (torch.arange(T) >= start[:, None])[:, :, None]
    weights = scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1)
    return weights * symbols


# "lowering all scores of a row by 50 changes none of its weights": their powers are then less than
# what is to save the rows of padding
def sums_kept_away_from_zero(scores, past, start):
    T = scores.shape[-1]
    visible = past[:T, :T] & (torch.arange(T) >= start[:, None])[:, None]
    powers = scores.exp() * visible
    return powers / powers.sum(dim=-1, keepdim=True).clamp(min=1e-12)


# "your functions leave what they are given as it was"
def scores_of_padding_overwritten(scores, past, start):
    T = scores.shape[-1]
    for b, first in enumerate(start.tolist()):
        scores[b, :, :first] = -torch.inf
    return scores.masked_fill(~past[:T, :T], -torch.inf).softmax(dim=-1).nan_to_num(0.0)


# 05/head


# "with `causal=False` it sees the whole text": the other half of it
class FutureIfNotCausal(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        visible = torch.ones(block_size, block_size)
        self.register_buffer("visible", (visible.tril() if causal else visible.triu()).bool())

    def forward(self, x):
        T = x.shape[1]
        query, key = self.query(x), self.key(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(~self.visible[:T, :T], -torch.inf).softmax(dim=-1)
        return weights @ self.value(x)


# "with two features that the chapter's head doesn't have": dropout would be a third
class WithDropoutOfChapterSix(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.dropout = nn.Dropout(0.1)
        self.scale = head_size**-0.5
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size).tril().bool())

    def forward(self, x):
        T = x.shape[1]
        scores = self.scale * self.query(x) @ self.key(x).transpose(1, 2)
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return self.dropout(scores.softmax(dim=-1)) @ self.value(x)


# "A text may have any length up to `block_size`.": also after a shorter one
class MaskOfTheFirstText(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.future = None

    def forward(self, x):
        T = x.shape[1]
        if self.future is None:
            self.future = torch.ones(T, T).triu(1).bool()
        query, key = self.query(x), self.key(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(query.shape[-1])
        if self.causal:
            scores = scores.masked_fill(self.future[:T, :T], -torch.inf)
        return scores.softmax(dim=-1) @ self.value(x)


# 05/positions


# "Padding becomes a vector of zeros.": its symbols do, and keep position 0
def symbols_of_padding_cleared(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    symbols = token_table[tokens] * (where >= 0)[:, :, None]
    return symbols + position_table[where.clamp(min=0)]


# "text b begins at position `start[b]`, and everything before it is padding": not every token 0
def token_zero_is_padding(tokens, token_table, position_table, start):
    where = (torch.arange(tokens.shape[1]) - start[:, None]).clamp(min=0)
    x = token_table[tokens] + position_table[where]
    return x.masked_fill((tokens == 0)[:, :, None], 0.0)


# "a text with more symbols than the table has rows must not pass silently": it begins again
def positions_begin_again(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where % len(position_table)]
    return x * (where >= 0)[:, :, None]


# "a text with more symbols than the table has rows": symbols, so padding is not counted
def padding_counted_as_symbols(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    if T > len(position_table):
        raise ValueError(f"{T} positions, but the table has {len(position_table)}")
    where = torch.arange(T) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x * (where >= 0)[:, :, None]


# 05/distance


# "the one before it `slope`, the one before that twice as much": four times
def squared_distance(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    penalized = scores - slope * back.square()
    return penalized.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# "with slope 0 anywhere": anywhere in the past, for "Return causal weights under this penalty."
def slope_zero_looks_everywhere(scores, slope):
    if slope == 0:
        return scores.softmax(dim=-1)
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    return (scores - slope * back).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# "rows sum to 1": also where the bonus of the far future is infinite, and 0 times it NaN
def bonus_of_the_future_times_zero(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    penalized = scores - scores.amax(dim=-1, keepdim=True) - slope * back
    powers = penalized.exp() * (back >= 0)
    return powers / powers.sum(dim=-1, keepdim=True)


# 05/cross


# "must not be looked at": gets the smallest weight of its row
def padding_gets_the_smallest_score(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    scores = torch.where(padding[:, None], scores.amin(dim=-1, keepdim=True), scores)
    return scores.softmax(dim=-1) @ (memory @ w_value)


# "memory b holds `lengths[b]` symbols": all of them are cut to the longest, and left at that
def cut_to_the_longest(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : lengths.max()]
    scores = (x @ w_query) @ (memory @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
    return scores.softmax(dim=-1) @ (memory @ w_value)


# "what comes after them is padding and must not be looked at": after a softmax in which large
# scores of padding have left nothing to others
def padding_taken_out_of_the_weights(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).transpose(1, 2) / math.sqrt(w_key.shape[1])
    symbols = (torch.arange(memory.shape[1]) < lengths[:, None])[:, None]
    weights = scores.softmax(dim=-1) * symbols
    return weights / weights.sum(dim=-1, keepdim=True) @ (memory @ w_value)


WRITTEN = {
    "05/scores": [root_taken_from_both, single_text_becomes_a_batch, whole_root],
    "05/weights": [
        padding_hidden_as_rows_only,
        sums_kept_away_from_zero,
        scores_of_padding_overwritten,
    ],
    "05/head": [FutureIfNotCausal, WithDropoutOfChapterSix, MaskOfTheFirstText],
    "05/positions": [
        symbols_of_padding_cleared,
        token_zero_is_padding,
        positions_begin_again,
        padding_counted_as_symbols,
    ],
    "05/distance": [
        squared_distance,
        slope_zero_looks_everywhere,
        bonus_of_the_future_times_zero,
    ],
    "05/cross": [
        padding_gets_the_smallest_score,
        cut_to_the_longest,
        padding_taken_out_of_the_weights,
    ],
}

ASIDE = {
    "single_text_becomes_a_batch",
    "sums_kept_away_from_zero",
    "scores_of_padding_overwritten",
    "FutureIfNotCausal",
    "WithDropoutOfChapterSix",
    "MaskOfTheFirstText",
    "symbols_of_padding_cleared",
    "token_zero_is_padding",
    "positions_begin_again",
    "squared_distance",
    "slope_zero_looks_everywhere",
    "cut_to_the_longest",
    "padding_taken_out_of_the_weights",
}
