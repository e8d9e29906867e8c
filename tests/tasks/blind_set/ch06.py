"""Wrong answers to chapter 06 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def scale_of_the_first_head_for_all(x, heads):
    """Reads the head size off the first head, before the loop."""
    T = x.shape[1]
    past = torch.ones(T, T).tril().bool()
    scale = heads[0][0].shape[1] ** -0.5
    found = []
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).transpose(1, 2) * scale
        weights = scores.masked_fill(~past, float("-inf")).softmax(dim=-1)
        found.append(weights @ (x @ value))
    return torch.cat(found, dim=-1)


def root_of_the_length_of_the_text(x, heads):
    """Takes the last dimension of the scores for the head size: that is T."""

    def head(query, key, value):
        scores = (x @ query) @ (x @ key).mT
        scores = scores / scores.shape[-1] ** 0.5
        future = torch.ones_like(scores).triu(diagonal=1) == 1
        return F.softmax(scores.masked_fill(future, float("-inf")), dim=-1) @ x @ value

    return torch.cat([head(*matrices) for matrices in heads], dim=2)


# 06/projection


class HeadsStackedAndViewed(nn.Module):
    """Stacks the heads as (B, H, T, D) and reshapes to (B, T, H·D) without moving an axis."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        B, T, _ = x.shape
        found = torch.stack([head(x) for head in self.heads], dim=1)
        return self.projection(found.reshape(B, T, -1))


class ChannelsOfHeadsAlternate(nn.Module):
    """Stacks heads along a new last axis: channel 0 of all heads comes first, then channel 1."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(head_size * len(heads), n_embd, bias=True)

    def forward(self, x):
        found = [head(x) for head in self.heads]
        return self.projection(torch.stack(found, dim=-1).flatten(start_dim=2))


# 06/split


def query_key_value_entry_by_entry(x, n_head):
    """Cuts a head's channels as (D, 3): query, key and value take turns at every entry."""
    B, T, n = x.shape
    parts = x.view(B, T, n_head, n // (3 * n_head), 3).transpose(1, 2)
    return parts[..., 0], parts[..., 1], parts[..., 2]


def heads_viewed_in_front_of_time(x, n_head):
    """Views the projection as (B, H, T, 3·D), instead of moving the heads there."""
    B, T, n = x.shape
    q, k, v = x.reshape(B, n_head, T, n // n_head).chunk(3, dim=-1)
    return q, k, v


# 06/merge


def slice_begins_at_the_number_of_the_head(found, silenced):
    """Silences channels h … h + D - 1; head h begins at h · D."""
    D = found.shape[-1]
    merged = found.transpose(1, 2).flatten(2).clone()
    for h in silenced:
        merged[..., h : h + D] = 0
    return merged


def heads_move_behind_their_channels(found, silenced):
    """Merges in the order (D, H): the channels of different heads alternate."""
    keep = torch.ones(found.shape[1], dtype=found.dtype)
    keep[silenced] = 0
    kept = found * keep[:, None, None]
    return kept.permute(0, 2, 3, 1).flatten(start_dim=2)


# 06/dropout


def coin_for_every_position(found, p, training, generator):
    """Tosses a coin for each position of a head, so a head is gone at some positions only."""
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H, T, _ = found.shape
    kept = torch.rand(B, H, T, 1, generator=generator) >= p
    return found * kept / (1 - p)


def scaled_by_the_heads_that_stayed(found, p, training, generator):
    """Scales by H / (number of heads kept in this sample), not by 1 / (1 - p)."""
    if not training:
        return found
    B, H = found.shape[:2]
    keep = (torch.rand((B, H, 1, 1), generator=generator) >= p).to(found.dtype)
    stayed = keep.sum(dim=1, keepdim=True)
    return found * keep * H / stayed.clamp(min=1)


# 06/fused


def reach_one_position_too_far(x, qkv, projection, reach):
    """Sees distances up to reach[h] itself, which is reach[h] + 1 positions."""
    B, T, C = x.shape
    H = len(reach)
    q, k, v = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    scores = q @ k.transpose(-2, -1) / (C // H) ** 0.5
    t = torch.arange(T)
    distance = t[:, None] - t
    visible = (distance >= 0) & (distance <= torch.tensor(reach)[:, None, None])
    weights = scores.masked_fill(~visible, float("-inf")).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, T, C) @ projection.T


def stored_weight_viewed_for_transposed(x, qkv, projection, reach):
    """Views qkv as (C, 3·C), so that x fits, where it has to be transposed."""
    B, T, C = x.shape
    n_head = len(reach)
    D = C // n_head
    parts = (x @ qkv.reshape(C, 3 * C)).chunk(3, dim=-1)
    q, k, v = (part.view(B, T, n_head, D).transpose(1, 2) for part in parts)
    masks = [torch.ones(T, T).tril().triu(1 - r).bool() for r in reach]
    scores = (q @ k.mT) * D**-0.5
    scores = torch.where(torch.stack(masks), scores, float("-inf"))
    found = F.softmax(scores, dim=-1) @ v
    return F.linear(found.transpose(1, 2).flatten(2), projection)


WRITTEN = {
    "06/concat": [scale_of_the_first_head_for_all, root_of_the_length_of_the_text],
    "06/projection": [HeadsStackedAndViewed, ChannelsOfHeadsAlternate],
    "06/split": [query_key_value_entry_by_entry, heads_viewed_in_front_of_time],
    "06/merge": [slice_begins_at_the_number_of_the_head, heads_move_behind_their_channels],
    "06/dropout": [coin_for_every_position, scaled_by_the_heads_that_stayed],
    "06/fused": [reach_one_position_too_far, stored_weight_viewed_for_transposed],
}
