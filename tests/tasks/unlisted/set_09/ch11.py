"""Wrong answers to chapter 11 that no list names: the ninth set.

The comment before each says who hands it in and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


# A reader of the chapter, where the scale was that of the channels.
# "The score of position t for position t − 1 must be `strength` *after* the division by √D"
def strength_times_root_of_channels(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value = torch.zeros(D, C), torch.zeros(D, C), torch.zeros(D, C)
    output = torch.zeros(C, D)
    key[:T, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = torch.eye(T - 1) * strength * math.sqrt(C)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# A NumPy user, who took the diagonal above the main one for the one before.
# "Write the four matrices of a head that looks one position back"
def diagonal_on_the_other_side(V, T, strength):
    D, C = V + T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    query[:T, V : V + T] = strength * math.sqrt(D) * torch.eye(T)
    key[:T, V : V + T] = torch.diag(torch.ones(T - 1), 1)
    value[:V, :V] = torch.eye(V)
    output = torch.zeros(C, D)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


# A Keras user, for whom a metric is first one of each sample.
# "The score of a head is the mean of this over all such positions of all texts, each position
# counting the same."
def mean_of_the_means_of_texts(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[:, :, :, 1:] * same[:, None, :, :-1]).sum(dim=(2, 3))  # (B, H)
    again = same.any(dim=-1).sum(dim=-1).clamp(min=1)  # (B,)
    return (found / again[:, None]).mean(dim=0)


# A statistician, who divides by as many as were added.
# "add up the weights on all positions s + 1"
def mean_over_pairs(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    behind = torch.zeros_like(same)
    behind[:, :, 1:] = same[:, :, :-1]
    total = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return total / behind.sum().clamp(min=1)


# 11/lens


# Somebody who writes a norm as in old code, with eps against a division by 0.
# "biased variance over the C channels of each position, `eps` under the root"
def eps_beside_the_root(streams, gain, shift, eps, unembedding):
    mean = streams.mean(dim=-1, keepdim=True)
    std = streams.std(dim=-1, correction=0, keepdim=True)
    normed = (streams - mean) / (std + eps) * gain + shift
    return normed @ unembedding.T


# Somebody who gave the norm the wrong shape and then moved gain and shift until it ran.
# "biased variance over the C channels of each position"
def norm_over_positions_too(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-2:], eps=eps)
    normed = normed * gain + shift
    return normed @ unembedding.T


# 11/circuits


# Somebody who takes the second axis of a Linear's weight for the width of the head.
# "the score that a position with token i gives to a position with token j, scaled as in the model"
def scaled_by_the_stream(embedding, query, key, value, output, unembedding):
    D = query.shape[1]
    qk = (embedding @ query.T) @ (embedding @ key.T).T / D**0.5
    ov = embedding @ (output @ value).T @ unembedding.T
    return qk, ov


# A hurried one, whose GPT had tied weights.
# "Embedding and unembedding are two different matrices here."
def tied_circuits(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(D)
    ov = embedding @ value.T @ output.T @ embedding.T
    return qk, ov


# One who thinks of columns as those who look.
# "`qk[i, j]` is the score that a position with token i gives to a position with token j"
def keys_ask_queries(embedding, query, key, value, output, unembedding):
    queries = embedding @ query.T
    keys = embedding @ key.T
    qk = keys @ queries.T / math.sqrt(queries.shape[-1])
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov


# 11/ablation


# A Java programmer, who made the map outside of the loops.
# "One head is replaced at a time, at all positions."
def replaced_heads_add_up(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    L, H = means.shape[:2]
    logits = run(tokens).logits
    whole = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    result = torch.zeros(L, H)
    replaced = {}
    for layer in range(L):
        for head in range(H):
            replaced[(layer, head)] = means[layer, head]
            logits = run(tokens, replaced).logits
            result[layer, head] = F.cross_entropy(logits.flatten(0, 1), targets.flatten()) - whole
    return result


# A tired one, who took the mean of the run that was at hand.
# "over all texts *and* positions of `reference`, other texts than the ones tested"
def mean_of_the_tested_texts(run, tokens, targets, reference):
    whole = run(tokens)
    means = whole.found.mean(dim=(1, 3))
    before = F.cross_entropy(whole.logits.transpose(1, 2), targets)
    increase = []
    for layer in range(means.shape[0]):
        row = []
        for head in range(means.shape[1]):
            logits = run(tokens, {(layer, head): means[layer, head]}).logits
            row.append(F.cross_entropy(logits.transpose(1, 2), targets) - before)
        increase.append(torch.stack(row))
    return torch.stack(increase)


# 11/patching


# A statistician, who would rather have probabilities.
# "A *lead* is the logit of `right` minus the logit of `wrong` at the last position."
def leads_of_probabilities(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(right))

    def lead(one):
        probs = one.logits[:, -1].softmax(dim=-1)
        return (probs[rows, right] - probs[rows, wrong]).mean()

    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (top - bottom)
    return shares


# One who concluded from the lead that the patch too is made at the last position.
# "One head is patched at a time, at all positions."
def patched_at_the_last_position(run, clean, corrupted, right, wrong):
    def lead(one):
        end = one.logits[:, -1]
        difference = end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])
        return difference.mean()

    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = bad.found[layer, :, head].clone()
            other[:, -1] = good.found[layer, :, head, -1]
            patched = lead(run(corrupted, {(layer, head): other}))
            shares[layer, head] = (patched - lead(bad)) / (lead(good) - lead(bad))
    return shares


# 11/which-head


# One who read "at the hyphens" and took the means there as well.
# "when each head finds its mean over `reference`, as in task 5"
def means_of_last_positions(run, texts, targets, sources, reference):
    clean = run(texts)
    rows = torch.arange(len(texts))
    means = run(reference).found[:, :, :, -1].mean(dim=1)  # (L, H, D)
    L, H = means.shape[:2]
    whole = F.cross_entropy(clean.logits[:, -1], targets[:, -1])
    damage = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            logits = run(texts, {(layer, head): means[layer, head]}).logits[:, -1]
            damage[layer, head] = F.cross_entropy(logits, targets[:, -1]) - whole
    layer, head = divmod(damage.argmax().item(), H)
    looks = clean.weights[layer, rows, head, -1, sources].mean().item()
    return {"prediction": (1, 0), "damage": damage, "head": (layer, head), "looks": looks}


# One who calls every place where a head looks most "the source".
# "how much weight that head gives from the hyphen to the source, averaged over the texts"
def largest_weight_of_the_hyphen(run, texts, targets, sources, reference):
    clean = run(texts)
    means = run(reference).found.mean(dim=(1, 3))
    whole = F.cross_entropy(clean.logits[:, -1], targets[:, -1])
    damage = torch.zeros(means.shape[:2])
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            logits = run(texts, {(layer, head): means[layer, head]}).logits
            damage[layer, head] = F.cross_entropy(logits[:, -1], targets[:, -1]) - whole
    best = damage.argmax().item()
    head = (best // damage.shape[1], best % damage.shape[1])
    looks = clean.weights[head[0], :, head[1], -1].max(dim=-1).values.mean().item()
    return {"prediction": "the first one", "damage": damage, "head": head, "looks": looks}


WRITTEN = {
    "11/previous-head": [strength_times_root_of_channels, diagonal_on_the_other_side],
    "11/prefix-matching": [mean_of_the_means_of_texts, mean_over_pairs],
    "11/lens": [eps_beside_the_root, norm_over_positions_too],
    "11/circuits": [scaled_by_the_stream, tied_circuits, keys_ask_queries],
    "11/ablation": [replaced_heads_add_up, mean_of_the_tested_texts],
    "11/patching": [leads_of_probabilities, patched_at_the_last_position],
    "11/which-head": [means_of_last_positions, largest_weight_of_the_hyphen],
}

ASIDE = {
    "diagonal_on_the_other_side",
    "mean_over_pairs",
    "norm_over_positions_too",
    "tied_circuits",
    "keys_ask_queries",
    "means_of_last_positions",
}
