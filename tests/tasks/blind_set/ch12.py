"""Wrong answers to chapter 12 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


def leftovers_blanked_after_the_softmax(query, key, value, keys, values, lengths):
    """Sets the weights of leftovers to 0 after the softmax, so the others do not sum to 1."""
    B, _, S, D = keys.shape
    rows = torch.arange(B)
    keys, values = keys.clone(), values.clone()
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    scores = torch.einsum("bhd,bhsd->bhs", query, keys) / math.sqrt(D)
    seen = torch.arange(S)[None, :] <= lengths[:, None]
    weights = F.softmax(scores, dim=-1) * seen[:, None]
    return torch.einsum("bhs,bhsd->bhd", weights, values), keys, values


def written_to_the_places_of_all_rows(query, key, value, keys, values, lengths):
    """Indexes the places with a slice for the rows, so each row writes at the places of all."""
    new_keys = keys.clone()
    new_values = values.clone()
    new_keys[:, :, lengths] = key.unsqueeze(2)
    new_values[:, :, lengths] = value.unsqueeze(2)
    scores = (new_keys @ query.unsqueeze(-1)).squeeze(-1) / query.shape[-1] ** 0.5
    future = torch.arange(keys.shape[2]) > lengths.view(-1, 1)
    scores = scores.masked_fill(future.unsqueeze(1), float("-inf"))
    found = (scores.softmax(-1).unsqueeze(2) @ new_values).squeeze(2)
    return found, new_keys, new_values


# 12/groups


def each_head_keeps_its_value(x, query, key, value, n_head, n_group):
    """Lets the heads of a group share the mean of their keys, and forgets the values."""
    B, T, C = x.shape
    D = query.shape[0] // n_head
    members = n_head // n_group
    shared = key.view(n_group, members, D, C).mean(dim=1)
    shared = shared.repeat_interleave(members, dim=0)  # (H, D, C)
    q = torch.einsum("btc,hdc->bhtd", x, query.view(n_head, D, C))
    k = torch.einsum("btc,hdc->bhtd", x, shared)
    v = torch.einsum("btc,hdc->bhtd", x, value.view(n_head, D, C))
    scores = q @ k.transpose(-2, -1) / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    weights = scores.masked_fill(future, -math.inf).softmax(dim=-1)
    return (weights @ v).transpose(1, 2).reshape(B, T, n_head * D)


def flattened_before_the_heads_go_back(x, query, key, value, n_head, n_group):
    """Reshapes (B, H, T, D) without moving the heads behind the positions, and mixes the two."""
    B, T, C = x.shape
    D = len(query) // n_head
    m = n_head // n_group

    def pooled(weight):
        mean = weight.reshape(n_group, m, D, C).mean(1)
        out = x @ mean.reshape(n_group * D, C).T
        return out.view(B, T, n_group, D).transpose(1, 2).repeat_interleave(m, dim=1)

    q = (x @ query.T).view(B, T, n_head, D).transpose(1, 2)
    found = F.scaled_dot_product_attention(q, pooled(key), pooled(value), is_causal=True)
    return found.reshape(B, T, n_head * D)


# 12/sink


def sink_at_both_ends(chunks, sink):
    """Begins with the sink's term in the sum and adds it once more at the end."""
    top = sink.clone()
    total = torch.ones_like(sink)
    summed = 0.0
    for scores, values in chunks:
        new_top = torch.maximum(top, scores.amax(dim=1))
        shrink = torch.exp(top - new_top)
        terms = torch.exp(scores - new_top[:, None])
        total = total * shrink + terms.sum(dim=1)
        summed = summed * shrink[:, None] + terms @ values
        top = new_top
    return summed / (total + torch.exp(sink - top))[:, None]


def old_maximum_lost_before_the_shrinking(chunks, sink):
    """Overwrites the maximum and then computes by how much it rose, which is always nothing."""
    m, s, acc = sink, torch.ones_like(sink), None
    for scores, values in chunks:
        if acc is None:
            acc = torch.zeros(scores.shape[0], values.shape[1], dtype=values.dtype)
        new = torch.max(m, scores.max(dim=-1).values)
        m = new
        factor = (m - new).exp()
        e = (scores - m.unsqueeze(-1)).exp()
        s = s * factor + e.sum(-1)
        acc = acc * factor.unsqueeze(-1) + e @ values
    return acc / s.unsqueeze(-1)


