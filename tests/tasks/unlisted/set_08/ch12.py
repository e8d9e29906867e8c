"""Wrong answers to chapter 12 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


# Got an error from one index, added axes until it ran, and writes to all lengths of the batch.
# "Its key and value go to the first free place of its row"
def places_of_all_rows_written(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    keys[:, :, lengths] = key.unsqueeze(2)
    values[:, :, lengths] = value.unsqueeze(2)
    S, D = keys.shape[2:]
    scores = (query.unsqueeze(2) @ keys.transpose(2, 3)).squeeze(2) / math.sqrt(D)
    hidden = torch.arange(S)[None, None, :] > lengths[:, None, None]
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


# Cloned the keys when the first check complained, and not the values.
# "as new tensors: the ones you are given stay as they are"
def values_written_where_they_are(query, key, value, keys, values, lengths):
    B, H, _, D = keys.shape
    keys = keys.clone()
    for b in range(B):
        keys[b, :, lengths[b]] = key[b]
        values[b, :, lengths[b]] = value[b]
    found = torch.zeros(B, H, D)
    for b in range(B):
        n = int(lengths[b]) + 1
        scores = keys[b, :, :n] @ query[b].unsqueeze(-1) / D**0.5  # (H, n, 1)
        found[b] = (scores.softmax(dim=1) * values[b, :, :n]).sum(dim=1)
    return found, keys, values


# 12/groups


# Put the axis of the groups where the members belong.
# "groups of neighbors"
def members_from_all_over(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D = query.shape[0] // n_head
    size = n_head // n_group
    pooled_key = key.view(size, n_group, D, C).mean(dim=0)  # (groups, D, C)
    pooled_value = value.view(size, n_group, D, C).mean(dim=0)
    pooled_key = pooled_key.repeat_interleave(size, dim=0).reshape(n_head * D, C)
    pooled_value = pooled_value.repeat_interleave(size, dim=0).reshape(n_head * D, C)
    q = (x @ query.T).view(B, T, n_head, D).transpose(1, 2)
    k = (x @ pooled_key.T).view(B, T, n_head, D).transpose(1, 2)
    v = (x @ pooled_value.T).view(B, T, n_head, D).transpose(1, 2)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).reshape(B, T, n_head * D)


# view() complained about a tensor that is not contiguous; reshape() did not.
# "the heads' outputs lie side by side"
def heads_and_places_mixed(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D = len(query) // n_head
    each = n_head // n_group

    def pool(weight):
        shared = weight.view(n_group, each, D, C).mean(dim=1)
        return shared.repeat_interleave(each, dim=0)  # (H, D, C)

    q = torch.einsum("btc,hdc->bhtd", x, query.view(n_head, D, C))
    k = torch.einsum("btc,hdc->bhtd", x, pool(key))
    v = torch.einsum("btc,hdc->bhtd", x, pool(value))
    scores = q @ k.transpose(-2, -1) / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    found = scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v
    return found.reshape(B, T, n_head * D)


# 12/sink


# Adds the sink's term at the end, and knows from the hint that it is "1".
# "the weight of position s is e^z / (e^b + Σ e^z)": relative to the maximum of all chunks
def sink_counts_one(chunks, sink):
    m = sink.unsqueeze(1)
    total = torch.zeros_like(m)
    weighted = 0.0
    for scores, values in chunks:
        m_new = torch.maximum(m, scores.max(dim=1, keepdim=True).values)
        e = torch.exp(scores - m_new)
        total = total * torch.exp(m - m_new) + e.sum(dim=1, keepdim=True)
        weighted = weighted * torch.exp(m - m_new) + e @ values
        m = m_new
    return weighted / (total + 1)


# Kept the chapter's start and puts the sink in afterwards.
# "a chunk may hold nothing but −∞ for some rows": −∞ minus −∞ is NaN
def minus_infinity_at_the_start(chunks, sink):
    T = len(sink)
    m = torch.full((T, 1), -torch.inf)
    total, weighted = torch.zeros(T, 1), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        shrink = (m - new).exp()
        e = (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    top = torch.maximum(m, sink[:, None])
    total = total * (m - top).exp() + (sink[:, None] - top).exp()
    return weighted * (m - top).exp() / total


# 12/rotary


# Copied the exponent from a model that turns whole vectors.
# "θ_i = base^(−2i/R)": R is `rotated`, not D
def angles_for_the_whole_vector(x, positions, rotated, base):
    D = x.shape[-1]
    inv_freq = 1.0 / (base ** (torch.arange(0, rotated, 2).float() / D))
    angle = positions[:, None, :, None].float() * inv_freq
    cos, sin = angle.cos(), angle.sin()
    even, odd = x[..., 0:rotated:2], x[..., 1:rotated:2]
    turned = torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1)
    return torch.cat([turned.flatten(-2), x[..., rotated:]], dim=-1)


# Knows the apply_rotary_pos_emb of a library, which puts the halves one after the other.
# "Pairs are neighbors: numbers 2i and 2i + 1"
def pairs_laid_out_in_halves(x, positions, rotated, base):
    first, rest = x[..., :rotated], x[..., rotated:]
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions.unsqueeze(1).unsqueeze(-1) * theta
    a, b = first[..., ::2], first[..., 1::2]
    turned_a = a * angle.cos() - b * angle.sin()
    turned_b = a * angle.sin() + b * angle.cos()
    return torch.cat([turned_a, turned_b, rest], dim=-1)


# 12/ring


# Masks with the count of tokens before, as in a cache that has no ring.
# "The new token goes into its place and is seen as well, with age 0"
def new_token_not_seen_at_first(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    _, W, D = keys.shape
    keys[:, count % W] = key
    values[:, count % W] = value
    place = torch.arange(W)
    age = (count - place) % W
    scores = torch.einsum("bd,bwd->bw", query, keys) / D**0.5 - slope * age
    if 0 < count < W:
        scores[:, place >= count] = float("-inf")
    elif count == 0:
        scores[:, 1:] = float("-inf")
    weights = scores.softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# Set the brackets around the whole score.
# "The score is the dot product of query and key, divided by √D, minus slope · age."
def age_divided_as_well(query, key, value, keys, values, count, slope):
    new_keys, new_values = keys.clone(), values.clone()
    W, D = keys.shape[1], keys.shape[2]
    new_keys[:, count % W] = key
    new_values[:, count % W] = value
    ages = (count - torch.arange(W)) % W
    scores = ((new_keys * query[:, None]).sum(-1) - slope * ages) / math.sqrt(D)
    scores = scores.masked_fill(ages > count, -torch.inf)
    weights = torch.softmax(scores, dim=-1)
    return (weights[:, :, None] * new_values).sum(dim=1), new_keys, new_values


# Takes the ring for a queue: what lies furthest right is the newest.
# "token number n … goes into place n mod W": the age depends on the count
def age_from_the_right_end(query, key, value, keys, values, count, slope):
    keys = keys.clone()
    values = values.clone()
    _, W, D = keys.shape
    slot = count % W
    keys[:, slot], values[:, slot] = key, value
    filled = min(count + 1, W)
    age = filled - 1 - torch.arange(W)
    scores = (keys @ query[:, :, None])[:, :, 0] / math.sqrt(D) - slope * age
    scores[:, filled:] = -torch.inf
    weights = scores.softmax(dim=1)
    return (weights[:, None] @ values)[:, 0], keys, values


# 12/drafts


# Counts the drafts that are good, wherever they are.
# "given the drafts before it": after a rejected draft, none can be kept
def good_drafts_counted_anywhere(p, q, draft, drafted, generator):
    B, K = draft.shape
    p_draft = p[:, :K].gather(2, draft[:, :, None]).squeeze(2)
    q_draft = q.gather(2, draft[:, :, None]).squeeze(2)
    accepted = torch.rand(B, K, generator=generator) < p_draft / q_draft
    accepted = accepted & (torch.arange(K) < drafted[:, None])
    count = accepted.sum(dim=1)
    rows = torch.arange(B)
    rest = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    final = torch.where((count < drafted)[:, None], rest, p[rows, count])
    return count, torch.multinomial(final, 1, generator=generator).squeeze(1)


# Adapted the chapter's loop, in which there are K drafts for all.
# "`p[b, drafted[b]]` is the distribution after the last draft"
def all_k_kept_or_rejected(p, q, draft, drafted, generator):
    B, K = draft.shape
    counts, symbols = [], []
    for b in range(B):
        n = 0
        while n < int(drafted[b]):
            token = draft[b, n]
            if torch.rand(1, generator=generator) >= p[b, n, token] / q[b, n, token]:
                break
            n += 1
        weights = p[b, K] if n == K else (p[b, n] - q[b, n]).clamp(min=0)
        counts.append(n)
        symbols.append(torch.multinomial(weights, 1, generator=generator).item())
    return torch.tensor(counts), torch.tensor(symbols)


# 12/quantize


# Guards against a division by zero with a tiny number, as is done everywhere.
# "A group of zeros has codes of 0 and a scale of 1."
def tiny_scale_for_zeros(weight, bits, group):
    rows, columns = weight.shape
    w = weight.reshape(rows, columns // group, group)
    qmax = 2 ** (bits - 1) - 1
    scales = w.abs().amax(dim=-1, keepdim=True).clamp(min=1e-8) / qmax
    codes = torch.round(w / scales).to(torch.int8)
    return codes.reshape(rows, columns), scales.squeeze(-1)


# Cuts the matrix into rows of one group, and returns these rows' scales.
# "scales (rows, columns / group)"
def scales_in_one_column(weight, bits, group):
    parts = weight.reshape(-1, group)
    largest = 2 ** (bits - 1) - 1
    scales = parts.abs().max(dim=1, keepdim=True).values / largest
    scales[scales == 0] = 1.0
    codes = (parts / scales).round().to(torch.int8)
    return codes.reshape(weight.shape), scales


# 12/seconds


# Stores a duration under the name of the part.
# "The seconds of all blocks add up."
def last_block_overwrites(model, prompt, count, clock):
    parts = [("embedding", model.embedding), ("output", model.output)]
    for block in model.blocks:
        parts.append(("attention", block.attention))
        parts.append(("feed_forward", block.feed_forward))
    spent = {"embedding": 0.0, "attention": 0.0, "feed_forward": 0.0, "output": 0.0}
    step, starts, handles = {}, {}, []
    for name, module in parts:

        def before(module, args):
            starts[module] = clock()

        def after(module, args, output, name=name):
            step[name] = clock() - starts[module]

        handles.append(module.register_forward_pre_hook(before))
        handles.append(module.register_forward_hook(after))
    model(prompt[:, -model.block_size :])
    begin = clock()
    text = prompt
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        for name, duration in step.items():
            spent[name] += duration
        text = torch.cat([text, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    spent["elsewhere"] = clock() - begin - sum(spent.values())
    for handle in handles:
        handle.remove()
    return spent


# Kept a handle of the hooks that measure, and none of those that start the clock.
# "Leave the model as you found it"
def hooks_before_left_behind(model, prompt, count, clock):
    seconds = {"embedding": 0.0, "attention": 0.0, "feed_forward": 0.0, "output": 0.0}
    start_of, handles = {}, []

    def watch(name, module):
        def start(module, inputs):
            start_of[name] = clock()

        def stop(module, inputs, output):
            seconds[name] += clock() - start_of[name]

        module.register_forward_pre_hook(start)
        handles.append(module.register_forward_hook(stop))

    model(prompt[:, -model.block_size :])
    watch("embedding", model.embedding)
    watch("output", model.output)
    for block in model.blocks:
        watch("attention", block.attention)
        watch("feed_forward", block.feed_forward)
    began = clock()
    for _ in range(count):
        logits, _ = model(prompt[:, -model.block_size :])
        prompt = torch.cat([prompt, logits[:, -1:].argmax(-1)], dim=1)
    whole = clock() - began
    for handle in handles:
        handle.remove()
    return {**seconds, "elsewhere": whole - sum(seconds.values())}


WRITTEN = {
    "12/cache-step": [
        places_of_all_rows_written,
        values_written_where_they_are,
    ],
    "12/groups": [members_from_all_over, heads_and_places_mixed],
    "12/sink": [sink_counts_one, minus_infinity_at_the_start],
    "12/rotary": [
        angles_for_the_whole_vector,
        pairs_laid_out_in_halves,
    ],
    "12/ring": [new_token_not_seen_at_first, age_divided_as_well, age_from_the_right_end],
    "12/drafts": [
        good_drafts_counted_anywhere,
        all_k_kept_or_rejected,
    ],
    "12/quantize": [tiny_scale_for_zeros, scales_in_one_column],
    "12/seconds": [
        last_block_overwrites,
        hooks_before_left_behind,
    ],
}

ASIDE = {
    "places_of_all_rows_written",
    "values_written_where_they_are",
    "members_from_all_over",
    "sink_counts_one",
    "angles_for_the_whole_vector",
    "last_block_overwrites",
    "hooks_before_left_behind",
}
