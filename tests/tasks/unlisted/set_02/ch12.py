"""Wrong answers to chapter 12, second set."""

import math

import torch
import torch.nn.functional as F


def _looked(query, keys, values, seen):
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2)


def step_at_the_place_of_the_longest(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    place = int(lengths.max())
    keys[:, :, place], values[:, :, place] = key, value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    return _looked(query, keys, values, seen), keys, values


def step_with_the_value_too_late(query, key, value, keys, values, lengths):
    keys, before = keys.clone(), values
    rows, values = torch.arange(len(keys)), values.clone()
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    return _looked(query, keys, before, seen), keys, values


def step_that_adds_to_the_place(query, key, value, keys, values, lengths):
    """Adds the new key and value to what was left over in their place."""
    keys, values = keys.clone(), values.clone()
    rows = torch.arange(len(keys))
    keys[rows, :, lengths] += key
    values[rows, :, lengths] += value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    return _looked(query, keys, values, seen), keys, values


def _grouped(x, query, key, value, n_head):
    B, T, _ = x.shape
    q, k, v = ((x @ w.T).view(B, T, n_head, -1).transpose(1, 2) for w in (query, key, value))
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).flatten(2)


def _pooled(part, n_head, n_group, pool):
    D, C = len(part) // n_head, part.shape[1]
    each = n_head // n_group
    parts = pool(part.view(n_group, each, D, C))
    return parts.repeat_interleave(each, dim=0).flatten(0, 1)


def groups_that_add(x, query, key, value, n_head, n_group):
    key, value = (_pooled(w, n_head, n_group, lambda p: p.sum(dim=1)) for w in (key, value))
    return _grouped(x, query, key, value, n_head)


def groups_that_share_queries(x, query, key, value, n_head, n_group):
    pooled = [_pooled(w, n_head, n_group, lambda p: p.mean(dim=1)) for w in (query, key, value)]
    return _grouped(x, *pooled, n_head)


def groups_with_own_values(x, query, key, value, n_head, n_group):
    """Only keys are pooled."""
    key = _pooled(key, n_head, n_group, lambda p: p.mean(dim=1))
    return _grouped(x, query, key, value, n_head)


def sink_without_the_shift(chunks, sink):
    m, total, weighted = torch.full((len(sink), 1), -1e30), 0.0, 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / (total + sink[:, None].exp())


def sink_for_every_chunk(chunks, sink):
    m = sink[:, None]
    total, weighted = torch.zeros_like(m), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True) + (sink[:, None] - new).exp()
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


def sink_that_forgets_to_shrink(chunks, sink):
    """Shrinks the sum of the weights, but not the sum of the values."""
    m = sink[:, None]
    total, weighted = torch.ones_like(m), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted + e @ values
        m = new
    return weighted / total


def _turned(x, angle, rotated):
    first, rest = x[..., :rotated], x[..., rotated:]
    cos, sin = angle.cos(), angle.sin()
    a, b = first[..., 0::2], first[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, rest], dim=-1)


def turned_by_the_first_positions(x, positions, rotated, base):
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    return _turned(x, positions[0][:, None] * theta, rotated)


def turned_in_place(x, positions, rotated, base):
    """Computes the second number of a pair from the first one after its turn."""
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    out = x.clone()
    a, b = out[..., 0:rotated:2], out[..., 1:rotated:2]
    a.copy_(a * angle.cos() - b * angle.sin())
    b.copy_(a * angle.sin() + b * angle.cos())
    return out


def turned_with_steps_of_one(x, positions, rotated, base):
    """θ_i = base^(−i / R): the 2 is missing."""
    theta = base ** (-torch.arange(rotated // 2) / rotated)
    return _turned(x, positions[:, None, :, None] * theta, rotated)


def _ring(query, keys, values, age, seen, slope):
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[-1]) - slope * age
    weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1)


