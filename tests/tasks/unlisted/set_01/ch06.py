"""Unlisted wrong answers to chapter 06."""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def _found(x, heads, diagonal=1, scale=None):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(diagonal)
    found = []
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).mT / (scale or query.shape[1] ** 0.5)
        found.append(scores.masked_fill(future, -torch.inf).softmax(-1) @ (x @ value))
    return found


def heads_in_reverse(x, heads):
    return torch.cat(_found(x, heads)[::-1], dim=-1)


def looks_one_ahead(x, heads):
    return torch.cat(_found(x, heads, diagonal=2), dim=-1)


def scale_of_the_last(x, heads):
    return torch.cat(_found(x, heads, scale=heads[-1][0].shape[1] ** 0.5), dim=-1)


def divided_by_the_size(x, heads):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    found = []
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).mT / query.shape[1]
        found.append(scores.masked_fill(future, -torch.inf).softmax(-1) @ (x @ value))
    return torch.cat(found, dim=-1)


def each_head_reads_the_last(x, heads):
    T = x.shape[1]
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    found, values = [], None
    for query, key, value in heads:
        scores = (x @ query) @ (x @ key).mT / query.shape[1] ** 0.5
        weights = scores.masked_fill(future, -torch.inf).softmax(-1)
        values = x @ value if values is None else values
        found.append(
            weights @ (x @ value) if values.shape[-1] != value.shape[1] else weights @ values
        )
    return torch.cat(found, dim=-1)


def last_head_forgotten(x, heads):
    return torch.cat(_found(x, heads[:-1]), dim=-1)


# 06/projection


class _Mixed(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(head_size * len(heads), n_embd)

    def together(self, x):
        return torch.cat([head(x) for head in self.heads], dim=-1)

    def forward(self, x):
        return self.projection(self.together(x))


class DropoutAtTheEnd(_Mixed):
    def forward(self, x):
        return F.dropout(super().forward(x), 0.1)


class NormFirst(_Mixed):
    def forward(self, x):
        x = F.layer_norm(x, x.shape[-1:])
        return super().forward(x)


class NormBetween(_Mixed):
    def forward(self, x):
        together = self.together(x)
        return self.projection(F.layer_norm(together, together.shape[-1:]))


class MeanOfTheHeads(_Mixed):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)

    def forward(self, x):
        found = torch.stack([head(x) for head in self.heads]).mean(dim=0)
        return self.projection(found.repeat(1, 1, len(self.heads)))


class ExtraLayer(_Mixed):
    def __init__(self, heads, head_size, n_embd):
        super().__init__(heads, head_size, n_embd)
        self.output = nn.Linear(n_embd, n_embd)

    def forward(self, x):
        return self.output(super().forward(x))


class HeadsDetached(_Mixed):
    def forward(self, x):
        return self.projection(self.together(x) * 0.5)


# 06/split


