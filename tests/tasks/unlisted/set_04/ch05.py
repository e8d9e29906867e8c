"""Wrong answers to chapter 05 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
from students.ch05_head.distance import penalty_doubles
from students.ch05_head.head import MeanOfTwoDirections
from torch import nn

# 05/scores


# "returns: (..., T, T)", with "any number of leading dimensions"
def leading_dimensions_flattened(x, w_query, w_key):
    x = x.reshape(-1, *x.shape[-2:])
    scores = (x @ w_query) @ (x @ w_key).transpose(1, 2)
    return scores / math.sqrt(w_key.shape[1])


# "return the scaled scores": by √D, as in the chapter
def both_sides_scaled(x, w_query, w_key):
    root = math.sqrt(w_key.shape[1])
    query, key = x @ w_query / root, x @ w_key / root
    return query @ key.transpose(-2, -1)


# 05/weights


# "text b begins at position start[b]"
def all_begin_with_the_first(scores, past, start):
    T = scores.shape[-1]
    real = torch.arange(T) >= start[0]
    visible = past[:T, :T] & real
    return scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)


# 05/head


class LayersOfAHead(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal

    def scores(self, x):
        query, key = self.query(x), self.key(x)
        return query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])

    def future(self, T):
        return torch.ones(T, T, dtype=torch.bool).triu(1)


# "with causal=False it sees the whole text": each position averages what it sees
class ColumnsWhenItSeesAll(LayersOfAHead):
    def forward(self, x):
        scores = self.scores(x)
        if self.causal:
            scores = scores.masked_fill(self.future(x.shape[1]), -torch.inf)
            return scores.softmax(dim=-1) @ self.value(x)
        return scores.softmax(dim=1) @ self.value(x)


# 05/positions


# "everything before start[b] is padding": whatever token stands there
def padding_known_by_token_0(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x.masked_fill((tokens == 0)[:, :, None], 0.0)


# "a text with more symbols than the table has rows must not pass silently"
def positions_begin_again(tokens, token_table, position_table, start):
    where = torch.arange(tokens.shape[1]) - start[:, None]
    x = token_table[tokens] + position_table[where % len(position_table)]
    return x * (where >= 0)[:, :, None]


# 05/cross


# "what comes after them is padding and must not be looked at"
def padding_zeroed_not_masked(x, memory, w_query, w_key, w_value, lengths):
    real = torch.arange(memory.shape[1]) < lengths[:, None]
    memory = memory * real[:, :, None]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


# "memory b is padding from position lengths[b] on"
def memory_cut_to_the_longest(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : int(lengths.max())]
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    return scores.softmax(dim=-1) @ value


# 05/choosing


# "whose queries are zero and stay zero"
def queries_not_frozen():
    return {"text": "shakespeare", "chosen": 2.436, "equal": 2.447}


WRITTEN = {
    "05/scores": [leading_dimensions_flattened, both_sides_scaled],
    "05/weights": [all_begin_with_the_first],
    "05/head": [ColumnsWhenItSeesAll, MeanOfTwoDirections],
    "05/positions": [padding_known_by_token_0, positions_begin_again],
    "05/distance": [penalty_doubles],
    "05/cross": [padding_zeroed_not_masked, memory_cut_to_the_longest],
    "05/choosing": [queries_not_frozen],
}

ASIDE = {
    "leading_dimensions_flattened",
    "ColumnsWhenItSeesAll",
    "MeanOfTwoDirections",
    "padding_zeroed_not_masked",
}
