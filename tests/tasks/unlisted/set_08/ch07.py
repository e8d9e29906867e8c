"""Wrong answers to chapter 07 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 07/layer-norm


# Found PyTorch's function for it and turned the axes until it ran.
# "Split the channels of every position": here all positions share their statistics
def groups_by_the_function_of_pytorch(x, gain, shift, groups, eps):
    turned = x.transpose(1, 2)  # (B, C, T)
    return F.group_norm(turned, groups, gain, shift, eps).transpose(1, 2)


# Used to NumPy's `-=`, and did not ask what a view is.
# "your functions leave what they are given as it was"
def means_taken_off_in_place(x, gain, shift, groups, eps):
    B, T, C = x.shape
    parts = x.view(B, T, groups, C // groups)
    parts -= parts.mean(dim=-1, keepdim=True)
    variance = (parts**2).mean(dim=-1, keepdim=True)
    parts = parts / torch.sqrt(variance + eps)
    return parts.view(B, T, C) * gain + shift


# 07/feed-forward


# Copied the network of Llama, which has the same three names.
# "max(0, W_gate x)": another function opens the gate
class GateOfLlama(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


# Began with the chapter's nn.Sequential, in which the ReLU follows the layer that widens.
# "A gate below 0 is closed; an open one lets its value through": here the value is cut
class ValueCutInsteadOfGate(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        h = torch.relu(self.up(x))
        h = h * self.gate(x)
        return self.down(h)


# 07/residual


# Wrote the formula as one sum.
# "Each reads the stream as it is when its turn comes."
class BranchesSideBySide(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        self.scale = 1 / math.sqrt(len(branches))

    def forward(self, x):
        return x + self.scale * sum(branch(x) for branch in self.branches)


# Took N for the number of branches that have added so far.
# "A stream to which N branches add": N is the same for all of them
class RootOfBranchesSoFar(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        for n, branch in enumerate(self.branches, start=1):
            x = x + branch(x) / n**0.5
        return x


# 07/pre-norm-block


# Read "each with a norm of its own" as a norm for what comes in second.
# "`memory` … goes to its branch unchanged"
class MemoryNormedAsWell(nn.Module):
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
        x = x + self.cross_attention(self.cross_norm(x), self.cross_norm(memory))
        return x + self.feed_forward(self.feed_forward_norm(x))


# Wanted both attentions on one line, since both gather.
# "three branches, in this order": the second reads the stream without what the first found
class BothAttentionsAtOnce(nn.Module):
    def __init__(self, n_embd, attention, cross_attention, feed_forward):
        super().__init__()
        self.attention_norm = nn.LayerNorm(n_embd)
        self.cross_norm = nn.LayerNorm(n_embd)
        self.feed_forward_norm = nn.LayerNorm(n_embd)
        self.attention = attention
        self.cross_attention = cross_attention
        self.feed_forward = feed_forward

    def forward(self, x, memory):
        gathered = self.attention(self.attention_norm(x))
        looked_up = self.cross_attention(self.cross_norm(x), memory)
        x = x + gathered + looked_up
        x = x + self.feed_forward(self.feed_forward_norm(x))
        return x


# 07/parameter-count


# Thought that a norm is nothing but a bias.
# "A norm's bias is its shift": without one, the gains remain
def no_gains_without_bias(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    C = n_embd
    b = 1 if bias else 0
    counts = {
        "embeddings": vocab_size * C + block_size * C,
        "attention": n_layer * (4 * C * C + b * C),
        "feed_forward": n_layer * (C * hidden + b * hidden + hidden * C + b * C),
        "norms": (2 * n_layer + 1) * 2 * C if bias else 0,
        "output": 0 if tied else vocab_size * C,
    }
    counts["total"] = sum(counts.values())
    return counts


# Counts head by head, with a projection for each.
# "The projection … [has] one": a model has one bias of C entries for all heads of a block
def projection_bias_for_each_head(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    head_size = n_embd // n_head
    one_head = 3 * n_embd * head_size + head_size * n_embd
    if bias:
        one_head += n_embd
    ffwd = 2 * n_embd * hidden
    norm = n_embd
    if bias:
        ffwd += hidden + n_embd
        norm += n_embd
    result = {}
    result["embeddings"] = (vocab_size + block_size) * n_embd
    result["attention"] = n_layer * n_head * one_head
    result["feed_forward"] = n_layer * ffwd
    result["norms"] = (2 * n_layer + 1) * norm
    result["output"] = 0 if tied else vocab_size * n_embd
    result["total"] = sum(result.values())
    return result


# 07/find-fault


# Wrote `later = x` and did not think of what the name stands for.
# "change something in a `clone()`": what is compared was run with another input
def changed_without_a_clone(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)
    later = x
    later[:, T // 2 :] = torch.randn(B, T - T // 2, C)
    future = not torch.allclose(block(later)[:, : T // 2], y[:, : T // 2], atol=1e-4)

    batch = False
    for b in range(B):
        other = x
        other[b] = torch.randn(T, C)
        out = block(other)
        for i in range(B):
            if i != b and not torch.allclose(out[i], y[i], atol=1e-4):
                batch = True

    x = torch.randn(B, T, C)
    stream = not torch.allclose(block(x + 1), block(x) + 1, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


# Changes inputs by adding 1 everywhere, as the third test does.
# "does an output … depend on a *later* position": the norm hides such a change
def one_added_to_what_changes(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)

    later = x.clone()
    later[:, -1] += 1
    future = not torch.allclose(block(later)[:, :-1], y[:, :-1], atol=1e-4)

    batch = False
    for b in range(B):
        other = x.clone()
        other[b] += 1
        rest = [i for i in range(B) if i != b]
        if not torch.allclose(block(other)[rest], y[rest], atol=1e-4):
            batch = True

    stream = not torch.allclose(block(x + 1), y + 1, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


WRITTEN = {
    "07/layer-norm": [
        groups_by_the_function_of_pytorch,
        means_taken_off_in_place,
    ],
    "07/feed-forward": [GateOfLlama, ValueCutInsteadOfGate],
    "07/residual": [BranchesSideBySide, RootOfBranchesSoFar],
    "07/pre-norm-block": [MemoryNormedAsWell, BothAttentionsAtOnce],
    "07/parameter-count": [no_gains_without_bias, projection_bias_for_each_head],
    "07/find-fault": [
        changed_without_a_clone,
        one_added_to_what_changes,
    ],
}

ASIDE = {
    "means_taken_off_in_place",
    "RootOfBranchesSoFar",
    "BothAttentionsAtOnce",
    "changed_without_a_clone",
    "one_added_to_what_changes",
}
