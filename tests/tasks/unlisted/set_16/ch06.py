"""Wrong answers to chapter 06 that no list names: the sixteenth set.

Each docstring says what the student did wrong.
"""

import torch
from torch import nn

# 06/concat


def tiny_number_for_the_future(x, heads):
    """Writes -1e-9 for -1e9 into the scores of the future, so the future is seen with score 0."""
    T = x.shape[1]
    past = torch.ones(T, T).tril()
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        scores = q @ k.transpose(1, 2) / query.shape[1] ** 0.5
        weights = scores.masked_fill(past == 0, -1e-9).softmax(dim=-1)
        found.append(weights @ v)
    return torch.cat(found, dim=-1)


# 06/projection


class ChannelsInterleaved(nn.Module):
    """Stacks the heads along a new last axis: channel 0 of all heads, then channel 1 of all."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        together = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.projection(together.flatten(2))


# 06/split


def viewed_into_place(x, n_head):
    """Names the heads' axis before the positions in `view` itself, which moves nothing."""
    B, T, width = x.shape
    parts = x.reshape(B, n_head, T, 3, width // (3 * n_head))
    return parts[:, :, :, 0], parts[:, :, :, 1], parts[:, :, :, 2]


# 06/merge


def blocks_as_wide_as_heads_are_many(found, silenced):
    """Merges first and then zeros channels h·H to (h + 1)·H: H where D belongs."""
    B, H, T, D = found.shape
    merged = found.transpose(1, 2).reshape(B, T, H * D)
    for h in silenced:
        merged[:, :, h * H : (h + 1) * H] = 0
    return merged


# 06/dropout


def scaled_by_the_share_that_stayed(found, p, training, generator):
    """Scales by H over how many heads happened to stay in this sample, not by 1 / (1 - p)."""
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, generator=generator) >= p).float()
    stayed = kept.sum(dim=1, keepdim=True).clamp(min=1)
    return found * (kept * H / stayed)[:, :, None, None]


# 06/fused


def reach_after_the_softmax(x, qkv, projection, reach):
    """Zeros the weights beyond the reach after the softmax, so the rest no longer sums to 1."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)
    scores = query @ key.transpose(2, 3) / (C // H) ** 0.5
    weights = scores.masked_fill(back < 0, -torch.inf).softmax(dim=-1)
    weights = weights * (back < torch.tensor(reach)[:, None, None])
    found = weights @ value
    return found.transpose(1, 2).reshape(B, T, C) @ projection.T


# 06/tiny-heads


def one_head_of_one_channel():
    """Builds ManyHeads(V, 8, n_head, n_head): the single head has one channel too, not 32."""
    return {
        "text": "shakespeare",
        "heads_1": 3.090,
        "heads_32": 2.308,
    }


WRITTEN = {
    "06/concat": [tiny_number_for_the_future],
    "06/projection": [ChannelsInterleaved],
    "06/split": [viewed_into_place],
    "06/merge": [blocks_as_wide_as_heads_are_many],
    "06/dropout": [scaled_by_the_share_that_stayed],
    "06/fused": [reach_after_the_softmax],
    "06/tiny-heads": [one_head_of_one_channel],
}
