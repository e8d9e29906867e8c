"""Wrong answers to chapter 11 that no list names: the fourteenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


def root_in_both(V, T, strength):
    """Multiplies query and key both by √D, so the score comes out as strength · √D."""
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = math.sqrt(D)
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(D)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


def rolled_before_triangle(weights, tokens):
    """Rolls the mask before cutting the triangle, so repeats of the last token mark place 0."""
    same = tokens[:, :, None] == tokens[:, None, :]  # (B, T, T)
    behind = same.roll(1, dims=-1).tril()  # s + 1 ≤ t
    total = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return total / same.tril(-1).any(dim=-1).sum().clamp(min=1)


# 11/lens


def squares_not_centered(streams, gain, shift, eps, unembedding):
    """Subtracts the mean, but takes the mean square of the uncentered stream as variance."""
    mean = streams.mean(dim=-1, keepdim=True)
    variance = streams.square().mean(dim=-1, keepdim=True)
    normed = (streams - mean) / (variance + eps).sqrt() * gain + shift
    return normed @ unembedding.T


# 11/circuits


def scaled_by_tokens(embedding, query, key, value, output, unembedding):
    """Divides the scores by the root of len(queries), the number of tokens V, instead of √D."""
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(queries))
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov


# 11/ablation


def averaged_over_heads(run, tokens, targets, reference):
    """Averages over texts and heads, not positions, and takes the mean of place h for head h."""
    found = run(reference).found
    L, _, H = found.shape[:3]
    means = found.mean(dim=(1, 2))

    def loss(replaced):
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    whole = loss({})
    increase = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            increase[layer, head] = loss({(layer, head): means[layer, head]}) - whole
    return increase


# 11/patching


def mean_of_clean_texts(run, clean, corrupted, right, wrong):
    """Patches in the mean over the clean texts, not what was found in each text's own pair."""

    def lead(logits):
        end = logits[:, -1]
        rows = torch.arange(len(end))
        return (end[rows, right] - end[rows, wrong]).mean()

    good = run(clean)
    top, bottom = lead(good.logits), lead(run(corrupted).logits)
    L, _, H = good.found.shape[:3]
    means = good.found.mean(dim=1)  # (L, H, T, D)
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = lead(run(corrupted, {(layer, head): means[layer, head]}).logits)
            shares[layer, head] = (patched - bottom) / (top - bottom)
    return shares


# 11/which-head


def mean_of_last_position(run, texts, targets, sources, reference):
    """Takes each head's mean over the last positions of the reference only, not over all."""

    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)  # (L, H)
    bet = divmod(int(looks.argmax()), looks.shape[1])
    means = run(reference).found[:, :, :, -1].mean(dim=1)  # (L, H, D)
    whole = loss({})
    damage = torch.zeros(looks.shape)
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - whole
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": bet, "damage": damage, "head": head, "looks": float(looks[head])}


# 11/copying


def edges_left_unconstrained():
    """Ands only inner slices, so places 0 and 1 of a window count as found with fewer symbols."""
    return {"text": "shakespeare", "one": 0.1264, "three": 0.2845, "found": 0.1042}


WRITTEN = {
    "11/previous-head": [root_in_both],
    "11/prefix-matching": [rolled_before_triangle],
    "11/lens": [squares_not_centered],
    "11/circuits": [scaled_by_tokens],
    "11/ablation": [averaged_over_heads],
    "11/patching": [mean_of_clean_texts],
    "11/which-head": [mean_of_last_position],
    "11/copying": [edges_left_unconstrained],
}
