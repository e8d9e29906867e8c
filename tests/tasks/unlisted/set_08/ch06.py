"""Wrong answers to chapter 06 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


# Unpacks in the order in which a well-known video writes its layers.
# "Each head is given as three matrices, `query`, `key` and `value`"
def key_comes_first(x, heads):
    T = x.shape[1]
    tril = torch.tril(torch.ones(T, T))
    out = []
    for key, query, value in heads:
        k, q, v = x @ key, x @ query, x @ value
        wei = q @ k.transpose(-2, -1) * k.shape[-1] ** -0.5
        wei = wei.masked_fill(tril == 0, float("-inf")).softmax(dim=-1)
        out.append(wei @ v)
    return torch.cat(out, dim=-1)


# Could not stack heads of different sizes, and filled them up.
# "returns: (B, T, sum of all D)"
def filled_up_to_the_largest(x, heads):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    largest = max(value.shape[1] for _, _, value in heads)
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        out = scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v
        found.append(F.pad(out, (0, largest - out.shape[-1])))
    return torch.cat(found, dim=-1)


# 06/projection


# Stacks the heads on a new last dimension and flattens.
# "puts their findings side by side"
class ChannelsTakeTurns(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        together = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.projection(together.flatten(2))


# Took "ready heads" for heads that are not to be trained any more.
# "Nothing else happens"
class ReadyHeadsAreFrozen(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        for parameter in self.heads.parameters():
            parameter.requires_grad = False
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


# Copied the layer of a well-known video, dropout included.
# "Nothing else happens: no activation, no dropout, nothing added."
class MixedHeadsWithDropout(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(head_size * len(heads), n_embd)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        out = torch.cat([head(x) for head in self.heads], dim=-1)
        return self.dropout(self.projection(out))


# 06/split


# Wrote the three behind the channels.
# "D channels of head 0's query, D of its key, D of its value"
def three_in_turn_for_each_channel(x, n_head):
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).permute(4, 0, 2, 1, 3)
    return parts[0], parts[1], parts[2]


# Cuts each head correctly and names the pieces in the order of another program.
# "returns: three tensors (B, H, T, D): queries, keys, values"
def keys_named_first(x, n_head):
    B, T, width = x.shape
    D = width // (3 * n_head)
    k, q, v = x.view(B, T, n_head, 3 * D).transpose(1, 2).split(D, dim=-1)
    return q, k, v


# 06/merge


# Silences in the merged tensor, and mixes up H and D.
# "zeros in the channels of the silenced ones"
def every_hth_channel_silenced(found, silenced):
    H = found.shape[1]
    together = found.transpose(1, 2).flatten(2)
    for h in silenced:
        together[..., h::H] = 0
    return together


# Works through the list as through a stack in Java.
# "`found` and `silenced` belong to the caller, so don't change them."
def list_emptied_on_the_way(found, silenced):
    found = found.clone()
    while silenced:
        found[:, silenced.pop()] = 0
    return found.transpose(1, 2).flatten(2)


# Tried it with one head, as in the chapter.
# "`silenced` is a list of head numbers"
def only_the_first_of_the_list(found, silenced):
    found = found.clone()
    if silenced:
        found[:, silenced[0]] = 0
    return found.transpose(1, 2).flatten(2)


# 06/dropout


# Reads p as "share of heads that go", and lets exactly that share go.
# "each head of each sample is set to 0 with probability p, …, independently of all others"
def exact_share_goes(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    order = torch.rand(B, H, generator=generator).argsort(dim=1)
    gone = order < round(p * H)
    return found * ~gone[:, :, None, None] / (1 - p)


# Scales by what was kept in this draw, so that the sum of the heads stays the same.
# "what is kept is scaled up, so that the mean over many draws equals the input"
def scaled_by_the_heads_left(found, p, training, generator):
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, generator=generator) >= p).float()
    factor = kept * H / kept.sum(dim=1, keepdim=True).clamp(min=1)
    return found * factor[:, :, None, None]


# 06/fused


# Just did task 3, and cuts in its layout.
# "laid out as in the chapter: all queries, all keys, all values"
def layout_of_task_three(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, H, 3, C // H).permute(3, 0, 2, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)
    visible = (back >= 0) & (back < torch.tensor(reach)[:, None, None])
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


# Cuts the last columns off for everybody, and cleans up the rows that see nothing.
# "Position t of head h sees the last `reach[h]` positions, itself included"
def last_positions_of_the_text(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    q, k, v = ((x @ w.T).view(B, T, H, C // H).transpose(1, 2) for w in qkv.chunk(3))
    scores = q @ k.transpose(-2, -1) / (C // H) ** 0.5
    s = torch.arange(T)
    visible = (s[:, None] >= s) & (s >= T - torch.tensor(reach)[:, None, None])
    weights = scores.masked_fill(~visible, -torch.inf).softmax(dim=-1).nan_to_num(0.0)
    return (weights @ v).transpose(1, 2).flatten(2) @ projection.T


# Scales by the channels of the whole layer, which are at hand.
# "attention of all heads together", each scaled by its own head size
def scaled_by_all_channels(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    q, k, v = (x @ qkv.T).split(C, dim=-1)
    q, k, v = (part.view(B, T, H, C // H).transpose(1, 2) for part in (q, k, v))
    scores = q @ k.transpose(-2, -1) / C**0.5
    back = torch.arange(T)[:, None] - torch.arange(T)
    for h, far in enumerate(reach):
        hidden = (back < 0) | (back >= far)
        scores[:, h] = scores[:, h].masked_fill(hidden, -torch.inf)
    return (scores.softmax(dim=-1) @ v).transpose(1, 2).flatten(2) @ projection.T


WRITTEN = {
    "06/concat": [key_comes_first, filled_up_to_the_largest],
    "06/projection": [ChannelsTakeTurns, ReadyHeadsAreFrozen, MixedHeadsWithDropout],
    "06/split": [
        three_in_turn_for_each_channel,
        keys_named_first,
    ],
    "06/merge": [
        every_hth_channel_silenced,
        list_emptied_on_the_way,
        only_the_first_of_the_list,
    ],
    "06/dropout": [
        exact_share_goes,
        scaled_by_the_heads_left,
    ],
    "06/fused": [layout_of_task_three, last_positions_of_the_text, scaled_by_all_channels],
}

ASIDE = {
    "ChannelsTakeTurns",
    "three_in_turn_for_each_channel",
    "list_emptied_on_the_way",
    "only_the_first_of_the_list",
    "exact_share_goes",
    "layout_of_task_three",
    "last_positions_of_the_text",
}
