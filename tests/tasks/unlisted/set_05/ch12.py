"""Chapter 12, the fifth set: task -> wrong answers, each beside the sentence that it breaks."""

import math

import torch
import torch.nn.functional as F


# "The places after them hold leftovers ... and mean nothing": of a key of zeros the score is 0,
# and 0 has its weight in a softmax.
def leftovers_become_zeros(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    seen = (torch.arange(S) <= lengths[:, None])[:, None, :, None]
    scores = (query.unsqueeze(2) * (keys * seen)).sum(dim=-1) / math.sqrt(keys.shape[-1])
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(-1) * values * seen).sum(dim=2), keys, values


# "0 ≤ lengths[b]", and a row of length 0 sees its new token alone.
def an_empty_row_sees_a_leftover(query, key, value, keys, values, lengths):
    keys, values = keys.clone(), values.clone()
    rows, S = torch.arange(len(keys)), keys.shape[2]
    keys[rows, :, lengths] = key
    values[rows, :, lengths] = value
    scores = (query.unsqueeze(2) * keys).sum(dim=-1) / math.sqrt(keys.shape[-1])
    seen = torch.arange(S) <= lengths.clamp(min=1)[:, None]
    weights = scores.masked_fill(~seen[:, None], -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(-1) * values).sum(dim=2), keys, values


def attend(q, k, v):
    return F.scaled_dot_product_attention(q, k, v, is_causal=True)


