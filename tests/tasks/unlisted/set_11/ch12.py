"""Wrong answers to chapter 12 that no list names: the eleventh set.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


# Changed the index until the shapes fitted, and writes to the free places of all rows: "Its key and
# value go to the first free place of its row"
def free_places_of_all_rows(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    keys[:, :, lengths] = key[:, :, None]
    values[:, :, lengths] = value[:, :, None]
    scores = query[:, :, None] @ keys.transpose(-2, -1) / math.sqrt(query.shape[-1])
    hidden = torch.arange(keys.shape[2])[None] > lengths[:, None]
    scores = scores.masked_fill(hidden[:, None, None], float("-inf"))
    found = F.softmax(scores, dim=-1) @ values
    return found[:, :, 0], keys, values


# 12/groups


# Reads n_group as the number of members: "The H heads form `n_group` groups of neighbors"
def as_many_members_as_groups(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D = query.shape[0] // n_head
    key = key.view(-1, n_group, D, C).mean(dim=1)
    value = value.view(-1, n_group, D, C).mean(dim=1)
    q = (x @ query.T).view(B, T, n_head, D).transpose(1, 2)
    k = (x @ key.flatten(0, 1).T).view(B, T, -1, D).transpose(1, 2)
    v = (x @ value.flatten(0, 1).T).view(B, T, -1, D).transpose(1, 2)
    k = k.repeat_interleave(n_group, dim=1)
    v = v.repeat_interleave(n_group, dim=1)
    out = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return out.transpose(1, 2).reshape(B, T, n_head * D)


# 12/sink


# Took the chapter's stream and added the term of the formula at the end, as it stands there: the
# weight of position s is e^z_s / (e^b + Σ e^z_r), and the sum is relative to the maximum
def sink_added_as_in_the_formula(chunks, sink):
    T = len(sink)
    m = sink.clone()
    total = torch.zeros(T)
    weighted = 0
    for scores, values in chunks:
        new = torch.maximum(m, scores.max(dim=-1).values)
        factor = torch.exp(m - new)
        e = torch.exp(scores - new[:, None])
        total = total * factor + e.sum(dim=-1)
        weighted = weighted * factor[:, None] + e @ values
        m = new
    return weighted / (total + torch.exp(sink))[:, None]


# 12/rotary


# Copied rotate_half of a well-known library and changed only the cosines and sines: "Pairs are
# neighbors: numbers 2i and 2i + 1"
def angles_of_neighbors_and_halves_that_turn(x, positions, rotated, base):
    x_rot, x_pass = x[..., :rotated], x[..., rotated:]
    inv_freq = 1.0 / (base ** (torch.arange(0, rotated, 2).float() / rotated))
    freqs = positions[:, None, :, None].float() * inv_freq
    emb = freqs.repeat_interleave(2, dim=-1)
    x1, x2 = x_rot[..., : rotated // 2], x_rot[..., rotated // 2 :]
    rotate_half = torch.cat((-x2, x1), dim=-1)
    x_rot = x_rot * emb.cos() + rotate_half * emb.sin()
    return torch.cat((x_rot, x_pass), dim=-1)


# 12/ring


# Subtracts the ages first and scales last, as one is used to: "The score is the dot product of
# query and key, divided by √D, minus slope · age"
def ages_divided_as_well(query, key, value, keys, values, count, slope):
    W, D = keys.shape[1], keys.shape[2]
    place = count % W
    keys, values = keys.clone(), values.clone()
    keys[:, place] = key
    values[:, place] = value
    age = (place - torch.arange(W)) % W
    scores = torch.einsum("bd,bwd->bw", query, keys) - slope * age
    scores = scores / D**0.5
    scores[:, age > count] = float("-inf")
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# 12/drafts


# Thinks of one coin for each row, and forgets that the places need their own: "must have exactly
# the model's distribution at each place"
def one_coin_for_a_row(p, q, draft, drafted, generator):
    B, K = draft.shape
    p_draft = p[:, :K].gather(2, draft[:, :, None])[:, :, 0]
    q_draft = q.gather(2, draft[:, :, None])[:, :, 0]
    coin = torch.rand(B, 1, generator=generator)
    accepted = (coin < p_draft / q_draft) & (torch.arange(K) < drafted[:, None])
    count = accepted.int().cumprod(dim=1).sum(dim=1)
    symbol = torch.zeros(B, dtype=torch.long)
    for b in range(B):
        n = int(count[b])
        rest = (p[b, n] - q[b, n]).clamp(min=0) if n < drafted[b] else p[b, n]
        symbol[b] = torch.multinomial(rest, 1, generator=generator)[0]
    return count, symbol


# 12/quantize


# Takes the two numbers of unflatten in the wrong order, and another axis until the shape is right:
# "each group of `group` neighboring columns"
def columns_at_equal_distances(weight, bits, group):
    largest = 2 ** (bits - 1) - 1
    grouped = weight.unflatten(1, (group, -1))
    scales = grouped.abs().amax(dim=1, keepdim=True) / largest
    scales[scales == 0] = 1.0
    codes = torch.round(grouped / scales).to(torch.int8)
    return codes.flatten(1), scales.squeeze(1)


# 12/seconds


# Always switches to eval before generating, as in Keras and the chapters, and never back: "Leave
# the model as you found it"
def model_left_in_eval(model, prompt, count, clock):
    seconds = {"embedding": 0.0, "attention": 0.0, "feed_forward": 0.0, "output": 0.0}
    started = {}
    handles = []

    def watch(module, name):
        def pre(module, args):
            started[module] = clock()

        def post(module, args, output):
            seconds[name] += clock() - started[module]

        handles.append(module.register_forward_pre_hook(pre))
        handles.append(module.register_forward_hook(post))

    model.eval()
    with torch.no_grad():
        model(prompt[:, -model.block_size :])
        watch(model.embedding, "embedding")
        watch(model.output, "output")
        for block in model.blocks:
            watch(block.attention, "attention")
            watch(block.feed_forward, "feed_forward")
        text = prompt
        start = clock()
        for _ in range(count):
            logits, _ = model(text[:, -model.block_size :])
            best = logits[:, -1].argmax(dim=-1, keepdim=True)
            text = torch.cat([text, best], dim=1)
        whole = clock() - start
    for handle in handles:
        handle.remove()
    seconds["elsewhere"] = whole - sum(seconds.values())
    return seconds


WRITTEN = {
    "12/cache-step": [free_places_of_all_rows],
    "12/groups": [as_many_members_as_groups],
    "12/sink": [sink_added_as_in_the_formula],
    "12/rotary": [angles_of_neighbors_and_halves_that_turn],
    "12/ring": [ages_divided_as_well],
    "12/drafts": [one_coin_for_a_row],
    "12/quantize": [columns_at_equal_distances],
    "12/seconds": [model_left_in_eval],
}
