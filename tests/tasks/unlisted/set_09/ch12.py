"""Wrong answers to chapter 12 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


# A NumPy user, who hides by multiplying with 0.
# "The places after them hold leftovers of other texts and mean nothing."
def hidden_scores_of_zero(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    B, S, D = keys.shape[0], keys.shape[2], keys.shape[3]
    for b in range(B):
        keys[b, :, lengths[b]] = key[b]
        values[b, :, lengths[b]] = value[b]
    scores = torch.einsum("bhd,bhsd->bhs", query, keys) / math.sqrt(D)
    seen = torch.arange(S) <= lengths[:, None]
    weights = (scores * seen[:, None]).softmax(dim=-1)
    return torch.einsum("bhs,bhsd->bhd", weights, values), keys, values


# One who tried indices until the shapes agreed, and now writes to all rows' places in each row.
# "Its key and value go to the first free place of its row"
def places_of_all_rows(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    keys[:, :, lengths] = key.unsqueeze(2)
    values[:, :, lengths] = value.unsqueeze(2)
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(query.shape[-1])
    hidden = torch.arange(keys.shape[2]) > lengths[:, None]
    weights = scores.masked_fill(hidden[:, None, :], float("-inf")).softmax(dim=-1)
    found = (weights.unsqueeze(2) @ values).squeeze(2)
    return found, keys, values


# 12/groups


# A hurried one, who sends all three weights through the same line.
# "each has its own query"
def queries_pooled_too(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = query.shape[0] // n_head, n_head // n_group
    heads = []
    for part in (query, key, value):
        pooled = part.view(n_group, each, D, C).mean(dim=1)
        pooled = pooled.repeat_interleave(each, dim=0).reshape(-1, C)
        heads.append((x @ pooled.T).view(B, T, n_head, D).transpose(1, 2))
    found = F.scaled_dot_product_attention(*heads, is_causal=True)
    return found.transpose(1, 2).reshape(B, T, -1)


# One whom `view` told to use `reshape`, and who forgot the axes that it was about.
# "the heads' outputs lie side by side"
def heads_not_moved_back(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D = len(query) // n_head
    each = n_head // n_group

    def pool(weight):
        mean = weight.reshape(n_group, each, D, C).mean(dim=1, keepdim=True)
        return mean.expand(-1, each, -1, -1).reshape(n_head * D, C)

    def split(weight):
        return F.linear(x, weight).reshape(B, T, n_head, D).transpose(1, 2)

    q, k, v = split(query), split(pool(key)), split(pool(value))
    scores = q @ k.transpose(-2, -1) / math.sqrt(D)
    past = torch.ones(T, T, dtype=torch.bool).tril()
    weights = scores.masked_fill(~past, -torch.inf).softmax(dim=-1)
    return (weights @ v).reshape(B, T, n_head * D)


# 12/sink


# One who adapted the chapter's loop by its first line only.
# "a logit that takes part in the softmax but has no value"
def sink_only_as_a_maximum(chunks, sink):
    m = sink[:, None]
    total, weighted = torch.zeros_like(m), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.max(dim=-1, keepdim=True).values)
        shrink = (m - new).exp()
        e = (scores - new).exp()
        total = total * shrink + e.sum(dim=-1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


# One who adds the sink at the end, as it stands in the formula.
# "the weight of position $s$ is $e^{z_s} / (e^b + \sum_r e^{z_r})$"
def sink_not_relative_to_the_maximum(chunks, sink):
    m = sink[:, None]
    total, weighted = 0.0, 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=-1, keepdim=True))
        e = torch.exp(scores - new)
        total = total * torch.exp(m - new) + e.sum(dim=-1, keepdim=True)
        weighted = weighted * torch.exp(m - new) + e @ values
        m = new
    return weighted / (total + torch.exp(sink)[:, None])


# 12/rotary


# One who counts pairs with i, and kept the exponent for numbers.
# "turned by the angle $t\,\theta_i$ with $\theta_i = \text{base}^{-2i/R}$"
def exponent_without_the_two(x, positions, rotated, base):
    part, rest = x[..., :rotated], x[..., rotated:]
    theta = base ** (-torch.arange(rotated // 2) / rotated)
    angle = positions[:, None, :, None] * theta
    a, b = part[..., 0::2], part[..., 1::2]
    out = torch.empty_like(part)
    out[..., 0::2] = a * angle.cos() - b * angle.sin()
    out[..., 1::2] = a * angle.sin() + b * angle.cos()
    return torch.cat([out, rest], dim=-1)


# One who got rid of an error about shapes by taking the first row.
# "Positions are given, for each row of the batch its own."
def positions_of_the_first_row(x, positions, rotated, base):
    theta = 1.0 / base ** (torch.arange(0, rotated, 2) / rotated)
    angle = positions[0][:, None] * theta[None, :]  # (T, R/2)
    cos, sin = angle.cos(), angle.sin()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([turned, x[..., rotated:]], dim=-1)


# A user of a well-known library, whose speeds belong to the whole head.
# "$\theta_i = \text{base}^{-2i/R}$"
def speeds_of_the_whole_vector(x, positions, rotated, base):
    D = x.shape[-1]
    theta = 1.0 / base ** (torch.arange(0, D, 2) / D)
    angle = positions[:, None, :, None] * theta[: rotated // 2]
    pairs = x[..., :rotated].unflatten(-1, (-1, 2))
    a, b = pairs[..., 0], pairs[..., 1]
    turned = torch.stack(
        [a * angle.cos() - b * angle.sin(), a * angle.sin() + b * angle.cos()], dim=-1
    )
    return torch.cat([turned.flatten(-2), x[..., rotated:]], dim=-1)


# 12/ring


# One who comes from Java, where the rest of −1 by 4 is −1, and looked for the same here.
# "Places that no token has taken yet must not be seen."
def rest_with_the_sign_of_java(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1], keys.shape[2]
    keys[:, count % W] = key
    values[:, count % W] = value
    age = torch.fmod(count - torch.arange(W), W)
    scores = (keys * query[:, None, :]).sum(dim=-1) / math.sqrt(D)
    scores = scores - slope * age
    scores = scores.masked_fill(age > count, -torch.inf)
    weights = scores.softmax(dim=-1)
    return (weights[:, :, None] * values).sum(dim=1), keys, values


# A tired one, who set the parentheses around the whole score.
# "The score is the dot product of query and key, divided by √D, minus slope · age."
def age_divided_too(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W] = key
    values[:, count % W] = value
    age = (count - torch.arange(W)) % W
    scores = (torch.einsum("bd,bwd->bw", query, keys) - slope * age) / math.sqrt(D)
    weights = scores.masked_fill(age > count, -torch.inf).softmax(dim=-1)
    return torch.einsum("bw,bwd->bd", weights, values), keys, values


# 12/drafts


# One whom `multinomial` told that probabilities must not be negative.
# "What is written [...] must have exactly the model's distribution at each place."
def absolute_differences(p, q, draft, drafted, generator):
    B, K = draft.shape
    p_draft = p[:, :K].gather(2, draft[:, :, None]).squeeze(2)
    q_draft = q.gather(2, draft[:, :, None]).squeeze(2)
    keep = torch.rand(B, K, generator=generator) * q_draft < p_draft
    keep = keep & (torch.arange(K) < drafted[:, None])
    count = keep.int().cumprod(dim=1).sum(dim=1)
    symbol = torch.zeros(B, dtype=torch.long)
    for b in range(B):
        c = int(count[b])
        left = (p[b, c] - q[b, c]).abs() if c < drafted[b] else p[b, c]
        symbol[b] = torch.multinomial(left, 1, generator=generator)[0]
    return count, symbol


# One who thinks that a row needs one throw of the dice.
# "must have exactly the model's distribution at each place"
def one_number_for_all_places(p, q, draft, drafted, generator):
    B, K = draft.shape
    rows = torch.arange(B)
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, 1, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rest = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], rest, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# One who copied from a batch in which all had K drafts.
# "`p[b, drafted[b]]` is the distribution after the last draft"
def after_the_last_place(p, q, draft, drafted, generator):
    B, K = draft.shape
    rows = torch.arange(B)
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, K, generator=generator) < share
    keep = keep & (torch.arange(K) < drafted[:, None])
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rest = (p[:, :-1] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    all_kept = (count == drafted)[:, None]
    instead = torch.where(all_kept, p[:, -1], rest)
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# 12/quantize


# One who turned the two numbers of `unflatten` around and then the axis, until shapes were right.
# "Give each group of `group` neighboring columns of a row its own scale."
def groups_of_distant_columns(weight, bits, group):
    parts = weight.unflatten(1, (group, -1))
    scale = parts.abs().amax(dim=1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale[scale == 0] = 1.0
    codes = torch.round(parts / scale).to(torch.int8)
    return codes.flatten(1), scale.squeeze(1)


# A Java programmer, who rounds by adding a half and casting.
# "rounded to the nearest whole number, as `torch.int8`"
def half_added_and_cast(weight, bits, group):
    rows, columns = weight.shape
    parts = weight.reshape(rows, columns // group, group)
    scale = parts.abs().max(dim=2).values / (2 ** (bits - 1) - 1)
    scale = torch.where(scale > 0, scale, torch.ones_like(scale))
    codes = (parts / scale[:, :, None] + 0.5).to(torch.int8)
    return codes.reshape(rows, columns), scale


# 12/seconds


# One who kept only the second handle of each part.
# "Leave the model as you found it"
def half_of_the_handles(model, prompt, count, clock):
    names = {model.embedding: "embedding", model.output: "output"}
    for block in model.blocks:
        names[block.attention] = "attention"
        names[block.feed_forward] = "feed_forward"
    seconds = dict.fromkeys(names.values(), 0.0)
    began = {}

    def before(module, inputs):
        began[module] = clock()

    def after(module, inputs, output):
        seconds[names[module]] += clock() - began[module]

    handles = []
    for module in names:
        handle = module.register_forward_pre_hook(before)
        handle = module.register_forward_hook(after)
        handles.append(handle)
    text = prompt
    model(text[:, -model.block_size :])
    for name in seconds:
        seconds[name] = 0.0
    start = clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    whole = clock() - start
    for handle in handles:
        handle.remove()
    return {**seconds, "elsewhere": whole - sum(seconds.values())}


# A thrifty one, who already uses what the first call says.
# "First call the model once on the prompt, which doesn't count [...] Then write `count` symbols"
def first_symbol_from_the_first_call(model, prompt, count, clock):
    modules = {"embedding": [model.embedding], "output": [model.output]}
    modules["attention"] = [block.attention for block in model.blocks]
    modules["feed_forward"] = [block.feed_forward for block in model.blocks]
    logits, _ = model(prompt[:, -model.block_size :])
    text = torch.cat([prompt, logits[:, -1:].argmax(dim=-1)], dim=1)
    seconds, began, handles = dict.fromkeys(modules, 0.0), {}, []

    def before(module, inputs):
        began[module] = clock()

    def after(name):
        def hook(module, inputs, output):
            seconds[name] += clock() - began[module]

        return hook

    for name, parts in modules.items():
        for module in parts:
            handles += [
                module.register_forward_pre_hook(before),
                module.register_forward_hook(after(name)),
            ]
    start = clock()
    while text.shape[1] < prompt.shape[1] + count:
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    for handle in handles:
        handle.remove()
    return seconds


WRITTEN = {
    "12/cache-step": [hidden_scores_of_zero, places_of_all_rows],
    "12/groups": [queries_pooled_too, heads_not_moved_back],
    "12/sink": [sink_only_as_a_maximum, sink_not_relative_to_the_maximum],
    "12/rotary": [
        exponent_without_the_two,
        positions_of_the_first_row,
        speeds_of_the_whole_vector,
    ],
    "12/ring": [rest_with_the_sign_of_java, age_divided_too],
    "12/drafts": [absolute_differences, one_number_for_all_places, after_the_last_place],
    "12/quantize": [groups_of_distant_columns, half_added_and_cast],
    "12/seconds": [half_of_the_handles, first_symbol_from_the_first_call],
}

ASIDE = {
    "exponent_without_the_two",
    "positions_of_the_first_row",
    "age_divided_too",
    "one_number_for_all_places",
    "half_added_and_cast",
}
