"""Wrong answers to chapter 07 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 07/layer-norm


# "Group 0 is the first C / groups channels, group 1 the next ones": here they are dealt in turn
def channels_dealt_to_groups(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, C // groups, groups)
    mean = parts.mean(dim=2, keepdim=True)
    variance = parts.var(dim=2, keepdim=True, correction=0)
    normed = (parts - mean) / (variance + eps).sqrt()
    return gain * normed.reshape(B, T, C) + shift


# "Gain and shift have one entry for each channel": here each group uses those of the first
def gain_of_the_first_group(x, gain, shift, groups, eps):
    B, T, C = x.shape
    width = C // groups
    parts = x.view(B, T, groups, width)
    mean = parts.mean(dim=-1, keepdim=True)
    variance = parts.var(dim=-1, keepdim=True, correction=0)
    normed = (parts - mean) / (variance + eps).sqrt()
    return (gain[:width] * normed + shift[:width]).view(B, T, C)


# "bring each group to mean 0": a group of one channel as well, whose mean is the channel itself
def group_of_one_passes(x, gain, shift, groups, eps):
    B, T, C = x.shape
    if groups == C:
        return gain * x + shift
    parts = x.view(B, T, groups, C // groups)
    mean = parts.mean(dim=-1, keepdim=True)
    variance = parts.var(dim=-1, keepdim=True, correction=0)
    return gain * ((parts - mean) / (variance + eps).sqrt()).view(B, T, C) + shift


# 07/feed-forward


# "an open one lets its value through, scaled": here a gate is open or shut and nothing between
class OpenOrShut(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(torch.where(self.gate(x) > 0, self.up(x), 0.0))


# "with three linear layers [...], none of them with a bias"
class BiasThatStartsAtZero(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd)
        nn.init.zeros_(self.down.bias)

    def forward(self, x):
        return self.down(self.gate(x).relu() * self.up(x))


# "gate and up lead from n_embd to hidden channels", also where hidden is the smaller of the two
class NeverNarrowerThanTheStream(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        hidden = max(hidden, n_embd)
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(self.gate(x).relu() * self.up(x))


# 07/residual


# "let each branch add its output divided by √N": here by the root of how many came so far
class RootOfTheTurn(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for number, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(number)
        return x


# "Each reads the stream as it is when its turn comes": a module that is twice in the list has two
# turns, and `children` names it once
class ChildrenOnce(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.n_branch = len(branches)
        for number, branch in enumerate(branches):
            self.add_module(f"branch_{number}", branch)

    def forward(self, x):
        for branch in self.children():
            x = x + branch(x) / math.sqrt(self.n_branch)
        return x


# "each branch add its output divided by √N": after one step of training it is another number
class LearnedScale(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        self.scale = nn.Parameter(torch.tensor(1 / math.sqrt(len(branches))))

    def forward(self, x):
        for branch in self.branches:
            x = x + self.scale * branch(x)
        return x


# 07/pre-norm-block


# "Pre-norm": the second branch reads what the first one read, and not the stream after it
class CrossReadsTheOldStream(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        normed = self.attention_norm(x)
        x = x + self.attention(normed)
        x = x + self.cross_attention(self.cross_norm(normed), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


# "memory (B, S, C) has another length than x (B, T, C), and goes to its branch unchanged": here
# no longer than x
class MemoryCutToTheStream(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        memory = memory[:, : x.shape[1]]
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory)
        return x + self.feed_forward(self.feed_forward_norm(x))


# "memory [...] goes to its branch unchanged": here cut off from the model that made it, which
# then learns nothing
class MemoryDetached(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_norm = nn.LayerNorm(n_embd)
        self.cross_attention = cross_attention
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(self.cross_norm(x), memory.detach())
        return x + self.feed_forward(self.feed_forward_norm(x))


# 07/parameter-count


# "the output layer uses the token embedding's table and counts 0": here the total loses it twice
def tied_taken_off_twice(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values()) - tied * vocab_size * C
    return counts


# "The projection, both layers of the feed-forward network, and the norms have one": the final
# norm too
def final_norm_without_shift(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * C * hidden + bias * (hidden + C)),
        "norms": n_layer * 2 * (1 + bias) * C + C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# "The feed-forward network is hidden channels wide": any number, not a multiple of C
def width_as_a_factor(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C, factor = n_embd, hidden // n_embd
    counts = {
        "embeddings": (vocab_size + block_size) * C,
        "attention": n_layer * (4 * C**2 + bias * C),
        "feed_forward": n_layer * (2 * factor * C**2 + bias * (factor + 1) * C),
        "norms": (2 * n_layer + 1) * (1 + bias) * C,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# 07/find-fault


# "does an output depend on a later position of the input?": any output, not only the first
def only_the_first_position_watched(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    later = x.clone()
    later[:, 1:] = torch.randn(B, T - 1, C)
    future = not torch.allclose(block(later)[:, 0], y[:, 0], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# "Add the same number c to every feature of every position": here to one feature, which a norm
# does not take away
def one_feature_raised(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    later = x.clone()
    later[:, T // 2 :] = torch.randn(B, T - T // 2, C)
    future = not torch.allclose(block(later)[:, : T // 2], y[:, : T // 2], atol=1e-4)
    batch = False
    for b in range(B):
        other = x.clone()
        other[b] = torch.randn(T, C)
        rest = torch.arange(B) != b
        batch |= not torch.allclose(block(other)[rest], y[rest], atol=1e-4)
    raised = torch.zeros(C)
    raised[0] = 3.0
    stream = not torch.allclose(block(x + raised), y + raised, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# "does an output depend on another sample, whichever?": here only the first sample is asked
def first_sample_alone(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    later = x.clone()
    later[:, T // 2 :] = torch.randn(B, T - T // 2, C)
    future = not torch.allclose(block(later)[:, : T // 2], y[:, : T // 2], atol=1e-4)
    batch = not torch.allclose(block(x[:1]), y[:1], atol=1e-4)
    stream = not torch.allclose(block(x + 3), y + 3, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


WRITTEN = {
    "07/layer-norm": [channels_dealt_to_groups, gain_of_the_first_group, group_of_one_passes],
    "07/feed-forward": [OpenOrShut, BiasThatStartsAtZero, NeverNarrowerThanTheStream],
    "07/residual": [RootOfTheTurn, ChildrenOnce, LearnedScale],
    "07/pre-norm-block": [CrossReadsTheOldStream, MemoryCutToTheStream, MemoryDetached],
    "07/parameter-count": [tied_taken_off_twice, final_norm_without_shift, width_as_a_factor],
    "07/find-fault": [only_the_first_position_watched, one_feature_raised, first_sample_alone],
}

ASIDE = {
    "channels_dealt_to_groups",
    "gain_of_the_first_group",
    "NeverNarrowerThanTheStream",
    "RootOfTheTurn",
    "LearnedScale",
    "MemoryCutToTheStream",
}
