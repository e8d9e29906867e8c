"""Wrong answers to chapter 07 that no list names: the seventh set, what students hand in.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

# 07/layer-norm


# Knows F.group_norm from image models and only brings the channels to the front.
# "Split the channels of every position": the library also averages over the positions
def group_norm_of_images(x, gain, shift, groups, eps):
    out = F.group_norm(x.transpose(1, 2), groups, gain, shift, eps)
    return out.transpose(1, 2)


# Comes from statistics, where one standardizes with a standard deviation.
# "`eps` is added under the root"
def eps_beside_the_root(x, gain, shift, groups, eps):
    B, T, C = x.shape
    g = x.reshape(B, T, groups, C // groups)
    mu = g.mean(dim=-1, keepdim=True)
    sd = g.std(dim=-1, keepdim=True, correction=0)
    z = ((g - mu) / (sd + eps)).reshape(B, T, C)
    return gain * z + shift


# 07/feed-forward


# Copied the MLP of a well-known library, whose gate is another function.
# The formula says max(0, W_gate x)
class GateOfTheLibrary(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)
        self.act = nn.SiLU()

    def forward(self, x):
        return self.down(self.act(self.gate(x)) * self.up(x))


# 07/residual


# Collects the outputs first and adds them at the end, as one would with NumPy.
# "Each reads the stream as it is when its turn comes."
class AllReadTheInput(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)

    def forward(self, x):
        outputs = [branch(x) for branch in self.branches]
        return x + sum(outputs) / math.sqrt(len(outputs))


# 07/pre-norm-block


# Thinks that whatever enters an attention is normalized first.
# "`memory` … goes to its branch unchanged"
class MemoryNormedToo(nn.Module):
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
        x = x + self.cross_attention(self.cross_norm(x), self.cross_norm(memory))
        return x + self.feed_forward(self.feed_forward_norm(x))


# 07/parameter-count


# Gives the output layer a bias with all the others.
# "Queries, keys, values and the output layer never have a bias."
def bias_of_the_output(vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied):
    b = int(bias)
    d = {}
    d["embeddings"] = (vocab_size + block_size) * n_embd
    d["attention"] = n_layer * (3 * n_embd * n_embd + n_embd * n_embd + b * n_embd)
    d["feed_forward"] = n_layer * (n_embd * hidden + b * hidden + hidden * n_embd + b * n_embd)
    d["norms"] = (2 * n_layer + 1) * (n_embd + b * n_embd)
    d["output"] = 0 if tied else vocab_size * n_embd + b * vocab_size
    d["total"] = sum(d.values())
    return d


# 07/find-fault


# Reads the question about the stream as one about its sign: passed on at all, or not.
# "does the block fail to pass the stream on unchanged?"
def stream_by_correlation(block, B, T, C):
    x = torch.randn(B, T, C)
    y = block(x)

    half = T // 2
    changed = x.clone()
    changed[:, half:] = torch.randn(B, T - half, C)
    future = (block(changed)[:, :half] - y[:, :half]).abs().max().item() > 1e-4

    batch = False
    for b in range(B):
        alone = torch.randn(B, T, C)
        alone[b] = x[b]
        batch = batch or (block(alone)[b] - y[b]).abs().max().item() > 1e-4

    r = torch.corrcoef(torch.stack([x.flatten(), y.flatten()]))[0, 1].item()
    return {"future": future, "batch": batch, "stream": r < 0.1}


WRITTEN = {
    "07/layer-norm": [group_norm_of_images, eps_beside_the_root],
    "07/feed-forward": [GateOfTheLibrary],
    "07/residual": [AllReadTheInput],
    "07/pre-norm-block": [MemoryNormedToo],
    "07/parameter-count": [bias_of_the_output],
    "07/find-fault": [stream_by_correlation],
}
