"""Wrong answers to chapter 11 that no list names: the fifteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


def tokens_shifted_as_well(V, T, strength):
    """Query and key pass tokens on as well as positions, so token i also scores token i − 1."""
    D, C = V + T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    key[:, :D] = torch.eye(D)
    query[:, :D] = torch.diag(torch.ones(D - 1), 1) * strength * math.sqrt(D)
    query[V - 1] = 0.0  # a position is not matched with a token
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


def seen_not_emptied(weights, tokens):
    """Counts with a set of seen tokens that isn't emptied between texts, so divides by too many."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)  # (B, T, T)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))  # (H,)
    seen, count = set(), 0
    for text in tokens.tolist():
        for token in text:
            if token in seen:
                count += 1
            seen.add(token)
    return found / max(count, 1)


# 11/lens


def eps_as_a_floor(streams, gain, shift, eps, unembedding):
    """Takes eps as the smallest variance that is allowed (clamp), instead of adding it."""
    mean = streams.mean(dim=-1, keepdim=True)
    variance = streams.var(dim=-1, keepdim=True, correction=0)
    normed = (streams - mean) / variance.clamp(min=eps).sqrt() * gain + shift
    return normed @ unembedding.T


# 11/circuits


def output_reshaped(embedding, query, key, value, output, unembedding):
    """Brings the output matrix to (D, C) with reshape instead of transposing it, so OV is wrong."""
    D, C = value.shape
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(D)
    ov = embedding @ value.T @ output.reshape(D, C) @ unembedding.T
    return qk, ov


# 11/ablation


def tested_texts_in_the_mean(run, tokens, targets, reference):
    """Takes the mean over the reference and the tested texts together, to have more of them."""

    def loss(replaced):
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    means = run(torch.cat([reference, tokens])).found.mean(dim=(1, 3))  # (L, H, D)
    whole = loss({})
    increase = torch.zeros(means.shape[:2])
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            increase[layer, head] = loss({(layer, head): means[layer, head]}) - whole
    return increase


# 11/patching


def others_held_fast(run, clean, corrupted, right, wrong):
    """Holds all other heads at what they found in the corrupted run, so later ones can't react."""

    def lead(one):
        end = one.logits[:, -1]  # (B, V)
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good, bad = run(clean), run(corrupted)
    top, bottom = lead(good), lead(bad)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            replaced = {(i, j): bad.found[i, :, j] for i in range(L) for j in range(H)}
            replaced[layer, head] = good.found[layer, :, head]
            shares[layer, head] = (lead(run(corrupted, replaced)) - bottom) / (top - bottom)
    return shares


# 11/which-head


def logarithm_of_the_mean(run, texts, targets, sources, reference):
    """Averages the probabilities of the targets before the logarithm, so the loss is too small."""
    rows = torch.arange(len(texts))

    def loss(replaced):
        chances = run(texts, replaced).logits[:, -1].softmax(dim=-1)  # (N, V)
        return -chances[rows, targets[:, -1]].mean().log()

    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)  # (L, H)
    bet = divmod(int(looks.argmax()), looks.shape[1])
    means = run(reference).found.mean(dim=(1, 3))  # (L, H, D)
    whole = loss({})
    damage = torch.zeros(looks.shape)
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - whole
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": bet, "damage": damage, "head": head, "looks": float(looks[head])}


# 11/copying


def shares_of_windows_averaged():
    """Averages the shares of the single windows (leaving out empty ones), not over all places."""
    return {"text": "shakespeare", "one": 0.1255, "three": 0.3117, "found": 0.0472}


WRITTEN = {
    "11/previous-head": [tokens_shifted_as_well],
    "11/prefix-matching": [seen_not_emptied],
    "11/lens": [eps_as_a_floor],
    "11/circuits": [output_reshaped],
    "11/ablation": [tested_texts_in_the_mean],
    "11/patching": [others_held_fast],
    "11/which-head": [logarithm_of_the_mean],
    "11/copying": [shares_of_windows_averaged],
}
