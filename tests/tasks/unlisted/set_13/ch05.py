"""Wrong answers to chapter 05 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 05/scores


def halved_head_size(x, w_query, w_key):
    """Writes the root as D ** 1 / 2, which is half of D: the power binds more tightly."""
    query, key = x @ w_query, x @ w_key
    scale = w_key.shape[1] ** 1 / 2
    return query @ key.transpose(-2, -1) / scale


def leading_dimensions_stay_flat(x, w_query, w_key):
    """Flattens all leading dimensions to one batch dimension and never restores them."""
    T, C = x.shape[-2:]
    rows = x.reshape(-1, T, C)
    query, key = rows @ w_query, rows @ w_key
    return query @ key.transpose(1, 2) / math.sqrt(w_key.shape[1])


def measured_deviation(x, w_query, w_key):
    """Divides by the standard deviation that the scores happen to have instead of by root D."""
    query, key = x @ w_query, x @ w_key
    scores = query @ key.transpose(-2, -1)
    return scores / scores.std()


# 05/weights


def padding_adds_up_over_texts(scores, past, start):
    """Copies the triangle once, before the loop: a text also hides the padding of earlier ones."""
    B, T, _ = scores.shape
    visible = past[:T, :T].clone()
    weights = torch.zeros_like(scores)
    for b in range(B):
        first = int(start[b])
        visible[:, :first] = False
        weights[b] = scores[b].masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return weights.nan_to_num(0.0)


def padding_sees_itself(scores, past, start):
    """Lets each position see itself against NaN, so rows of padding have a 1 on the diagonal."""
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    visible = past[:T, :T] & real[:, None, :] | torch.eye(T, dtype=torch.bool)
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)


def starts_count_from_the_longest_text(scores, past, start):
    """Takes `start` for a place in the longest text: compares block_size columns, keeps T last."""
    T = scores.shape[-1]
    real = torch.arange(past.shape[0]) >= start[:, None]
    visible = past[:T, :T] & real[:, None, -T:]
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1)
    return weights.nan_to_num(0.0)


# 05/head


class OneLayerForQueryAndKey(nn.Module):
    """Assigns query and key in one chain, so both names are the same layer and share a weight."""

    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size, dtype=torch.bool).tril())

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1) @ value


class MaskShrinksForGood(nn.Module):
    """Stores the mask cut to a text as the buffer, so a longer text afterwards ends in an error."""

    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size, dtype=torch.bool).tril())

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        if self.causal:
            self.past = self.past[:T, :T]
            scores = scores.masked_fill(~self.past, -torch.inf)
        return scores.softmax(dim=-1) @ value


class ScaledAfterSoftmax(nn.Module):
    """Divides the weights by root D after the softmax instead of the scores before it."""

    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.head_size = head_size
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size, dtype=torch.bool).tril())

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2)
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        weights = scores.softmax(dim=-1) / math.sqrt(self.head_size)
        return weights @ value


# 05/positions


def first_symbol_taken_for_padding(tokens, token_table, position_table, start):
    """Finds padding after the clamp, as position 0, so each first symbol becomes 0 as well."""
    where = torch.arange(tokens.shape[1]) - start[:, None]
    where = where.clamp(min=0)
    x = token_table[tokens] + position_table[where]
    return x.masked_fill((where == 0)[:, :, None], 0.0)


def symbol_zero_is_padding(tokens, token_table, position_table, start):
    """Takes every symbol with number 0 for padding instead of what lies before `start`."""
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x * (tokens != 0)[:, :, None]


def refuses_wide_rows(tokens, token_table, position_table, start):
    """Compares the width of the rows with the table, padding included, and refuses wider ones."""
    T = tokens.shape[1]
    if T > len(position_table):
        raise ValueError(f"{T} symbols, but only {len(position_table)} positions")
    where = torch.arange(T) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


# 05/distance


def penalty_doubles(scores, slope):
    """Reads "twice as much" as doubling at every step: slope, 2, 4, 8 times slope."""
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    penalty = slope * 2.0 ** (back - 1)
    penalty = penalty.masked_fill(back <= 0, 0.0)
    return (scores - penalty).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


def scores_fade(scores, slope):
    """Multiplies the scores by exp(-slope * distance) instead of subtracting slope * distance."""
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    faded = scores * torch.exp(-slope * back.clamp(min=0))
    return faded.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


def factors_overflow_in_the_future(scores, slope):
    """Multiplies weights by exp(-slope * distance): infinite in the future, and 0 * inf is NaN."""
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    weights = scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)
    weights = weights * torch.exp(-slope * back)
    return weights / weights.sum(dim=-1, keepdim=True)


# 05/cross


def cut_to_the_longest_memory(x, memory, w_query, w_key, w_value, lengths):
    """Cuts the batch to its longest memory and masks nothing: shorter ones keep padding."""
    memory = memory[:, : int(lengths.max())]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


def padding_gets_the_lowest_score(x, memory, w_query, w_key, w_value, lengths):
    """Gives padding the lowest of all scores instead of -inf, so it still gets some weight."""
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    weights = scores.masked_fill(padding[:, None, :], scores.min()).softmax(dim=-1)
    return weights @ value


def memory_with_x_behind_it(x, memory, w_query, w_key, w_value, lengths):
    """Takes keys and values from the memory and from x together, so x looks at itself as well."""
    both = torch.cat([memory, x], dim=1)
    query, key, value = x @ w_query, both @ w_key, both @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    place = torch.arange(both.shape[1])
    padding = (place >= lengths[:, None]) & (place < memory.shape[1])
    weights = scores.masked_fill(padding[:, None, :], -torch.inf).softmax(dim=-1)
    return weights @ value


# 05/choosing


def choice_taken_away_after_training():
    """Trains one model, and sets its queries to zero only afterwards, for the second number."""
    return {"text": "shakespeare", "chosen": 2.436, "equal": 3.061}


def whole_head_zeroed():
    """Sets all layers of the head to zero and freezes them, values too: nothing is passed on."""
    return {"text": "shakespeare", "chosen": 2.436, "equal": 3.356}


def batches_of_the_default_size():
    """Forgets batch_size=128, so both models train on the default of 32 windows a step."""
    return {"text": "shakespeare", "chosen": 2.510, "equal": 2.880}


WRITTEN = {
    "05/scores": [halved_head_size, leading_dimensions_stay_flat, measured_deviation],
    "05/weights": [
        padding_adds_up_over_texts,
        padding_sees_itself,
        starts_count_from_the_longest_text,
    ],
    "05/head": [OneLayerForQueryAndKey, MaskShrinksForGood, ScaledAfterSoftmax],
    "05/positions": [first_symbol_taken_for_padding, symbol_zero_is_padding, refuses_wide_rows],
    "05/distance": [penalty_doubles, scores_fade, factors_overflow_in_the_future],
    "05/cross": [
        cut_to_the_longest_memory,
        padding_gets_the_lowest_score,
        memory_with_x_behind_it,
    ],
    "05/choosing": [
        choice_taken_away_after_training,
        whole_head_zeroed,
        batches_of_the_default_size,
    ],
}

ASIDE = {
    "ScaledAfterSoftmax",
    "leading_dimensions_stay_flat",
    "padding_gets_the_lowest_score",
    "padding_sees_itself",
    "penalty_doubles",
    "symbol_zero_is_padding",
    "whole_head_zeroed",
}
