"""Wrong answers to chapter 11, second set."""

import math

import torch
import torch.nn.functional as F


def _head(V, T, D, score, back, into):
    C = V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t >= back:
            query[t - back, V + t] = score
    value[:V, :V] = output[into : into + V, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def head_with_the_whole_size(V, T, strength):
    D = max(V, T)
    return _head(V, T, D, strength * D, 1, V + T)


def head_that_looks_at_itself(V, T, strength):
    D = max(V, T)
    return _head(V, T, D, strength * math.sqrt(D), 0, V + T)


def head_that_writes_over_the_token(V, T, strength):
    D = max(V, T)
    return _head(V, T, D, strength * math.sqrt(D), 1, 0)


def matching_of_the_latest_place(weights, tokens):
    """Only the latest earlier place of the token counts."""
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        for t in range(T):
            earlier = (tokens[b, :t] == tokens[b, t]).nonzero()
            if len(earlier):
                total += weights[b, :, t, int(earlier[-1]) + 1]
                count += 1
    return total / max(count, 1)


def matching_for_each_pair(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.sum().clamp(min=1)


def matching_of_columns(weights, tokens):
    """Adds up how much is looked at a position, and not how much it looks."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights.transpose(2, 3)[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum().clamp(min=1)


def lens_normed_at_the_end_only(streams, gain, shift, eps, unembedding):
    logits = streams @ unembedding.T
    last = F.layer_norm(streams[-1], streams.shape[-1:], gain, shift, eps)
    logits[-1] = last @ unembedding.T
    return logits


def lens_normed_over_positions_too(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-2:], eps=eps)
    return (gain * normed + shift) @ unembedding.T


def lens_of_what_each_layer_adds(streams, gain, shift, eps, unembedding):
    """Reads the difference that each block makes, not the stream after it."""
    added = streams.clone()
    added[1:] = streams[1:] - streams[:-1]
    return F.layer_norm(added, streams.shape[-1:], gain, shift, eps) @ unembedding.T


def circuits_both_scaled(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = (embedding @ query.T) @ (embedding @ key.T).T / root
    return qk, embedding @ value.T @ output.T @ unembedding.T / root


def circuits_with_unembedded_keys(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (unembedding @ key.T).T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ unembedding.T


def circuits_of_key_and_value(embedding, query, key, value, output, unembedding):
    """The scores are those of keys with keys."""
    keys = embedding @ key.T
    return keys @ keys.T / math.sqrt(len(key)), embedding @ value.T @ output.T @ unembedding.T


def _loss(run, tokens, targets, replaced):
    logits = run(tokens, replaced).logits
    return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def ablation_that_piles_up(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    increase, replaced = torch.zeros(means.shape[:2]), {}
    whole = _loss(run, tokens, targets, {})
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            replaced[layer, head] = means[layer, head]
            increase[layer, head] = _loss(run, tokens, targets, replaced) - whole
    return increase


def ablation_as_a_share(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    increase = torch.zeros(means.shape[:2])
    whole = _loss(run, tokens, targets, {})
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            loss = _loss(run, tokens, targets, {(layer, head): means[layer, head]})
            increase[layer, head] = (loss - whole) / whole
    return increase


def ablation_of_the_first_text(run, tokens, targets, reference):
    """The mean is over the positions of the first text alone."""
    means = run(reference).found[:, 0].mean(dim=2)
    increase = torch.zeros(means.shape[:2])
    whole = _loss(run, tokens, targets, {})
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            loss = _loss(run, tokens, targets, {(layer, head): means[layer, head]})
            increase[layer, head] = loss - whole
    return increase


def _patched(run, clean, corrupted, lead, take):
    good, bad = run(clean), run(corrupted)
    top, bottom = lead(good), lead(bad)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = take(good.found[layer, :, head], bad.found[layer, :, head])
            patched = run(corrupted, {(layer, head): other})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares


def _lead(right, wrong, read):
    def lead(one):
        end = read(one.logits[:, -1])
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    return lead


def patching_at_the_last_position(run, clean, corrupted, right, wrong):
    def take(good, bad):
        return torch.cat([bad[:, :-1], good[:, -1:]], dim=1)

    return _patched(run, clean, corrupted, _lead(right, wrong, lambda end: end), take)


def patching_with_probabilities(run, clean, corrupted, right, wrong):
    lead = _lead(right, wrong, lambda end: end.softmax(dim=-1))
    return _patched(run, clean, corrupted, lead, lambda good, bad: good)


def patching_of_the_right_logit(run, clean, corrupted, right, wrong):
    """Looks at the logit of the right token and forgets the wrong one."""

    def lead(one):
        return one.logits[:, -1].gather(1, right[:, None]).mean()

    return _patched(run, clean, corrupted, lead, lambda good, bad: good)


def _experiment(run, texts, targets, sources, reference):
    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    rows = torch.arange(len(texts))
    weights = run(texts).weights
    means = run(reference).found.mean(dim=(1, 3))
    damage = torch.zeros(means.shape[:2])
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    looks = weights[:, rows, :, -1, sources].mean(dim=0)
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": head, "damage": damage, "head": head, "looks": looks[head]}


def experiment_with_the_axes_exchanged(run, texts, targets, sources, reference):
    found = _experiment(run, texts, targets, sources, reference)
    layer, head = found["head"]
    rows = torch.arange(len(texts))
    looks = run(texts).weights[layer, rows, head, sources, -1].mean()
    return {**found, "looks": looks}


def experiment_with_a_flat_number(run, texts, targets, sources, reference):
    found = _experiment(run, texts, targets, sources, reference)
    return {**found, "head": int(found["damage"].argmax())}


def experiment_with_the_largest_look(run, texts, targets, sources, reference):
    """Says the largest weight that the head gives from the hyphen, wherever it goes."""
    found = _experiment(run, texts, targets, sources, reference)
    layer, head = found["head"]
    return {**found, "looks": run(texts).weights[layer, :, head, -1].amax(dim=-1).mean()}


WRITTEN = {
    "11/previous-head": [
        head_with_the_whole_size,
        head_that_looks_at_itself,
        head_that_writes_over_the_token,
    ],
    "11/prefix-matching": [
        matching_of_the_latest_place,
        matching_for_each_pair,
        matching_of_columns,
    ],
    "11/lens": [
        lens_normed_at_the_end_only,
        lens_normed_over_positions_too,
        lens_of_what_each_layer_adds,
    ],
    "11/circuits": [
        circuits_both_scaled,
        circuits_with_unembedded_keys,
        circuits_of_key_and_value,
    ],
    "11/ablation": [ablation_that_piles_up, ablation_as_a_share, ablation_of_the_first_text],
    "11/patching": [
        patching_at_the_last_position,
        patching_with_probabilities,
        patching_of_the_right_logit,
    ],
    "11/which-head": [
        experiment_with_the_axes_exchanged,
        experiment_with_a_flat_number,
        experiment_with_the_largest_look,
    ],
}

ASIDE = {
    "head_that_writes_over_the_token",
    "matching_of_columns",
    "lens_of_what_each_layer_adds",
    "circuits_of_key_and_value",
    "ablation_of_the_first_text",
    "patching_of_the_right_logit",
    "experiment_with_the_largest_look",
}
