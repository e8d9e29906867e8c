"""Wrong answers to chapter 07 that no list names: the tenth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
from torch import nn

# 07/layer-norm


# Tired, closes the parenthesis one term too late: "Gain and shift ... as in LayerNorm, and act
# last"
def gain_of_the_shift_too(x, gain, shift, groups, eps):
    B, T, C = x.shape
    xg = x.view(B, T, groups, C // groups)
    mean = xg.mean(dim=-1, keepdim=True)
    var = xg.var(dim=-1, keepdim=True, unbiased=False)
    xg = (xg - mean) / torch.sqrt(var + eps)
    return gain * (xg.view(B, T, C) + shift)


# 07/feed-forward


# Takes the word "gate" for a door that is open or shut: "an open one lets its value through,
# scaled"
class OpenOrShut(nn.Module):
    def __init__(self, n_embd, hidden):
        super().__init__()
        self.gate = nn.Linear(n_embd, hidden, bias=False)
        self.up = nn.Linear(n_embd, hidden, bias=False)
        self.down = nn.Linear(hidden, n_embd, bias=False)

    def forward(self, x):
        is_open = self.gate(x) > 0
        return self.down(self.up(x).masked_fill(~is_open, 0.0))


# 07/residual


# Clones once against the caller's complaint and goes on adding in place: "The gradient flows back
# along the stream and through every branch"
class OneCloneThenInPlace(nn.Module):
    def __init__(self, branches):
        super().__init__()
        self.branches = nn.ModuleList(branches)
        self.scale = 1 / math.sqrt(len(branches))

    def forward(self, x):
        x = x.clone()
        for branch in self.branches:
            x += self.scale * branch(x)
        return x


# 07/pre-norm-block


# From Java, declares three fields in one line: "each with a norm of its own"
class ThreeNamesForOneNorm(nn.Module):
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


# 07/parameter-count


# Takes the shared table off the wrong entry: "the output layer uses the token embedding's table and
# counts 0"
def shared_table_is_the_output_layers(
    vocab_size, block_size, n_layer, n_head, n_embd, hidden, bias, tied
):
    b = 1 if bias else 0
    attention = 3 * n_embd * n_embd + n_embd * n_embd + b * n_embd
    feed_forward = n_embd * hidden + b * hidden + hidden * n_embd + b * n_embd
    norm = n_embd + b * n_embd
    tokens = 0 if tied else vocab_size * n_embd
    result = {
        "embeddings": tokens + block_size * n_embd,
        "attention": n_layer * attention,
        "feed_forward": n_layer * feed_forward,
        "norms": n_layer * 2 * norm + norm,
        "output": n_embd * vocab_size,
    }
    result["total"] = sum(result.values())
    return result


# 07/find-fault


# Hurried, reads no hint and raises the later positions by one, which a norm takes away again: "does
# an output, at whatever position, depend on a *later* position of the input?"
def raises_what_comes_later(block, B, T, C):
    x = torch.randn(B, T, C)
    with torch.no_grad():
        y = block(x)
        future = False
        for t in range(1, T):
            changed = x.clone()
            changed[:, t:] += 1.0
            if not torch.allclose(block(changed)[:, :t], y[:, :t], atol=1e-4):
                future = True
        batch = False
        for b in range(B):
            changed = x.clone()
            changed[b] = torch.randn(T, C)
            others = [i for i in range(B) if i != b]
            if not torch.allclose(block(changed)[others], y[others], atol=1e-4):
                batch = True
        stream = not torch.allclose(block(x + 1.0), y + 1.0, atol=1e-4)
    return {"future": future, "batch": batch, "stream": stream}


WRITTEN = {
    "07/layer-norm": [gain_of_the_shift_too],
    "07/feed-forward": [OpenOrShut],
    "07/residual": [OneCloneThenInPlace],
    "07/pre-norm-block": [ThreeNamesForOneNorm],
    "07/parameter-count": [shared_table_is_the_output_layers],
    "07/find-fault": [raises_what_comes_later],
}
