"""Wrong answers to chapter 06 that no list names: the fifth set.

The comment before each says which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def hidden_future(T):
    return torch.ones(T, T, dtype=torch.bool).triu(1)


# "Unless a task says otherwise, your functions leave what they are given as it was."
def heads_taken_off_the_list(x, heads):
    found = []
    while heads:
        query, key, value = heads.pop(0)
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        weights = scores.masked_fill(hidden_future(x.shape[1]), -torch.inf).softmax(dim=-1)
        found.append(weights @ v)
    return torch.cat(found, dim=-1)


# "Every head scales its *scores* by its own head size."
def findings_scaled_not_scores(x, heads):
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2)
        weights = scores.masked_fill(hidden_future(x.shape[1]), -torch.inf).softmax(dim=-1)
        found.append(weights @ v / q.shape[-1] ** 0.5)
    return torch.cat(found, dim=-1)


# "Every head scales its scores by its own head size": the mean of the sizes for all of them
def scaled_by_the_mean_size(x, heads):
    size = sum(query.shape[1] for query, _, _ in heads) / len(heads)
    found = []
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).transpose(1, 2) / size**0.5
        weights = scores.masked_fill(hidden_future(x.shape[1]), -torch.inf).softmax(dim=-1)
        found.append(weights @ (x @ value))
    return torch.cat(found, dim=-1)


# 06/projection


# "puts their findings side by side", those of all its heads
class FirstHeadRepeated(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList([heads[0]] * len(heads))
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


# "Nothing else happens: no activation, no dropout, nothing added."
class NormalizedAtTheEnd(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)
        self.norm = nn.LayerNorm(n_embd)

    def forward(self, x):
        together = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.norm(self.projection(together))


# "holds ready heads, puts their findings side by side": the second head reads what the first found
class HeadsInARow(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        found = []
        for head in self.heads:
            found.append(head(x))
            x = x + F.pad(found[-1], (0, x.shape[-1] - found[-1].shape[-1]))
        return self.projection(torch.cat(found, dim=-1))


# 06/split


# "D channels of head 0's query, D of its key, D of its value"
def three_numbers_for_each_channel(x, n_head):
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).permute(4, 0, 2, 1, 3)
    return parts[0], parts[1], parts[2]


# "each (B, H, T, D)": the shape is right, the entries are where they were
def viewed_and_not_moved(x, n_head):
    B, T, width = x.shape
    D = width // (3 * n_head)
    parts = x.view(B, T, n_head, 3 * D).split(D, dim=-1)
    return tuple(part.reshape(B, n_head, T, D) for part in parts)


# "Return queries, keys and values"
def values_before_keys(x, n_head):
    B, T, _ = x.shape
    query, key, value = x.view(B, T, n_head, -1).transpose(1, 2).chunk(3, dim=-1)
    return query, value, key


# 06/merge


# "with zeros in the channels of the silenced ones": every H-th channel belongs to no head
def every_hth_channel_silenced(found, silenced):
    H = found.shape[1]
    merged = found.transpose(1, 2).flatten(2)
    for head in silenced:
        merged[..., head::H] = 0
    return merged


# "with zeros in the channels of the silenced ones": a fresh copy for each leaves the last alone
def copied_anew_for_each(found, silenced):
    quiet = found
    for head in silenced:
        quiet = found.clone()
        quiet[:, head] = 0
    return quiet.transpose(1, 2).flatten(2)


# "`found` and `silenced` belong to the caller, so don't change them."
def silenced_taken_off_the_list(found, silenced):
    found = found.clone()
    while silenced:
        found[:, silenced.pop()] = 0
    return found.transpose(1, 2).flatten(2)


# 06/dropout


# "each head of each sample is set to 0 with probability p, … independently of all others"
def the_same_number_in_every_sample(found, p, training, generator):
    if not training or p == 0:
        return found
    B, H = found.shape[:2]
    scores = torch.rand(B, H, generator=generator)
    gone = scores.argsort(dim=1).argsort(dim=1) < round(p * H)
    kept = found.masked_fill(gone[:, :, None, None], 0.0)
    return kept / (1 - p) if p < 1 else kept


# "what is kept is scaled up, so that the mean over many draws equals the input": by the number of
# heads that happen to be kept
def scaled_by_how_many_are_left(found, p, training, generator):
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, generator=generator) >= p).float()
    share = kept.mean(dim=1, keepdim=True).clamp(min=1 / H)
    return found * (kept / share)[:, :, None, None]


# "Unless a task says otherwise, your functions leave what they are given as it was."
def dropped_in_place(found, p, training, generator):
    if not training:
        return found
    kept = torch.rand(*found.shape[:2], 1, 1, generator=generator) >= p
    found *= kept
    return found / max(1 - p, 1e-9)


# 06/fused


def split(x, qkv, H):
    B, T, C = x.shape
    return (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)


# "each head has a *reach* of its own"
def reach_of_the_farthest(x, qkv, projection, reach):
    T = x.shape[1]
    query, key, value = split(x, qkv, len(reach))
    back = torch.arange(T)[:, None] - torch.arange(T)
    visible = (back >= 0) & (back < max(reach))
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


# "Position t of head h sees the last `reach[h]` positions": what it does not see has no part in
# the softmax either
def reach_after_the_softmax(x, qkv, projection, reach):
    T = x.shape[1]
    query, key, value = split(x, qkv, len(reach))
    back = torch.arange(T)[:, None] - torch.arange(T)
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    weights = scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)
    weights = weights * (back < torch.tensor(reach)[:, None, None])
    return (weights @ value).transpose(1, 2).flatten(2) @ projection.T


# "A reach may be larger than T": the last position then sees the first one
def reach_cut_to_one_less_than_all(x, qkv, projection, reach):
    T = x.shape[1]
    query, key, value = split(x, qkv, len(reach))
    back = torch.arange(T)[:, None] - torch.arange(T)
    limit = torch.tensor(reach).clamp(max=T - 1)[:, None, None]
    visible = (back >= 0) & (back < limit)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


WRITTEN = {
    "06/concat": [heads_taken_off_the_list, findings_scaled_not_scores, scaled_by_the_mean_size],
    "06/projection": [FirstHeadRepeated, NormalizedAtTheEnd, HeadsInARow],
    "06/split": [three_numbers_for_each_channel, viewed_and_not_moved, values_before_keys],
    "06/merge": [
        every_hth_channel_silenced,
        copied_anew_for_each,
        silenced_taken_off_the_list,
    ],
    "06/dropout": [
        the_same_number_in_every_sample,
        scaled_by_how_many_are_left,
        dropped_in_place,
    ],
    "06/fused": [
        reach_of_the_farthest,
        reach_after_the_softmax,
        reach_cut_to_one_less_than_all,
    ],
}

ASIDE = {
    "heads_taken_off_the_list",
    "scaled_by_the_mean_size",
    "HeadsInARow",
    "three_numbers_for_each_channel",
    "viewed_and_not_moved",
    "copied_anew_for_each",
    "reach_of_the_farthest",
}
