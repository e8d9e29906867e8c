"""Wrong answers to chapter 06 that no list names: the third set."""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def scaled_by_the_length_of_the_text(x, heads):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / q.shape[1] ** 0.5
        found.append(scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v)
    return torch.cat(found, dim=-1)


# 06/projection


class HeadsInterleaved(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        together = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.projection(together.flatten(2))


# 06/split


def numbers_of_three_interleaved(x, n_head):
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).permute(4, 0, 2, 1, 3)
    return parts[0], parts[1], parts[2]


# 06/merge


def channels_with_the_heads_numbers(found, silenced):
    merged = found.transpose(1, 2).flatten(2)
    merged[..., silenced] = 0
    return merged


# 06/dropout


def scaled_by_how_many_were_kept(found, p, training, generator):
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, 1, 1, generator=generator) >= p).float()
    return found * kept * H / kept.sum(dim=1, keepdim=True).clamp(min=1)


def generator_seeded_again(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    generator.manual_seed(1337)
    kept = torch.rand(*found.shape[:2], 1, 1, generator=generator) >= p
    return found * kept / (1 - p)


# 06/fused


def reach_below_the_length(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    reach = torch.tensor(reach).clamp(max=T - 1)
    back = torch.arange(T)[:, None] - torch.arange(T)
    visible = (back >= 0) & (back < reach[:, None, None])
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


WRITTEN = {
    "06/concat": [scaled_by_the_length_of_the_text],
    "06/projection": [HeadsInterleaved],
    "06/split": [numbers_of_three_interleaved],
    "06/merge": [channels_with_the_heads_numbers],
    "06/dropout": [scaled_by_how_many_were_kept, generator_seeded_again],
    "06/fused": [reach_below_the_length],
}
