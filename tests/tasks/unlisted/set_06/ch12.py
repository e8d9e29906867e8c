"""Wrong answers to chapter 12 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 12/cache-step


# "Its key and value go to the first free place of its row": here of the longest row
def all_behind_the_longest(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    place, S = int(lengths.max()), keys.shape[2]
    keys[:, :, place], values[:, :, place] = key, value
    seen = torch.arange(S) < lengths[:, None]
    seen[:, place] = True
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


# "The places after them hold leftovers of other texts and mean nothing", however large they are
def leftovers_lowered_by_a_hundred(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    keys[rows, :, lengths], values[rows, :, lengths] = key, value
    unseen = torch.arange(S) > lengths[:, None]
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[-1])
    weights = (scores - 100.0 * unseen[:, None]).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


# "as new tensors: the ones you are given stay as they are": the values too
def values_written_in_place(query, key, value, keys, values, lengths):
    rows = torch.arange(len(keys))
    keys = keys.index_put((rows[:, None], torch.arange(keys.shape[1]), lengths[:, None]), key)
    values[rows, :, lengths] = value
    seen = torch.arange(keys.shape[2]) <= lengths[:, None]
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(keys.shape[-1])
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(2) @ values).squeeze(2), keys, values


# 12/groups


# "n_group groups of neighbors": here heads are dealt to the groups in turn
def heads_dealt_in_turn(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key, value = (
        part.view(each, n_group, D, C).mean(dim=0).repeat(each, 1, 1).flatten(0, 1)
        for part in (key, value)
    )
    q, k, v = ((x @ w.T).view(B, T, n_head, D).transpose(1, 2) for w in (query, key, value))
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).flatten(2)


# "each has its own query": here the members of a group share that as well
def queries_pooled_too(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    q, k, v = (
        (x @ w.view(n_group, each, D, C).mean(dim=1).flatten(0, 1).T)
        .view(B, T, n_group, D)
        .transpose(1, 2)
        .repeat_interleave(each, dim=1)
        for w in (query, key, value)
    )
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    return found.transpose(1, 2).flatten(2)


# "scores are divided by √D": D is what a head has, and H · D need not be C
def root_of_channels_by_heads(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key, value = (
        part.view(n_group, each, D, C).mean(dim=1).repeat_interleave(each, dim=0).flatten(0, 1)
        for part in (key, value)
    )
    q, k, v = ((x @ w.T).view(B, T, n_head, D).transpose(1, 2) for w in (query, key, value))
    scale = 1 / math.sqrt(C / n_head)
    found = F.scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale)
    return found.transpose(1, 2).flatten(2)


# 12/sink


# "the weight of position s is e^z / (e^b + Σ e^z)": one sink a row, and not one a chunk
def sink_in_every_chunk(chunks, sink):
    m, total, weighted = sink[:, None], 0.0, 0.0
    for scores, values in chunks:
        scores = torch.cat([scores, sink[:, None]], dim=1)
        new = torch.maximum(m, scores.amax(dim=1, keepdim=True))
        e, shrink = (scores - new).exp(), (m - new).exp()
        total = total * shrink + e.sum(dim=1, keepdim=True)
        weighted = weighted * shrink + e[:, :-1] @ values
        m = new
    return weighted / total


# "the weight of position s is e^z / (e^b + Σ e^z)": what comes new is relative to the new maximum
# already and must not shrink with the rest
def new_terms_shrink_too(chunks, sink):
    m = sink[:, None]
    total, weighted = torch.ones_like(m), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.amax(dim=1, keepdim=True))
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = (total + e.sum(dim=1, keepdim=True)) * shrink
        weighted = (weighted + e @ values) * shrink
        m = new
    return weighted / total


# "all below −400 in one row and below −1,000 in another": each row needs a maximum of its own
def one_maximum_for_all_rows(chunks, sink):
    m = sink.max()
    total, weighted = (sink[:, None] - m).exp(), 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.max())
        shrink, e = (m - new).exp(), (scores - new).exp()
        total = total * shrink + e.sum(dim=1, keepdim=True)
        weighted = weighted * shrink + e @ values
        m = new
    return weighted / total


# 12/rotary


# "Only the first R = rotated numbers of each vector are turned": here the last
def last_numbers_turn(x, positions, rotated, base):
    D = x.shape[-1]
    rest, turning = x[..., : D - rotated], x[..., D - rotated :]
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    cos, sin = angle.cos(), angle.sin()
    a, b = turning[..., 0::2], turning[..., 1::2]
    turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
    return torch.cat([rest, turned], dim=-1)


# "They need not begin at 0": here they are counted from the first of the row
def counted_from_the_first(x, positions, rotated, base):
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    places = positions - positions[:, :1]
    angle = places[:, None, :, None] * theta
    cos, sin = angle.cos(), angle.sin()
    out = x.clone()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    out[..., 0:rotated:2] = a * cos - b * sin
    out[..., 1:rotated:2] = a * sin + b * cos
    return out


# "and may have gaps"
def no_gaps_after_the_first(x, positions, rotated, base):
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    places = positions[:, :1] + torch.arange(x.shape[2])
    angle = places[:, None, :, None] * theta
    cos, sin = angle.cos(), angle.sin()
    out = x.clone()
    a, b = x[..., 0:rotated:2], x[..., 1:rotated:2]
    out[..., 0:rotated:2] = a * cos - b * sin
    out[..., 1:rotated:2] = a * sin + b * cos
    return out


# 12/ring


# "the one before it has age 1, and so on", around the ring, not by the distance of the places
def age_by_distance_of_places(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    place = count % W
    keys[:, place], values[:, place] = key, value
    age = (place - torch.arange(W)).abs()
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    scores = scores.masked_fill(torch.arange(W) > count, -torch.inf)
    return (scores.softmax(dim=-1).unsqueeze(1) @ values).squeeze(1), keys, values


# "Places that no token has taken yet must not be seen": after the first round all are taken
def only_up_to_the_new_place(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    place = count % W
    keys[:, place], values[:, place] = key, value
    age = (place - torch.arange(W)) % W
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    scores = scores.masked_fill(torch.arange(W) > place, -torch.inf)
    return (scores.softmax(dim=-1).unsqueeze(1) @ values).squeeze(1), keys, values


# "count tokens came before the new one": the first of them has age `count`, which is possible
def first_token_forgotten(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W], values[:, count % W] = key, value
    age = (count - torch.arange(W)) % W
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    seen = (age < count) | (age == 0)
    weights = scores.masked_fill(~seen, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), keys, values


# 12/drafts


# "must have exactly the model's distribution": a draft that is likelier for p than for q is kept,
# every other one is rejected
def kept_if_p_likes_it_more(p, q, draft, drafted, generator):
    B, K = draft.shape
    at, rows = draft.unsqueeze(-1), torch.arange(B)
    keep = (p[:, :K].gather(-1, at) >= q.gather(-1, at)).squeeze(-1)
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    last = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(last, 1, generator=generator).squeeze(1)


# "must have exactly the model's distribution": what p has too little of is drawn as well
def difference_without_sign(p, q, draft, drafted, generator):
    B, K = draft.shape
    at, rows = draft.unsqueeze(-1), torch.arange(B)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, K, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    lacking = (p[:, :K] - q).abs()[rows, count.clamp(max=K - 1)]
    last = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(last, 1, generator=generator).squeeze(1)


# "p[b, drafted[b]] is the distribution after the last draft": here padding counts as a draft that
# was rejected
def padding_is_a_rejection(p, q, draft, drafted, generator):
    B, K = draft.shape
    at, rows = draft.unsqueeze(-1), torch.arange(B)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, K, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    last = torch.where((count < K)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(last, 1, generator=generator).squeeze(1)


# "Everything random comes from generator": the symbol too
def symbol_from_elsewhere(p, q, draft, drafted, generator):
    B, K = draft.shape
    at, rows = draft.unsqueeze(-1), torch.arange(B)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = torch.rand(B, K, generator=generator) < share
    keep &= torch.arange(K) < drafted[:, None]
    count = keep.long().cumprod(dim=1).sum(dim=1)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    last = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.distributions.Categorical(probs=last).sample()


# 12/quantize


# "The scale of a group is the largest absolute value in it": here half of its range
def scale_of_the_range(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    largest = 2 ** (bits - 1) - 1
    scale = (parts.amax(dim=-1) - parts.amin(dim=-1)) / 2 / largest
    scale = torch.where(scale == 0, 1.0, scale)
    codes = (parts / scale.unsqueeze(-1)).round().clamp(-largest, largest)
    return codes.to(torch.int8).flatten(1), scale


# "A group of zeros has [...] a scale of 1": a group of small weights is not one
def small_weights_are_zeros(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale < 1e-6, 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


# "scales (rows, columns / group)": both axes also where there is one row, or one group in each
def every_one_squeezed(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where(scale == 0, 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze()


# 12/seconds


def _measured(model, prompt, count, clock):
    """Seconds of the parts and of all the writing, by hooks that are removed at the end."""
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
        for module in modules:
            handles.append(module.register_forward_pre_hook(before))
            handles.append(module.register_forward_hook(after(name)))
    at_first = clock()
    model(prompt[:, -model.block_size :])
    seconds.update(dict.fromkeys(seconds, 0.0))
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    end = clock()
    for handle in handles:
        handle.remove()
    return seconds, end - start, end - at_first


# "First call the model once on the prompt, which doesn't count": here it counts as elsewhere
def first_call_is_elsewhere(model, prompt, count, clock):
    seconds, _, whole = _measured(model, prompt, count, clock)
    return seconds | {"elsewhere": whole - sum(seconds.values())}


# "The seconds of all blocks add up" and "says how many seconds each of its parts took": not for
# one symbol, for all that are written
def seconds_of_one_symbol(model, prompt, count, clock):
    seconds, whole, _ = _measured(model, prompt, count, clock)
    seconds["elsewhere"] = whole - sum(seconds.values())
    return {name: value / count for name, value in seconds.items()}


# "Leave the model as you found it": in the mode that it was in
def left_in_evaluation(model, prompt, count, clock):
    model.eval()
    with torch.no_grad():
        seconds, whole, _ = _measured(model, prompt, count, clock)
    return seconds | {"elsewhere": whole - sum(seconds.values())}


# "Leave the model as you found it": with the hooks that others have registered
def all_hooks_cleared(model, prompt, count, clock):
    seconds, whole, _ = _measured(model, prompt, count, clock)
    for module in model.modules():
        module._forward_pre_hooks.clear()
        module._forward_hooks.clear()
    return seconds | {"elsewhere": whole - sum(seconds.values())}


WRITTEN = {
    "12/cache-step": [
        all_behind_the_longest,
        leftovers_lowered_by_a_hundred,
        values_written_in_place,
    ],
    "12/groups": [heads_dealt_in_turn, queries_pooled_too, root_of_channels_by_heads],
    "12/sink": [sink_in_every_chunk, new_terms_shrink_too, one_maximum_for_all_rows],
    "12/rotary": [last_numbers_turn, counted_from_the_first, no_gaps_after_the_first],
    "12/ring": [age_by_distance_of_places, only_up_to_the_new_place, first_token_forgotten],
    "12/drafts": [
        kept_if_p_likes_it_more,
        difference_without_sign,
        padding_is_a_rejection,
        symbol_from_elsewhere,
    ],
    "12/quantize": [scale_of_the_range, small_weights_are_zeros, every_one_squeezed],
    "12/seconds": [
        first_call_is_elsewhere,
        seconds_of_one_symbol,
        left_in_evaluation,
        all_hooks_cleared,
    ],
}

ASIDE = {
    "leftovers_lowered_by_a_hundred",
    "queries_pooled_too",
    "root_of_channels_by_heads",
    "sink_in_every_chunk",
    "left_in_evaluation",
}
