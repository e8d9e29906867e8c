"""Wrong answers to chapter 07 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 07/layer-norm


def square_mean_as_variance(x, gain, shift, groups, eps):
    """Takes the mean of the squares of x itself for the variance, without subtracting the mean."""
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    mean = parts.mean(dim=-1, keepdim=True)
    variance = parts.square().mean(dim=-1, keepdim=True)
    normed = ((parts - mean) / (variance + eps).sqrt()).view(B, T, C)
    return gain * normed + shift


def one_variance_for_all_groups(x, gain, shift, groups, eps):
    """Subtracts each group's own mean, but divides by one variance of all C channels."""
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centered = (parts - parts.mean(dim=-1, keepdim=True)).view(B, T, C)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return gain * centered / (variance + eps).sqrt() + shift


def group_norm_of_the_library(x, gain, shift, groups, eps):
    """Calls F.group_norm with T as the last axis, which pools all positions of a sample."""
    return F.group_norm(x.transpose(1, 2), groups, gain, shift, eps).transpose(1, 2)


# 07/feed-forward


class OpenOrClosedGate(nn.Module):
    """The gate only says open or closed (1 or 0), so an open one does not scale the value."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down((self.gate(x) > 0) * self.up(x))


class FourTimesAsWide(nn.Module):
    """Makes the layers 4C wide, as in the chapter, and ignores `hidden`."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, 4 * n_embd, bias=False)
        self.up = nn.Linear(n_embd, 4 * n_embd, bias=False)
        self.down = nn.Linear(4 * n_embd, n_embd, bias=False)

    def forward(self, x):
        return self.down(self.gate(x).relu() * self.up(x))


class WithDropoutAtTheEnd(nn.Module):
    """Adds a dropout of 0.1 after the last layer, so that outputs are random in training mode."""

    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.down(self.gate(x).relu() * self.up(x)))


# 07/residual


class HalfInsteadOfRoot(nn.Module):
    """Writes the root as `N ** 1 / 2`, which is N / 2, and divides by that."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        root = len(self.branches) ** 1 / 2
        for branch in self.branches:
            x = x + branch(x) / root
        return x


class RootOfTheBranchesSoFar(nn.Module):
    """Divides the n-th branch by the root of n, the branches so far, not by that of all N."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for n, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(n)
        return x


class DetachedCopyFirst(nn.Module):
    """Works on a detached copy of x, so that no gradient comes back to the caller's tensor."""

    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        x = x.detach().clone()
        for branch in self.branches:
            x = x + branch(x) / math.sqrt(len(self.branches))
        return x


# 07/pre-norm-block


class OneNormUnderThreeNames(nn.Module):
    """Assigns one LayerNorm to all three names at once, so that the branches share a norm."""

    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = self.cross_norm = self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


class MemoryCutToTheStream(nn.Module):
    """Cuts the memory to the length T of x before the cross-attention reads it."""

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
        x = x + self.cross_attention(self.cross_norm(x), memory[:, : x.shape[1]])
        return x + self.feed_forward(self.feed_forward_norm(x))


class FeedForwardOfWhatWasGathered(nn.Module):
    """The feed-forward network reads only what cross-attention returned, not the stream."""

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


def projection_bias_only_once(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Forgets parentheses in `attention`: the projection's bias counts once, not in each block."""
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * 4 * C**2 + bias * C,
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


def masks_are_parameters(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Counts each head's causal mask of T × T entries among the attention's parameters."""
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C + n_head * block_size**2),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


def no_gain_without_shift(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    """Norms count 2C with a bias but nothing without one, as if the gain went with the shift."""
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * 2 * C if bias else 0,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# 07/find-fault


def flips_the_batch(block, B, T, C):
    """For `batch`, only reverses the samples' order, which a norm over the batch doesn't notice."""
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = not torch.allclose(block(x.flip(0)), y.flip(0), atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


def a_vector_instead_of_a_number(block, B, T, C):
    """For `stream`, adds a random number per channel, which no norm subtracts: all are at fault."""
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)

    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        untouched = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[untouched], y[untouched], atol=1e-4)

    c = torch.randn(C)
    stream = not torch.allclose(block(x + c), y + c, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


def from_the_last_to_the_first_position(block, B, T, C):
    """For `future`, changes only the last position and looks only at the first one's output."""
    x = torch.randn(B, T, C)
    y = block(x)
    later = x.clone()
    later[:, -1] = torch.randn(B, C)
    future = not torch.allclose(block(later)[:, 0], y[:, 0], atol=1e-4)

    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        untouched = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[untouched], y[untouched], atol=1e-4)

    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# 07/without-a-block


def trains_in_each_round():
    """Calls fit inside the loop, so that each stack is trained (further) before it is measured."""
    return {
        "text": "shakespeare",
        "all_four": 2.3515,
        "without_first": 2.2601,
        "without_last": 2.2137,
    }


def takes_out_attention_only():
    """Takes only the attention branch out of the first or last block; its network remains."""
    return {
        "text": "shakespeare",
        "all_four": 2.3515,
        "without_first": 3.9170,
        "without_last": 2.3926,
    }


def trains_at_the_default_rate():
    """Leaves out lr=0.01, so that fit trains with its default rate of 0.001."""
    return {
        "text": "shakespeare",
        "all_four": 2.2828,
        "without_first": 2.9914,
        "without_last": 2.3107,
    }


WRITTEN = {
    "07/layer-norm": [
        square_mean_as_variance,
        one_variance_for_all_groups,
        group_norm_of_the_library,
    ],
    "07/feed-forward": [OpenOrClosedGate, FourTimesAsWide, WithDropoutAtTheEnd],
    "07/residual": [HalfInsteadOfRoot, RootOfTheBranchesSoFar, DetachedCopyFirst],
    "07/pre-norm-block": [
        OneNormUnderThreeNames,
        MemoryCutToTheStream,
        FeedForwardOfWhatWasGathered,
    ],
    "07/parameter-count": [
        projection_bias_only_once,
        masks_are_parameters,
        no_gain_without_shift,
    ],
    "07/find-fault": [
        flips_the_batch,
        a_vector_instead_of_a_number,
        from_the_last_to_the_first_position,
    ],
    "07/without-a-block": [
        trains_in_each_round,
        takes_out_attention_only,
        trains_at_the_default_rate,
    ],
}

ASIDE = {
    "FeedForwardOfWhatWasGathered",
    "RootOfTheBranchesSoFar",
    "WithDropoutAtTheEnd",
    "a_vector_instead_of_a_number",
    "one_variance_for_all_groups",
    "projection_bias_only_once",
    "trains_at_the_default_rate",
}
