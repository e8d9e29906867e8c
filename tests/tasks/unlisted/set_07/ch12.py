"""Wrong answers to chapter 12 that no list names: the seventh set, what students hand in.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch

# 12/cache-step


# Writes into the cache, as caches are written to.
# "as new tensors: the ones you are given stay as they are"
def written_in_place(query, key, value, keys, values, lengths):
    B, H, D = query.shape
    for b in range(B):
        keys[b, :, lengths[b]] = key[b]
        values[b, :, lengths[b]] = value[b]
    found = torch.zeros(B, H, D)
    for b in range(B):
        n = int(lengths[b]) + 1
        scores = (keys[b, :, :n] @ query[b].unsqueeze(-1)).squeeze(-1) / math.sqrt(D)
        weights = scores.softmax(dim=-1)
        found[b] = (weights.unsqueeze(1) @ values[b, :, :n]).squeeze(1)
    return found, keys, values


# Pads with zeros and takes that for a mask.
# "The places after them hold leftovers of other texts and mean nothing."
def zeros_for_a_mask(query, key, value, keys, values, lengths):
    B, S, D = len(keys), keys.shape[2], keys.shape[3]
    rows = torch.arange(B)
    k, v = keys.clone(), values.clone()
    k[rows, :, lengths], v[rows, :, lengths] = key, value
    seen = (torch.arange(S) <= lengths[:, None]).float()
    scores = torch.einsum("bhd,bhsd->bhs", query, k) / math.sqrt(D)
    weights = torch.softmax(scores * seen[:, None, :], dim=-1)
    found = torch.einsum("bhs,bhsd->bhd", weights, v)
    return found, k, v


# 12/groups


# Splits the heads as channels of images are split, groups last.
# "The H heads form `n_group` groups of neighbors"
def groups_of_every_nth_head(x, query, key, value, n_head, n_group):
    B, T, C = x.shape
    D = query.shape[0] // n_head
    members = n_head // n_group
    key = key.view(members, n_group, D, C).mean(dim=0)
    value = value.view(members, n_group, D, C).mean(dim=0)
    q = (x @ query.T).view(B, T, n_head, D).transpose(1, 2)
    k = torch.einsum("btc,gdc->bgtd", x, key).repeat(1, members, 1, 1)
    v = torch.einsum("btc,gdc->bgtd", x, value).repeat(1, members, 1, 1)
    scores = q @ k.transpose(-2, -1) / math.sqrt(D)
    future = torch.ones(T, T, dtype=torch.bool).triu(1)
    out = scores.masked_fill(future, -torch.inf).softmax(dim=-1) @ v
    return out.transpose(1, 2).reshape(B, T, n_head * D)


# 12/sink


# Collects everything and uses softmax, with the sink as a last column that is left in.
# "a logit that takes part in the softmax but has no value, so that its share goes nowhere"
def share_goes_back(chunks, sink):
    scores, values = [], []
    for z, v in chunks:
        scores.append(z)
        values.append(v)
    z = torch.cat([*scores, sink[:, None]], dim=1)
    v = torch.cat(values)
    w = torch.softmax(z, dim=1)[:, :-1]
    w = w / w.sum(dim=1, keepdim=True)
    return w @ v


# 12/rotary


# Copied rotate_half of a well-known library and repeats the angles to fit it.
# "Pairs are neighbors: numbers 2i and 2i + 1"
def half_against_half(x, positions, rotated, base):
    x_rot, x_pass = x[..., :rotated], x[..., rotated:]
    inv_freq = 1.0 / (base ** (torch.arange(0, rotated, 2).float() / rotated))
    freqs = positions[:, None, :, None].float() * inv_freq
    emb = torch.cat((freqs, freqs), dim=-1)
    x1, x2 = x_rot[..., : rotated // 2], x_rot[..., rotated // 2 :]
    x_rot = x_rot * emb.cos() + torch.cat((-x2, x1), dim=-1) * emb.sin()
    return torch.cat((x_rot, x_pass), dim=-1)


# 12/ring


# Counts the age from the oldest token, as the number of a place in the window.
# "with age 0; the one before it has age 1, and so on"
def age_from_the_oldest(query, key, value, keys, values, count, slope):
    new_keys, new_values = keys.clone(), values.clone()
    W, D = keys.size(1), keys.size(2)
    new_keys[:, count % W] = key
    new_values[:, count % W] = value
    first = max(0, count - W + 1)
    numbers = torch.arange(first, count + 1)
    k, v = new_keys[:, numbers % W], new_values[:, numbers % W]
    age = numbers - first
    scores = (k * query[:, None]).sum(-1) / D**0.5 - slope * age
    found = (scores.softmax(-1)[..., None] * v).sum(1)
    return found, new_keys, new_values


# 12/drafts


# Knows the rule for keeping drafts, and draws afterwards from the model.
# "must have exactly the model's distribution at each place"
def rejected_then_drawn_from_p(p, q, draft, drafted, generator):
    B = len(draft)
    count = torch.zeros(B, dtype=torch.long)
    symbol = torch.zeros(B, dtype=torch.long)
    for b in range(B):
        n = 0
        while n < int(drafted[b]):
            token = draft[b, n]
            u = torch.rand(1, generator=generator).item()
            if u >= (p[b, n, token] / q[b, n, token]).item():
                break
            n += 1
        count[b] = n
        symbol[b] = torch.multinomial(p[b, n], 1, generator=generator)[0]
    return count, symbol


# Counts all the drafts that pass, also behind one that did not.
# "how many of its drafts are kept, and draw the symbol after them"
def kept_behind_a_rejected_one(p, q, draft, drafted, generator):
    B, K = draft.shape
    p_draft = p[:, :K].gather(2, draft.unsqueeze(2)).squeeze(2)
    q_draft = q.gather(2, draft.unsqueeze(2)).squeeze(2)
    accepted = torch.rand(B, K, generator=generator) < p_draft / q_draft
    accepted = accepted & (torch.arange(K)[None, :] < drafted[:, None])
    count = accepted.sum(dim=1)
    symbol = torch.zeros(B, dtype=torch.long)
    for b in range(B):
        n = int(count[b])
        dist = p[b, n]
        if n < int(drafted[b]):
            dist = (p[b, n] - q[b, n]).clamp(min=0)
            dist = p[b, n] if dist.sum() == 0 else dist / dist.sum()
        symbol[b] = torch.multinomial(dist, 1, generator=generator).item()
    return count, symbol


# 12/quantize


# Reads "largest absolute value" and takes it for the width of the range.
# "divided by the largest code, which is 2^(bits − 1) − 1"
def all_codes_of_the_range(weight, bits, group):
    rows, columns = weight.shape
    w = weight.reshape(rows, columns // group, group)
    largest = 2 ** (bits - 1)
    scales = w.abs().max(dim=-1).values / largest
    scales[scales == 0] = 1.0
    codes = torch.round(w / scales[..., None]).clamp(-largest, largest - 1).to(torch.int8)
    return codes.reshape(rows, columns), scales


# 12/seconds


# Keeps the handles nowhere, because hooks do no harm.
# "Leave the model as you found it"
def hooks_left_behind(model, prompt, count, clock):
    seconds = {"embedding": 0.0, "attention": 0.0, "feed_forward": 0.0, "output": 0.0}
    started = {}

    def watch(module, name):
        def before(module, args):
            started[module] = clock()

        def after(module, args, output):
            seconds[name] += clock() - started[module]

        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)

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
        text = torch.cat([text, logits[:, -1].argmax(dim=-1, keepdim=True)], dim=1)
    total = clock() - start
    seconds["elsewhere"] = total - sum(seconds.values())
    return seconds


WRITTEN = {
    "12/cache-step": [written_in_place, zeros_for_a_mask],
    "12/groups": [groups_of_every_nth_head],
    "12/sink": [share_goes_back],
    "12/rotary": [half_against_half],
    "12/ring": [age_from_the_oldest],
    "12/drafts": [rejected_then_drawn_from_p, kept_behind_a_rejected_one],
    "12/quantize": [all_codes_of_the_range],
    "12/seconds": [hooks_left_behind],
}
