"""Wrong answers to chapter 05 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 05/scores


def half_of_the_size(x, w_query, w_key):
    """Writes the root as D ** 1 / 2, which is D / 2, so scores are divided by half the size."""
    query, key = x @ w_query, x @ w_key
    scale = w_key.shape[1] ** 1 / 2
    return query @ key.transpose(-2, -1) / scale


# 05/weights


def put_back_at_the_front(scores, past, start):
    """Cuts out each text's own square rightly, but writes its weights to the front, not the end."""
    T = scores.shape[-1]
    weights = torch.zeros_like(scores)
    for b, first in enumerate(start.tolist()):
        n = T - first
        own = scores[b, first:, first:].masked_fill(~past[:n, :n], -torch.inf)
        weights[b, :n, :n] = own.softmax(dim=-1)
    return weights


# 05/head


class TwoPassesAveraged(nn.Module):
    """Without causal, averages a pass over the past and one over the future, like two RNNs."""

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
        past = self.past[:T, :T]
        forwards = scores.masked_fill(~past, -torch.inf).softmax(dim=-1) @ value
        if self.causal:
            return forwards
        backwards = scores.masked_fill(~past.T, -torch.inf).softmax(dim=-1) @ value
        return (forwards + backwards) / 2


# 05/positions


def symbols_scaled_up(tokens, token_table, position_table, start):
    """Multiplies the symbol embedding by √C before adding, as the transformer paper does."""
    where = torch.arange(tokens.shape[1]) - start[:, None]
    symbols = token_table[tokens] * math.sqrt(token_table.shape[1])
    x = symbols + position_table[where.clamp(min=0)]
    return x.masked_fill((where < 0)[:, :, None], 0.0)


# 05/distance


def weakened_by_division(scores, slope):
    """Divides scores by 1 + slope · distance instead of subtracting slope · distance."""
    t = torch.arange(scores.shape[-1])
    back = t[:, None] - t
    lowered = scores / (1 + slope * back.clamp(min=0))
    return lowered.masked_fill(back < 0, -torch.inf).softmax(dim=-1)


# 05/cross


def only_padding_attended(x, memory, w_query, w_key, w_value, lengths):
    """Hands the padding to a call whose mask is True where to look, so only padding is seen."""
    query, key, value = x @ w_query, memory @ w_key, memory @ w_value
    padding = torch.arange(memory.shape[1]) >= lengths[:, None]
    return nn.functional.scaled_dot_product_attention(
        query, key, value, attn_mask=padding[:, None, :]
    )


# 05/choosing


def whole_head_zeroed():
    """Sets all weights of the head to zero and freezes them, values too, not the queries alone."""
    return {
        "text": "shakespeare",
        "chosen": 2.436,
        "equal": 3.356,
    }


WRITTEN = {
    "05/scores": [half_of_the_size],
    "05/weights": [put_back_at_the_front],
    "05/head": [TwoPassesAveraged],
    "05/positions": [symbols_scaled_up],
    "05/distance": [weakened_by_division],
    "05/cross": [only_padding_attended],
    "05/choosing": [whole_head_zeroed],
}
