"""Unlisted wrong answers to chapter 05."""

import math

import torch
from torch import nn


def _softmax(scores):
    e = scores.exp()
    return e / e.sum(dim=-1, keepdim=True)


# 05/scores


def scale_by_length(x, w_query, w_key):
    return (x @ w_query) @ (x @ w_key).mT / x.shape[-2] ** 0.5


def divided_by_d(x, w_query, w_key):
    return (x @ w_query) @ (x @ w_key).mT / w_key.shape[1]


def causal_already(x, w_query, w_key):
    scores = (x @ w_query) @ (x @ w_key).mT / math.sqrt(w_key.shape[1])
    return scores.tril()


def normalized_queries(x, w_query, w_key):
    query = nn.functional.normalize(x @ w_query, dim=-1)
    key = nn.functional.normalize(x @ w_key, dim=-1)
    return query @ key.mT


def negated(x, w_query, w_key):
    return -(x @ w_query) @ (x @ w_key).mT / math.sqrt(w_key.shape[1])


def integer_root(x, w_query, w_key):
    return (x @ w_query) @ (x @ w_key).mT / int(math.sqrt(w_key.shape[1]))


# 05/weights


def small_fill(scores, past, start):
    T = scores.shape[-1]
    seen = past[:T, :T] & (torch.arange(T) >= start[:, None])[:, None, :]
    return scores.masked_fill(~seen, -30.0).softmax(dim=-1) * seen.any(-1, keepdim=True)


def or_for_and(scores, past, start):
    T = scores.shape[-1]
    seen = past[:T, :T] | (torch.arange(T) >= start[:, None])[:, None, :]
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


def start_of_the_first(scores, past, start):
    T = scores.shape[-1]
    seen = past[:T, :T] & (torch.arange(T) >= start[0])
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


def padding_looks_at_itself(scores, past, start):
    T = scores.shape[-1]
    seen = past[:T, :T] & (torch.arange(T) >= start[:, None])[:, None, :]
    seen = seen | torch.eye(T, dtype=torch.bool)
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)


def scores_kept_where_seen(scores, past, start):
    T = scores.shape[-1]
    seen = past[:T, :T] & (torch.arange(T) >= start[:, None])[:, None, :]
    return scores.masked_fill(~seen, 0.0)


def padding_of_ones(scores, past, start):
    T = scores.shape[-1]
    seen = past[:T, :T] & (torch.arange(T) >= start[:, None])[:, None, :]
    return scores.masked_fill(~seen, -torch.inf).softmax(dim=-1).nan_to_num(1.0)


# 05/head


