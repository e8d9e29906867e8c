"""Wrong answers to chapter 05 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 05/scores


def size_from_axis_one(x, w_query, w_key):
    """Takes axis 1 of the queries for the head size D, which holds only for one text (T, C)."""
    query, key = x @ w_query, x @ w_key
    return query @ key.transpose(-2, -1) / math.sqrt(query.shape[1])


# 05/weights


def hidden_only_if_both(scores, past, start):
    """Negates the two conditions one by one but keeps &: hides only what is future and padding."""
    T = scores.shape[-1]
    real = torch.arange(T) >= start[:, None]
    hidden = ~past[:T, :T] & ~real[:, None, :]
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return weights.masked_fill(~real[:, :, None], 0.0)


# 05/head


class KeysReshaped(nn.Module):
    """Reshapes the keys to (B, D, T) instead of transposing them, which mixes positions."""

    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.register_buffer("past", torch.ones(block_size, block_size).tril() == 1)

    def forward(self, x):
        B, T, _ = x.shape
        query, key, value = self.query(x), self.key(x), self.value(x)
        D = key.shape[-1]
        scores = query @ key.reshape(B, D, T) / math.sqrt(D)
        if self.causal:
            scores = scores.masked_fill(~self.past[:T, :T], -torch.inf)
        return scores.softmax(dim=-1) @ value


# 05/positions


def counted_from_one(tokens, token_table, position_table, start):
    """Counts symbols with cumsum and forgets to subtract 1: the first symbol has position 1."""
    real = torch.arange(tokens.shape[1]) >= start[:, None]
    where = real.long().cumsum(dim=1)
    x = token_table[tokens] + position_table[where]
    return x * real[:, :, None]


# 05/distance


def doubled_each_step(scores, slope):
    """Reads "twice as much" as doubling at every step: penalties of 0, 1, 2, 4, 8 … slopes."""
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    penalty = slope * 2.0 ** (back - 1)
    penalty = penalty.masked_fill(back <= 0, 0.0)
    return (scores - penalty).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# 05/cross


def cut_to_the_longest(x, memory, w_query, w_key, w_value, lengths):
    """Cuts all memories to the longest one of the batch, so shorter ones keep their padding."""
    memory = memory[:, : lengths.max()]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


# 05/choosing


def queries_zeroed_after_training():
    """Trains one model only, and sets its queries to zero afterwards to measure "equal"."""
    return {
        "text": "shakespeare",
        "chosen": 2.436,
        "equal": 3.061,
    }


WRITTEN = {
    "05/scores": [size_from_axis_one],
    "05/weights": [hidden_only_if_both],
    "05/head": [KeysReshaped],
    "05/positions": [counted_from_one],
    "05/distance": [doubled_each_step],
    "05/cross": [cut_to_the_longest],
    "05/choosing": [queries_zeroed_after_training],
}
