"""Wrong answers to chapter 12 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


def places_of_all_rows(query, key, value, keys, values, lengths):
    """Writes each row's new token at the free places of all rows, so it overwrites read tokens."""
    keys, values = keys.clone(), values.clone()
    S, D = keys.shape[2:]
    keys[:, :, lengths] = key.unsqueeze(2)
    values[:, :, lengths] = value.unsqueeze(2)
    scores = (query.unsqueeze(2) @ keys.mT).squeeze(2) / math.sqrt(D)  # (B, H, S)
    hidden = torch.arange(S) > lengths[:, None]
    weights = scores.masked_fill(hidden.unsqueeze(1), -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


def mask_of_floats(query, key, value, keys, values, lengths):
    """Gives the attention a mask of zeros and ones as floats, which is added and hides nothing."""
    keys, values = keys.clone(), values.clone()
    rows = torch.arange(len(lengths))
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    seen = (torch.arange(keys.shape[2])[None, :] <= lengths[:, None]).to(query.dtype)
    found = F.scaled_dot_product_attention(
        query.unsqueeze(2), keys, values, attn_mask=seen[:, None, None, :]
    )
    return found.squeeze(2), keys, values


def trimmed_too_short(query, key, value, keys, values, lengths):
    """Sees only the first max(lengths) places, so the longest row misses its own new token."""
    keys, values = keys.clone(), values.clone()
    rows = torch.arange(len(lengths))
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    used = int(lengths.max())
    scores = torch.einsum("bhd,bhsd->bhs", query, keys[:, :, :used]) / math.sqrt(query.shape[-1])
    seen = torch.arange(used) <= lengths[:, None]
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return torch.einsum("bhs,bhsd->bhd", weights, values[:, :, :used]), keys, values


# 12/groups


def members_innermost(x, query, key, value, n_head, n_group):
    """Reads the rows as (groups, D, members), so the mean runs over rows of the same head."""
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key = key.view(n_group, D, each, C).mean(dim=2)
    value = value.view(n_group, D, each, C).mean(dim=2)
    q = (x @ query.T).view(B, T, n_head, D).transpose(1, 2)
    k = torch.einsum("btc,gdc->bgtd", x, key).repeat_interleave(each, dim=1)
    v = torch.einsum("btc,gdc->bgtd", x, value).repeat_interleave(each, dim=1)
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).reshape(B, T, n_head * D)


def only_keys_shared(x, query, key, value, n_head, n_group):
    """Shares only the mean of the keys; each head still uses its own values."""
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key = key.view(n_group, each, D, C).mean(dim=1, keepdim=True)
    key = key.expand(-1, each, -1, -1).reshape(n_head * D, C)
    q, k, v = (F.linear(x, w).view(B, T, n_head, D).transpose(1, 2) for w in (query, key, value))
    scores = q @ k.mT / math.sqrt(D)
    later = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(later, -torch.inf).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).flatten(2)


def scaled_by_channels(x, query, key, value, n_head, n_group):
    """Divides scores by the root of C / H instead of the root of D, as if H · D were always C."""
    B, T, C = x.shape
    each = n_head // n_group
    key = key.view(n_group, each, -1, C).mean(dim=1)  # (G, D, C)
    value = value.view(n_group, each, -1, C).mean(dim=1)
    q = F.linear(x, query).view(B, T, n_head, -1).transpose(1, 2)
    k = torch.einsum("btc,gdc->bgtd", x, key).repeat_interleave(each, dim=1)
    v = torch.einsum("btc,gdc->bgtd", x, value).repeat_interleave(each, dim=1)
    scores = q @ k.mT / math.sqrt(C / n_head)
    causal = torch.ones(T, T).tril() == 0
    weights = scores.masked_fill(causal, -torch.inf).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).flatten(2)


# 12/sink


