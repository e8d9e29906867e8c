"""Wrong answers to chapter 06 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


def unpacked_key_first(x, heads):
    """Unpacks each head as (key, query, value), so that queries and keys are swapped."""
    T = x.shape[1]
    past = torch.ones(T, T).tril()
    found = []
    for key, query, value in heads:
        k, q, v = x @ key, x @ query, x @ value
        scores = q @ k.transpose(1, 2) / k.shape[-1] ** 0.5
        weights = scores.masked_fill(past == 0, -torch.inf).softmax(dim=-1)
        found.append(weights @ v)
    return torch.cat(found, dim=-1)


# 06/projection


class ChannelsInterleaved(nn.Module):
    """Stacks the heads along a new last axis and flattens: channel 0 of every head comes first."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        together = torch.stack([head(x) for head in self.heads], dim=-1).flatten(2)
        return self.projection(together)


# 06/split


def steps_of_one_part(x, n_head):
    """Goes on by D instead of 3 · D channels from head to head, so that the heads overlap."""
    D = x.shape[-1] // (3 * n_head)
    queries, keys, values = [], [], []
    for head in range(n_head):
        first = head * D
        queries.append(x[:, :, first : first + D])
        keys.append(x[:, :, first + D : first + 2 * D])
        values.append(x[:, :, first + 2 * D : first + 3 * D])
    return torch.stack(queries, dim=1), torch.stack(keys, dim=1), torch.stack(values, dim=1)


# 06/merge


def silenced_after_transposing(found, silenced):
    """Silences on axis 1 after the transposition, where the positions are, not the heads."""
    together = found.transpose(1, 2).clone()
    together[:, silenced] = 0
    return together.flatten(2)


# 06/dropout


def scaled_by_the_kept_share(found, p, training, generator):
    """Scales by the share of heads really kept in each sample, not by the probability 1 − p."""
    if not training:
        return found
    B, H = found.shape[:2]
    kept = (torch.rand(B, H, 1, 1, generator=generator) >= p).float()
    share = kept.mean(dim=1, keepdim=True)
    return found * kept / share.clamp(min=1 / H)


# 06/fused


def mask_as_numbers(x, qkv, projection, reach):
    """Gives the attention call a float mask of ones and zeros, which is added and hides nothing."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    visible = torch.zeros(H, T, T)
    for head, steps in enumerate(reach):
        visible[head] = torch.ones(T, T).tril().triu(1 - steps)
    found = F.scaled_dot_product_attention(query, key, value, attn_mask=visible)
    return found.transpose(1, 2).flatten(2) @ projection.T


# 06/tiny-heads


def rate_left_out():
    """Leaves out lr=0.01, so that both models train with the default rate of 0.001."""
    return {
        "text": "shakespeare",
        "heads_1": 2.601,
        "heads_32": 2.551,
    }


WRITTEN = {
    "06/concat": [unpacked_key_first],
    "06/projection": [ChannelsInterleaved],
    "06/split": [steps_of_one_part],
    "06/merge": [silenced_after_transposing],
    "06/dropout": [scaled_by_the_kept_share],
    "06/fused": [mask_as_numbers],
    "06/tiny-heads": [rate_left_out],
}