# 12/rotary


def second_of_a_pair_sees_the_turned_first(x, positions, rotated, base):
    """Writes the first of each pair and then reads it again, turned, to compute the second."""
    speeds = base ** (-torch.arange(0, rotated, 2) / rotated)
    angles = positions[:, None, :, None] * speeds
    cos, sin = angles.cos(), angles.sin()
    result = x.clone()
    a = result[..., 0:rotated:2]
    b = result[..., 1:rotated:2]
    a[:] = a * cos - b * sin
    b[:] = a * sin + b * cos
    return result


def exponent_doubled_twice(x, positions, rotated, base):
    """Counts i in steps of two and doubles it again, so the speeds fall too fast."""
    turned, rest = x[..., :rotated], x[..., rotated:]
    i = torch.arange(0, rotated, 2, dtype=x.dtype)
    theta = base ** (-2 * i / rotated)
    angle = (positions.to(x.dtype)[..., None] * theta).unsqueeze(1)
    a, b = turned[..., 0::2], turned[..., 1::2]
    pairs = (a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos())
    return torch.cat([torch.stack(pairs, dim=-1).flatten(-2), rest], dim=-1)


# 12/ring


def newest_token_is_one_old(query, key, value, keys, values, count, slope):
    """Counts the age from the next token, so the newest has 1 and the oldest of a full ring 0."""
    _, W, D = keys.shape
    keys, values = keys.clone(), values.clone()
    keys[:, count % W] = key
    values[:, count % W] = value
    places = torch.arange(W)
    age = (count + 1 - places) % W
    scores = (keys @ query[:, :, None])[:, :, 0] / math.sqrt(D) - slope * age
    scores = scores.masked_fill(places > count, -math.inf)
    weights = F.softmax(scores, dim=-1)
    return (weights[:, None] @ values)[:, 0], keys, values


def root_divides_the_age_too(query, key, value, keys, values, count, slope):
    """Subtracts the age first and then divides all of it by the root of D."""
    W = keys.shape[1]
    here = torch.arange(W) == count % W
    new_keys = torch.where(here[None, :, None], key[:, None], keys)
    new_values = torch.where(here[None, :, None], value[:, None], values)
    ages = (count - torch.arange(W)) % W
    scores = torch.einsum("bd,bwd->bw", query, new_keys)
    scores = (scores - slope * ages) / query.shape[-1] ** 0.5
    scores[:, ages > count] = float("-inf")
    found = torch.einsum("bw,bwd->bd", scores.softmax(-1), new_values)
    return found, new_keys, new_values


# 12/drafts


def padding_taken_for_a_rejection(p, q, draft, drafted, generator):
    """Asks for count < K, so rows with fewer drafts get the rest after a rejection at the end."""
    B, K, V = q.shape
    index = draft.clamp(0, V - 1)[:, :, None]
    p_draft = p[:, :K].gather(2, index)[:, :, 0]
    q_draft = q.gather(2, index)[:, :, 0]
    u = torch.rand(B, K, generator=generator)
    kept = u * q_draft < p_draft
    kept &= torch.arange(K) < drafted[:, None]
    count = kept.long().cumprod(dim=1).sum(dim=1)

    rows = torch.arange(B)
    last = p[rows, count]
    padded = torch.cat([q, torch.zeros(B, 1, V, dtype=q.dtype)], dim=1)
    rest = (last - padded[rows, count]).clamp(min=0)
    rest = torch.where(rest.sum(dim=1, keepdim=True) > 0, rest, last)
    weights = torch.where((count < K)[:, None], rest, last)
    symbol = torch.multinomial(weights, 1, generator=generator)[:, 0]
    return count, symbol


def one_random_number_for_a_row(p, q, draft, drafted, generator):
    """Draws one number for each row and compares it with the ratios of all its drafts."""
    B, K, V = q.shape
    u = torch.rand(B, 1, generator=generator)
    at = draft.clamp(min=0, max=V - 1).unsqueeze(-1)
    ratio = p[:, :K].gather(-1, at).squeeze(-1) / q.gather(-1, at).squeeze(-1).clamp(min=1e-12)
    ok = (u < ratio) & (torch.arange(K)[None] < drafted[:, None])
    count = ok.int().cumprod(dim=1).sum(dim=1)

    symbols = []
    for b in range(B):
        n = int(count[b])
        weights = p[b, n]
        if n < drafted[b]:
            rest = (weights - q[b, n]).clamp(min=0)
            if rest.sum() > 0:
                weights = rest
        symbols.append(torch.multinomial(weights, 1, generator=generator))
    return count, torch.cat(symbols)