def values_first(x, n_head):
    B, T, W = x.shape
    value, query, key = x.view(B, T, n_head, 3, W // n_head // 3).permute(3, 0, 2, 1, 4)
    return query, key, value


def heads_and_batch_mixed(x, n_head):
    B, T, W = x.shape
    D = W // n_head // 3
    parts = x.view(B, T, n_head, 3, D).permute(3, 2, 0, 1, 4)
    return tuple(part.reshape(B, n_head, T, D) for part in parts)


def one_tensor(x, n_head):
    B, T, W = x.shape
    return x.view(B, T, n_head, 3, W // n_head // 3).permute(3, 0, 2, 1, 4).flatten(0, 1)


def heads_reversed(x, n_head):
    B, T, W = x.shape
    parts = x.view(B, T, n_head, 3, W // n_head // 3).permute(3, 0, 2, 1, 4).flip(2)
    return parts[0], parts[1], parts[2]


def keys_are_queries(x, n_head):
    B, T, W = x.shape
    parts = x.view(B, T, n_head, 3, W // n_head // 3).permute(3, 0, 2, 1, 4)
    return parts[0], parts[0], parts[2]


def scaled_already(x, n_head):
    B, T, W = x.shape
    parts = x.view(B, T, n_head, 3, W // n_head // 3).permute(3, 0, 2, 1, 4)
    return parts[0] / parts.shape[-1] ** 0.5, parts[1], parts[2]


# 06/merge


def only_the_first_silenced(found, silenced):
    found = found.clone()
    if silenced:
        found[:, silenced[0]] = 0
    return found.transpose(1, 2).flatten(2)


def silenced_in_one_sample(found, silenced):
    found = found.clone()
    found[0, silenced] = 0
    return found.transpose(1, 2).flatten(2)


def silenced_with_minus_infinity(found, silenced):
    found = found.clone()
    found[:, silenced] = -torch.inf
    return found.transpose(1, 2).flatten(2)


def others_scaled_up(found, silenced):
    H = found.shape[1]
    found = found.clone()
    found[:, silenced] = 0
    return found.transpose(1, 2).flatten(2) * H / (H - len(silenced))


def heads_reversed_when_merged(found, silenced):
    found = found.clone()
    found[:, silenced] = 0
    return found.flip(1).transpose(1, 2).flatten(2)


def list_is_emptied(found, silenced):
    found = found.clone()
    while silenced:
        found[:, silenced.pop()] = 0
    return found.transpose(1, 2).flatten(2)


# 06/dropout


def exactly_that_many(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    gone = round(p * H)
    order = torch.rand(B, H, generator=generator).argsort(dim=1)
    return found * (order >= gone)[:, :, None, None] * (H / (H - gone))


def positions_too(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H, T, _ = found.shape
    return found * (torch.rand(B, H, T, 1, generator=generator) >= p) / (1 - p)


def added_noise(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    return found * (torch.randn(B, H, 1, 1, generator=generator) >= p) / (1 - p)


def root_for_scale(found, p, training, generator):
    if not training or p == 0:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    return found * (torch.rand(B, H, 1, 1, generator=generator) >= p) / (1 - p) ** 0.5


def never_all(found, p, training, generator):
    if not training:
        return found
    p = min(p, 0.999)
    B, H = found.shape[:2]
    return found * (torch.rand(B, H, 1, 1, generator=generator) >= p) / (1 - p)


def in_place(found, p, training, generator):
    if training:
        B, H = found.shape[:2]
        kept = torch.rand(B, H, 1, 1, generator=generator) >= p
        found *= kept
        if p < 1:
            found /= 1 - p
    return found


# 06/fused


def _fused(x, qkv, projection, reach, visible=None, mix=None):
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    back = torch.arange(T)[:, None] - torch.arange(T)
    if visible is None:
        visible = (back >= 0) & (back < torch.tensor(reach)[:, None, None])
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


def reach_of_the_longest(x, qkv, projection, reach):
    return _fused(x, qkv, projection, [max(reach)] * len(reach))


def reach_is_never_one(x, qkv, projection, reach):
    return _fused(x, qkv, projection, [max(r, 2) for r in reach])


def reach_capped_below_the_text(x, qkv, projection, reach):
    return _fused(
        x, qkv, projection, [r if r > x.shape[1] else min(r, x.shape[1] - 1) for r in reach]
    )


def first_positions_always_seen(x, qkv, projection, reach):
    T = x.shape[1]
    back = torch.arange(T)[:, None] - torch.arange(T)
    near = (back >= 0) & (back < torch.tensor(reach)[:, None, None])
    near[:, :, 0] = True
    return _fused(x, qkv, projection, reach, visible=near)


def blocks_not_windows(x, qkv, projection, reach):
    T = x.shape[1]
    t = torch.arange(T)
    seen = torch.stack([(t[:, None] // r == t // r) & (t <= t[:, None]) for r in reach])
    return _fused(x, qkv, projection, reach, visible=seen)


def qkv_not_transposed(x, qkv, projection, reach):
    return _fused(x, qkv.reshape(x.shape[-1], -1).T, projection, reach)


WRITTEN = {
    "06/concat": [
        heads_in_reverse,
        looks_one_ahead,
        scale_of_the_last,
        divided_by_the_size,
        each_head_reads_the_last,
        last_head_forgotten,
    ],
    "06/projection": [
        DropoutAtTheEnd,
        NormFirst,
        NormBetween,
        MeanOfTheHeads,
        ExtraLayer,
        HeadsDetached,
    ],
    "06/split": [
        values_first,
        heads_and_batch_mixed,
        heads_reversed,
        one_tensor,
        keys_are_queries,
        scaled_already,
    ],
    "06/merge": [
        only_the_first_silenced,
        silenced_in_one_sample,
        others_scaled_up,
        silenced_with_minus_infinity,
        list_is_emptied,
        heads_reversed_when_merged,
    ],
    "06/dropout": [
        exactly_that_many,
        positions_too,
        root_for_scale,
        added_noise,
        in_place,
        never_all,
    ],
    "06/fused": [
        reach_is_never_one,
        reach_capped_below_the_text,
        reach_of_the_longest,
        first_positions_always_seen,
        qkv_not_transposed,
        blocks_not_windows,
    ],
}

ASIDE = ()
