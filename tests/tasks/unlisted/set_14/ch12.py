"""Wrong answers to chapter 12 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch

# 12/cache-step


def written_at_all_lengths(query, key, value, keys, values, lengths):
    """Indexes with [:, :, lengths], so each row writes at the places of all the rows' lengths."""
    keys, values = keys.clone(), values.clone()
    keys[:, :, lengths] = key.unsqueeze(2)
    values[:, :, lengths] = value.unsqueeze(2)
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(query.shape[-1])  # (B, H, S)
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]  # (B, S)
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


# 12/groups


def numbers_before_members(x, query, key, value, n_head, n_group):
    """Views the rows as (groups, D, members), so the mean mixes neighboring rows, not heads."""
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key, value = (part.view(n_group, D, each, C).mean(dim=2) for part in (key, value))
    key, value = (part.repeat_interleave(each, dim=0).flatten(0, 1) for part in (key, value))
    q, k, v = ((x @ part.T).view(B, T, n_head, D).transpose(1, 2) for part in (query, key, value))
    scores = q @ k.transpose(2, 3) / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -torch.inf).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).flatten(2)


# 12/sink


def maximum_of_the_chunk(chunks, sink):
    """Takes each chunk's own maximum instead of the running one, so exp overflows when it falls."""
    m = sink[:, None]
    total, weighted = torch.ones_like(m), 0.0
    for scores, values in chunks:
        new = scores.amax(dim=-1, keepdim=True)
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


# 12/rotary


def angles_of_halves(x, positions, rotated, base):
    """Turns neighbors, but lays the angles out as for halves: all of them once, then all again."""
    first, rest = x[..., :rotated], x[..., rotated:]
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta  # (B, 1, T, R/2)
    angle = torch.cat([angle, angle], dim=-1)  # (B, 1, T, R)
    crossed = torch.stack([-first[..., 1::2], first[..., 0::2]], dim=-1).flatten(-2)
    turned = first * angle.cos() + crossed * angle.sin()
    return torch.cat([turned, rest], dim=-1)


# 12/ring


def scored_before_written(query, key, value, keys, values, count, slope):
    """Computes the scores before the new key is written, so its place has the old key's score."""
    W, D = keys.shape[1:]
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D)
    keys, values = keys.clone(), values.clone()
    keys[:, count % W] = key
    values[:, count % W] = value
    age = (count - torch.arange(W)) % W
    scores = (scores - slope * age).masked_fill(age > count, -torch.inf)
    weights = scores.softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# 12/drafts


def one_number_per_row(p, q, draft, drafted, generator):
    """Draws one random number for each row and compares all its drafts with that same number."""
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)  # (B, K)
    keep = torch.rand(B, 1, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rows = torch.arange(B)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# 12/quantize


def half_added_and_cut(weight, bits, group):
    """Rounds by adding 0.5 and cutting off decimals, which moves negative codes one up."""
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale == 0, 1.0, scale)
    codes = (parts / scale + 0.5).to(torch.int8)
    return codes.flatten(1), scale.squeeze(-1)


# 12/seconds


def name_bound_late(model, prompt, count, clock):
    """Defines the hooks inside the loop, so all add to the name that the loop ended with."""
    parts = {
        "embedding": [model.embedding],
        "attention": [block.attention for block in model.blocks],
        "feed_forward": [block.feed_forward for block in model.blocks],
        "output": [model.output],
    }
    seconds = dict.fromkeys(parts, 0.0)
    began, handles = {}, []
    for name, modules in parts.items():

        def before(module, inputs):
            began[module] = clock()

        def after(module, inputs, output):
            seconds[name] += clock() - began[module]  # noqa: B023 - the slip

        for module in modules:
            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after))
    model(prompt[:, -model.block_size :])
    for part in seconds:
        seconds[part] = 0.0
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    for handle in handles:
        handle.remove()
    return seconds


WRITTEN = {
    "12/cache-step": [written_at_all_lengths],
    "12/groups": [numbers_before_members],
    "12/sink": [maximum_of_the_chunk],
    "12/rotary": [angles_of_halves],
    "12/ring": [scored_before_written],
    "12/drafts": [one_number_per_row],
    "12/quantize": [half_added_and_cut],
    "12/seconds": [name_bound_late],
}