def sink_in_each_chunk(chunks, sink):
    """Adds the sink to the sum of each chunk, so it counts as often as there are chunks."""
    m = sink[:, None]
    total, weighted = torch.zeros_like(m), 0.0
    for scores, values in chunks:
        scores = torch.cat([scores, sink[:, None]], dim=1)
        values = torch.cat([values, torch.zeros_like(values[:1])])
        new = torch.maximum(m, scores.amax(dim=1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


def one_maximum_for_all(chunks, sink):
    """Keeps one running maximum for all rows, so rows far below the others become 0 / 0."""
    m = sink.max()
    total, weighted = (sink - m).exp()[:, None], 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.max())
        e = (scores - new).exp()
        total = total * (m - new).exp() + e.sum(dim=-1, keepdim=True)
        weighted = weighted * (m - new).exp() + e @ values
        m = new
    return weighted / total


def relative_to_the_sink(chunks, sink):
    """Subtracts the sink instead of a running maximum, so large scores overflow."""
    total = torch.ones_like(sink)[:, None]
    weighted = 0.0
    for scores, values in chunks:
        e = (scores - sink[:, None]).exp()
        total = total + e.sum(dim=1, keepdim=True)
        weighted = weighted + e @ values
    return weighted / total


# 12/rotary


def turned_in_place(x, positions, rotated, base):
    """Writes the first of each pair back before the second is computed from it: a is a view."""
    x = x.clone()
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    x[..., 0:rotated:2] = a * cos - b * sin
    x[..., 1:rotated:2] = a * sin + b * cos
    return x


def table_of_halves(x, positions, rotated, base):
    """Turns neighbors, but repeats the angles as whole halves, so pairs get wrong, mixed angles."""
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    angle = torch.cat([angle, angle], dim=-1)  # (B, 1, T, R)
    first, rest = x[..., :rotated], x[..., rotated:]
    crossed = torch.stack([-first[..., 1::2], first[..., 0::2]], dim=-1).flatten(-2)
    return torch.cat([first * angle.cos() + crossed * angle.sin(), rest], dim=-1)


def exponent_doubled(x, positions, rotated, base):
    """Counts i in steps of 2 and multiplies it by 2 once more: the exponent is -4i/R."""
    i = torch.arange(0, rotated, 2)
    theta = base ** (-2 * i / rotated)
    angle = positions[:, None, :, None] * theta
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, x[..., rotated:]], dim=-1)


# 12/ring


def slope_divided_too(query, key, value, keys, values, count, slope):
    """Subtracts slope · age before it divides by √D, so the slope is divided as well."""
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W] = key
    values[:, count % W] = value
    age = (count - torch.arange(W)) % W
    scores = (torch.einsum("bd,bwd->bw", query, keys) - slope * age) / math.sqrt(D)
    weights = scores.masked_fill(age > count, -torch.inf).softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


def up_to_the_new_place(query, key, value, keys, values, count, slope):
    """Shows only places up to that of the new token, also when the ring has been full before."""
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    place = count % W
    keys[:, place], values[:, place] = key, value
    age = (place - torch.arange(W)) % W
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(torch.arange(W) > place, -torch.inf).softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


def age_as_distance(query, key, value, keys, values, count, slope):
    """Takes the distance between the places as the age, also for places behind the new one."""
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    place = count % W
    keys[:, place], values[:, place] = key, value
    age = (place - torch.arange(W)).abs()
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D) - slope * age
    if count < W:
        scores[:, count + 1 :] = -torch.inf
    weights = scores.softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# 12/drafts


def _symbol(p, q, count, drafted, generator):
    """The symbol after the kept drafts, drawn rightly."""
    rows = torch.arange(len(p))
    q = torch.cat([q, torch.zeros_like(p[:, :1])], dim=1)
    left = (p - q).clamp(min=0)[rows, count]
    left = torch.where((count < drafted)[:, None], left, p[rows, count])
    return torch.multinomial(left, 1, generator=generator).squeeze(1)


def one_number_a_row(p, q, draft, drafted, generator):
    """Draws one random number for each row and compares it with the ratios of all its places."""
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    ratio = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, 1, generator=generator) < ratio
    keep = keep & (torch.arange(K) < drafted[:, None])
    count = keep.long().cumprod(dim=1).sum(dim=1)
    return count, _symbol(p, q, count, drafted, generator)


def first_rejected_by_argmax(p, q, draft, drafted, generator):
    """Finds the first rejected place with argmax, which is 0 when all K drafts are kept."""
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    ratio = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    rejected = torch.rand(B, K, generator=generator) >= ratio
    rejected |= torch.arange(K) >= drafted[:, None]
    count = rejected.int().argmax(dim=1)
    return count, _symbol(p, q, count, drafted, generator)


def rejected_symbol_removed(p, q, draft, drafted, generator):
    """After a rejection draws from p without the rejected symbol, not from what p has beyond q."""
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    ratio = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, K, generator=generator) < ratio
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    without = p.clone()
    without[:, :K].scatter_(-1, at, 0.0)
    rows = torch.arange(B)
    left = torch.where((count < drafted)[:, None], without[rows, count], p[rows, count])
    return count, torch.multinomial(left, 1, generator=generator).squeeze(1)


# 12/quantize


