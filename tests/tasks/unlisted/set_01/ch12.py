"""Unlisted wrong answers to chapter 12."""

import math

import torch
from torch.nn import functional as F

# 12/cache-step


def _cache(query, key, value, keys, values, lengths, *, at=None, seen=None, scale=None):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    at = lengths if at is None else at
    keys[rows, :, at], values[rows, :, at] = key, value
    scores = torch.einsum("bhd,bhsd->bhs", query, keys) / (scale or math.sqrt(keys.shape[-1]))
    seen = torch.arange(S) <= lengths[:, None] if seen is None else seen(S)
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return torch.einsum("bhs,bhsd->bhd", weights, values), keys, values


def always_at_the_end(query, key, value, keys, values, lengths):
    S = keys.shape[2]
    return _cache(query, key, value, keys, values, lengths, at=torch.full_like(lengths, S - 1))


def everybodys_length(query, key, value, keys, values, lengths):
    longest = lengths.max().expand(len(lengths))
    return _cache(query, key, value, keys, values, longest)


def hides_the_first(query, key, value, keys, values, lengths):
    def seen(S):
        places = torch.arange(S)
        return (places <= lengths[:, None]) & ((places > 0) | (lengths == 0)[:, None])

    return _cache(query, key, value, keys, values, lengths, seen=seen)


def root_of_the_length(query, key, value, keys, values, lengths):
    return _cache(query, key, value, keys, values, lengths, scale=math.sqrt(keys.shape[2]))


def zeros_count_as_scores(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    keys[rows, :, lengths], values[rows, :, lengths] = key, value
    seen = (torch.arange(S) <= lengths[:, None])[:, None]
    scores = torch.einsum("bhd,bhsd->bhs", query, keys) / math.sqrt(keys.shape[-1])
    weights = (scores * seen).softmax(dim=-1)
    return torch.einsum("bhs,bhsd->bhd", weights, values), keys, values


# 12/groups


def _grouped(x, query, key, value, n_head, n_group, pool, *, scale=None, causal=True):
    B, T, _ = x.shape
    D = len(query) // n_head
    q, k, v = ((x @ part.T).view(B, T, n_head, D).transpose(1, 2) for part in (query, key, value))
    found = F.scaled_dot_product_attention(q, pool(k), pool(v), is_causal=causal, scale=scale)
    return found.transpose(1, 2).flatten(2)


def _mean(n_group):
    def pool(part):
        each = part.shape[1] // n_group
        return part.unflatten(1, (n_group, each)).mean(dim=2).repeat_interleave(each, dim=1)

    return pool


def sum_of_the_group(x, query, key, value, n_head, n_group):
    each = n_head // n_group
    pool = _mean(n_group)
    return _grouped(x, query, key, value, n_head, n_group, lambda part: each * pool(part))


def group_as_number_of_members(x, query, key, value, n_head, n_group):
    return _grouped(x, query, key, value, n_head, n_group, _mean(n_head // n_group))


def last_of_the_group(x, query, key, value, n_head, n_group):
    def pool(part):
        each = n_head // n_group
        return part[:, each - 1 :: each].repeat_interleave(each, dim=1)

    return _grouped(x, query, key, value, n_head, n_group, pool)


def queries_shared_too(x, query, key, value, n_head, n_group):
    B, T, _ = x.shape
    D = len(query) // n_head
    pool = _mean(n_group)
    q, k, v = (
        pool((x @ part.T).view(B, T, n_head, D).transpose(1, 2)) for part in (query, key, value)
    )
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).flatten(2)


def channels_before_heads(x, query, key, value, n_head, n_group):
    B, T, _ = x.shape
    D = len(query) // n_head
    pool = _mean(n_group)
    q, k, v = (
        (x @ part.T).view(B, T, D, n_head).permute(0, 3, 1, 2) for part in (query, key, value)
    )
    found = F.scaled_dot_product_attention(q, pool(k), pool(v), is_causal=True)
    return found.permute(0, 2, 3, 1).flatten(2)


# 12/sink


def sink_once_a_chunk(chunks, sink):
    m, total, weighted = sink[:, None], 1.0, 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True) + (sink[:, None] - new).exp()
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


def sink_as_a_number_of_weight(chunks, sink):
    chunks = list(chunks)
    scores = torch.cat([scores for scores, _ in chunks], dim=1)
    values = torch.cat([values for _, values in chunks])
    top = scores.amax(dim=-1, keepdim=True).clamp(min=-1e30)
    e = (scores - top).exp()
    return e @ values / (e.sum(dim=-1, keepdim=True) + sink[:, None])


def one_sink_for_all_rows(chunks, sink):
    chunks = list(chunks)
    scores = torch.cat([scores for scores, _ in chunks], dim=1)
    values = torch.cat([values for _, values in chunks])
    whole = torch.cat([scores, sink.mean().expand(len(scores), 1)], dim=1)
    return whole.softmax(dim=-1)[:, :-1] @ values


def divided_by_the_number_of_chunks(chunks, sink):
    parts = []
    for scores, values in chunks:
        whole = torch.cat([scores, sink[:, None]], dim=1)
        parts.append(whole.softmax(dim=-1)[:, :-1] @ values)
    return torch.stack(parts).mean(dim=0)


def sink_with_a_value_of_one(chunks, sink):
    chunks = list(chunks)
    scores = torch.cat([scores for scores, _ in chunks] + [sink[:, None]], dim=1)
    values = torch.cat([values for _, values in chunks])
    values = torch.cat([values, torch.ones(1, values.shape[1])])
    return scores.softmax(dim=-1) @ values


# 12/rotary


def _turned(x, angle, rotated):
    first, rest = x[..., :rotated], x[..., rotated:]
    cos, sin = angle.cos(), angle.sin()
    a, b = first[..., 0::2], first[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, rest], dim=-1)


