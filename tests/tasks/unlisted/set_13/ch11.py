"""Wrong answers to chapter 11 that no list names: the thirteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


def scaled_for_positions_only(V, T, strength):
    """Multiplies by the root of T, but its head has D = V + T rows, so the scores are too small."""
    D, C = V + T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[V + t, V + t] = 1.0
        if t > 0:
            query[V + t - 1, V + t] = strength * math.sqrt(T)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def last_position_asks_nothing(V, T, strength):
    """Its loop over the queries ends one early, so the last position has score 0 everywhere."""
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
    for t in range(1, T - 1):
        query[t - 1, V + t] = strength * math.sqrt(D)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


def writes_where_it_read(V, T, strength):
    """Takes the transposed value as output, so the token is written into the first V channels."""
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    key[:T, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = strength * math.sqrt(D) * torch.eye(T - 1)
    value[:V, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": value.T.clone()}


# 11/prefix-matching


def own_place_never_counts(weights, tokens):
    """Leaves out the token directly before (s = t - 1), because s + 1 would be t itself."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-2)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum().clamp(min=1)


def rolled_before_it_is_cut(weights, tokens):
    """Rolls the matches by a column before it cuts the future: the last token lands in column 0."""
    same = tokens[:, :, None] == tokens[:, None, :]  # (B, T, T)
    behind = same.roll(1, dims=-1).tril()  # what is at s moves to s + 1, which is t at most
    found = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return found / same.tril(-1).any(dim=-1).sum().clamp(min=1)


def counts_places_once_per_head(weights, tokens):
    """Counts the positions in a mask that already has the head axis, so it divides by H as well."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    mask = same[:, None].expand(weights.shape)  # (B, H, T, T)
    found = (weights[..., 1:] * mask[..., :-1]).sum(dim=(0, 2, 3))
    return found / mask.any(dim=-1).sum().clamp(min=1)


# 11/lens


def spread_and_mean_exchanged(streams, gain, shift, eps, unembedding):
    """Unpacks torch.std_mean in the wrong order, so mean and standard deviation are exchanged."""
    mean, spread = torch.std_mean(streams, dim=-1, correction=0, keepdim=True)
    normed = (streams - mean) / (spread.square() + eps).sqrt() * gain + shift
    return normed @ unembedding.T


def variance_about_zero(streams, gain, shift, eps, unembedding):
    """Divides by the root of the mean square of the stream, from which the mean isn't taken off."""
    centered = streams - streams.mean(dim=-1, keepdim=True)
    square = streams.square().mean(dim=-1, keepdim=True)
    return (centered / (square + eps).sqrt() * gain + shift) @ unembedding.T


def adds_up_the_streams(streams, gain, shift, eps, unembedding):
    """Takes the streams for what each layer adds, and sums them up over the layers first."""
    summed = streams.cumsum(dim=0)
    normed = F.layer_norm(summed, summed.shape[-1:], gain, shift, eps)
    return normed @ unembedding.T


# 11/circuits


def ov_as_if_it_took_columns(embedding, query, key, value, output, unembedding):
    """Multiplies rows of the embedding by output @ value without transposing that product."""
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    ov = embedding @ (output @ value) @ unembedding.T
    return qk, ov


def ov_with_skip_connection(embedding, query, key, value, output, unembedding):
    """Adds the token's own embedding to what the head writes, so ov holds the direct path too."""
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    written = embedding + embedding @ value.T @ output.T
    return qk, written @ unembedding.T


def both_tables_scaled(embedding, query, key, value, output, unembedding):
    """Divides the OV table by the root of D as well, not only the scores."""
    scale = math.sqrt(len(query))
    qk = embedding @ query.T @ key @ embedding.T / scale
    ov = embedding @ value.T @ output.T @ unembedding.T / scale
    return qk, ov


# 11/ablation


def damage_never_below_zero(run, tokens, targets, reference):
    """Cuts negative increases to 0, as if no model could get better without a head."""

    def loss(replaced):
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    base = loss({})
    increase = torch.zeros(means.shape[:2])
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            increase[layer, head] = loss({(layer, head): means[layer, head]}) - base
    return increase.clamp(min=0)


def classes_second_by_reshape(run, tokens, targets, reference):
    """Brings the logits to (B, V, T) by reshape instead of transpose, which mixes up the places."""

    def loss(replaced):
        logits = run(tokens, replaced).logits
        B, T, V = logits.shape
        return F.cross_entropy(logits.reshape(B, V, T), targets)

    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    base = loss({})
    increase = torch.zeros(means.shape[:2])
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            increase[layer, head] = loss({(layer, head): means[layer, head]}) - base
    return increase


def mean_over_tested_texts_too(run, tokens, targets, reference):
    """Takes the mean over reference and the tested texts together, to have more of them."""

    def loss(replaced):
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    means = run(torch.cat([reference, tokens])).found.mean(dim=(1, 3))  # (L, H, D)
    base = loss({})
    increase = torch.zeros(means.shape[:2])
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            increase[layer, head] = loss({(layer, head): means[layer, head]}) - base
    return increase


