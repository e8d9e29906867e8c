"""Wrong answers to chapter 05 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 05/scores


def scores_below_their_largest(x, w_query, w_key):
    """Prepares the softmax already and subtracts the largest score of each row."""
    query, key = x @ w_query, x @ w_key
    scores = query @ key.transpose(-2, -1) / math.sqrt(w_key.shape[1])
    return scores - scores.amax(dim=-1, keepdim=True)


# 05/weights


def square_cut_from_the_wrong_corner(scores, past, start):
    """Cuts the scores of a text of n symbols as [:n, :n], as the triangle,
    though it is at the end.
    """
    B, T, _ = scores.shape
    weights = torch.zeros_like(scores)
    for b in range(B):
        s = int(start[b])
        n = T - s
        own = scores[b, :n, :n].masked_fill(~past[:n, :n], -torch.inf)
        weights[b, s:, s:] = own.softmax(dim=-1)
    return weights


# 05/head


class BothWaysDownTheColumns(nn.Module):
    """Has a softmax in each of two branches, and the one without a mask runs down the columns."""

    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size, bias=False)
        self.key = nn.Linear(n_embd, head_size, bias=False)
        self.value = nn.Linear(n_embd, value_size, bias=False)
        self.causal = causal
        self.register_buffer("past", torch.tril(torch.ones(block_size, block_size)))

    def forward(self, x):
        T = x.shape[1]
        query, key, value = self.query(x), self.key(x), self.value(x)
        scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
        if self.causal:
            scores = scores.masked_fill(self.past[:T, :T] == 0, -torch.inf)
            weights = scores.softmax(dim=2)
        else:
            weights = scores.softmax(dim=1)
        return weights @ value


# 05/positions


def full_text_refused(tokens, token_table, position_table, start):
    """Raises for texts with >= instead of >, so that one as long as the table is refused
    as well.
    """
    T = tokens.shape[1]
    if (T - start).max() >= len(position_table):
        raise ValueError("a text is longer than the position table")
    where = torch.arange(T) - start[:, None]
    x = token_table[tokens] + position_table[where.clamp(min=0)]
    return x * (where >= 0)[:, :, None]


# 05/distance


def penalty_doubles(scores, slope):
    """Reads "twice as much" as doubling with each step: slope, 2 · slope, 4 · slope, 8 · slope."""
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    penalty = torch.where(back > 0, slope * 2.0 ** (back - 1), 0.0)
    return (scores - penalty).masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# 05/cross


def memory_padded_in_front(x, memory, w_query, w_key, w_value, lengths):
    """Takes memories to be padded in front as in tasks 2 and 4, and sees their last places."""
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    scores = query @ key.transpose(1, 2) / math.sqrt(key.shape[-1])
    S = memory.shape[1]
    symbols = torch.arange(S) >= S - lengths[:, None]
    weights = scores.masked_fill(~symbols[:, None, :], -torch.inf).softmax(dim=-1)
    return weights @ value


# 05/choosing


def queries_were_trained():
    """Set the queries to zero, but let them be trained, so the second head chooses as well."""
    return {"text": "shakespeare", "chosen": 2.436, "equal": 2.435}


WRITTEN = {
    "05/scores": [scores_below_their_largest],
    "05/weights": [square_cut_from_the_wrong_corner],
    "05/head": [BothWaysDownTheColumns],
    "05/positions": [full_text_refused],
    "05/distance": [penalty_doubles],
    "05/cross": [memory_padded_in_front],
    "05/choosing": [queries_were_trained],
}
