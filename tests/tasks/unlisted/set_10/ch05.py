"""Wrong answers to chapter 05 that no list names: the tenth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch
from torch import nn

# 05/head


# Wrote `triu` without `diagonal=1`, met NaN in row 0, and made it go away.
# "causal: whether the future is hidden"
class PresentHiddenWithTheFuture(nn.Module):
    def __init__(self, n_embd, head_size, value_size, block_size, causal):
        super().__init__()
        self.query = nn.Linear(n_embd, head_size)
        self.key = nn.Linear(n_embd, head_size)
        self.value = nn.Linear(n_embd, value_size)
        self.head_size = head_size
        self.causal = causal
        self.register_buffer("hidden", torch.triu(torch.ones(block_size, block_size)).bool())

    def forward(self, x):
        T = x.shape[1]
        q, k, v = self.query(x), self.key(x), self.value(x)
        scores = q @ k.transpose(-2, -1) * self.head_size**-0.5
        if self.causal:
            scores = scores.masked_fill(self.hidden[:T, :T], float("-inf"))
        weights = torch.nan_to_num(torch.softmax(scores, dim=-1))
        return weights @ v


# 05/positions


# Met "index out of range", and clamped at both ends until the code ran.
# "A text with more symbols than the table has rows must not pass silently."
def clamped_at_both_ends(tokens, token_table, position_table, start):
    T = tokens.shape[1]
    positions = torch.arange(T).unsqueeze(0) - start.unsqueeze(1)
    is_symbol = positions >= 0
    positions = positions.clamp(0, len(position_table) - 1)
    x = token_table[tokens] + position_table[positions]
    return x * is_symbol.unsqueeze(-1)


# 05/distance


# Remembered `masked_fill(tril == 0, -inf)` from a well-known snippet, and asked the scores
# themselves. "Try slopes of 0, 0.5 and 5 on scores of zeros", and of every row: "rows sum to 1"
def scores_of_zero_hidden(scores, slope):
    T = scores.shape[-1]
    positions = torch.arange(T)
    distance = positions[:, None] - positions[None, :]
    lowered = torch.tril(scores - slope * distance)
    lowered = lowered.masked_fill(lowered == 0, float("-inf"))
    return torch.softmax(lowered, dim=-1)


# 05/cross


# Misread `lengths` as one length for the batch, and cut the memory to the longest.
# "what comes after them is padding and must not be looked at"
def memory_cut_to_the_longest(x, memory, w_query, w_key, w_value, lengths):
    memory = memory[:, : lengths.max()]
    q = x @ w_query
    k = memory @ w_key
    v = memory @ w_value
    scores = q @ k.transpose(-2, -1) / k.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ v


WRITTEN = {
    "05/head": [PresentHiddenWithTheFuture],
    "05/positions": [clamped_at_both_ends],
    "05/distance": [scores_of_zero_hidden],
    "05/cross": [memory_cut_to_the_longest],
}
