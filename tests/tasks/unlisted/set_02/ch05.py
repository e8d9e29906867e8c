"""Wrong answers to chapter 05, second set."""

import math

import torch
from torch import nn


def scores_by_the_root_of_the_length(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.sqrt(x.shape[-2])


def scores_scaled_twice(x, w_query, w_key):
    root = math.sqrt(w_key.shape[1])
    query, key = x @ w_query / root, x @ w_key / root
    return query @ key.transpose(-2, -1)


def scores_as_cosines(x, w_query, w_key):
    """Divides by the lengths of the vectors, not by the root of their size."""
    query, key = x @ w_query, x @ w_key
    query = query / query.norm(dim=-1, keepdim=True)
    return query @ (key / key.norm(dim=-1, keepdim=True)).transpose(-2, -1)


def weights_without_the_first_symbol(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) > start[:, None]
    visible = past[:T, :T] & real[:, None, :]
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


def weights_that_leave_padding_uniform(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    visible = past[:T, :T] & real[:, None, :]
    return scores.masked_fill(~visible, -1e9).softmax(dim=-1)


def weights_of_the_earliest_start(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start.min()
    weights = scores.masked_fill(~(past[:T, :T] & real), -torch.inf).softmax(dim=-1)
    return weights.nan_to_num(0.0)


class _Head(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        past = torch.ones(block_size, block_size, dtype=torch.bool).tril()
        self.register_buffer("past", past, persistent=False)

    def weights(self, x):
        T = x.shape[1]
        query, key = self.query(x), self.key(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1)


class HeadWithValuesOfTheQuerySize(_Head):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__(n_embd, head_size, head_size, block_size, causal)

    def forward(self, x):
        return self.weights(x) @ self.value(x)


class HeadScaledByTheValues(_Head):
    def forward(self, x):
        T, value = x.shape[1], self.value(x)
        scores = self.query(x) @ self.key(x).transpose(1, 2) / math.sqrt(value.shape[-1])
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1) @ value


class HeadThatNormalizesQueries(_Head):
    def forward(self, x):
        T = x.shape[1]
        query, key = self.query(x), self.key(x)
        query = query / query.norm(dim=-1, keepdim=True)
        scores = query @ key.transpose(1, 2)
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1) @ self.value(x)


def embedded_beyond_the_table(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    at = where.clamp(min=0, max=len(position_table) - 1)
    x = token_table[tokens] + position_table[at]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


def embedded_padding_without_position(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    places = position_table[where.clamp(min=0)].masked_fill((where < 0)[:, :, None], 0.0)
    return token_table[tokens] + places


def embedded_from_the_mean_of_both(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = (token_table[tokens] + position_table[where.clamp(min=0)]) / 2
    return x.masked_fill((where < 0)[:, :, None], 0.0)


def penalty_on_the_squared_distance(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    return (scores - slope * back**2).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


def penalty_after_the_softmax(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    weights = scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)
    return weights * (-slope * back.clamp(min=0)).exp()


def penalty_that_begins_two_back(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    lowered = scores - slope * (back - 1).clamp(min=0)
    return lowered.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


def cross_with_zeros_for_padding(x, memory, w_query, w_key, w_value, lengths):
    real = torch.arange(memory.shape[1]) < lengths[:, None]
    memory = memory * real[:, :, None]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


def cross_up_to_the_longest(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : int(lengths.max())]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


def cross_that_is_causal(x, memory, w_query, w_key, w_value, lengths):
    """Position t of x sees only the first t + 1 symbols of the memory."""
    T, S = x.shape[1], memory.shape[1]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    hidden = (torch.arange(S) >= lengths[:, None])[:, None] | torch.ones(T, S).triu(1).bool()
    return scores.masked_fill(hidden, -torch.inf).softmax(dim=-1) @ value


WRITTEN = {
    "05/scores": [scores_by_the_root_of_the_length, scores_scaled_twice, scores_as_cosines],
    "05/weights": [
        weights_without_the_first_symbol,
        weights_that_leave_padding_uniform,
        weights_of_the_earliest_start,
    ],
    "05/head": [HeadWithValuesOfTheQuerySize, HeadScaledByTheValues, HeadThatNormalizesQueries],
    "05/positions": [
        embedded_beyond_the_table,
        embedded_padding_without_position,
        embedded_from_the_mean_of_both,
    ],
    "05/distance": [
        penalty_on_the_squared_distance,
        penalty_after_the_softmax,
        penalty_that_begins_two_back,
    ],
    "05/cross": [cross_with_zeros_for_padding, cross_up_to_the_longest, cross_that_is_causal],
}

ASIDE = {
    "scores_as_cosines",
    "weights_of_the_earliest_start",
    "HeadThatNormalizesQueries",
    "embedded_from_the_mean_of_both",
    "penalty_that_begins_two_back",
    "cross_that_is_causal",
}
