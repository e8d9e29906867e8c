"""Wrong answers to chapter 12 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch

# 12/cache-step


def index_not_expanded(query, key, value, keys, values, lengths):
    """Scatters with an index of shape (B, 1, 1, 1), so only the first number of head 0 arrives."""
    S, D = keys.shape[2:]
    place = lengths.long()[:, None, None, None]
    keys = keys.scatter(2, place, key.unsqueeze(2))
    values = values.scatter(2, place, value.unsqueeze(2))
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D)  # (B, H, S)
    seen = torch.arange(S) <= lengths[:, None]  # (B, S)
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


# 12/groups


def members_outside_groups(x, query, key, value, n_head, n_group):
    """Lays the outputs side by side with all groups' first heads first, not in the heads' order."""
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key, value = (part.view(n_group, each, D, C).mean(dim=1) for part in (key, value))
    q = torch.einsum("btc,gmdc->bgmtd", x, query.view(n_group, each, D, C))
    k = torch.einsum("btc,gdc->bgtd", x, key)
    v = torch.einsum("btc,gdc->bgtd", x, value)
    scores = torch.einsum("bgmtd,bgsd->bgmts", q, k) / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    return torch.einsum("bgmts,bgsd->btmgd", weights, v).reshape(B, T, n_head * D)


# 12/sink


def shrunk_after_adding(chunks, sink):
    """Adds a chunk's part before it shrinks the sums, so the part shrinks with what came before."""
    m = sink[:, None]
    total, weighted = torch.ones_like(m), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = (total + e.sum(dim=-1, keepdim=True)) * shrink
        weighted = (weighted + e @ values) * shrink
        m = new
    return weighted / total


# 12/rotary


def turned_in_place(x, positions, rotated, base):
    """Writes the first of each pair in place, so the second is computed from the turned first."""
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta  # (B, 1, T, R/2)
    cos, sin = angle.cos(), angle.sin()
    turned = x.clone()
    a, b = turned[..., 0:rotated:2], turned[..., 1:rotated:2]
    turned[..., 0:rotated:2] = a * cos - b * sin
    turned[..., 1:rotated:2] = a * sin + b * cos
    return turned


# 12/ring


def returned_in_order(query, key, value, keys, values, count, slope):
    """Rolls the ring into the order of age for the scores, and returns it rolled."""
    W, D = keys.shape[1:]
    keys, values = keys.clone(), values.clone()
    keys[:, count % W] = key
    values[:, count % W] = value
    # oldest first, the new one last
    keys = keys.roll(-(count % W) - 1, dims=1)
    values = values.roll(-(count % W) - 1, dims=1)
    age = torch.arange(W - 1, -1, -1)
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(age > count, -torch.inf).softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# 12/drafts


def two_rules_mixed(p, q, draft, drafted, generator):
    """Keeps by p / q, but after a rejection draws from p without the draft, as the other rule."""
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)  # (B, K)
    keep = torch.rand(B, K, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rows = torch.arange(B)
    without = p[:, :K].scatter(-1, at, 0.0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], without, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# 12/quantize


def scales_not_transposed(weight, bits, group):
    """Stacks the scales as (groups, rows) and reshapes them instead of transposing them."""
    codes, scales = [], []
    for part in weight.split(group, dim=1):  # (rows, group)
        scale = part.abs().amax(dim=1) / (2 ** (bits - 1) - 1)
        scale = torch.where(scale == 0, 1.0, scale)
        codes.append((part / scale[:, None]).round().to(torch.int8))
        scales.append(scale)
    return torch.cat(codes, dim=1), torch.stack(scales).reshape(len(weight), -1)


# 12/seconds


def one_handle_per_module(model, prompt, count, clock):
    """Keeps the handles in a dict by module, so the second hides the first, which stays there."""
    names = {model.embedding: "embedding", model.output: "output"}
    for block in model.blocks:
        names[block.attention] = "attention"
        names[block.feed_forward] = "feed_forward"
    seconds = dict.fromkeys(["embedding", "attention", "feed_forward", "output"], 0.0)
    began, handles = {}, {}

    def before(module, inputs):
        began[module] = clock()

    def after(module, inputs, output):
        seconds[names[module]] += clock() - began[module]

    for module in names:
        handles[module] = module.register_forward_pre_hook(before)
        handles[module] = module.register_forward_hook(after)
    model(prompt[:, -model.block_size :])
    for name in seconds:
        seconds[name] = 0.0
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    for handle in handles.values():
        handle.remove()
    return seconds


WRITTEN = {
    "12/cache-step": [index_not_expanded],
    "12/groups": [members_outside_groups],
    "12/sink": [shrunk_after_adding],
    "12/rotary": [turned_in_place],
    "12/ring": [returned_in_order],
    "12/drafts": [two_rules_mixed],
    "12/quantize": [scales_not_transposed],
    "12/seconds": [one_handle_per_module],
}
