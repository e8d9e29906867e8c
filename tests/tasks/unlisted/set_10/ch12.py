"""Wrong answers to chapter 12 that no list names: the tenth set.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch

# 12/cache-step


# Tired: typed the usual large negative number with one sign too many.
# "The places after them hold leftovers of other texts and mean nothing."
def a_tiny_number_for_a_large_one(query, key, value, keys, values, lengths):
    B, _, S, D = keys.shape
    new_keys, new_values = keys.clone(), values.clone()
    for b in range(B):
        new_keys[b, :, lengths[b]] = key[b]
        new_values[b, :, lengths[b]] = value[b]
    scores = torch.einsum("bhd,bhsd->bhs", query, new_keys) / math.sqrt(D)
    mask = torch.arange(S)[None, None, :] > lengths[:, None, None]
    scores = scores.masked_fill(mask, -1e-9)
    weights = torch.softmax(scores, dim=-1)
    return torch.einsum("bhs,bhsd->bhd", weights, new_values), new_keys, new_values


# 12/groups


# Misread the name of the argument: `n_group` heads in each group.
# "The H heads form `n_group` groups of neighbors"
def so_many_heads_in_a_group(x, query, key, value, n_head, n_group):
    _, T, C = x.shape
    D = query.shape[0] // n_head
    k_weight = key.reshape(n_head // n_group, n_group, D, C).mean(dim=1)
    v_weight = value.reshape(n_head // n_group, n_group, D, C).mean(dim=1)
    heads = []
    for h in range(n_head):
        q = x @ query[h * D : (h + 1) * D].T
        k = x @ k_weight[h // n_group].T
        v = x @ v_weight[h // n_group].T
        scores = q @ k.transpose(1, 2) / math.sqrt(D)
        scores = scores.masked_fill(~torch.ones(T, T).tril().bool(), float("-inf"))
        heads.append(scores.softmax(dim=-1) @ v)
    return torch.cat(heads, dim=-1)


# 12/sink


# Took the last hint for a line of the loop, so that each chunk brings the sink's term again.
# "the weight of position s is e^z_s / (e^b + sum of e^z_r)": one e^b
def a_sink_for_each_chunk(chunks, sink):
    highest = sink.unsqueeze(1)
    total = torch.zeros_like(highest)
    result = 0.0
    for scores, values in chunks:
        new_highest = torch.maximum(highest, scores.max(dim=1, keepdim=True).values)
        shrink = torch.exp(highest - new_highest)
        e = torch.exp(scores - new_highest)
        own = torch.exp(sink.unsqueeze(1) - new_highest)
        total = total * shrink + e.sum(dim=1, keepdim=True) + own
        result = result * shrink + e @ values
        highest = new_highest
    return result / total


# 12/rotary


# Turns neighbors, with the table of angles of a library that turns halves.
# "numbers 2i and 2i + 1, turned by the angle t θ_i"
def neighbors_with_the_angles_of_halves(x, positions, rotated, base):
    first, rest = x[..., :rotated], x[..., rotated:]
    theta = 1.0 / (base ** (torch.arange(0, rotated, 2).float() / rotated))
    freqs = positions.unsqueeze(-1).float() * theta  # (B, T, R/2)
    angles = torch.cat([freqs, freqs], dim=-1).unsqueeze(1)  # (B, 1, T, R)
    turned = torch.stack([-first[..., 1::2], first[..., 0::2]], dim=-1).flatten(-2)
    first = first * angles.cos() + turned * angles.sin()
    return torch.cat([first, rest], dim=-1)


# 12/ring


# Cuts the empty places off instead of masking them, and returns what is left.
# "returns: found (B, D), keys, values (B, W, D)"
def ring_without_its_empty_places(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W] = key
    values[:, count % W] = value
    filled = min(count + 1, W)
    keys, values = keys[:, :filled], values[:, :filled]
    age = (count - torch.arange(filled)) % W
    scores = torch.einsum("bd,bwd->bw", query, keys) / math.sqrt(D) - slope * age
    weights = scores.softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# 12/drafts


# Hurried: draws one number for each row, and broadcasting hides that each draft needs its own.
# "must have exactly the model's distribution at each place"
def one_number_for_all_drafts_of_a_row(p, q, draft, drafted, generator):
    B, K = draft.shape
    p_draft = p[:, :K].gather(2, draft.unsqueeze(2)).squeeze(2)
    q_draft = q.gather(2, draft.unsqueeze(2)).squeeze(2)
    u = torch.rand(B, 1, generator=generator)
    accept = (u < p_draft / q_draft) & (torch.arange(K) < drafted.unsqueeze(1))
    count = accept.int().cumprod(dim=1).sum(dim=1)
    symbols = []
    for b in range(B):
        n = int(count[b])
        if n < int(drafted[b]):
            probabilities = (p[b, n] - q[b, n]).clamp(min=0)
            probabilities = probabilities / probabilities.sum()
        else:
            probabilities = p[b, n]
        symbols.append(torch.multinomial(probabilities, 1, generator=generator))
    return count, torch.cat(symbols)


# 12/quantize


# Copied the lower bound that a well-known snippet has against dividing by zero.
# "A group of zeros has codes of 0 and a scale of 1."
def lower_bound_for_the_largest(weight, bits, group):
    rows, columns = weight.shape
    parts = weight.reshape(rows, columns // group, group)
    largest_code = 2 ** (bits - 1) - 1
    scales = parts.abs().max(dim=-1).values.clamp(min=1e-5) / largest_code
    codes = torch.round(parts / scales.unsqueeze(-1)).to(torch.int8)
    return codes.reshape(rows, columns), scales


# 12/seconds


# From Java: two variables for the handles, which each module overwrites.
# "Leave the model as you found it"
def only_the_last_handles_removed(model, prompt, count, clock):
    seconds = {"embedding": 0.0, "attention": 0.0, "feed_forward": 0.0, "output": 0.0}
    modules = [(model.embedding, "embedding"), (model.output, "output")]
    for block in model.blocks:
        modules.append((block.attention, "attention"))
        modules.append((block.feed_forward, "feed_forward"))
    names = dict(modules)
    started = {}

    def enter(module, args):
        started[module] = clock()

    def leave(module, args, output):
        seconds[names[module]] += clock() - started[module]

    for module, _ in modules:
        enter_handle = module.register_forward_pre_hook(enter)
        leave_handle = module.register_forward_hook(leave)
    model(prompt[:, -model.block_size :])
    for name in seconds:
        seconds[name] = 0.0
    begin = clock()
    tokens = prompt
    for _ in range(count):
        logits, _ = model(tokens[:, -model.block_size :])
        best = logits[:, -1].argmax(dim=-1, keepdim=True)
        tokens = torch.cat([tokens, best], dim=1)
    whole = clock() - begin
    enter_handle.remove()
    leave_handle.remove()
    return {**seconds, "elsewhere": whole - sum(seconds.values())}


WRITTEN = {
    "12/cache-step": [a_tiny_number_for_a_large_one],
    "12/groups": [so_many_heads_in_a_group],
    "12/sink": [a_sink_for_each_chunk],
    "12/rotary": [neighbors_with_the_angles_of_halves],
    "12/ring": [ring_without_its_empty_places],
    "12/drafts": [one_number_for_all_drafts_of_a_row],
    "12/quantize": [lower_bound_for_the_largest],
    "12/seconds": [only_the_last_handles_removed],
}