def _theta(rotated, base):
    return base ** (-torch.arange(0, rotated, 2) / rotated)


def steps_for_positions(x, positions, rotated, base):
    gaps = positions.diff(dim=1, prepend=positions[:, :1])
    return _turned(x, gaps[:, None, :, None] * _theta(rotated, base), rotated)


def speeds_the_other_way_round(x, positions, rotated, base):
    theta = _theta(rotated, base).flip(0)
    return _turned(x, positions[:, None, :, None] * theta, rotated)


def degrees(x, positions, rotated, base):
    angle = positions[:, None, :, None] * _theta(rotated, base)
    return _turned(x, torch.deg2rad(angle), rotated)


def last_numbers_turn(x, positions, rotated, base):
    angle = positions[:, None, :, None] * _theta(rotated, base)
    turned = _turned(x.roll(rotated, dims=-1), angle, rotated)
    return turned.roll(-rotated, dims=-1)


def rest_is_left_out(x, positions, rotated, base):
    angle = positions[:, None, :, None] * _theta(rotated, base)
    return torch.cat(
        [_turned(x, angle, rotated)[..., :rotated], torch.zeros_like(x[..., rotated:])], dim=-1
    )


# 12/ring


def _ring(query, key, value, keys, values, count, slope, *, age=None, hidden=None, sign=-1):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W], values[:, count % W] = key, value
    right = (count - torch.arange(W)) % W
    age = right if age is None else age(W)
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D) + sign * slope * age
    hidden = right > count if hidden is None else hidden(W)
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


def age_by_place(query, key, value, keys, values, count, slope):
    return _ring(query, key, value, keys, values, count, slope, age=torch.arange)


def young_ones_pay(query, key, value, keys, values, count, slope):
    return _ring(
        query,
        key,
        value,
        keys,
        values,
        count,
        slope,
        age=lambda W: W - 1 - (count - torch.arange(W)) % W,
    )


def age_of_the_whole_text(query, key, value, keys, values, count, slope):
    return _ring(
        query, key, value, keys, values, count, slope, age=lambda W: count - torch.arange(W)
    )


def slope_added(query, key, value, keys, values, count, slope):
    return _ring(query, key, value, keys, values, count, slope, sign=1)


def shifted_instead_of_turned(query, key, value, keys, values, count, slope):
    keys, values = keys.roll(-1, dims=1), values.roll(-1, dims=1)
    keys[:, -1], values[:, -1] = key, value
    W, D = keys.shape[1:]
    age = W - 1 - torch.arange(W)
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(age > count, -torch.inf).softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# 12/drafts


def _kept(p, q, draft, drafted, generator, share):
    B, K = draft.shape
    keep = torch.rand(B, K, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    return keep.long().cumprod(dim=1).sum(dim=1)


def _share(p, q, draft):
    at = draft.unsqueeze(-1)
    return (p[:, : draft.shape[1]].gather(-1, at) / q.gather(-1, at)).squeeze(-1)


def keeps_every_draft(p, q, draft, drafted, generator):
    rows = torch.arange(len(p))
    return drafted.clone(), torch.multinomial(p[rows, drafted], 1, generator=generator)[:, 0]


def keeps_no_draft(p, q, draft, drafted, generator):
    return torch.zeros_like(drafted), torch.multinomial(p[:, 0], 1, generator=generator)[:, 0]


def share_squared(p, q, draft, drafted, generator):
    count = _kept(p, q, draft, drafted, generator, _share(p, q, draft) ** 2)
    rows, K = torch.arange(len(p)), draft.shape[1]
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator)[:, 0]


def difference_as_it_is(p, q, draft, drafted, generator):
    count = _kept(p, q, draft, drafted, generator, _share(p, q, draft))
    rows, K = torch.arange(len(p)), draft.shape[1]
    lacking = (p[:, :K] - q).abs()[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator)[:, 0]


