"""Wrong answers to chapter 06 that no list names: the seventh set, as students hand them in.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import torch
import torch.nn.functional as F
from torch import nn

# 06/concat


# Takes the library's function and forgets one of its arguments.
# "Every head is causal: position t sees positions 0 … t."
def library_without_its_flag(x, heads):
    outputs = []
    for wq, wk, wv in heads:
        outputs.append(F.scaled_dot_product_attention(x @ wq, x @ wk, x @ wv))
    return torch.cat(outputs, dim=-1)


# Comes from layers whose heads are alike, and computes the scale before the loop.
# "Every head scales its scores by its own head size."
def scale_of_the_first_head(x, heads):
    T = x.shape[1]
    scale = heads[0][0].shape[1] ** -0.5
    mask = torch.tril(torch.ones(T, T)) == 0
    out = []
    for w_q, w_k, w_v in heads:
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        att = (q @ k.transpose(-2, -1)) * scale
        att = att.masked_fill(mask, float("-inf"))
        out.append(F.softmax(att, dim=-1) @ v)
    return torch.cat(out, dim=2)


# 06/projection


# Comes from Java, where a list is a list. "The module knows the parameters of all its heads"
class HeadsInAPlainList(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = list(heads)
        self.projection = nn.Linear(head_size * len(self.heads), n_embd)

    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        return self.projection(out)


# Copied a script's class, dropout and all. "Nothing else happens: no activation, no dropout,
# nothing added."
class DropoutOfAScript(nn.Module):
    def __init__(self, heads, head_size, n_embd):
        super().__init__()
        self.heads = nn.ModuleList(heads)
        self.projection = nn.Linear(head_size * len(heads), n_embd)
        self.dropout = nn.Dropout(0.2)

    def forward(self, x):
        out = torch.cat([h(x) for h in self.heads], dim=-1)
        out = self.dropout(self.projection(out))
        return out


# 06/split


# Took over the chapter's cell without reading on.
# "Here everything that belongs to one head is together"
def layout_of_the_chapter(x, n_head):
    B, T, width = x.shape
    C = width // 3
    q, k, v = x.split(C, dim=2)
    q = q.view(B, T, n_head, C // n_head).transpose(1, 2)
    k = k.view(B, T, n_head, C // n_head).transpose(1, 2)
    v = v.view(B, T, n_head, C // n_head).transpose(1, 2)
    return q, k, v


# Cuts rightly, and gets the order of dimensions by another reshape, since the shape is right.
# "Return queries, keys and values, each (B, H, T, D)."
def reshaped_to_the_right_shape(x, n_head):
    B, T, width = x.shape
    D = width // (3 * n_head)
    parts = x.reshape(B, T, n_head, 3, D)
    query = parts[:, :, :, 0].reshape(B, n_head, T, D)
    key = parts[:, :, :, 1].reshape(B, n_head, T, D)
    value = parts[:, :, :, 2].reshape(B, n_head, T, D)
    return query, key, value


# 06/merge


# Comes from NumPy, where a silenced head is deleted. "The result always has H · D channels"
def silenced_heads_left_out(found, silenced):
    B, H, T, D = found.shape
    kept = [h for h in range(H) if h not in silenced]
    found = found[:, kept]
    return found.permute(0, 2, 1, 3).reshape(B, T, len(kept) * D)


# 06/dropout


# Found that `dropout2d` drops whole channels of a (B, H, T, D) tensor.
# "All randomness comes from `generator`."
def channels_of_an_image(found, p, training, generator):
    return F.dropout2d(found, p=p, training=training)


# Takes p for the share of heads that stay, as some frameworks did.
# "set to 0 with probability p"
def p_as_keep_probability(found, p, training, generator):
    if not training:
        return found
    if p == 0:
        return torch.zeros_like(found)
    mask = torch.rand(found.shape[:2], generator=generator) < p
    return found * mask[:, :, None, None] / p


# 06/fused


# Turned the first matrix because of an error; the second one raised none.
# "`projection` is stored in the same way."
def projection_as_it_is(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    D = C // H
    q, k, v = (x @ qkv.T).split(C, dim=-1)
    q = q.view(B, T, H, D).transpose(1, 2)
    k = k.view(B, T, H, D).transpose(1, 2)
    v = v.view(B, T, H, D).transpose(1, 2)
    scores = q @ k.transpose(-2, -1) / D**0.5
    for h in range(H):
        ones = torch.ones(T, T, dtype=torch.bool)
        visible = ones.tril() & ones.triu(1 - reach[h])
        scores[:, h] = scores[:, h].masked_fill(~visible, float("-inf"))
    out = scores.softmax(dim=-1) @ v
    out = out.transpose(1, 2).reshape(B, T, C)
    return out @ projection


# Copied his answer to the task on splitting. "laid out as in the chapter: all queries, all keys,
# all values"
def layout_of_the_task_before(x, qkv, projection, reach):
    B, T, C = x.shape
    H = len(reach)
    parts = F.linear(x, qkv).view(B, T, H, 3, C // H).permute(3, 0, 2, 1, 4)
    query, key, value = parts
    scores = query @ key.transpose(-2, -1) / (C // H) ** 0.5
    t = torch.arange(T)
    back = t[:, None] - t[None, :]
    limits = torch.tensor(reach).view(H, 1, 1)
    hidden = (back < 0) | (back >= limits)
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    out = (weights @ value).transpose(1, 2).flatten(2)
    return F.linear(out, projection)


WRITTEN = {
    "06/concat": [library_without_its_flag, scale_of_the_first_head],
    "06/projection": [HeadsInAPlainList, DropoutOfAScript],
    "06/split": [layout_of_the_chapter, reshaped_to_the_right_shape],
    "06/merge": [silenced_heads_left_out],
    "06/dropout": [channels_of_an_image, p_as_keep_probability],
    "06/fused": [projection_as_it_is, layout_of_the_task_before],
}
