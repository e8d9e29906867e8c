"""Wrong answers to chapter 05 that no list names: the third set."""

import math

import torch
from torch import nn

# 05/scores


def whole_number_root(x, w_query, w_key):
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.isqrt(w_key.shape[1])


# 05/weights


def padding_looked_for_at_the_end(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) < T - start[:, None]
    visible = past[:T, :T] & real[:, None, :] & real[:, :, None]
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


# 05/head: written as wrong, and it breaks no contract. The statement says nothing of dropout, and
# in evaluation mode, in which the check asks, there is none.


class HeadThatDrops(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.dropout = nn.Dropout(0.1)
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size).tril())

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        if self.causal:
            scores = scores.masked_fill(self.past[:T, :T] == 0, -torch.inf)
        return self.dropout(scores.softmax(dim=-1)) @ value


# 05/positions


def padding_keeps_a_position(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    symbols = token_table[tokens].masked_fill((where < 0)[:, :, None], 0.0)
    return symbols + position_table[where.clamp(min=0)]


# 05/distance


def each_step_doubles_the_penalty(scores, slope):
    t = torch.arange(scores.shape[-1])
    back = (t[:, None] - t).clamp(min=0)
    penalty = torch.where(back == 0, 0.0, slope * 2.0 ** (back - 1))
    future = t[:, None] < t
    return (scores - penalty).masked_fill(future, -torch.inf).softmax(dim=-1)


def penalty_as_a_share_of_the_length(scores, slope):
    T = scores.shape[-1]
    t = torch.arange(T)
    back = t[:, None] - t
    return (scores - slope * back / T).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# 05/cross


def memory_emptied_but_not_masked(x, memory, w_query, w_key, w_value, lengths):
    real = torch.arange(memory.shape[1]) < lengths[:, None]
    memory = memory * real[:, :, None]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


WRITTEN = {
    "05/scores": [whole_number_root],
    "05/weights": [padding_looked_for_at_the_end],
    "05/positions": [padding_keeps_a_position],
    "05/distance": [each_step_doubles_the_penalty, penalty_as_a_share_of_the_length],
    "05/cross": [memory_emptied_but_not_masked],
}