class _Head(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.register_buffer("tril", torch.ones(block_size, block_size).tril())

    def scores(self, x):
        return self.query(x) @ self.key(x).transpose(1, 2) * self.key.out_features**-0.5

    def masked(self, scores):
        T = scores.shape[-1]
        if self.causal:
            scores = scores.masked_fill(self.tril[:T, :T] == 0, float("-inf"))
        return scores

    def forward(self, x):
        return self.masked(self.scores(x)).softmax(dim=-1) @ self.value(x)


class MaskKeptFromTheFirstCall(_Head):
    mask = None

    def masked(self, scores):
        if self.causal:
            if self.mask is None:
                T = scores.shape[-1]
                self.mask = torch.ones(T, T, dtype=torch.bool).triu(1)
            scores = scores.masked_fill(self.mask, float("-inf"))
        return scores


class DropoutLeftIn(_Head):
    def forward(self, x):
        weights = self.masked(self.scores(x)).softmax(dim=-1)
        return torch.dropout(weights, 0.2, True) @ self.value(x)


class ResidualAround(_Head):
    def forward(self, x):
        found = super().forward(x)
        return found + self.value(x)


class DiagonalHidden(_Head):
    def masked(self, scores):
        T = scores.shape[-1]
        if self.causal:
            hidden = torch.ones(T, T).triu(0)
            hidden[0, 0] = 0
            scores = scores.masked_fill(hidden == 1, float("-inf"))
        return scores


class NormedOutput(_Head):
    def forward(self, x):
        found = super().forward(x)
        return nn.functional.layer_norm(found, found.shape[-1:])


class FirstSampleForAll(_Head):
    def forward(self, x):
        weights = self.masked(self.scores(x)).softmax(dim=-1)
        return weights[:1] @ self.value(x)


# 05/positions


def longest_start_for_all(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - int(start.max())
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x.masked_fill((torch.arange(tokens.shape[1]) < start[:, None])[:, :, None], 0.0)


def one_too_long_accepted(tokens, token_table, position_table, start):
    if tokens.shape[1] > len(position_table) + 1:
        raise ValueError("too long")
    where = (torch.arange(tokens.shape[1]) - start[:, None]).clamp(max=len(position_table) - 1)
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


def exact_fit_refused(tokens, token_table, position_table, start):
    assert tokens.shape[1] < len(position_table)
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


def padding_keeps_its_symbol(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    places = position_table[where.clamp(min=0)].masked_fill((where < 0)[:, :, None], 0.0)
    return token_table[tokens] + places


def subtracted(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] - position_table[where.clamp(min=0)]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


def averaged(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = (token_table[tokens] + position_table[where.clamp(min=0)]) / 2
    return x.masked_fill((where < 0)[:, :, None], 0.0)


# 05/distance


def penalty_from_one(scores, slope):
    T = scores.shape[-1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    hidden = torch.ones(T, T).triu(1).bool()
    penalised = scores - slope * (back - 1).clamp(min=0)
    return penalised.masked_fill(hidden, -torch.inf).softmax(dim=-1)


def distance_from_the_start(scores, slope):
    T = scores.shape[-1]
    hidden = torch.ones(T, T).triu(1).bool()
    return (scores + slope * torch.arange(T)[:, None]).masked_fill(hidden, -torch.inf).softmax(-1)


def doubled_slope(scores, slope):
    T = scores.shape[-1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    return (scores - 2 * slope * back).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


def moderate_fill(scores, slope):
    T = scores.shape[-1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    return (scores - slope * back).masked_fill(back < 0, -25.0).softmax(dim=-1)


def own_position_hidden(scores, slope):
    T = scores.shape[-1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    weights = (scores - slope * back).masked_fill(back <= 0, -torch.inf).softmax(dim=-1)
    return weights.nan_to_num(0.0)


def divided_by_distance(scores, slope):
    T = scores.shape[-1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    gentler = scores / (1 + slope * back.clamp(min=0))
    return gentler.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# 05/cross


def _cross(x, memory, w_query, w_key, w_value, lengths, fill=-torch.inf, dim=-1):
    scores = (x @ w_query) @ (memory @ w_key).mT / w_key.shape[1] ** 0.5
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    return scores.masked_fill(padding[:, None], fill).softmax(dim=dim) @ (memory @ w_value)


def longest_memory_for_all(x, memory, w_query, w_key, w_value, lengths):
    longest = int(lengths.max())
    memory = memory[:, :longest]
    everything = torch.full_like(lengths, longest)
    return _cross(x, memory, w_query, w_key, w_value, everything)


def shortest_memory_for_all(x, memory, w_query, w_key, w_value, lengths):
    shortest = int(lengths.min())
    everything = torch.full_like(lengths, shortest)
    return _cross(x, memory[:, :shortest], w_query, w_key, w_value, everything)


def first_memory_for_all(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:1].expand_as(memory)
    lengths = lengths[:1].expand_as(lengths)
    return _cross(x, memory, w_query, w_key, w_value, lengths)


def padding_is_in_front(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).mT / w_key.shape[1] ** 0.5
    S = memory.shape[1]
    padding = torch.arange(S) < (S - lengths)[:, None]
    return scores.masked_fill(padding[:, None], -torch.inf).softmax(-1) @ (memory @ w_value)


def sigmoid_weights(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).mT / w_key.shape[1] ** 0.5
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    return scores.masked_fill(padding[:, None], -torch.inf).sigmoid() @ (memory @ w_value)


def values_from_the_keys(x, memory, w_query, w_key, w_value, lengths):
    scores = (x @ w_query) @ (memory @ w_key).mT / w_key.shape[1] ** 0.5
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    weights = scores.masked_fill(padding[:, None], -torch.inf).softmax(-1)
    return weights @ (memory @ w_key)


WRITTEN = {
    "05/scores": [
        scale_by_length,
        divided_by_d,
        causal_already,
        normalized_queries,
        negated,
        integer_root,
    ],
    "05/weights": [
        small_fill,
        or_for_and,
        start_of_the_first,
        padding_looks_at_itself,
        scores_kept_where_seen,
        padding_of_ones,
    ],
    "05/head": [
        MaskKeptFromTheFirstCall,
        DropoutLeftIn,
        ResidualAround,
        DiagonalHidden,
        NormedOutput,
        FirstSampleForAll,
    ],
    "05/positions": [
        longest_start_for_all,
        one_too_long_accepted,
        padding_keeps_its_symbol,
        exact_fit_refused,
        subtracted,
        averaged,
    ],
    "05/distance": [
        penalty_from_one,
        distance_from_the_start,
        doubled_slope,
        moderate_fill,
        divided_by_distance,
        own_position_hidden,
    ],
    "05/cross": [
        longest_memory_for_all,
        shortest_memory_for_all,
        first_memory_for_all,
        padding_is_in_front,
        sigmoid_weights,
        values_from_the_keys,
    ],
}

ASIDE = ()
