"""Wrong answers to chapter 07 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 07/layer-norm


# "group 0 is the first C / groups channels"
def every_nth_channel_a_group(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, C // groups, groups)
    centered = parts - parts.mean(dim=2, keepdim=True)
    variance = centered.square().mean(dim=2, keepdim=True)
    return gain * (centered / (variance + eps).sqrt()).view(B, T, C) + shift


# "gain and shift … as in LayerNorm, and act last"
def shift_before_gain(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return gain * ((centered / (variance + eps).sqrt()).view(B, T, C) + shift)


# 07/feed-forward


# "an open one lets its value through, scaled"
class GateOpenOrShut(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(self.up(x) * (self.gate(x) > 0))


# 07/residual


# "let each branch add its output divided by √N"
class RootOfTheBranchesSoFar(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for number, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(number)
        return x


# "the gradient flows back along the stream and through every branch"
class BranchesReadADetachedStream(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x.detach()) / math.sqrt(len(self.branches))
        return x


# 07/pre-norm-block


# "its block has three branches, in this order"
class TwoAttentionsSideBySide(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        own = self.attention(self.attention_norm(x))
        other = self.cross_attention(self.cross_norm(x), memory)
        x = x + own + other
        return x + self.feed_forward(self.feed_forward_norm(x))


# 07/parameter-count


# "if tied is true, the output layer … counts 0"
def tied_output_left_out_of_the_total(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": vocab_size * C,
    }
    counts["total"] = sum(counts.values()) - tied * vocab_size * C
    return counts


# 07/find-fault


# "two inputs that begin alike": what may not change ends before the first position that did
def looks_at_the_changed_position_too(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, : t + 1], y[:, : t + 1], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# "does an output depend on another sample, whichever?"
def first_sample_alone(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = not torch.allclose(block(x[:1]), y[:1], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# 07/without-a-block


# "without the first block (without_first), and without the last (without_last)"
def two_blocks_exchanged():
    return {
        "text": "shakespeare",
        "all_four": 2.351,
        "without_first": 2.516,
        "without_last": 5.171,
    }


WRITTEN = {
    "07/layer-norm": [every_nth_channel_a_group, shift_before_gain],
    "07/feed-forward": [GateOpenOrShut],
    "07/residual": [RootOfTheBranchesSoFar, BranchesReadADetachedStream],
    "07/pre-norm-block": [TwoAttentionsSideBySide],
    "07/parameter-count": [tied_output_left_out_of_the_total],
    "07/find-fault": [looks_at_the_changed_position_too, first_sample_alone],
    "07/without-a-block": [two_blocks_exchanged],
}

ASIDE = {
    "shift_before_gain",
    "RootOfTheBranchesSoFar",
    "TwoAttentionsSideBySide",
}