def likeliest_symbol_after(p, q, draft, drafted, generator):
    count = _kept(p, q, draft, drafted, generator, _share(p, q, draft))
    rows, K = torch.arange(len(p)), draft.shape[1]
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    return count, torch.where((count < drafted)[:, None], lacking, p[rows, count]).argmax(dim=-1)


# 12/quantize


def _codes(weight, group, scale):
    parts = weight.unflatten(1, (-1, group))
    scale = scale(parts)
    scale = torch.where(scale == 0, 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


def all_codes_of_the_byte(weight, bits, group):
    return _codes(weight, group, lambda parts: parts.abs().amax(dim=-1, keepdim=True) / 127)


def half_of_the_range(weight, bits, group):
    def scale(parts):
        reach = parts.amax(dim=-1, keepdim=True) - parts.amin(dim=-1, keepdim=True)
        return reach / (2**bits - 1)

    return _codes(weight, group, scale)


def scale_of_mean_and_spread(weight, bits, group):
    return _codes(
        weight,
        group,
        lambda parts: 3 * parts.std(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1),
    )


def codes_shifted_to_be_positive(weight, bits, group):
    codes, scales = _codes(
        weight, group, lambda parts: parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    )
    return (codes.int() + 2 ** (bits - 1) - 1).clamp(max=127).to(torch.int8), scales


def columns_taken_in_turn(weight, bits, group):
    parts = weight.unflatten(1, (group, -1)).transpose(1, 2)
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale == 0, 1.0, scale)
    codes = (parts / scale).round().to(torch.int8)
    return codes.transpose(1, 2).flatten(1), scale.squeeze(-1)


# 12/seconds


def _timed(model, prompt, count, clock, *, begin=0, cut=True, elsewhere=True):
    names = {"embedding": [model.embedding], "output": [model.output]}
    names["attention"] = [block.attention for block in model.blocks]
    names["feed_forward"] = [block.feed_forward for block in model.blocks]
    seconds, began, handles = dict.fromkeys(names, 0.0), {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, modules in names.items():
        for module in modules:
            handles += [
                module.register_forward_pre_hook(before),
                module.register_forward_hook(after(name)),
            ]
    model(prompt[:, -model.block_size :])  # the first pass of all takes longer
    seconds.update(dict.fromkeys(seconds, 0.0))
    text, start = prompt, clock()
    for _ in range(count + begin):
        logits, _ = model(text[:, -model.block_size :] if cut else text)
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    whole = clock() - start
    for handle in handles:
        handle.remove()
    seconds["elsewhere"] = whole - sum(seconds.values()) if elsewhere else whole
    return seconds


def one_step_too_few(model, prompt, count, clock):
    return _timed(model, prompt, count, clock, begin=-1)


def everything_is_elsewhere(model, prompt, count, clock):
    return _timed(model, prompt, count, clock, elsewhere=False)


def mean_of_a_step(model, prompt, count, clock):
    return {name: each / count for name, each in _timed(model, prompt, count, clock).items()}


def shares_for_seconds(model, prompt, count, clock):
    seconds = _timed(model, prompt, count, clock)
    whole = sum(seconds.values())
    return {name: each / whole for name, each in seconds.items()}


def first_block_only(model, prompt, count, clock):
    seconds = _timed(model, prompt, count, clock)
    for name in ("attention", "feed_forward"):
        part = seconds[name] / len(model.blocks)
        seconds["elsewhere"] += seconds[name] - part
        seconds[name] = part
    return seconds


WRITTEN = {
    "12/cache-step": [
        always_at_the_end,
        everybodys_length,
        hides_the_first,
        root_of_the_length,
        zeros_count_as_scores,
    ],
    "12/groups": [
        sum_of_the_group,
        group_as_number_of_members,
        last_of_the_group,
        queries_shared_too,
        channels_before_heads,
    ],
    "12/sink": [
        sink_once_a_chunk,
        sink_as_a_number_of_weight,
        one_sink_for_all_rows,
        divided_by_the_number_of_chunks,
        sink_with_a_value_of_one,
    ],
    "12/rotary": [
        steps_for_positions,
        speeds_the_other_way_round,
        degrees,
        last_numbers_turn,
        rest_is_left_out,
    ],
    "12/ring": [
        age_by_place,
        young_ones_pay,
        age_of_the_whole_text,
        slope_added,
        shifted_instead_of_turned,
    ],
    "12/drafts": [
        keeps_every_draft,
        keeps_no_draft,
        share_squared,
        difference_as_it_is,
        likeliest_symbol_after,
    ],
    "12/quantize": [
        all_codes_of_the_byte,
        half_of_the_range,
        scale_of_mean_and_spread,
        codes_shifted_to_be_positive,
        columns_taken_in_turn,
    ],
    "12/seconds": [
        one_step_too_few,
        everything_is_elsewhere,
        mean_of_a_step,
        shares_for_seconds,
        first_block_only,
    ],
}

ASIDE = ()
