"""Wrong answers to chapter 06 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


# Moved what "does not change" out of the loop: "Every head scales its scores by its own head size."
def scale_of_the_first_head(x, heads):
    T = x.shape[1]
    past = torch.ones(T, T, dtype=torch.bool).tril()
    scale = heads[0][0].shape[1] ** -0.5
    found = []
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).transpose(1, 2) * scale
        weights = scores.masked_fill(~past, -torch.inf).softmax(dim=-1)
        found.append(weights @ (x @ value))
    return torch.cat(found, dim=-1)


# Knows `nn.MultiheadAttention`, in whose mask True hides, and uses the other function: "position t
# sees positions 0 … t"
def mask_of_another_function(x, heads):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    found = [
        F.scaled_dot_product_attention(x @ query, x @ key, x @ value, attn_mask=future)
        for query, key, value in heads
    ]
    return torch.cat(found, dim=-1)


# 06/projection


# Used `stack` and found by trial a way back to three dimensions: "puts their findings side by
# side" – here channel by channel instead of head by head
class StackedChannels(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        found = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.projection(found.flatten(2))


# Follows a library that clones its layers: "The module holds the heads themselves, not copies"
class ClonedHeads(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList([copy.deepcopy(head) for head in heads])
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


# Read that attributes are registered and gave all heads the same one: "knows the parameters of all
# of them"
class OneNameForAllHeads(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.all_heads = heads
        for head in heads:
            self.head = head
        self.projection = nn.Linear(head_size * len(heads), n_embd)

    def forward(self, x):
        out = torch.cat([h(x) for h in self.all_heads], dim=-1)
        return self.projection(out)


# 06/split


# Put the 3 where it was easy to unpack: "D channels of head 0's query, D of its key, D of its
# value"
def query_key_value_channel_by_channel(x, n_head):
    B, T, width = x.shape
    x = x.view(B, T, n_head, width // (3 * n_head), 3).transpose(1, 2)
    query, key, value = x.unbind(dim=-1)
    return query, key, value


# Always writes k, q, v, as a well-known video does: "Return queries, keys and values"
def keys_first(x, n_head):
    B, T = x.shape[:2]
    x = x.view(B, T, n_head, -1).transpose(1, 2)
    k, q, v = x.chunk(3, dim=-1)
    return q, k, v


# 06/merge


# Silences after merging and takes the head's number for a channel: "with zeros in the channels of
# the silenced ones"
def one_channel_for_each_head(found, silenced):
    B, H, T, D = found.shape
    together = found.transpose(1, 2).reshape(B, T, H * D)
    for head in silenced:
        together[:, :, head] = 0
    return together


# Empties a list as one empties a queue in Java: "`found` and `silenced` belong to the caller, so
# don't change them."
def list_emptied(found, silenced):
    B, H, T, D = found.shape
    found = found.clone()
    while silenced:
        found[:, silenced.pop()] = 0
    return found.transpose(1, 2).contiguous().view(B, T, H * D)


# Leaves silenced heads out and fills up at the end: "with zeros in the channels of the silenced
# ones", and here the heads that follow move up
def zeros_at_the_end(found, silenced):
    H, D = found.shape[1], found.shape[3]
    kept = [head for head in range(H) if head not in silenced]
    together = found[:, kept].transpose(1, 2).flatten(2)
    return F.pad(together, (0, H * D - together.shape[-1]))


# 06/dropout


# From statistics, scales by how many heads were really kept: "the mean over many draws equals the
# input"
def scaled_by_the_survivors(found, p, training, generator):
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, 1, 1, generator=generator) >= p).float()
    survivors = kept.sum(dim=1, keepdim=True).clamp(min=1)
    return found * kept * H / survivors


# Read p as a share that is met exactly: "with probability p … independently of all others"
def exact_share_of_heads(found, p, training, generator):
    if not training or p == 0:
        return found
    B, H = found.shape[:2]
    kept = torch.ones(B, H, 1, 1)
    for b in range(B):
        gone = torch.randperm(H, generator=generator)[: round(p * H)]
        kept[b, gone] = 0
    if p == 1:
        return found * kept
    return found * kept / (1 - p)


# Got NaN at p = 1 and put that case beside p = 0: "p may be 0 and may be 1", where nothing is kept
def all_kept_at_one(found, p, training, generator):
    if not training or p in (0, 1):
        return found
    B, H = found.shape[:2]
    keep = 1 - p
    mask = torch.bernoulli(torch.full((B, H, 1, 1), keep), generator=generator)
    return found * mask / keep


# 06/fused


# Forgot one of two transposes, and the matrix is square: "`projection` is stored in the same way"
def projection_not_transposed(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    q, k, v = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)
    visible = (back >= 0) & (back < torch.tensor(reach)[:, None, None])
    found = F.scaled_dot_product_attention(q, k, v, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection


# Cuts a band out of the triangle and is one diagonal off: "the last `reach[h]` positions, itself
# included"
def band_one_diagonal_too_wide(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    q, k, v = F.linear(x, qkv).chunk(3, dim=-1)
    q, k, v = (part.view(B, T, H, C // H).transpose(1, 2) for part in (q, k, v))
    scores = q @ k.transpose(-2, -1) / (C // H) ** 0.5
    bands = [torch.ones(T, T, dtype=torch.bool).tril().triu(-r) for r in reach]
    weights = scores.masked_fill(~torch.stack(bands), -torch.inf).softmax(dim=-1)
    return F.linear((weights @ v).transpose(1, 2).reshape(B, T, C), projection)


WRITTEN = {
    "06/concat": [scale_of_the_first_head, mask_of_another_function],
    "06/projection": [StackedChannels, ClonedHeads, OneNameForAllHeads],
    "06/split": [query_key_value_channel_by_channel, keys_first],
    "06/merge": [one_channel_for_each_head, list_emptied, zeros_at_the_end],
    "06/dropout": [scaled_by_the_survivors, exact_share_of_heads, all_kept_at_one],
    "06/fused": [projection_not_transposed, band_one_diagonal_too_wide],
}

ASIDE = {
    "StackedChannels",
    "ClonedHeads",
    "keys_first",
    "exact_share_of_heads",
    "band_one_diagonal_too_wide",
}
