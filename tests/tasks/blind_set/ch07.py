"""Wrong answers to chapter 07 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
from torch import nn

# 07/layer-norm


def eps_beside_the_root(x, gain, shift, groups, eps):
    """Adds eps to the standard deviation, not to the variance under the root."""
    B, T, C = x.shape
    g = x.view(B, T, groups, C // groups)
    mean = g.mean(dim=-1, keepdim=True)
    std = (g - mean).square().mean(dim=-1, keepdim=True).sqrt()
    return ((g - mean) / (std + eps)).view(B, T, C) * gain + shift


def every_groups_th_channel_together(x, gain, shift, groups, eps):
    """Views the channels as (C / groups, groups): a group has every groups-th channel."""
    B, T, C = x.shape
    cut = x.reshape(B, T, C // groups, groups)
    centered = cut - cut.mean(dim=2, keepdim=True)
    variance = (centered**2).mean(dim=2, keepdim=True)
    normal = centered / torch.sqrt(variance + eps)
    return normal.flatten(2) * gain + shift


# 07/feed-forward


class SmoothGate(nn.Module):
    """Uses SiLU for the gate, as many published models do, not max(0, …)."""

    def __init__(self, n_embd, hidden):
        """Make the three layers."""
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        """(B, T, C) → (B, T, C)."""
        return self.down(nn.functional.silu(self.gate(x)) * self.up(x))


class GateAsASwitch(nn.Module):
    """An open gate lets the value through as it is: nothing is scaled by the gate."""

    def __init__(self, n_embd, hidden):
        """Make the three layers."""
        super().__init__()
        self.gate, self.up = (nn.Linear(n_embd, hidden, bias=False) for _ in range(2))
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        """(B, T, C) → (B, T, C)."""
        closed = self.gate(x) <= 0
        return self.down(self.up(x).masked_fill(closed, 0.0))


# 07/residual


class WholeSumDivided(nn.Module):
    """Divides stream and branch together by the root of N, at every branch."""

    def __init__(self, branches):
        """Keep the branches."""
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        """(B, T, C) → (B, T, C)."""
        for branch in self.branches:
            x = (x + branch(x)) / math.sqrt(len(self.branches))
        return x


class RootOfTheBranchesSoFar(nn.Module):
    """Divides branch n by the root of n, counted from 1, not by the root of N."""

    def __init__(self, branches):
        """Keep the branches."""
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        """(B, T, C) → (B, T, C)."""
        for n, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / n**0.5
        return x


# 07/pre-norm-block


class NormReplacesTheStream(nn.Module):
    """Writes the normalized stream back to x, so results are added to that."""

    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        """Make the norms, keep the branches."""
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        """(B, T, C) and (B, S, C) → (B, T, C)."""
        x = self.attention_norm(x)
        x = x + self.attention(x)
        x = self.cross_norm(x)
        x = x + self.cross_attention(x, memory)
        x = self.feed_forward_norm(x)
        return x + self.feed_forward(x)


class CrossAttentionAsksWithWhatWasGathered(nn.Module):
    """Gives cross-attention the result of the first branch alone, not the stream."""

    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        """Make the norms, keep the branches."""
        super().__init__()
        for name in ("attention_norm", "cross_norm", "feed_forward_norm"):
            setattr(self, name, nn.LayerNorm(n_embd))
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        """(B, T, C) and (B, S, C) → (B, T, C)."""
        gathered = self.attention(self.attention_norm(x))
        x = x + gathered
        x = x + self.cross_attention(self.cross_norm(gathered), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


# 07/parameter-count


def both_wide_layers_have_c_biases(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    """Counts C biases for both layers of the feed-forward network; the first has `hidden`."""
    C = n_embd
    parts = {
        "embeddings": vocab_size * C + block_size * C,
        "attention": n_layer * (4 * C * C + bias * C),
        "feed_forward": n_layer * 2 * (C * hidden + bias * C),
        "norms": (2 * n_layer + 1) * (C + bias * C),
        "output": 0 if tied else vocab_size * C,
    }
    parts["total"] = sum(parts.values())
    return parts


def no_norms_without_bias(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Counts gain and shift only if `bias` is true, but the gain is always there."""
    embeddings = (vocab_size + block_size) * n_embd
    attention = 4 * n_embd**2
    feed_forward = 2 * n_embd * hidden
    norms = 0
    if bias:
        attention += n_embd
        feed_forward += hidden + n_embd
        norms = (2 * n_layer + 1) * 2 * n_embd
    output = 0 if tied else n_embd * vocab_size
    return {
        "embeddings": embeddings,
        "attention": n_layer * attention,
        "feed_forward": n_layer * feed_forward,
        "norms": norms,
        "output": output,
        "total": embeddings + n_layer * (attention + feed_forward) + norms + output,
    }


# 07/find-fault


def changes_that_a_norm_takes_away(block, B, T, C):
    """Adds 5 to all features of a position or sample: the norms subtract it before a leak shows."""
    x = torch.randn(B, T, C)
    with torch.no_grad():
        before = block(x)
        future = False
        for t in range(1, T):
            changed = x.clone()
            changed[:, t:] += 5.0
            future |= not torch.allclose(block(changed)[:, :t], before[:, :t], atol=1e-4)
        batch = False
        for b in range(B):
            changed = x.clone()
            changed[b] += 5.0
            others = [i for i in range(B) if i != b]
            batch |= not torch.allclose(block(changed)[others], before[others], atol=1e-4)
        stream = not torch.allclose(block(x + 5.0), before + 5.0, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


@torch.no_grad()
def constant_must_come_back_unchanged(block, B, T, C):
    """Asks that a constant input is returned as it is; biases of the branches add to it."""
    x = torch.randn(B, T, C)
    y = block(x)

    future = False
    for t in range(1, T):
        other = torch.cat([x[:, :t], torch.randn(B, T - t, C)], dim=1)
        if (block(other)[:, :t] - y[:, :t]).abs().max() > 1e-4:
            future = True

    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        difference = (block(other) - y).abs()
        difference[b] = 0
        batch = batch or bool(difference.max() > 1e-4)

    constant = torch.full((B, T, C), 3.0)
    stream = bool((block(constant) - constant).abs().max() > 1e-4)
    return {"future": future, "batch": batch, "stream": stream}


WRITTEN = {
    "07/layer-norm": [eps_beside_the_root, every_groups_th_channel_together],
    "07/feed-forward": [SmoothGate, GateAsASwitch],
    "07/residual": [WholeSumDivided, RootOfTheBranchesSoFar],
    "07/pre-norm-block": [NormReplacesTheStream, CrossAttentionAsksWithWhatWasGathered],
    "07/parameter-count": [both_wide_layers_have_c_biases, no_norms_without_bias],
    "07/find-fault": [changes_that_a_norm_takes_away, constant_must_come_back_unchanged],
}
