"""Wrong answers to chapter 11 that no list names: the twelfth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


def as_many_tokens_as_positions(V, T, strength):
    """Takes D = T, enough for positions, and torch.eye(T, V) then loses the tokens from T on."""
    C, D = V + T + V, T
    query, key, value = torch.zeros(D, C), torch.zeros(D, C), torch.zeros(D, C)
    output = torch.zeros(C, D)
    key[:, V : V + T] = torch.eye(T)
    for t in range(1, T):
        query[t - 1, V + t] = strength * math.sqrt(D)
    value[:, :V] = torch.eye(T, V)
    output[V + T :] = torch.eye(V, T)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


def itself_left_out(weights, tokens):
    """Leaves out s = t − 1, because what followed it is position t itself."""
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-2)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum().clamp(min=1)


# 11/lens


def without_the_embedding(streams, gain, shift, eps, unembedding):
    """Reads "after each layer" as the blocks alone, and leaves the stream before the first
    one out.
    """
    after = streams[1:]
    centered = after - after.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)
    normed = centered / torch.sqrt(variance + eps) * gain + shift
    return normed @ unembedding.T


# 11/circuits


def both_circuits_scaled(embedding, query, key, value, output, unembedding):
    """Divides the OV circuit by the root of D as well, which belongs to scores alone."""
    root = math.sqrt(query.shape[0])
    qk = embedding @ query.T @ key @ embedding.T / root
    ov = embedding @ value.T @ output.T @ unembedding.T / root
    return qk, ov


# 11/ablation


def heads_stay_replaced(run, tokens, targets, reference):
    """Goes on with one dictionary, so the heads before stay replaced when the next one is."""

    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    L, H, _ = means.shape
    whole, replaced, rise = loss({}), {}, torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            replaced[layer, head] = means[layer, head]
            rise[layer, head] = loss(replaced) - whole
    return rise


# 11/patching


def patched_at_the_end_only(run, clean, corrupted, right, wrong):
    """Patches the last position alone, because the lead is measured there."""

    def lead(ran):
        last = ran.logits[:, -1]
        rows = torch.arange(len(last))
        return (last[rows, right] - last[rows, wrong]).mean()

    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = bad.found[layer, :, head].clone()
            other[:, -1] = good.found[layer, :, head, -1]
            patched = run(corrupted, {(layer, head): other})
            shares[layer, head] = (lead(patched) - lead(bad)) / (lead(good) - lead(bad))
    return shares


# 11/which-head


def mean_at_the_hyphens(run, texts, targets, sources, reference):
    """Takes each head's mean over the last positions of the reference alone,
    as losses are there.
    """

    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    means = run(reference).found[:, :, :, -1].mean(dim=1)
    L, H, _ = means.shape
    damage = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    layer, head = divmod(int(damage.argmax()), H)
    weights = run(texts).weights[layer, :, head, -1]
    looks = weights[torch.arange(len(texts)), sources].mean()
    return {"prediction": "(1, 0)", "damage": damage, "head": (layer, head), "looks": looks}


# 11/copying


def shares_of_all_places():
    """Divided the right places by all places, instead of by those whose symbols came before."""
    return {"text": "shakespeare", "one": 0.0760, "three": 0.0214, "found": 0.0472}


WRITTEN = {
    "11/previous-head": [as_many_tokens_as_positions],
    "11/prefix-matching": [itself_left_out],
    "11/lens": [without_the_embedding],
    "11/circuits": [both_circuits_scaled],
    "11/ablation": [heads_stay_replaced],
    "11/patching": [patched_at_the_end_only],
    "11/which-head": [mean_at_the_hyphens],
    "11/copying": [shares_of_all_places],
}
