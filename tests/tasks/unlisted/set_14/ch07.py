"""Wrong answers to chapter 07 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 07/layer-norm


def variance_around_zero(x, gain, shift, groups, eps):
    """Takes a group's mean square for its variance: the mean is not subtracted there."""
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    mean = parts.mean(dim=-1, keepdim=True)
    variance = parts.square().mean(dim=-1, keepdim=True)
    normed = (parts - mean) / (variance + eps).sqrt()
    return gain * normed.view(B, T, C) + shift


# 07/feed-forward


class GateOpenOrShut(nn.Module):
    """An open gate lets the value through as it is: the gate's own size doesn't scale it."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        is_open = self.gate(x) > 0
        return self.down(self.up(x) * is_open)


# 07/residual


class AddsIntoItsClone(nn.Module):
    """Clones x once, then adds every branch into the clone in place: backward raises an error."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        stream = x.clone()
        for branch in self.branches:
            stream += branch(stream) / math.sqrt(len(self.branches))
        return stream


# 07/pre-norm-block


class FeedForwardReadsGathered(nn.Module):
    """The feed-forward network reads only what the two attentions gathered, not the stream."""

    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)

    def forward(self, x, memory):
        own = self.attention(self.attention_norm(x))
        x = x + own
        other = self.cross_attention(self.cross_norm(x), memory)
        x = x + other
        return x + self.feed_forward(self.feed_forward_norm(own + other))


# 07/parameter-count


def conditional_swallows_matrices(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    """`matrices + biases if bias else 0` without brackets: no bias, feed_forward counts 0."""
    C = n_embd
    counts = {
        "embeddings": vocab_size * C + block_size * C,
        "attention": n_layer * (4 * C * C + (C if bias else 0)),
        "feed_forward": n_layer * (2 * C * hidden + hidden + C if bias else 0),
        "norms": (2 * n_layer + 1) * (2 * C if bias else C),
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# 07/find-fault


def reverses_the_batch(block, B, T, C):
    """Tests `batch` by reversing the order of the samples, which a batch norm doesn't notice."""
    x = torch.randn(B, T, C)
    y = block(x)
    future = False
    for t in range(1, T):
        later = x.clone()
        later[:, t:] = torch.randn(B, T - t, C)
        future |= not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = not torch.allclose(block(x.flip(0)), y.flip(0), atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# 07/without-a-block


def rate_left_at_default():
    """Forgot lr=0.01 in the call of fit, so the model was trained with its default of 0.001."""
    return {
        "text": "shakespeare",
        "all_four": 2.2828,
        "without_first": 2.9914,
        "without_last": 2.3107,
    }


WRITTEN = {
    "07/layer-norm": [variance_around_zero],
    "07/feed-forward": [GateOpenOrShut],
    "07/residual": [AddsIntoItsClone],
    "07/pre-norm-block": [FeedForwardReadsGathered],
    "07/parameter-count": [conditional_swallows_matrices],
    "07/find-fault": [reverses_the_batch],
    "07/without-a-block": [rate_left_at_default],
}
