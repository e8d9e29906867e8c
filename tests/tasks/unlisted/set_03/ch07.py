"""Wrong answers to chapter 07 that no list names: the third set."""

import math

import torch
from torch import nn

# 07/layer-norm


def shift_before_the_gain(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return gain * ((centered / (variance + eps).sqrt()).view(B, T, C) + shift)


# 07/feed-forward


class GateOpenOrClosed(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down((self.gate(x) > 0) * self.up(x))


# 07/residual


class RootOfTheBranchesNumber(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for number, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(number)
        return x


# 07/pre-norm-block


class LastSkipFromTheNorm(nn.Module):
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
        x = x + self.cross_attention(self.cross_norm(x), memory)
        x = self.feed_forward_norm(x)
        return x + self.feed_forward(x)


# 07/parameter-count


def both_feed_forward_biases_hidden(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    counts = {
        "embeddings": (vocab_size + block_size) * n_embd,
        "attention": n_layer * (4 * n_embd**2 + bias * n_embd),
        "feed_forward": n_layer * (2 * n_embd * hidden + bias * 2 * hidden),
        "norms": (2 * n_layer + 1) * (1 + bias) * n_embd,
        "output": 0 if tied else vocab_size * n_embd,
    }
    return {**counts, "total": sum(counts.values())}


# 07/find-fault


def _inspect(block, B, T, C, other_samples, shifted):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = False
    for changed, looked_at in other_samples:
        other = x.clone()
        other[changed] = torch.randn(T, C)
        batch |= not torch.allclose(block(other)[looked_at], y[looked_at], atol=1e-4)
    stream = not torch.allclose(block(x + shifted), y + shifted, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


def second_sample_changed_first_one_compared(block, B, T, C):
    return _inspect(block, B, T, C, [(1, 0)], 3.0)


def another_number_for_each_channel(block, B, T, C):
    pairs = [(a, b) for a in range(B) for b in range(B) if a != b]
    return _inspect(block, B, T, C, pairs, torch.randn(C))


WRITTEN = {
    "07/layer-norm": [shift_before_the_gain],
    "07/feed-forward": [GateOpenOrClosed],
    "07/residual": [RootOfTheBranchesNumber],
    "07/pre-norm-block": [LastSkipFromTheNorm],
    "07/parameter-count": [both_feed_forward_biases_hidden],
    "07/find-fault": [second_sample_changed_first_one_compared, another_number_for_each_channel],
}