# 12/quantize


def tiny_scale_for_a_group_of_zeros(weight, bits, group):
    """Guards the division with 1e-8, which is what the scale of a group of zeros becomes."""
    rows, columns = weight.shape
    groups = weight.view(rows, columns // group, group)
    scales = groups.abs().amax(dim=-1) / (2 ** (bits - 1) - 1)
    scales = scales.clamp(min=1e-8)
    codes = (groups / scales[:, :, None]).round().to(torch.int8)
    return codes.view(rows, columns), scales


def groups_of_scattered_columns(weight, bits, group):
    """Swaps the two axes of the groups, so a group holds columns that are far from each other."""
    rows, columns = weight.shape
    pieces = weight.reshape(rows, group, columns // group)
    largest = pieces.abs().max(dim=1, keepdim=True).values
    scale = largest / (2 ** (bits - 1) - 1)
    scale[largest == 0] = 1
    codes = torch.round(pieces / scale).to(torch.int8)
    return codes.reshape(rows, columns), scale.squeeze(1)


# 12/seconds


def whole_begins_before_the_first_call(model, prompt, count, clock):
    """Starts the whole before the call that does not count, which then is found elsewhere."""
    seconds = {"embedding": 0.0, "attention": 0.0, "feed_forward": 0.0, "output": 0.0}
    started = {}
    handles = []

    def watch(part, name):
        def before(module, inputs):
            started[module] = clock()

        def after(module, inputs, output):
            seconds[name] += clock() - started[module]

        handles.append(part.register_forward_pre_hook(before))
        handles.append(part.register_forward_hook(after))

    begin = clock()
    with torch.no_grad():
        model(prompt[:, -model.block_size :])
        watch(model.embedding, "embedding")
        watch(model.output, "output")
        for block in model.blocks:
            watch(block.attention, "attention")
            watch(block.feed_forward, "feed_forward")
        text = prompt
        for _ in range(count):
            logits, _ = model(text[:, -model.block_size :])
            text = torch.cat([text, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    whole = clock() - begin
    for handle in handles:
        handle.remove()
    return seconds | {"elsewhere": whole - sum(seconds.values())}


def first_symbol_from_the_uncounted_call(model, prompt, count, clock):
    """Takes the first symbol from the call that does not count, and measures one call too few."""
    parts = [("embedding", model.embedding), ("output", model.output)]
    for block in model.blocks:
        parts += [("attention", block.attention), ("feed_forward", block.feed_forward)]
    names = {part: name for name, part in parts}
    spent = dict.fromkeys(["embedding", "attention", "feed_forward", "output"], 0.0)
    since = {}

    def enter(module, args):
        since[module] = clock()

    def leave(module, args, result):
        spent[names[module]] += clock() - since.pop(module)

    with torch.no_grad():
        logits, _ = model(prompt[:, -model.block_size :])
        hooks = [part.register_forward_pre_hook(enter) for part in names]
        hooks += [part.register_forward_hook(leave) for part in names]
        start = clock()
        text = prompt
        for i in range(count):
            if i > 0:
                logits, _ = model(text[:, -model.block_size :])
            text = torch.cat([text, logits[:, -1:].argmax(-1)], dim=1)
        total = clock() - start
    for hook in hooks:
        hook.remove()
    spent["elsewhere"] = total - sum(spent.values())
    return spent


WRITTEN = {
    "12/cache-step": [leftovers_blanked_after_the_softmax, written_to_the_places_of_all_rows],
    "12/groups": [each_head_keeps_its_value, flattened_before_the_heads_go_back],
    "12/sink": [sink_at_both_ends, old_maximum_lost_before_the_shrinking],
    "12/rotary": [second_of_a_pair_sees_the_turned_first, exponent_doubled_twice],
    "12/ring": [newest_token_is_one_old, root_divides_the_age_too],
    "12/drafts": [padding_taken_for_a_rejection, one_random_number_for_a_row],
    "12/quantize": [tiny_scale_for_a_group_of_zeros, groups_of_scattered_columns],
    "12/seconds": [whole_begins_before_the_first_call, first_symbol_from_the_uncounted_call],
}
