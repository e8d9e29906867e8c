"""Wrong answers to chapter 06 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def future_given_as_attn_mask(x, heads):
    """Gives the future as attn_mask, where True means "may look": heads see only the future."""
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    found = [
        F.scaled_dot_product_attention(x @ query, x @ key, x @ value, attn_mask=future)
        for query, key, value in heads
    ]
    return torch.cat(found, dim=-1)


def scaled_by_an_equal_share(x, heads):
    """Scales every head by the root of C / H, the head size of the chapter's equal heads."""
    _, T, C = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    D = C / len(heads)
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / D**0.5
        found.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v)
    return torch.cat(found, dim=-1)


# 06/projection


class InterleavedHeads(nn.Module):
    """Stacks the heads along a new last dimension, so their channels alternate."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        together = torch.stack([head(x) for head in self.heads], dim=-1).flatten(2)
        return self.projection(together)


class LazyProjection(nn.Module):
    """Uses LazyLinear, whose weights don't exist before the first call and can't be counted."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.LazyLinear(n_embd)

    def forward(self, x):
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


# 06/split


def every_third_channel(x, n_head):
    """Takes channels 0, 3, 6, … as queries: q, k and v alternate channel by channel."""
    B, T, width = x.shape
    D = width // (3 * n_head)
    query, key, value = (x[..., i::3].reshape(B, T, n_head, D).transpose(1, 2) for i in range(3))
    return query, key, value


def heads_overlap(x, n_head):
    """Starts head h at channel h * D instead of h * 3 * D, so heads share channels."""
    D = x.shape[-1] // (3 * n_head)
    queries, keys, values = [], [], []
    for h in range(n_head):
        first = h * D
        queries.append(x[..., first : first + D])
        keys.append(x[..., first + D : first + 2 * D])
        values.append(x[..., first + 2 * D : first + 3 * D])
    return torch.stack(queries, 1), torch.stack(keys, 1), torch.stack(values, 1)


# 06/merge


def empty_list_becomes_floats(found, silenced):
    """Indexes with torch.tensor(silenced), which is float and no index if the list is empty."""
    found = found.clone()
    found[:, torch.tensor(silenced)] = 0
    return found.transpose(1, 2).flatten(2)


def blocks_as_wide_as_heads_are_many(found, silenced):
    """Silences channels h * H to (h + 1) * H of the merged result: H in place of D."""
    H = found.shape[1]
    together = found.transpose(1, 2).flatten(2).clone()
    for h in silenced:
        together[..., h * H : (h + 1) * H] = 0
    return together


# 06/dropout


def exact_share_of_each_sample(found, p, training, generator):
    """Drops exactly round(p * H) heads of each sample instead of tossing a coin for each head."""
    if not training:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    order = torch.rand(B, H, generator=generator).argsort(dim=1)
    rank = order.argsort(dim=1)
    kept = rank >= round(p * H)
    return found * kept[:, :, None, None] / (1 - p)


def normal_coins(found, p, training, generator):
    """Compares randn with p instead of rand, so the share that goes isn't p (half at p = 0)."""
    if not training:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    kept = torch.randn(B, H, 1, 1, generator=generator) >= p
    return found * kept / (1 - p)


# 06/fused


def mask_added_as_numbers(x, qkv, projection, reach):
    """Passes the mask as floats, which are added to the scores: +1 for visible, nothing hidden."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)
    visible = (back >= 0) & (back < torch.tensor(reach)[:, None, None])
    mask = visible.to(x.dtype)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return found.transpose(1, 2).flatten(2) @ projection.T


def slices_start_below_zero(x, qkv, projection, reach):
    """Marks t - reach + 1 to t by a slice; a negative start counts from the end of the row."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    visible = torch.zeros(H, T, T, dtype=torch.bool)
    for h in range(H):
        for t in range(T):
            visible[h, t, t - reach[h] + 1 : t + 1] = True
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


# 06/tiny-heads


def one_channel_in_all():
    """Gives the model as many channels as heads, so the single head has 1 channel instead of 32."""
    return {"text": "shakespeare", "heads_1": 3.090, "heads_32": 2.308}


def default_learning_rate():
    """Leaves lr=0.01 out, so both models train with the default of 0.001."""
    return {"text": "shakespeare", "heads_1": 2.601, "heads_32": 2.551}


WRITTEN = {
    "06/concat": [
        future_given_as_attn_mask,
        scaled_by_an_equal_share,
    ],
    "06/projection": [InterleavedHeads, LazyProjection],
    "06/split": [
        every_third_channel,
        heads_overlap,
    ],
    "06/merge": [
        empty_list_becomes_floats,
        blocks_as_wide_as_heads_are_many,
    ],
    "06/dropout": [exact_share_of_each_sample, normal_coins],
    "06/fused": [
        mask_added_as_numbers,
        slices_start_below_zero,
    ],
    "06/tiny-heads": [one_channel_in_all, default_learning_rate],
}
