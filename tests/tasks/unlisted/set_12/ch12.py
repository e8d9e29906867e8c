"""Wrong answers to chapter 12 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


def new_token_behind_the_leftovers(query, key, value, keys, values, lengths):
    """Looks at the cache with the new token at its end, where the mask never reaches it."""
    S, D = keys.shape[2:]
    all_keys = torch.cat([keys, key[:, :, None]], dim=2)
    all_values = torch.cat([values, value[:, :, None]], dim=2)
    scores = (all_keys @ query[..., None])[..., 0] / math.sqrt(D)
    seen = torch.arange(S + 1) <= lengths[:, None]
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    found = (weights[:, :, None] @ all_values)[:, :, 0]
    keys, values = keys.clone(), values.clone()
    rows = torch.arange(len(lengths))
    keys[rows, :, lengths], values[rows, :, lengths] = key, value
    return found, keys, values


# 12/groups


def values_not_shared(x, query, key, value, n_head, n_group):
    """Lets the heads of a group share their keys, but leaves each head its own value."""
    B, T, C = x.shape
    D, members = len(query) // n_head, n_head // n_group
    pooled = key.view(n_group, members, D, C).mean(dim=1)
    key = pooled.repeat_interleave(members, dim=0).reshape(n_head * D, C)
    q, k, v = ((x @ w.T).view(B, T, n_head, D).transpose(1, 2) for w in (query, key, value))
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).reshape(B, T, n_head * D)


# 12/sink


def a_sink_in_every_chunk(chunks, sink):
    """Puts the sink in front of every chunk's scores, so it is counted as often as there
    are chunks.
    """
    m = torch.full((len(sink), 1), -torch.inf)
    total, weighted = torch.zeros(len(sink), 1), 0.0
    for scores, values in chunks:
        scores = torch.cat([sink[:, None], scores], dim=1)
        values = torch.cat([torch.zeros(1, values.shape[1]), values])
        new = torch.maximum(m, scores.amax(dim=1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


# 12/rotary


def positions_from_the_rows_first(x, positions, rotated, base):
    """Counts positions from the first one of each row, because only differences matter in
    scores.
    """
    positions = positions - positions[:, :1]
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    turned = torch.stack(
        [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1
    )
    return torch.cat([turned.flatten(-2), x[..., rotated:]], dim=-1)


# 12/ring


def age_without_going_round(query, key, value, keys, values, count, slope):
    """Takes the distance between two places for the age, which is wrong once the ring went
    round.
    """
    W, D = keys.shape[1:]
    place = count % W
    keys, values = keys.clone(), values.clone()
    keys[:, place], values[:, place] = key, value
    age = (place - torch.arange(W)).abs()
    empty = torch.arange(W) > count
    scores = (keys * query[:, None]).sum(dim=-1) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(empty, -torch.inf).softmax(dim=-1)
    return (weights[..., None] * values).sum(dim=1), keys, values


# 12/drafts


def one_coin_a_row(p, q, draft, drafted, generator):
    """Draws one random number for each row and uses it for all of the row's drafts."""
    B, K = draft.shape
    at = draft[..., None]
    ratio = (p[:, :K].gather(-1, at) / q.gather(-1, at))[..., 0]
    kept = torch.rand(B, 1, generator=generator) < ratio
    kept &= torch.arange(K) < drafted[:, None]
    count = kept.long().cumprod(dim=1).sum(dim=1)
    rows = torch.arange(B)
    left = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    weights = torch.where((count < drafted)[:, None], left, p[rows, count])
    return count, torch.multinomial(weights, 1, generator=generator)[:, 0]


# 12/quantize


def largest_of_zeros_is_one(weight, bits, group):
    """Takes 1 for the largest value of a group of zeros, so that its scale is not 1 but 1
    / code.
    """
    rows, columns = weight.shape
    parts = weight.view(rows, columns // group, group)
    largest = parts.abs().amax(dim=-1, keepdim=True)
    largest = torch.where(largest == 0, 1.0, largest)
    scales = largest / (2 ** (bits - 1) - 1)
    codes = (parts / scales).round().to(torch.int8)
    return codes.view(rows, columns), scales[..., 0]


# 12/seconds


def hooks_know_the_last_name(model, prompt, count, clock):
    """Makes the hooks in a loop, and all of them look the part's name up when the loop is over."""
    parts = [("embedding", model.embedding), ("output", model.output)]
    for block in model.blocks:
        parts += [("attention", block.attention), ("feed_forward", block.feed_forward)]
    seconds, began, handles = {}, {}, []
    for name, module in parts:
        seconds[name] = 0.0

        def before(module, inputs):
            began[module] = clock()

        def after(module, inputs, output):
            seconds[name] += clock() - began[module]  # noqa: B023 – this is the slip

        handles.append(module.register_forward_pre_hook(before))
        handles.append(module.register_forward_hook(after))
    with torch.no_grad():
        model(prompt[:, -model.block_size :])
        for part in seconds:
            seconds[part] = 0.0
        start, text = clock(), prompt
        for _ in range(count):
            logits, _ = model(text[:, -model.block_size :])
            text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
        whole = clock() - start
    for handle in handles:
        handle.remove()
    return {**seconds, "elsewhere": whole - sum(seconds.values())}


WRITTEN = {
    "12/cache-step": [new_token_behind_the_leftovers],
    "12/groups": [values_not_shared],
    "12/sink": [a_sink_in_every_chunk],
    "12/rotary": [positions_from_the_rows_first],
    "12/ring": [age_without_going_round],
    "12/drafts": [one_coin_a_row],
    "12/quantize": [largest_of_zeros_is_one],
    "12/seconds": [hooks_know_the_last_name],
}
