"""Wrong answers to chapter 07 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 07/layer-norm


def mean_of_all_channels(x, gain, shift, groups, eps):
    """Subtracts the mean of all channels of the position, and divides by each group's own
    spread.
    """
    B, T, C = x.shape
    centered = (x - x.mean(dim=-1, keepdim=True)).view(B, T, groups, C // groups)
    variance = centered.var(dim=-1, keepdim=True, unbiased=False)
    normed = (centered / (variance + eps).sqrt()).view(B, T, C)
    return gain * normed + shift


# 07/feed-forward


class GateOpensToOne(nn.Module):
    """Lets the gate open no further than 1, because a gate is a share between 0 and 1."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(self.gate(x).clamp(0, 1) * self.up(x))


# 07/residual


class RootOfTheBranchesSoFar(nn.Module):
    """Divides each branch by the root of how many have come so far, not of how many there are."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for number, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(number)
        return x


# 07/pre-norm-block


class FeedForwardOfWhatWasGathered(nn.Module):
    """Lets the feed-forward network read what cross-attention gathered instead of the stream."""

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
        gathered = self.cross_attention(self.cross_norm(x), memory)
        x = x + gathered
        return x + self.feed_forward(self.feed_forward_norm(gathered))


# 07/parameter-count


def final_norm_without_shift(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Counts the shift of the norms in the blocks if there are biases,
    but not of the final norm.
    """
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C * C + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": n_layer * 2 * (1 + bias) * C + C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# 07/find-fault


def ratio_of_large_numbers(block, B, T, C):
    """Wants output / input to be 1 for large inputs, at every entry, though some are near 0."""
    x = torch.randn(B, T, C)
    y = block(x)
    future = False
    for t in range(1, T):
        other = x.clone()
        other[:, t:] = torch.randn(B, T - t, C)
        future |= not torch.allclose(block(other)[:, :t], y[:, :t], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    large = 1000 * torch.randn(B, T, C)
    stream = bool(((block(large) / large - 1).abs() > 0.01).any())
    return {"future": future, "batch": batch, "stream": stream}


# 07/without-a-block


def three_blocks_trained_afresh():
    """Trained a model of three blocks from the start, instead of taking a block out of the four."""
    return {
        "text": "shakespeare",
        "all_four": 2.351,
        "without_first": 2.330,
        "without_last": 2.330,
    }


WRITTEN = {
    "07/layer-norm": [mean_of_all_channels],
    "07/feed-forward": [GateOpensToOne],
    "07/residual": [RootOfTheBranchesSoFar],
    "07/pre-norm-block": [FeedForwardOfWhatWasGathered],
    "07/parameter-count": [final_norm_without_shift],
    "07/find-fault": [ratio_of_large_numbers],
    "07/without-a-block": [three_blocks_trained_afresh],
}
