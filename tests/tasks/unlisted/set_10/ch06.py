"""Wrong answers to chapter 06 that no list names: the tenth set.

The comment before each says which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/projection


# From NumPy, stacks where the others join: "puts their findings side by side"
class StackedAlongANewAxis(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(len(heads) * head_size, n_embd)

    def forward(self, x):
        found = torch.stack([head(x) for head in self.heads], dim=-1)
        return self.projection(found.reshape(x.shape[0], x.shape[1], -1))


# 06/split


# Has the order of a lecture's video in the fingers: "D channels of head 0's query, D of its key, D
# of its value"
def key_before_query(x, n_head):
    B, T, W = x.shape
    x = x.view(B, T, n_head, W // n_head).transpose(1, 2)
    k, q, v = x.chunk(3, dim=-1)
    return q, k, v


# 06/merge


# Mixes up H and D in the slice, after merging: "with zeros in the channels of the silenced ones"
def slices_as_long_as_the_list_of_heads(found, silenced):
    B, H, T, D = found.shape
    merged = found.transpose(1, 2).reshape(B, T, H * D)
    for h in silenced:
        merged[:, :, h * H : (h + 1) * H] = 0.0
    return merged


# 06/dropout


# Knows the function that drops channels, and seeds it until two runs agree: "All randomness comes
# from `generator`"
def library_with_the_seed_of_the_generator(found, p, training, generator):
    torch.manual_seed(generator.initial_seed())
    return F.dropout2d(found, p=p, training=training)


# 06/fused


# Met "mat1 and mat2 shapes cannot be multiplied" and reshaped: "stored as `nn.Linear` stores its
# weight, (out, in)"
def reshaped_until_it_fits(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    q, k, v = (x @ qkv.reshape(C, 3 * C)).split(C, dim=-1)
    q = q.view(B, T, H, C // H).transpose(1, 2)
    k = k.view(B, T, H, C // H).transpose(1, 2)
    v = v.view(B, T, H, C // H).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / (C // H) ** 0.5
    for h, r in enumerate(reach):
        ones = torch.ones(T, T, dtype=torch.bool)
        visible = ones.tril() & ones.triu(1 - r)
        scores[:, h] = scores[:, h].masked_fill(~visible, float("-inf"))
    out = scores.softmax(dim=-1) @ v
    return out.transpose(1, 2).reshape(B, T, C) @ projection.T


WRITTEN = {
    "06/projection": [StackedAlongANewAxis],
    "06/split": [key_before_query],
    "06/merge": [slices_as_long_as_the_list_of_heads],
    "06/dropout": [library_with_the_seed_of_the_generator],
    "06/fused": [reshaped_until_it_fits],
}
