"""Wrong answers to chapter 06 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def places_counted_in_own_size(x, heads):
    """Writes head i from channel i * D on, with its own D, as if all heads were equally large."""
    B, T, _ = x.shape
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    result = x.new_zeros(B, T, sum(value.shape[1] for _, _, value in heads))
    for i, (query, key, value) in enumerate(heads):
        D = query.shape[1]
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / D**0.5
        found = scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v
        result[..., i * D : (i + 1) * D] = found
    return result


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


class BiasOncePerHead(nn.Module):
    """Projects head by head, each with its part of the weight, and adds the bias H times."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.head_size = head_size
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        result = 0
        parts = self.projection.weight.split(self.head_size, dim=1)
        for head, part in zip(self.heads, parts, strict=True):
            result = result + F.linear(head(x), part, self.projection.bias)
        return result


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


def queries_scaled_already(x, n_head):
    """Divides the queries by root D while splitting, which nobody asked for."""
    B, T, width = x.shape
    D = width // (3 * n_head)
    query, key, value = x.view(B, T, n_head, 3, D).permute(3, 0, 2, 1, 4)
    return query / D**0.5, key, value


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


def others_speak_up(found, silenced):
    """Scales the remaining heads up by H / (number of remaining heads), as dropout does."""
    H = found.shape[1]
    found = found.clone()
    found[:, silenced] = 0
    remaining = H - len(set(silenced))
    if remaining:
        found = found * (H / remaining)
    return found.transpose(1, 2).flatten(2)


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


def scaled_by_what_was_drawn(found, p, training, generator):
    """Scales by H / (heads kept in this sample's draw) instead of by 1 / (1 - p)."""
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, 1, 1, generator=generator) >= p).to(found.dtype)
    share = kept.mean(dim=1, keepdim=True)
    return found * kept / share.clamp(min=1 / H)


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


def far_weights_cut_after_softmax(x, qkv, projection, reach):
    """Zeroes weights beyond the reach after the causal softmax, so rows no longer sum to 1."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)
    scores = query @ key.transpose(2, 3) / (C // H) ** 0.5
    weights = scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)
    weights = weights * (back < torch.tensor(reach)[:, None, None])
    return (weights @ value).transpose(1, 2).flatten(2) @ projection.T


# 06/tiny-heads


def one_channel_in_all():
    """Gives the model as many channels as heads, so the single head has 1 channel instead of 32."""
    return {"text": "shakespeare", "heads_1": 3.090, "heads_32": 2.308}


def first_evaluation():
    """Reads evaluations[0], the first evaluation of the training, instead of the last one."""
    return {"text": "shakespeare", "heads_1": 2.795, "heads_32": 2.694}


def default_learning_rate():
    """Leaves lr=0.01 out, so both models train with the default of 0.001."""
    return {"text": "shakespeare", "heads_1": 2.601, "heads_32": 2.551}


WRITTEN = {
    "06/concat": [
        places_counted_in_own_size,
        future_given_as_attn_mask,
        scaled_by_an_equal_share,
    ],
    "06/projection": [InterleavedHeads, BiasOncePerHead, LazyProjection],
    "06/split": [every_third_channel, heads_overlap, queries_scaled_already],
    "06/merge": [
        empty_list_becomes_floats,
        blocks_as_wide_as_heads_are_many,
        others_speak_up,
    ],
    "06/dropout": [exact_share_of_each_sample, scaled_by_what_was_drawn, normal_coins],
    "06/fused": [
        mask_added_as_numbers,
        slices_start_below_zero,
        far_weights_cut_after_softmax,
    ],
    "06/tiny-heads": [one_channel_in_all, first_evaluation, default_learning_rate],
}

ASIDE = {
    "BiasOncePerHead",
    "far_weights_cut_after_softmax",
    "first_evaluation",
    "others_speak_up",
    "places_counted_in_own_size",
    "queries_scaled_already",
    "scaled_by_what_was_drawn",
}
