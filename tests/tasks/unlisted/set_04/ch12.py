"""Wrong answers to chapter 12 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


def attend(query, keys, values, seen):
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2)


# "its key and value go to the first free place of its row"
def written_behind_the_longest_row(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    place = int(lengths.max())
    keys[:, :, place], values[:, :, place] = key, value
    at = torch.arange(keys.shape[2])
    seen = (at < lengths[:, None]) | (at == place)
    return attend(query, keys, values, seen), keys, values


# "as new tensors: the ones you are given stay as they are"
def values_written_into_the_given_cache(query, key, value, keys, values, lengths):
    keys = keys.clone()
    rows = torch.arange(len(keys))
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    return attend(query, keys, values, seen), keys, values


# 12/groups


# "use the mean of their key weights and the mean of their value weights"
def keys_shared_values_not(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key = key.view(n_group, each, D, C).mean(dim=1).repeat_interleave(each, dim=0).flatten(0, 1)
    q, k, v = ((x @ part.T).view(B, T, n_head, D).transpose(1, 2) for part in (query, key, value))
    return F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2)


# 12/sink


# e^b stands once in the denominator
def sink_in_every_chunk(chunks, sink):
    m = sink[:, None]
    total, weighted = torch.zeros_like(m), 0.0
    for scores, values in chunks:
        scores = torch.cat([scores, sink[:, None]], dim=1)
        values = torch.cat([values, torch.zeros(1, values.shape[1])])
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


# 12/rotary


def turn(x, angle, rotated):
    first, rest = x[..., :rotated], x[..., rotated:]
    cos, sin = angle.cos(), angle.sin()
    a, b = first[..., 0::2], first[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, rest], dim=-1)


# "positions are given, for each row of the batch its own"
def positions_of_the_first_row(x, positions, rotated, base):
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    return turn(x, positions[0][:, None] * theta, rotated)


# θ_i = base^(−2i/R), with R the numbers that are turned
def speeds_of_the_whole_vector(x, positions, rotated, base):
    theta = base ** (-torch.arange(0, rotated, 2) / x.shape[-1])
    return turn(x, positions[:, None, :, None] * theta, rotated)


# 12/ring


# "the one before it has age 1, and so on": also across the end of the ring
def age_is_the_distance_in_the_ring(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W], values[:, count % W] = key, value
    age = (count % W - torch.arange(W)).abs()
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(torch.arange(W) > count, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), keys, values


# 12/drafts


# "must have exactly the model's distribution at each place"
def symbol_from_the_absolute_difference(p, q, draft, drafted, generator):
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, K, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rows = torch.arange(B)
    lacking = (p[:, :K] - q).abs()[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# 12/quantize


# "each group of group neighboring columns"
def every_nth_column_a_group(weight, bits, group):
    rows, columns = weight.shape
    parts = weight.view(rows, group, columns // group)
    scale = parts.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale == 0, 1.0, scale)
    codes = (parts / scale).round().to(torch.int8)
    return codes.flatten(1), scale.squeeze(1)


# 12/seconds


# "the seconds of all blocks add up"
def last_block_alone(model, prompt, count, clock):
    parts = {
        "embedding": [model.embedding],
        "attention": [block.attention for block in model.blocks],
        "feed_forward": [block.feed_forward for block in model.blocks],
        "output": [model.output],
    }
    step, seconds, began, handles = {}, dict.fromkeys(parts, 0.0), {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            step[name] = clock() - began[module]

        return hook

    for name, modules in parts.items():
        for module in modules:
            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after(name)))
    model(prompt[:, -model.block_size :])
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
        for name, spent in step.items():
            seconds[name] += spent
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    for handle in handles:
        handle.remove()
    return seconds


WRITTEN = {
    "12/cache-step": [written_behind_the_longest_row, values_written_into_the_given_cache],
    "12/groups": [keys_shared_values_not],
    "12/sink": [sink_in_every_chunk],
    "12/rotary": [positions_of_the_first_row, speeds_of_the_whole_vector],
    "12/ring": [age_is_the_distance_in_the_ring],
    "12/drafts": [symbol_from_the_absolute_difference],
    "12/quantize": [every_nth_column_a_group],
    "12/seconds": [last_block_alone],
}

ASIDE = {
    "keys_shared_values_not",
    "age_is_the_distance_in_the_ring",
    "symbol_from_the_absolute_difference",
}
