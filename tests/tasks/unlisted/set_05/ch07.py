"""Chapter 07, the fifth set: task -> wrong answers, each beside the sentence that it breaks."""

import math

import torch
import torch.nn.functional as F
from torch import nn


# "Normalize each group of neighboring channels of each position": PyTorch's group norm takes its
# statistics over the positions, too.
def torchs_group_norm(x, gain, shift, groups, eps):
    return F.group_norm(x.transpose(1, 2), groups, gain, shift, eps).transpose(1, 2)


# "eps is added under the root"
def eps_as_the_smallest_variance(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return gain * (centered / variance.clamp(min=eps).sqrt()).view(B, T, C) + shift


# "Gain and shift ... act last."
def gain_goes_in_first(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = (x * gain).view(B, T, groups, C // groups)
    centered = parts - parts.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    return (centered / (variance + eps).sqrt()).view(B, T, C) + shift


# "your functions leave what they are given as it was": a view of x is x.
def centers_in_place(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    parts -= parts.mean(dim=-1, keepdim=True)
    variance = parts.square().mean(dim=-1, keepdim=True)
    return gain * (parts / (variance + eps).sqrt()).view(B, T, C) + shift


# "bring each group to mean 0 and variance 1": the loop ends one group too early.
def last_group_is_forgotten(x, gain, shift, groups, eps):
    size = x.shape[-1] // groups
    result = x.clone()
    for start in range(0, x.shape[-1] - size, size):
        part = x[..., start : start + size]
        centered = part - part.mean(dim=-1, keepdim=True)
        variance = centered.square().mean(dim=-1, keepdim=True)
        result[..., start : start + size] = centered / (variance + eps).sqrt()
    return gain * result + shift


class Gated(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)


# "an open one lets its value through, scaled"
class GateIsOnlyOpenOrClosed(Gated):
    def forward(self, x):
        return self.down((self.gate(x) > 0) * self.up(x))


# The gate is max(0, ...), which has no upper end.
class GateEndsAtOne(Gated):
    def forward(self, x):
        return self.down(self.gate(x).clamp(0, 1) * self.up(x))


# "A gate below 0 is closed"
class GateLeaks(Gated):
    def forward(self, x):
        return self.down(F.leaky_relu(self.gate(x)) * self.up(x))


# FFN(x) is the formula, and nothing is dropped in it.
class GateWithDropout(Gated):
    def __init__(self, n_embd, hidden):
        super().__init__(n_embd, hidden)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.down(self.gate(x).relu() * self.up(x)))


# "let each branch add its output divided by √N": ** binds before /.
class HalfOfOneNth(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x) / len(self.branches) ** 1 / 2
        return x


# "The gradient flows back along the stream and through every branch."
class BranchesReadADetachedStream(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for branch in self.branches:
            x = x + branch(x.detach()) / math.sqrt(len(self.branches))
        return x


# "Each reads the stream as it is when its turn comes": here it has grown by undivided outputs.
class DividesTheWholeSumAtTheEnd(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        stream = x
        for branch in self.branches:
            stream = stream + branch(stream)
        return x + (stream - x) / math.sqrt(len(self.branches))


# "N modules": two of one class are one here.
class BranchesByClass(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleDict({type(branch).__name__: branch for branch in branches})

    def forward(self, x):
        for branch in self.branches.values():
            x = x + branch(x) / math.sqrt(len(self.branches))
        return x


class ThreeBranches(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward


# "memory has another length than x, and goes to its branch unchanged"
class MemoryAsLongAsTheStream(ThreeBranches):
    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory[:, : x.shape[1]])
        return x + self.feed_forward(self.feed_forward_norm(x))


# "three branches, in this order", on one stream: cross-attention misses what attention gathered.
class TwoAttentionsBesideEachOther(ThreeBranches):
    def forward(self, x, memory):
        own = self.attention(self.attention_norm(x))
        other = self.cross_attention(self.cross_norm(x), memory)
        x = x + own + other
        return x + self.feed_forward(self.feed_forward_norm(x))


# "If tied is true, the output layer ... counts 0."
def tied_only_in_the_total(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
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


# "the norms have one if bias is true": here the final one has its shift in any case.
def final_norm_keeps_its_shift(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": 2 * n_layer * (1 + bias) * C + 2 * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# "returns: dict of int"
def counts_as_floats(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C**2 * (hidden / C) + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# "does the block fail to pass the stream on unchanged?": the c is smaller than the tolerance.
def a_c_within_the_tolerance(block, B, T, C):
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
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    c = 1e-5
    stream = not torch.allclose(block(x + c), y + c, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# "does an output depend on another sample, whichever?": it asks sample 0 alone, which may be the
# one that nobody else speaks to.
def first_sample_alone_and_in_the_batch(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x.clone()
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = not torch.allclose(block(x[:1])[0], y[0], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# "batch: does an output depend on another sample": without a clone, x is another input from the
# second test on, and y is still that of the first.
def forgets_to_clone(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    t = T // 2
    later = x
    later[:, t:] = torch.randn(B, T - t, C)
    future = not torch.allclose(block(later)[:, :t], y[:, :t], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# "measure the validation loss": these are perplexities.
def perplexities():
    return {
        "text": "shakespeare",
        "all_four": 10.496,
        "without_first": 176.09,
        "without_last": 12.379,
    }


WRITTEN = {
    "07/layer-norm": [
        torchs_group_norm,
        eps_as_the_smallest_variance,
        gain_goes_in_first,
        centers_in_place,
        last_group_is_forgotten,
    ],
    "07/feed-forward": [GateIsOnlyOpenOrClosed, GateEndsAtOne, GateLeaks, GateWithDropout],
    "07/residual": [
        HalfOfOneNth,
        BranchesReadADetachedStream,
        DividesTheWholeSumAtTheEnd,
        BranchesByClass,
    ],
    "07/pre-norm-block": [MemoryAsLongAsTheStream, TwoAttentionsBesideEachOther],
    "07/parameter-count": [tied_only_in_the_total, final_norm_keeps_its_shift, counts_as_floats],
    "07/find-fault": [
        a_c_within_the_tolerance,
        first_sample_alone_and_in_the_batch,
        forgets_to_clone,
    ],
    "07/without-a-block": [perplexities],
}

ASIDE = {
    "eps_as_the_smallest_variance",
    "centers_in_place",
    "GateEndsAtOne",
    "HalfOfOneNth",
    "MemoryAsLongAsTheStream",
    "TwoAttentionsBesideEachOther",
    "counts_as_floats",
    "first_sample_alone_and_in_the_batch",
}
