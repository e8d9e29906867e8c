"""Wrong answers to chapter 11 that no list names: the third set."""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


def first_position_looks_at_the_last(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        query[t - 1, V + t] = strength * math.sqrt(D)
    value[:V, :V] = output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


def latest_earlier_place_only(weights, tokens):
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        latest = {}
        for t in range(T):
            token = int(tokens[b, t])
            if token in latest:
                total += weights[b, :, t, latest[token] + 1]
                count += 1
            latest[token] = t
    return total / max(count, 1)


# 11/lens


def statistics_of_the_last_stream(streams, gain, shift, eps, unembedding):
    mean = streams[-1].mean(dim=-1, keepdim=True)
    variance = streams[-1].var(dim=-1, keepdim=True, unbiased=False)
    normed = (streams - mean) / (variance + eps).sqrt() * gain + shift
    return normed @ unembedding.T


# 11/circuits


def both_circuits_scaled(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = (embedding @ query.T) @ (embedding @ key.T).T / root
    ov = embedding @ value.T @ output.T @ unembedding.T / root
    return qk, ov


# 11/ablation


def heads_stay_replaced(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    L, H = means.shape[:2]

    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    whole, replaced, increase = loss({}), {}, torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            replaced[layer, head] = means[layer, head]
            increase[layer, head] = loss(replaced) - whole
    return increase


# 11/patching


def corrupted_into_clean(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(right))

    def lead(one):
        end = one.logits[:, -1]
        return (end[rows, right] - end[rows, wrong]).mean()

    bad = run(corrupted)
    top, bottom = lead(run(clean)), lead(bad)
    L, _, H = bad.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(clean, {(layer, head): bad.found[layer, :, head]})
            shares[layer, head] = (top - lead(patched)) / (top - bottom)
    return shares


# 11/which-head


def number_divided_by_the_layers(run, texts, targets, sources, reference):
    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)
    means = run(reference).found.mean(dim=(1, 3))
    damage = torch.zeros(looks.shape)
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    number = int(damage.argmax())
    return {
        "prediction": int(looks.argmax()),
        "damage": damage,
        "head": divmod(number, damage.shape[0]),
        "looks": float(looks.flatten()[number]),
    }


WRITTEN = {
    "11/previous-head": [first_position_looks_at_the_last],
    "11/prefix-matching": [latest_earlier_place_only],
    "11/lens": [statistics_of_the_last_stream],
    "11/circuits": [both_circuits_scaled],
    "11/ablation": [heads_stay_replaced],
    "11/patching": [corrupted_into_clean],
    "11/which-head": [number_divided_by_the_layers],
}