def shift_after_minus(weight, bits, group):
    """Writes the largest code as 1 << (bits - 1) - 1, which Python reads as 1 << (bits - 2)."""
    rows, columns = weight.shape
    largest = 1 << (bits - 1) - 1
    parts = weight.reshape(rows, columns // group, group)
    scales = parts.abs().amax(dim=-1) / largest
    scales[scales == 0] = 1.0
    codes = (parts / scales.unsqueeze(-1)).round().to(torch.int8)
    return codes.reshape(rows, columns), scales


def half_added_then_cut(weight, bits, group):
    """Rounds by adding 0.5 and cutting off the decimals, which is wrong for negative weights."""
    rows, columns = weight.shape
    parts = weight.reshape(rows, columns // group, group)
    scales = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scales = torch.where(scales > 0, scales, torch.ones_like(scales))
    codes = (parts / scales + 0.5).to(torch.int8)
    return codes.reshape(rows, columns), scales.squeeze(-1)


def zero_scale_left(weight, bits, group):
    """Repairs only the codes of a group of zeros; its scale stays 0 instead of 1."""
    rows, columns = weight.shape
    parts = weight.reshape(rows, columns // group, group)
    scales = parts.abs().amax(dim=-1) / (2 ** (bits - 1) - 1)
    codes = (parts / scales.unsqueeze(-1)).nan_to_num(0.0).round().to(torch.int8)
    return codes.reshape(rows, columns), scales


# 12/seconds


def _parts(model):
    """All measured modules with the names of their parts."""
    yield "embedding", model.embedding
    for block in model.blocks:
        yield "attention", block.attention
        yield "feed_forward", block.feed_forward
    yield "output", model.output


def elsewhere_outside_the_model(model, prompt, count, clock):
    """Takes as elsewhere only what lies outside the model's calls: the rest in them is lost."""
    seconds = dict.fromkeys(["embedding", "attention", "feed_forward", "output"], 0.0)
    began, handles = {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, module in _parts(model):
        handles.append(module.register_forward_pre_hook(before))
        handles.append(module.register_forward_hook(after(name)))
    model(prompt[:, -model.block_size :])
    for name in seconds:
        seconds[name] = 0.0
    text, inside, start = prompt, 0.0, clock()
    for _ in range(count):
        called = clock()
        logits, _ = model(text[:, -model.block_size :])
        inside += clock() - called
        text = torch.cat([text, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    seconds["elsewhere"] = clock() - start - inside
    for handle in handles:
        handle.remove()
    return seconds


def first_call_writes_too(model, prompt, count, clock):
    """Appends the symbol of the call that doesn't count, so the measured texts are one longer."""
    seconds = dict.fromkeys(["embedding", "attention", "feed_forward", "output"], 0.0)
    began, handles = {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, module in _parts(model):
        handles.append(module.register_forward_pre_hook(before))
        handles.append(module.register_forward_hook(after(name)))

    def write(text):
        logits, _ = model(text[:, -model.block_size :])
        return torch.cat([text, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)

    text = write(prompt)
    for name in seconds:
        seconds[name] = 0.0
    start = clock()
    for _ in range(count):
        text = write(text)
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    for handle in handles:
        handle.remove()
    return seconds


def early_hooks_stay(model, prompt, count, clock):
    """Keeps only the handles of the hooks after a call; those before a call stay in the model."""
    seconds = dict.fromkeys(["embedding", "attention", "feed_forward", "output"], 0.0)
    began, handles = {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, module in _parts(model):
        module.register_forward_pre_hook(before)
        handles.append(module.register_forward_hook(after(name)))
    model(prompt[:, -model.block_size :])
    for name in seconds:
        seconds[name] = 0.0
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    whole = clock() - start
    seconds["elsewhere"] = whole - sum(seconds.values())
    for handle in handles:
        handle.remove()
    return seconds


WRITTEN = {
    "12/cache-step": [places_of_all_rows, mask_of_floats, trimmed_too_short],
    "12/groups": [members_innermost, only_keys_shared, scaled_by_channels],
    "12/sink": [sink_in_each_chunk, one_maximum_for_all, relative_to_the_sink],
    "12/rotary": [turned_in_place, table_of_halves, exponent_doubled],
    "12/ring": [slope_divided_too, up_to_the_new_place, age_as_distance],
    "12/drafts": [one_number_a_row, first_rejected_by_argmax, rejected_symbol_removed],
    "12/quantize": [shift_after_minus, half_added_then_cut, zero_scale_left],
    "12/seconds": [elsewhere_outside_the_model, first_call_writes_too, early_hooks_stay],
}

ASIDE = {
    "age_as_distance",
    "elsewhere_outside_the_model",
    "first_rejected_by_argmax",
    "places_of_all_rows",
    "scaled_by_channels",
    "shift_after_minus",
    "sink_in_each_chunk",
    "turned_in_place",
}
