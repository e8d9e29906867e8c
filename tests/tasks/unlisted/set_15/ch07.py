"""Wrong answers to chapter 07 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 07/layer-norm


def eps_as_floor_of_the_norm(x, gain, shift, groups, eps):
    """Uses F.normalize, whose eps is a floor of the length and isn't added to the variance."""
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    normed = F.normalize(centered, dim=-1, eps=eps) * math.sqrt(C // groups)
    return gain * normed.view(B, T, C) + shift


# 07/feed-forward


class OneLayerUnderTwoNames(nn.Module):
    """Assigns gate and up in one line, `self.gate = self.up = …`: both are the same layer."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(self.gate(x).relu() * self.up(x))


# 07/residual


class DividesTheWeightsOnce(nn.Module):
    """Divides all parameters of the branches by √N at the start, not the branches' outputs."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.div_(math.sqrt(len(branches)))

    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x)
        return x


# 07/pre-norm-block


class MemoryCutToLength(nn.Module):
    """Cuts memory to the length of x, so the end of a longer memory is never read."""

    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)

    def forward(self, x, memory):
        T = x.shape[1]
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory[:, :T])
        return x + self.feed_forward(self.feed_forward_norm(x))


# 07/parameter-count


def hidden_as_whole_multiple(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Replaces the 4 of 4C by hidden // C: a width that is no multiple of C is rounded down."""
    C = n_embd
    times = hidden // C
    counts = {
        "embeddings": vocab_size * C + block_size * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * times * C**2 + bias * (times * C + C)),
        "norms": (2 * n_layer + 1) * (C + bias * C),
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# 07/find-fault


def large_input_within_a_percent(block, B, T, C):
    """Wants a large input back within 1 % of each entry: near 0 every right block fails that."""
    x = torch.randn(B, T, C)
    y = block(x)
    future = False
    for t in range(1, T):
        later = x.clone()
        later[:, t:] = torch.randn(B, T - t, C)
        future |= not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    stream = not torch.allclose(block(100 * x), 100 * x, rtol=0.01)
    return {"future": future, "batch": batch, "stream": stream}


# 07/without-a-block


def first_block_is_number_one():
    """Takes out blocks[1] as the first one, which is the second: Python counts from 0."""
    return {
        "text": "shakespeare",
        "all_four": 2.3515,
        "without_first": 2.3894,
        "without_last": 2.5162,
    }


WRITTEN = {
    "07/layer-norm": [eps_as_floor_of_the_norm],
    "07/feed-forward": [OneLayerUnderTwoNames],
    "07/residual": [DividesTheWeightsOnce],
    "07/pre-norm-block": [MemoryCutToLength],
    "07/parameter-count": [hidden_as_whole_multiple],
    "07/find-fault": [large_input_within_a_percent],
    "07/without-a-block": [first_block_is_number_one],
}
