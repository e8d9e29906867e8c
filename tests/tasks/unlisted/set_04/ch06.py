"""Wrong answers to chapter 06 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F
from torch import nn


def look(x, query, key, value, root):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = (x @ query) @ (x @ key).transpose(1, 2) / root
    return scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ (x @ value)


# 06/concat


# "every head scales its scores by its own head size"
def scaled_by_all_heads_together(x, heads):
    root = sum(query.shape[1] for query, _, _ in heads) ** 0.5
    return torch.cat([look(x, q, k, v, root) for q, k, v in heads], dim=-1)


# "side by side, first head first"
def smallest_head_first(x, heads):
    heads = sorted(heads, key=lambda head: head[0].shape[1])
    return torch.cat([look(x, q, k, v, q.shape[1] ** 0.5) for q, k, v in heads], dim=-1)


# 06/projection


# "puts their findings side by side"
class ChannelsInterleaved(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        together = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.projection(together.flatten(2))


# "nothing else happens: no activation, no dropout, nothing added"
class DropoutAfterTheProjection(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        together = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.dropout(self.projection(together))


# 06/split


# "D channels of head 0's query, D of its key, D of its value"
def three_innermost(x, n_head):
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).permute(4, 0, 2, 1, 3)
    query, key, value = parts
    return query, key, value


# 06/merge


# "found and silenced belong to the caller, so don't change them"
def list_of_heads_used_up(found, silenced):
    found = found.clone()
    while silenced:
        found[:, silenced.pop()] = 0
    return found.transpose(1, 2).flatten(2)


# 06/dropout


# "each head of each sample … independently of all others"
def always_the_same_number_of_heads(found, p, training, generator):
    if not training:
        return found
    B, H = found.shape[:2]
    gone = round(p * H)
    rank = torch.rand(B, H, generator=generator).argsort(dim=1).argsort(dim=1)
    kept = (rank >= gone)[:, :, None, None]
    return torch.where(kept, found / max(1 - p, 1e-9), 0.0)


# "what is kept is scaled up, so that the mean over many draws equals the input"
def scaled_by_what_was_kept(found, p, training, generator):
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, 1, 1, generator=generator) >= p).float()
    share = kept.mean(dim=1, keepdim=True).clamp(min=1 / H)
    return found * kept / share


# 06/fused


def fused(x, qkv, projection, reach, visible):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


# "sees the last reach[h] positions, itself included"
def reach_counts_from_the_start(x, qkv, projection, reach):
    T = x.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    near = torch.arange(T) < torch.tensor(reach)[:, None, None]
    return fused(x, qkv, projection, reach, past & near)


# "a reach may be larger than T"
def reach_ends_before_the_whole_text(x, qkv, projection, reach):
    T = x.shape[1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    width = torch.tensor(reach).clamp(max=T - 1)[:, None, None]
    return fused(x, qkv, projection, reach, (back >= 0) & (back < width))


# 06/tiny-heads


# "for one head (heads_1) and for 32 (heads_32)"
def two_numbers_exchanged():
    return {"text": "shakespeare", "heads_1": 2.308, "heads_32": 2.449}


WRITTEN = {
    "06/concat": [scaled_by_all_heads_together, smallest_head_first],
    "06/projection": [ChannelsInterleaved, DropoutAfterTheProjection],
    "06/split": [three_innermost],
    "06/merge": [list_of_heads_used_up],
    "06/dropout": [always_the_same_number_of_heads, scaled_by_what_was_kept],
    "06/fused": [reach_counts_from_the_start, reach_ends_before_the_whole_text],
    "06/tiny-heads": [two_numbers_exchanged],
}

ASIDE = {
    "always_the_same_number_of_heads",
}
