"""Wrong answers to chapter 12 that no list names: the third set."""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


def written_at_the_places_of_all_rows(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    keys[:, :, lengths] = key.unsqueeze(2)
    values[:, :, lengths] = value.unsqueeze(2)
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2), keys, values


# 12/groups


def queries_pooled_too(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    q, k, v = (
        (x @ part.view(n_group, each, D, C).mean(dim=1).repeat_interleave(each, 0).flatten(0, 1).T)
        .view(B, T, n_head, D)
        .transpose(1, 2)
        for part in (query, key, value)
    )
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).flatten(2)


# 12/sink


def a_sink_in_every_chunk(chunks, sink):
    m = sink[:, None]
    total, weighted = torch.zeros_like(m), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True) + (sink[:, None] - new).exp()
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


# 12/rotary


def exponent_without_the_two(x, positions, rotated, base):
    first, rest = x[..., :rotated], x[..., rotated:]
    theta = base ** (-torch.arange(rotated // 2) / rotated)
    angle = positions[:, None, :, None] * theta
    cos, sin = angle.cos(), angle.sin()
    a, b = first[..., 0::2], first[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, rest], dim=-1)


# 12/ring


def age_from_the_distance_of_places(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W], values[:, count % W] = key, value
    place = torch.arange(W)
    age = (count % W - place).abs()
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(place > count, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), keys, values


# 12/drafts


def one_random_number_for_the_row(p, q, draft, drafted, generator):
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, 1, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rows = torch.arange(B)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    lacking = lacking + 1e-12
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# 12/quantize


def smallest_scale_for_zeros(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = scale.clamp(min=1e-8)
    codes = (parts / scale).round().to(torch.int8)
    return codes.flatten(1), scale.squeeze(-1)


# 12/seconds


def last_block_only(model, prompt, count, clock):
    parts = {"embedding": model.embedding, "output": model.output}
    for block in model.blocks:
        parts["attention"] = block.attention
        parts["feed_forward"] = block.feed_forward
    seconds, began, handles = dict.fromkeys(parts, 0.0), {}, []

    def before(name):
        def hook(module, inputs):
            began[name] = clock()

        return hook

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[name]

        return hook

    model(prompt[:, -model.block_size :])
    for name, module in parts.items():
        handles.append(module.register_forward_pre_hook(before(name)))
        handles.append(module.register_forward_hook(after(name)))
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    for handle in handles:
        handle.remove()
    return seconds


WRITTEN = {
    "12/cache-step": [written_at_the_places_of_all_rows],
    "12/groups": [queries_pooled_too],
    "12/sink": [a_sink_in_every_chunk],
    "12/rotary": [exponent_without_the_two],
    "12/ring": [age_from_the_distance_of_places],
    "12/drafts": [one_random_number_for_the_row],
    "12/quantize": [smallest_scale_for_zeros],
    "12/seconds": [last_block_only],
}