# "The H heads form n_group groups": here they form groups of n_group.
def groups_of_n_group_heads(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, groups = len(query) // n_head, n_head // n_group
    key, value = (
        part.view(groups, n_group, D, C).mean(dim=1).repeat_interleave(n_group, dim=0).flatten(0, 1)
        for part in (key, value)
    )
    q, k, v = ((x @ part.T).view(B, T, n_head, D).transpose(1, 2) for part in (query, key, value))
    return attend(q, k, v).transpose(1, 2).flatten(2)


# "the heads' outputs lie side by side": here their numbers alternate.
def outputs_of_heads_alternate(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key, value = (
        part.view(n_group, each, D, C).mean(dim=1).repeat_interleave(each, dim=0).flatten(0, 1)
        for part in (key, value)
    )
    q, k, v = ((x @ part.T).view(B, T, n_head, D).transpose(1, 2) for part in (query, key, value))
    return attend(q, k, v).permute(0, 2, 3, 1).flatten(2)


# "Heads of a group use the mean of their key weights and the mean of their value weights"
def values_of_their_own(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D, each = len(query) // n_head, n_head // n_group
    key = key.view(n_group, each, D, C).mean(dim=1).repeat_interleave(each, dim=0).flatten(0, 1)
    q, k, v = ((x @ part.T).view(B, T, n_head, D).transpose(1, 2) for part in (query, key, value))
    return attend(q, k, v).transpose(1, 2).flatten(2)


# "Scores may be as large as 300, or all below −400 in one row": clamped, they are all alike.
def scores_are_clamped(chunks, sink):
    total, weighted = sink.clamp(-80, 80).exp()[:, None], 0.0
    for scores, values in chunks:
        e = scores.clamp(-80, 80).exp()
        total = total + e.sum(dim=-1, keepdim=True)
        weighted = weighted + e @ values
    return weighted / total


# "Scores may be as large as 300, or all below −400 in one row": one maximum for all rows.
def one_maximum_for_all_rows(chunks, sink):
    m = sink.max()
    total, weighted = (sink - m).exp()[:, None], 0.0
    for scores, values in chunks:
        new = torch.maximum(m, scores.max())
        e = (scores - new).exp()
        total = total * (m - new).exp() + e.sum(dim=-1, keepdim=True)
        weighted = weighted * (m - new).exp() + e @ values
        m = new
    return weighted / total


def turn(first, angle):
    cos, sin = angle.cos(), angle.sin()
    a, b = first[..., 0::2], first[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)


# "the first R numbers of each vector are turned", also where there is no rest that stays.
def without_a_rest_nothing_is_turned(x, positions, rotated, base):
    if x.shape[-1] == rotated:
        return x.clone()
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    return torch.cat([turn(x[..., :rotated], angle), x[..., rotated:]], dim=-1)


# "Positions are given ... They need not begin at 0": here they are moved there.
def positions_are_moved_to_zero(x, positions, rotated, base):
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = (positions - positions[:, :1])[:, None, :, None] * theta
    return torch.cat([turn(x[..., :rotated], angle), x[..., rotated:]], dim=-1)


# "Only the first R = `rotated` numbers of each vector are turned": these are the last.
def last_numbers_are_turned(x, positions, rotated, base):
    start = x.shape[-1] - rotated
    theta = base ** (-torch.arange(0, rotated, 2) / rotated)
    angle = positions[:, None, :, None] * theta
    return torch.cat([x[..., :start], turn(x[..., start:], angle)], dim=-1)


# "A model with a sliding window needs the last W tokens": the oldest of them is not seen.
def window_is_one_too_short(query, key, value, keys, values, count, slope):
    keys, values = keys.clone(), values.clone()
    W, D = keys.shape[1:]
    keys[:, count % W], values[:, count % W] = key, value
    age = (count - torch.arange(W)) % W
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    hidden = (age > count) | (age >= W - 1)
    weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), keys, values


# "token number n, counted from 0, goes into place n mod W": a queue that moves on holds the same
# tokens in other places.
def a_queue_when_it_is_full(query, key, value, keys, values, count, slope):
    W, D = keys.shape[1:]
    if count < W:
        keys, values = keys.clone(), values.clone()
        keys[:, count], values[:, count] = key, value
        age = count - torch.arange(W)
    else:
        keys = torch.cat([keys[:, 1:], key[:, None]], dim=1)
        values = torch.cat([values[:, 1:], value[:, None]], dim=1)
        age = torch.arange(W).flip(0)
    scores = (keys @ query.unsqueeze(-1)).squeeze(-1) / math.sqrt(D) - slope * age
    weights = scores.masked_fill(age < 0, -torch.inf).softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), keys, values


def decided(p, q, draft, drafted, drawn):
    K = draft.shape[1]
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    return (drawn < share) & (torch.arange(K) < drafted[:, None])


# "must have exactly the model's distribution at each place": after a kept draft, the number that
# kept it is no fresh one.
def one_number_a_row(p, q, draft, drafted, generator):
    B, K = draft.shape
    keep = decided(p, q, draft, drafted, torch.rand(B, 1, generator=generator))
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rows = torch.arange(B)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# "returns: count (B,) int"
def counts_are_floats(p, q, draft, drafted, generator):
    B, K = draft.shape
    keep = decided(p, q, draft, drafted, torch.rand(B, K, generator=generator))
    count = keep.float().cumprod(dim=1).sum(dim=1)
    rows, place = torch.arange(B), count.long()
    lacking = (p[:, :K] - q).clamp(min=0)[rows, place.clamp(max=K - 1)]
    instead = torch.where((place < drafted)[:, None], lacking, p[rows, place])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


# "The scale of a group is the largest absolute value in it, divided by the largest code", however
# small it is.
def scales_have_a_least(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    zeros = scale == 0
    scale = torch.where(zeros, 1.0, scale.clamp(min=1e-3))
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


# "A group of zeros": all of its weights are, not one of them.
def a_zero_makes_a_group_of_zeros(weight, bits, group):
    parts = weight.unflatten(1, (-1, group))
    scale = parts.abs().amax(dim=-1, keepdim=True) / (2 ** (bits - 1) - 1)
    scale = torch.where((parts == 0).any(dim=-1, keepdim=True), 1.0, scale)
    return (parts / scale).round().to(torch.int8).flatten(1), scale.squeeze(-1)


def timed(model, prompt, count, clock, finish):
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
    model(prompt[:, -model.block_size :])
    seconds.update(dict.fromkeys(seconds, 0.0))
    text, start = prompt, clock()
    for _ in range(count):
        logits, _ = model(text[:, -model.block_size :])
        text = torch.cat([text, logits[:, -1:].argmax(dim=-1)], dim=1)
    seconds["elsewhere"] = clock() - start - sum(seconds.values())
    finish(handles, [module for modules in parts.values() for module in modules])
    return seconds


# "Leave the model as you found it": a hook that somebody else had put there is gone, too.
def clears_every_hook(model, prompt, count, clock):
    def finish(handles, modules):
        for module in modules:
            module._forward_pre_hooks.clear()
            module._forward_hooks.clear()

    return timed(model, prompt, count, clock, finish)


# "Leave the model as you found it": it was perhaps in training mode.
def leaves_evaluation_mode(model, prompt, count, clock):
    model.eval()

    def finish(handles, modules):
        for handle in handles:
            handle.remove()

    return timed(model, prompt, count, clock, finish)


WRITTEN = {
    "12/cache-step": [leftovers_become_zeros, an_empty_row_sees_a_leftover],
    "12/groups": [groups_of_n_group_heads, outputs_of_heads_alternate, values_of_their_own],
    "12/sink": [scores_are_clamped, one_maximum_for_all_rows],
    "12/rotary": [
        without_a_rest_nothing_is_turned,
        positions_are_moved_to_zero,
        last_numbers_are_turned,
    ],
    "12/ring": [window_is_one_too_short, a_queue_when_it_is_full],
    "12/drafts": [one_number_a_row, counts_are_floats],
    "12/quantize": [scales_have_a_least, a_zero_makes_a_group_of_zeros],
    "12/seconds": [clears_every_hook, leaves_evaluation_mode],
}

ASIDE = {
    "outputs_of_heads_alternate",
    "last_numbers_are_turned",
    "one_number_a_row",
    "scales_have_a_least",
    "clears_every_hook",
}