def ring_with_ages_by_place(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W = keys.shape[1]
    keys[:, count % W], values[:, count % W] = key, value
    age = W - 1 - torch.arange(W)
    seen = torch.arange(W) <= count
    return _ring(query, keys, values, age, seen, slope), keys, values


def ring_blind_to_the_new_one(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W = keys.shape[1]
    keys[:, count % W], values[:, count % W] = key, value
    age = (count - torch.arange(W)) % W
    seen = torch.arange(W) < count if 0 < count < W else age <= count
    return _ring(query, keys, values, age, seen, slope), keys, values


def ring_that_shifts(query, key, value, keys, values, count, slope):
    """Shifts the whole cache and puts the new one at its end."""
    keys = torch.cat([keys[:, 1:], key[:, None]], dim=1)
    values = torch.cat([values[:, 1:], value[:, None]], dim=1)
    age = keys.shape[1] - 1 - torch.arange(keys.shape[1])
    return _ring(query, keys, values, age, age <= count, slope), keys, values


def _drafts(p, q, draft, drafted, generator, keep, count):
    K = draft.shape[1]
    keep = keep & (torch.arange(K) < drafted[:, None])
    count = count(keep)
    rows = torch.arange(len(draft))
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    instead = torch.where(instead.sum(-1, keepdim=True) > 0, instead, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


def _share(p, q, draft):
    at = draft.unsqueeze(-1)
    return (p[:, : draft.shape[1]].gather(-1, at) / q.gather(-1, at)).squeeze(-1)


def drafts_kept_if_likelier(p, q, draft, drafted, generator):
    keep = _share(p, q, draft) >= 1
    return _drafts(
        p, q, draft, drafted, generator, keep, lambda kept: kept.long().cumprod(1).sum(1)
    )


def drafts_counted_wherever(p, q, draft, drafted, generator):
    keep = torch.rand(draft.shape, generator=generator) < _share(p, q, draft)
    return _drafts(p, q, draft, drafted, generator, keep, lambda kept: kept.long().sum(1))


def drafts_with_one_number_a_row(p, q, draft, drafted, generator):
    """Compares all drafts of a row with the same random number."""
    keep = torch.rand(len(draft), 1, generator=generator) < _share(p, q, draft)
    return _drafts(
        p, q, draft, drafted, generator, keep, lambda kept: kept.long().cumprod(1).sum(1)
    )


def quantized_with_a_scale_for_all_rows(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=(0, 2), keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale == 0, 1.0, scale).expand(len(weight), -1, 1)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


def quantized_with_one_code_too_many(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / 2 ** (bits - 1)
    scale = torch.where(scale == 0, 1.0, scale)
    codes = (parts / scale).round().clamp(-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    return codes.to(torch.int8).flatten(1), scale.squeeze(-1)


def quantized_with_reciprocal_scales(weight, bits, group):
    """Returns what the weights were multiplied by."""
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale == 0, 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), 1 / scale.squeeze(-1)


def _seconds(model, prompt, count, clock, names):
    parts = {"embedding": [model.embedding], "output": [model.output]}
    parts["attention"] = [block.attention for block in model.blocks]
    parts["feed_forward"] = [block.feed_forward for block in model.blocks]
    seconds, began, handles = dict.fromkeys(parts, 0.0), {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, modules in parts.items():
        for module in modules[names]:
            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after(name)))
    model(prompt[:, -model.block_size :])
    seconds.update(dict.fromkeys(seconds, 0.0))
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    whole = clock() - start
    for handle in handles:
        handle.remove()
    return seconds, whole


def seconds_of_the_whole_elsewhere(model, prompt, count, clock):
    seconds, whole = _seconds(model, prompt, count, clock, slice(None))
    return {**seconds, "elsewhere": whole}


def seconds_of_the_first_block(model, prompt, count, clock):
    seconds, whole = _seconds(model, prompt, count, clock, slice(1))
    return {**seconds, "elsewhere": whole - sum(seconds.values())}


def seconds_for_one_symbol(model, prompt, count, clock):
    """Divides everything by the number of symbols."""
    seconds, whole = _seconds(model, prompt, count, clock, slice(None))
    seconds["elsewhere"] = whole - sum(seconds.values())
    return {name: each / count for name, each in seconds.items()}


WRITTEN = {
    "12/cache-step": [
        step_at_the_place_of_the_longest,
        step_with_the_value_too_late,
        step_that_adds_to_the_place,
    ],
    "12/groups": [groups_that_add, groups_that_share_queries, groups_with_own_values],
    "12/sink": [sink_without_the_shift, sink_for_every_chunk, sink_that_forgets_to_shrink],
    "12/rotary": [turned_by_the_first_positions, turned_in_place, turned_with_steps_of_one],
    "12/ring": [ring_with_ages_by_place, ring_blind_to_the_new_one, ring_that_shifts],
    "12/drafts": [drafts_kept_if_likelier, drafts_counted_wherever, drafts_with_one_number_a_row],
    "12/quantize": [
        quantized_with_a_scale_for_all_rows,
        quantized_with_one_code_too_many,
        quantized_with_reciprocal_scales,
    ],
    "12/seconds": [
        seconds_of_the_whole_elsewhere,
        seconds_of_the_first_block,
        seconds_for_one_symbol,
    ],
}

ASIDE = {
    "step_that_adds_to_the_place",
    "groups_with_own_values",
    "sink_that_forgets_to_shrink",
    "turned_with_steps_of_one",
    "ring_that_shifts",
    "drafts_with_one_number_a_row",
    "quantized_with_reciprocal_scales",
    "seconds_for_one_symbol",
}
