"""Wrong answers to chapter 07 that no list names: the sixteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 07/layer-norm


def squares_of_what_is_not_centered(x, gain, shift, groups, eps):
    """Takes the mean of the squares of x itself for the variance: the mean is still in it."""
    B, T, C = x.shape
    parts = x.reshape(B, T, groups, C // groups)
    mean = parts.mean(dim=-1, keepdim=True)
    variance = (parts**2).mean(dim=-1, keepdim=True)
    normed = ((parts - mean) / torch.sqrt(variance + eps)).reshape(B, T, C)
    return normed * gain + shift


# 07/feed-forward


class OpenOrClosed(nn.Module):
    """Takes the gate for a switch: an open one lets its value through, but does not scale it."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(torch.where(self.gate(x) > 0, self.up(x), 0.0))


# 07/residual


class RootOfTheTurn(nn.Module):
    """Divides by the root of how many branches have had their turn, not of all N."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for n, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(n)
        return x


# 07/pre-norm-block


class MemoryReplacesTheStream(nn.Module):
    """Forgets the `x +` in the line of the cross-attention, so the stream ends there."""

    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = self.cross_attention(self.cross_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


# 07/parameter-count


def shared_table_at_the_output(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Counts a shared table for the output layer and takes it away from the embeddings."""
    C = n_embd
    counts = {
        "embeddings": block_size * C if tied else (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C * C + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (C + bias * C),
        "output": vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# 07/find-fault


def batch_turned_around(block, B, T, C):
    """Only reverses the batch and compares: a norm over the batch gives the same in any order."""
    x = torch.randn(B, T, C)
    y = block(x)
    later = x.clone()
    later[:, T // 2 :] = torch.randn(B, T - T // 2, C)
    future = not torch.allclose(block(later)[:, : T // 2], y[:, : T // 2], atol=1e-4)
    batch = not torch.allclose(block(x.flip(0)), y.flip(0), atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# 07/without-a-block


def first_one_never_put_back():
    """Takes the last block out of the model that has lost its first block already."""
    return {
        "text": "shakespeare",
        "all_four": 2.355,
        "without_first": 4.236,
        "without_last": 4.611,
    }


WRITTEN = {
    "07/layer-norm": [squares_of_what_is_not_centered],
    "07/feed-forward": [OpenOrClosed],
    "07/residual": [RootOfTheTurn],
    "07/pre-norm-block": [MemoryReplacesTheStream],
    "07/parameter-count": [shared_table_at_the_output],
    "07/find-fault": [batch_turned_around],
    "07/without-a-block": [first_one_never_put_back],
}