# 11/patching


def logits_averaged_over_texts_first(run, clean, corrupted, right, wrong):
    """Averages the logits over the texts, not the leads: each right token is read in all texts."""

    def lead(one):
        end = one.logits[:, -1].mean(dim=0)  # (V,)
        return (end[right] - end[wrong]).mean()

    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares


def shares_cut_to_zero_and_one(run, clean, corrupted, right, wrong):
    """Cuts the shares to lie between 0 and 1, though a head may lead away or beyond the clean."""

    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares.clamp(0, 1)


def patched_only_where_texts_differ(run, clean, corrupted, right, wrong):
    """Patches a head only at the positions where the two texts hold different tokens."""

    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good, bad = run(clean), run(corrupted)
    top, bottom = lead(good), lead(bad)
    L, _, H = good.found.shape[:3]
    differs = (clean != corrupted)[:, :, None]  # (B, T, 1)
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = torch.where(differs, good.found[layer, :, head], bad.found[layer, :, head])
            shares[layer, head] = (lead(run(corrupted, {(layer, head): other})) - bottom) / (
                top - bottom
            )
    return shares


# 11/which-head


def looks_at_all_sources(run, texts, targets, sources, reference):
    """Indexes the weights with [:, sources], so looks averages every text over all the sources."""

    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    weights = run(texts).weights  # (L, N, H, T, T)
    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    damage = torch.zeros(means.shape[:2])
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    layer, head = divmod(int(damage.argmax()), damage.shape[1])
    looks = weights[layer, :, head, -1][:, sources].mean()
    return {
        "prediction": "layer 1, the head with the brightest column",
        "damage": damage,
        "head": (layer, head),
        "looks": looks,
    }


def replaced_only_at_the_hyphen(run, texts, targets, sources, reference):
    """Puts the mean in at the last position only, and leaves what the head found elsewhere."""

    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    whole = run(texts)
    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    damage = torch.zeros(means.shape[:2])
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            other = whole.found[layer, :, head].clone()  # (N, T, D)
            other[:, -1] = means[layer, head]
            damage[layer, head] = loss({(layer, head): other}) - loss({})
    head = divmod(int(damage.argmax()), damage.shape[1])
    rows = torch.arange(len(texts))
    looks = whole.weights[head[0], rows, head[1], -1, sources].mean()
    return {"prediction": (1, 0), "damage": damage, "head": head, "looks": looks}


def mean_of_the_last_position(run, texts, targets, sources, reference):
    """Takes the mean of reference over its last positions only, because the loss is taken there."""

    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    means = run(reference).found[:, :, :, -1].mean(dim=1)  # (L, H, D)
    damage = torch.zeros(means.shape[:2])
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    head = divmod(int(damage.argmax()), damage.shape[1])
    rows = torch.arange(len(texts))
    looks = run(texts).weights[head[0], rows, head[1], -1, sources].mean()
    return {"prediction": (1, 0), "damage": damage, "head": head, "looks": looks}


# 11/copying


def every_earlier_place_counted():
    """Counts each pair of a place and any earlier match, not only the last match of each place."""
    return {"text": "shakespeare", "one": 0.1170, "three": 0.4549, "found": 0.0472}


def found_among_known_symbols():
    """Measures found among the places whose symbol came before, not among all places."""
    return {"text": "shakespeare", "one": 0.1264, "three": 0.4525, "found": 0.0785}


def compares_what_comes_after():
    """Shifts the matrix the wrong way, so it compares the two symbols after, not those before."""
    return {"text": "shakespeare", "one": 0.1264, "three": 1.0, "found": 0.0472}


WRITTEN = {
    "11/previous-head": [
        scaled_for_positions_only,
        last_position_asks_nothing,
        writes_where_it_read,
    ],
    "11/prefix-matching": [
        own_place_never_counts,
        rolled_before_it_is_cut,
        counts_places_once_per_head,
    ],
    "11/lens": [spread_and_mean_exchanged, variance_about_zero, adds_up_the_streams],
    "11/circuits": [ov_as_if_it_took_columns, ov_with_skip_connection, both_tables_scaled],
    "11/ablation": [
        damage_never_below_zero,
        classes_second_by_reshape,
        mean_over_tested_texts_too,
    ],
    "11/patching": [
        logits_averaged_over_texts_first,
        shares_cut_to_zero_and_one,
        patched_only_where_texts_differ,
    ],
    "11/which-head": [
        looks_at_all_sources,
        replaced_only_at_the_hyphen,
        mean_of_the_last_position,
    ],
    "11/copying": [
        every_earlier_place_counted,
        found_among_known_symbols,
        compares_what_comes_after,
    ],
}

ASIDE = {
    "compares_what_comes_after",
    "counts_places_once_per_head",
    "damage_never_below_zero",
    "last_position_asks_nothing",
    "ov_with_skip_connection",
    "patched_only_where_texts_differ",
    "replaced_only_at_the_hyphen",
    "variance_about_zero",
}
