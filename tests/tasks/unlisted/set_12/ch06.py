"""Wrong answers to chapter 06 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 06/concat


def scores_pile_up(x, heads):
    """Adds each head's scores to the mask in place, so a later head also has the earlier scores."""
    T = x.shape[1]
    mask = torch.full((T, T), -torch.inf).triu(1).repeat(len(x), 1, 1)
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value
        mask += q @ k.transpose(1, 2) / math.sqrt(q.shape[-1])
        found.append(mask.softmax(dim=-1) @ v)
    return torch.cat(found, dim=-1)


# 06/projection


class SingleHeadNotMixed(nn.Module):
    """Returns the finding of a single head as it is, since there is nothing to mix."""

    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        found = [head(x) for head in self.heads]
        if len(found) == 1:
            return found[0]
        return self.projection(torch.cat(found, dim=-1))


# 06/split


def three_inside_each_channel(x, n_head):
    """Cuts each head into D times 3 instead of 3 times D: query, key, value, query, key,
    value, …
    """
    B, T, width = x.shape
    parts = x.view(B, T, n_head, width // (3 * n_head), 3)
    query, key, value = parts.permute(4, 0, 2, 1, 3)
    return query, key, value


# 06/merge


def zeros_at_the_end(found, silenced):
    """Leaves the silenced heads out and fills up with zeros at the end,
    so later heads move left.
    """
    B, H, T, D = found.shape
    heard = [h for h in range(H) if h not in silenced]
    together = found[:, heard].transpose(1, 2).reshape(B, T, len(heard) * D)
    zeros = torch.zeros(B, T, H * D - together.shape[-1])
    return torch.cat([together, zeros], dim=-1)


# 06/dropout


def exactly_that_share(found, p, training, generator):
    """Drops exactly the share p of the heads of each sample, so heads aren't independent."""
    if not training:
        return found
    if p == 1:
        return torch.zeros_like(found)
    B, H = found.shape[:2]
    kept = torch.ones(B, H, 1, 1)
    for b in range(B):
        gone = torch.randperm(H, generator=generator)[: round(p * H)]
        kept[b, gone] = 0
    return found * kept / (1 - p)


# 06/fused


def beyond_reach_scores_zero(x, qkv, projection, reach):
    """Hides the future with −∞, but sets scores beyond the reach to 0, so they keep a weight."""
    B, T, C = x.shape
    H = len(reach)
    query, key, value = (x @ qkv.T).view(B, T, 3, H, C // H).permute(2, 0, 3, 1, 4)
    scores = query @ key.transpose(2, 3) / math.sqrt(C // H)
    back = torch.arange(T)[:, None] - torch.arange(T)
    beyond = back >= torch.tensor(reach)[:, None, None]
    scores = scores.masked_fill(beyond, 0.0).masked_fill(back < 0, -torch.inf)
    found = scores.softmax(dim=-1) @ value
    return found.transpose(1, 2).flatten(2) @ projection.T


# 06/tiny-heads


def first_evaluation():
    """Took evaluations[0], the loss early in training, instead of the last one."""
    return {"text": "shakespeare", "heads_1": 2.795, "heads_32": 2.694}


WRITTEN = {
    "06/concat": [scores_pile_up],
    "06/projection": [SingleHeadNotMixed],
    "06/split": [three_inside_each_channel],
    "06/merge": [zeros_at_the_end],
    "06/dropout": [exactly_that_share],
    "06/fused": [beyond_reach_scores_zero],
    "06/tiny-heads": [first_evaluation],
}
