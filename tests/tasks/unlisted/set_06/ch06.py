"""Wrong answers to chapter 06 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import copy

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


# "Every head scales its scores by its own head size.": ** comes before /, so this is D · 2
def power_before_the_fraction(x, heads):
    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    found = []
    for query, key, value in heads:
        D = query.shape[1]
        scores = (x @ query) @ (x @ key).transpose(1, 2) / D**1 / 2
        weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
        found.append(weights @ (x @ value))
    return torch.cat(found, dim=-1)


# "Each head is given as three matrices …, with a D of its own": all channels are cut at equal
# distances
def cut_into_equal_heads(x, heads):
    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    query, key, value = (
        (x @ torch.cat(matrices, dim=1)).tensor_split(len(heads), dim=-1)
        for matrices in zip(*heads, strict=True)
    )
    found = []
    for q, k, v in zip(query, key, value, strict=True):
        scores = q @ k.transpose(1, 2) / q.shape[-1] ** 0.5
        found.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v)
    return torch.cat(found, dim=-1)


# "side by side, first head first": the smallest first
def smallest_head_first(x, heads):
    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    found = []
    for query, key, value in sorted(heads, key=lambda head: head[0].shape[1]):
        scores = (x @ query) @ (x @ key).transpose(1, 2) / query.shape[1] ** 0.5
        found.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ (x @ value))
    return torch.cat(found, dim=-1)


# "your functions leave what they are given as it was": the list of heads is empty afterwards
def heads_taken_from_the_list(x, heads):
    future = torch.ones(x.shape[1], x.shape[1]).triu(1).bool()
    found = []
    while heads:
        query, key, value = heads.pop(0)
        scores = (x @ query) @ (x @ key).transpose(1, 2) / query.shape[1] ** 0.5
        found.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ (x @ value))
    return torch.cat(found, dim=-1)


# 06/projection


# "Ready heads side by side": channel 0 of all heads, then channel 1 of all
class HeadsInterleaved(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        found = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.projection(found.flatten(2))


# "the module that holds ready heads": they get new weights
class HeadsMadeNew(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.02)

    def forward(self, x):
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


# "The module knows the parameters of all its heads": those of copies
class CopiesOfHeads(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(copy.deepcopy(heads))
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


# "(B, T, C) → (B, T, C)": a single head comes back as it is, unmixed
class NothingToMixForOneHead(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        if len(self.heads) == 1:
            return self.heads[0](x)
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


# 06/split


# "D channels of head 0's query, D of its key, D of its value": the three alternate
def query_key_value_alternating(x, n_head):
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).transpose(1, 2)
    return parts.unbind(dim=-1)


# "each (B, H, T, D)": joined as H · B texts and cut as B · H, which is the same for one text
def samples_and_heads_confused(x, n_head):
    B, T, _ = x.shape
    heads = [head.chunk(3, dim=-1) for head in x.chunk(n_head, dim=-1)]
    return tuple(torch.cat(parts).view(B, n_head, T, -1) for parts in zip(*heads, strict=True))


# "Return queries, keys and values": queries that are scaled already
def queries_scaled_already(x, n_head):
    B, T, _ = x.shape
    query, key, value = x.view(B, T, n_head, 3, -1).permute(3, 0, 2, 1, 4)
    return query / query.shape[-1] ** 0.5, key, value


# "each (B, H, T, D)": with one head, too
def one_head_without_its_dimension(x, n_head):
    B, T, _ = x.shape
    parts = x.view(B, T, n_head, 3, -1).transpose(1, 2)
    query, key, value = parts.squeeze(1).split(1, dim=-2)
    return query.squeeze(-2), key.squeeze(-2), value.squeeze(-2)


# 06/merge


# "zeros in the channels of the silenced ones", and nothing said about the others
def others_scaled_up(found, silenced):
    B, H, T, D = found.shape
    kept = torch.tensor([float(h not in silenced) for h in range(H)])
    found = found * kept[:, None, None] * H / max(1, H - len(silenced))
    return found.transpose(1, 2).reshape(B, T, H * D)


# "zeros in place of the silenced ones": head h begins at channel h · D, not h · H
def channels_counted_in_heads(found, silenced):
    B, H, T, D = found.shape
    together = found.transpose(1, 2).reshape(B, T, H * D).clone()
    for head in silenced:
        together[:, :, head * H : (head + 1) * H] = 0
    return together


# "`silenced` is a list of head numbers; it may be empty.": an empty tensor of numbers is of floats
def silenced_as_a_tensor(found, silenced):
    heads = found.transpose(1, 2).clone()
    heads[:, :, torch.tensor(silenced)] = 0
    return heads.flatten(2)


# "`found` and `silenced` belong to the caller, so don't change them."
def silenced_taken_from_the_list(found, silenced):
    B, _, T, D = found.shape
    heads = list(found.unbind(dim=1))
    while silenced:
        heads[silenced.pop()] = torch.zeros(B, T, D)
    return torch.cat(heads, dim=-1)


# 06/dropout


# "scaled up, so that the mean over many draws equals the input": by what this draw has kept
def scaled_by_what_was_kept(found, p, training, generator):
    if not training or p == 0:
        return found
    kept = (torch.rand(*found.shape[:2], 1, 1, generator=generator) >= p).float()
    return found * kept / kept.mean().clamp(min=1e-6)


# "each head of each sample is set to 0 with probability p, … independently of all others": a fixed
# number of heads is
def a_fixed_number_of_heads(found, p, training, generator):
    B, H = found.shape[:2]
    gone = round(p * H)
    if not training or gone == 0:
        return found
    if gone == H:
        return torch.zeros_like(found)
    order = torch.rand(B, H, generator=generator).argsort(dim=1)
    kept = (order >= gone)[:, :, None, None]
    return found * kept * H / (H - gone)


# "independently of all others": the last one of a sample never goes
def one_head_is_always_kept(found, p, training, generator):
    if not training:
        return found
    if p == 1:
        return torch.zeros_like(found)
    drawn = torch.rand(*found.shape[:2], 1, 1, generator=generator)
    kept = (drawn >= p) | (drawn == drawn.amax(dim=1, keepdim=True))
    return found * kept / (1 - p)


# 06/fused


# "Position t of head h sees the last `reach[h]` positions": the first ones
def reach_from_the_beginning(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    near = torch.arange(T) < torch.tensor(reach)[:, None, None]
    visible = near & torch.ones(T, T).tril().bool()
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).reshape(B, T, C) @ projection.T


# "nothing of the future": a mask of floats is added to the scores, so the future has 1 less
def mask_of_zeros_and_ones(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    mask = torch.stack([torch.ones(T, T).tril().triu(1 - r) for r in reach])
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    return found.transpose(1, 2).reshape(B, T, C) @ projection.T


# "your functions leave what they are given as it was": a reach larger than T is shortened for good
def reach_shortened_in_the_list(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    for h in range(H):
        reach[h] = min(reach[h], T)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    visible = torch.stack([torch.ones(T, T).tril().triu(1 - r) for r in reach]).bool()
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).reshape(B, T, C) @ projection.T


WRITTEN = {
    "06/concat": [
        power_before_the_fraction,
        cut_into_equal_heads,
        smallest_head_first,
        heads_taken_from_the_list,
    ],
    "06/projection": [HeadsInterleaved, HeadsMadeNew, CopiesOfHeads, NothingToMixForOneHead],
    "06/split": [
        query_key_value_alternating,
        samples_and_heads_confused,
        queries_scaled_already,
        one_head_without_its_dimension,
    ],
    "06/merge": [
        others_scaled_up,
        channels_counted_in_heads,
        silenced_as_a_tensor,
        silenced_taken_from_the_list,
    ],
    "06/dropout": [
        scaled_by_what_was_kept,
        a_fixed_number_of_heads,
        one_head_is_always_kept,
    ],
    "06/fused": [
        reach_from_the_beginning,
        mask_of_zeros_and_ones,
        reach_shortened_in_the_list,
    ],
}

ASIDE = {
    "smallest_head_first",
    "HeadsInterleaved",
    "NothingToMixForOneHead",
    "query_key_value_alternating",
    "one_head_without_its_dimension",
    "others_scaled_up",
    "silenced_as_a_tensor",
    "scaled_by_what_was_kept",
}
