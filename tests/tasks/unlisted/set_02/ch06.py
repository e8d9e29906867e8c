"""Wrong answers to chapter 06, second set."""

import torch
import torch.nn.functional as F
from torch import nn


def _found(x, query, key, value, size):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    scores = (x @ query) @ (x @ key).transpose(1, 2) / size**0.5
    return scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ (x @ value)


def heads_scaled_by_the_first(x, heads):
    size = heads[0][0].shape[1]
    return torch.cat([_found(x, *head, size) for head in heads], dim=-1)


def heads_in_reverse(x, heads):
    found = []
    for head in heads:
        found.insert(0, _found(x, *head, head[0].shape[1]))
    return torch.cat(found, dim=-1)


def heads_scaled_by_all_sizes(x, heads):
    """Every head scales by the channels of all heads together."""
    return torch.cat(
        [_found(x, q, k, v, sum(w.shape[1] for w, _, _ in heads)) for q, k, v in heads], dim=-1
    )


class ProjectionWithABiasForEachHead(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.head_size = head_size
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        parts = self.projection.weight.split(self.head_size, dim=1)
        return sum(
            F.linear(head(x), part, self.projection.bias)
            for head, part in zip(self.heads, parts, strict=True)
        )


class ProjectionOfOneHeadRepeated(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList([heads[0]] * len(heads))
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.cat([head(x) for head in self.heads], dim=-1))


class ProjectionOfStackedHeads(nn.Module):
    """Interleaves the channels of the heads."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        return self.projection(torch.stack([head(x) for head in self.heads], dim=-1).flatten(2))


def split_with_three_last(x, n_head):
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3).permute(4, 0, 2, 1, 3)
    return parts[0], parts[1], parts[2]


def split_with_values_before_keys(x, n_head):
    B, T, width = x.shape
    query, key, value = x.view(B, T, n_head, 3, width // (3 * n_head)).permute(3, 0, 2, 1, 4)
    return query, value, key


def split_into_one_head_more(x, n_head):
    """Views (B, T, ...) as (B, H, T, ...) without moving an axis."""
    B, T, width = x.shape
    parts = x.view(B, n_head, T, 3, width // (3 * n_head))
    return parts[:, :, :, 0], parts[:, :, :, 1], parts[:, :, :, 2]


def merge_silencing_positions(found, silenced):
    found = found.clone()
    found[:, :, silenced] = 0
    return found.transpose(1, 2).flatten(2)


def merge_silencing_single_channels(found, silenced):
    together = found.transpose(1, 2).flatten(2).clone()
    together[..., silenced] = 0
    return together


def merge_silencing_the_others(found, silenced):
    others = [h for h in range(found.shape[1]) if h not in silenced]
    found = found.clone()
    found[:, others] = 0
    return found.transpose(1, 2).flatten(2)


def drop_what_should_be_kept(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    kept = torch.rand(B, H, 1, 1, generator=generator) < p
    return found * kept / (1 - p)


def drop_an_exact_share(found, p, training, generator):
    if not training:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    found = found.clone()
    for b in range(B):
        found[b, torch.randperm(H, generator=generator)[: round(p * H)]] = 0
    return found / (1 - p)


def drop_scaled_by_what_was_kept(found, p, training, generator):
    """Scales by the share that was drawn, and not by 1 − p."""
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, 1, 1, generator=generator) >= p).float()
    return found * kept / kept.mean().clamp(min=1e-9)


def _fused(x, query, key, value, projection, visible):
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


def _visible(T, reach):
    back = torch.arange(T)[:, None] - torch.arange(T)
    return (back >= 0) & (back < torch.tensor(reach)[:, None, None])


def fused_with_a_matrix_not_transposed(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (
        (x @ part).view(B, T, H, C // H).transpose(1, 2) for part in qkv.chunk(3, dim=0)
    )
    return _fused(x, query, key, value, projection, _visible(T, reach))


def fused_with_the_reach_of_the_first(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    return _fused(x, query, key, value, projection, _visible(T, [reach[0]] * H))


def fused_with_interleaved_heads(x, qkv, projection, reach):
    """Takes channel 0 of each head together, then channel 1 of each head."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, C // H, H).permute(2, 0, 4, 1, 3)
    return _fused(x, query, key, value, projection, _visible(T, reach))


WRITTEN = {
    "06/concat": [heads_scaled_by_the_first, heads_in_reverse, heads_scaled_by_all_sizes],
    "06/projection": [
        ProjectionWithABiasForEachHead,
        ProjectionOfOneHeadRepeated,
        ProjectionOfStackedHeads,
    ],
    "06/split": [split_with_three_last, split_with_values_before_keys, split_into_one_head_more],
    "06/merge": [
        merge_silencing_positions,
        merge_silencing_single_channels,
        merge_silencing_the_others,
    ],
    "06/dropout": [drop_what_should_be_kept, drop_an_exact_share, drop_scaled_by_what_was_kept],
    "06/fused": [
        fused_with_a_matrix_not_transposed,
        fused_with_the_reach_of_the_first,
        fused_with_interleaved_heads,
    ],
}

ASIDE = {
    "heads_scaled_by_all_sizes",
    "ProjectionOfStackedHeads",
    "split_into_one_head_more",
    "merge_silencing_the_others",
    "drop_scaled_by_what_was_kept",
    "fused_with_interleaved_heads",
}
