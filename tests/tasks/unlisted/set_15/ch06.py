"""Wrong answers to chapter 06 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def offset_of_one_head_only(x, heads):
    """Sets the offset to the last head's size instead of adding it, so a third head lands wrong."""
    B, T, _ = x.shape
    past = torch.ones(T, T).tril()
    out = torch.zeros(B, T, sum(value.shape[1] for _, _, value in heads))
    first = 0
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        D = q.shape[-1]
        scores = q @ k.transpose(1, 2) / D**0.5
        weights = scores.masked_fill(past == 0, -torch.inf).softmax(dim=-1)
        out[:, :, first : first + D] = weights @ v
        first = D
    return out


# 06/projection


class BiasNeverAdded(nn.Module):
    """Multiplies by the projection's weight by hand, and its bias is never added."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        together = torch.cat([head(x) for head in self.heads], dim=-1)
        return together @ self.projection.weight.T


# 06/split


def stacked_in_front_then_viewed(x, n_head):
    """Stacks the heads in front of the batch and views that as (B, H, …), which mixes the two."""
    B, T, width = x.shape
    D = width // (3 * n_head)
    heads = torch.stack(x.chunk(n_head, dim=-1)).view(B, n_head, T, 3, D)
    return heads[:, :, :, 0], heads[:, :, :, 1], heads[:, :, :, 2]


# 06/merge


def empty_list_as_tensor(found, silenced):
    """Makes an index tensor of the list, which is of floats for an empty list and can't index."""
    audible = torch.ones(found.shape[1])
    audible[torch.tensor(silenced)] = 0
    return (found * audible[:, None, None]).transpose(1, 2).flatten(2)


# 06/dropout


def never_all_heads_at_once(found, p, training, generator):
    """Keeps all heads of a sample that would lose every one, so too few heads are dropped."""
    if not training:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    kept = torch.rand(B, H, 1, 1, generator=generator) >= p
    kept = kept | ~kept.any(dim=1, keepdim=True)
    return found * kept / (1 - p)


# 06/fused


def band_carried_over(x, qkv, projection, reach):
    """Cuts each head's band out of the band of the head before, so no reach can grow again."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    visible = torch.ones(T, T, dtype=torch.bool).tril()
    masks = []
    for steps in reach:
        visible = visible.triu(1 - steps)
        masks.append(visible)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=torch.stack(masks))
    return found.transpose(1, 2).flatten(2) @ projection.T


# 06/tiny-heads


def one_channel_for_each_head():
    """Builds both models with n_embd = n_head, so the one head has a single channel, not 32."""
    return {
        "text": "shakespeare",
        "heads_1": 3.090,
        "heads_32": 2.308,
    }


WRITTEN = {
    "06/concat": [offset_of_one_head_only],
    "06/projection": [BiasNeverAdded],
    "06/split": [stacked_in_front_then_viewed],
    "06/merge": [empty_list_as_tensor],
    "06/dropout": [never_all_heads_at_once],
    "06/fused": [band_carried_over],
    "06/tiny-heads": [one_channel_for_each_head],
}
