"""Wrong answers to chapter 07 that no list names: the ninth set.

The comment before each says who the student is, and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 07/layer-norm


# found PyTorch's group norm, and turned the axes until it ran: "Split the channels of every
# position", but F.group_norm takes its statistics over the positions as well
def channels_first_for_the_library(x, gain, shift, groups, eps):
    channels_first = x.transpose(1, 2)  # (B, C, T)
    return F.group_norm(channels_first, groups, gain, shift, eps).transpose(1, 2)


# takes `Tensor.split` for `Tensor.chunk`: "into `groups` groups of neighbors", not of so many each
def groups_of_so_many_channels(x, gain, shift, groups, eps):
    normed = []
    for part in x.split(groups, dim=-1):
        mean = part.mean(dim=-1, keepdim=True)
        variance = part.var(dim=-1, keepdim=True, unbiased=False)
        normed.append((part - mean) / torch.sqrt(variance + eps))
    return torch.cat(normed, dim=-1) * gain + shift


# 07/feed-forward


# thinks of a gate as of a switch: "an open one lets its value through, scaled"
class OpenOrShut(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        value = self.up(x)
        return self.down(torch.where(self.gate(x) > 0, value, torch.zeros_like(value)))


# copied the network from the code of Llama 2, with its width: "`gate` and `up` lead from `n_embd`
# to `hidden` channels"
class TwoThirdsAsInLlama(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        hidden = int(2 * hidden / 3)
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(F.relu(self.gate(x)) * self.up(x))


# 07/residual


# remembers the initial weights of GPT-2, where a layer counts as two branches: "let each branch add
# its output divided by √N"
class TwoBranchesForEach(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        self.scale = (2 * len(branches)) ** -0.5

    def forward(self, x):
        for branch in self.branches:
            x = x + self.scale * branch(x)
        return x


# comes from Keras and stacks them in an `nn.Sequential`: "Each reads the stream as it is when its
# turn comes", not what the branch before it returned
class OneLongBranch(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.n = len(branches)
        self.branches = nn.Sequential(*branches)

    def forward(self, x):
        return x + self.branches(x) / math.sqrt(self.n)


# comes from statistics and keeps a running variance of 1: "divided by √N", and N is how many
# branches there are, not how many there were so far
class RootOfHowManySoFar(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for n, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / math.sqrt(n)
        return x


# 07/pre-norm-block


# takes `cross_norm` for the norm of what cross-attention reads: "`memory` … goes to its branch
# unchanged"
class CrossNormForTheMemory(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)

    def forward(self, x, memory):
        x = x + self.attention(self.attention_norm(x))
        x = x + self.cross_attention(x, self.cross_norm(memory))
        return x + self.feed_forward(self.feed_forward_norm(x))


# in a hurry, puts the two that gather on one line, so that cross-attention reads the stream without
# what attention wrote: "three branches, in this order"
class BothGatherAtOnce(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        x = (
            x
            + self.attention(self.attention_norm(x))
            + self.cross_attention(self.cross_norm(x), memory)
        )
        x = x + self.feed_forward(self.feed_forward_norm(x))
        return x


# follows `nn.TransformerDecoderLayer` with its dropout of 0.1: "Put them on a residual stream", and
# nothing of what they return is to be dropped
class DropoutOfTheLibrary(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward
        self.dropout = nn.Dropout(0.1)

    def forward(self, x, memory):
        x = x + self.dropout(self.attention(self.attention_norm(x)))
        x = x + self.dropout(self.cross_attention(self.cross_norm(x), memory))
        x = x + self.dropout(self.feed_forward(self.feed_forward_norm(x)))
        return x


# 07/parameter-count


# knows nanoGPT, whose count leaves out the table of positions: "Parameters of a language model of
# blocks, part by part", and the total is that of all parts
def total_without_positions(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    counts = {}
    counts["embeddings"] = vocab_size * n_embd + block_size * n_embd
    counts["attention"] = n_layer * (3 * n_embd * n_embd + n_embd * n_embd + bias * n_embd)
    counts["feed_forward"] = n_layer * (2 * n_embd * hidden + bias * (hidden + n_embd))
    counts["norms"] = (2 * n_layer + 1) * (n_embd + bias * n_embd)
    counts["output"] = 0 if tied else vocab_size * n_embd
    counts["total"] = sum(counts.values()) - block_size * n_embd
    return counts


# takes each head for a layer from C to C channels: the model is "the one that the chapter took
# apart", where the heads share the channels
def every_head_has_all_channels(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    b = int(bias)
    embeddings = (vocab_size + block_size) * n_embd
    one_head = 3 * n_embd * n_embd
    projection = n_head * n_embd * n_embd + b * n_embd
    attention = n_layer * (n_head * one_head + projection)
    feed_forward = n_layer * (n_embd * hidden + b * hidden + hidden * n_embd + b * n_embd)
    norms = (2 * n_layer + 1) * n_embd * (1 + b)
    output = 0 if tied else n_embd * vocab_size
    return {
        "embeddings": embeddings,
        "attention": attention,
        "feed_forward": feed_forward,
        "norms": norms,
        "output": output,
        "total": embeddings + attention + feed_forward + norms + output,
    }


# tired, forgets that the last norm is one like the others: "the norms have one if `bias` is true"
def final_norm_without_shift(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    block_norms = 2 * (C + C * bias)
    counts = {
        "embeddings": vocab_size * C + block_size * C,
        "attention": n_layer * (4 * C * C + C * bias),
        "feed_forward": n_layer * (2 * C * hidden + (hidden + C) * bias),
        "norms": n_layer * block_norms + C,
        "output": 0 if tied else vocab_size * C,
    }
    return {**counts, "total": sum(counts.values())}


# 07/find-fault


# adds to the later positions what a norm subtracts again: "does an output, at whatever position,
# depend on a *later* position of the input?"
def later_positions_raised(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)

    future = False
    for t in range(1, T):
        changed = x.clone()
        changed[:, t:] += 1.0
        future = future or not torch.allclose(block(changed)[:, :t], y[:, :t], atol=1e-4)

    batch = False
    for b in range(B):
        changed = x.clone()
        changed[b] = torch.randn(T, C)
        others = [i for i in range(B) if i != b]
        batch = batch or not torch.allclose(block(changed)[others], y[others], atol=1e-4)

    stream = not torch.allclose(block(x + 1.0), y + 1.0, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# has an idea of symmetry: "does an output depend on *another sample*, whichever?", which statistics
# of the whole batch do, in any order of the samples
def samples_in_another_order(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)

    future = False
    for t in range(T - 1):
        changed = x.clone()
        changed[:, t + 1 :] = torch.randn(B, T - t - 1, C)
        if not torch.allclose(block(changed)[:, : t + 1], y[:, : t + 1], atol=1e-4):
            future = True

    order = torch.arange(B).roll(1)
    batch = not torch.allclose(block(x[order]), y[order], atol=1e-4)
    stream = not torch.allclose(block(x + 2), y + 2, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


WRITTEN = {
    "07/layer-norm": [channels_first_for_the_library, groups_of_so_many_channels],
    "07/feed-forward": [OpenOrShut, TwoThirdsAsInLlama],
    "07/residual": [TwoBranchesForEach, OneLongBranch, RootOfHowManySoFar],
    "07/pre-norm-block": [CrossNormForTheMemory, BothGatherAtOnce, DropoutOfTheLibrary],
    "07/parameter-count": [
        total_without_positions,
        every_head_has_all_channels,
        final_norm_without_shift,
    ],
    "07/find-fault": [later_positions_raised, samples_in_another_order],
}

ASIDE = {
    "BothGatherAtOnce",
    "DropoutOfTheLibrary",
    "samples_in_another_order",
}
