"""Wrong answers to chapter 11 that no list names: the seventeenth set.

Each docstring says what the student did wrong.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


def undoes_the_root_of_the_channels(V, T, strength):
    """Multiplies by the root of C, where the scores are divided by the root of D."""
    C = V + T + V
    D = max(V, T)
    query, key, value = torch.zeros(D, C), torch.zeros(D, C), torch.zeros(D, C)
    output = torch.zeros(C, D)
    for t in range(T):
        query[t, V + t] = strength * math.sqrt(C)
    for t in range(T - 1):
        key[t + 1, V + t] = 1.0
    for v in range(V):
        value[v, v] = 1.0
        output[V + T + v, v] = 1.0
    return {"query": query, "key": key, "value": value, "output": output}


def root_on_both_sides(V, T, strength):
    """Multiplies query and key by the root of D, so one root of it is left in the scores."""
    C, D = 2 * V + T, V + T
    root = D**0.5
    query = torch.zeros(D, C)
    key = torch.zeros(D, C)
    query[:T, V : V + T] = torch.eye(T) * strength * root
    key[1:T, V : V + T - 1] = torch.eye(T - 1) * root
    value = torch.zeros(D, C)
    value[:V, :V] = torch.eye(V)
    output = torch.zeros(C, D)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


def own_place_counts_as_earlier(weights, tokens):
    """Keeps the diagonal, so that every position seems to have come before and is counted."""
    T = tokens.shape[1]
    same = (tokens[:, :, None] == tokens[:, None, :]).tril()
    behind = torch.zeros_like(same)
    behind[:, :, 1:] = same[:, :, :-1]
    behind &= torch.ones(T, T, dtype=torch.bool).tril()
    total = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    count = same.any(dim=-1).sum()
    return total / count.clamp(min=1)


def divides_by_the_pairs(weights, tokens):
    """Divides by the number of pairs of equal tokens, for that of positions with any."""
    before = tokens.unsqueeze(2) == tokens.unsqueeze(1)
    before = before.tril(diagonal=-1)
    pairs = before.sum()
    if pairs == 0:
        return torch.zeros(weights.shape[1])
    return torch.einsum("bhts,bts->h", weights[..., 1:], before[..., :-1].float()) / pairs


# 11/lens


def eps_of_the_library(streams, gain, shift, eps, unembedding):
    """Calls layer_norm without eps, which then is 1e-5."""
    normed = F.layer_norm(streams, (streams.shape[-1],), gain, shift)
    return normed @ unembedding.T


def variance_around_zero(streams, gain, shift, eps, unembedding):
    """Divides by the root of the mean square of the stream, whose mean is not yet subtracted."""
    mean = streams.mean(dim=-1, keepdim=True)
    square = streams.pow(2).mean(dim=-1, keepdim=True)
    x = (streams - mean) * torch.rsqrt(square + eps)
    return torch.einsum("lbtc,vc->lbtv", x * gain + shift, unembedding)


# 11/circuits


def root_of_the_wrong_axis(embedding, query, key, value, output, unembedding):
    """Reads D from the last axis of the query, where C is."""
    queries = embedding @ query.T
    keys = embedding @ key.T
    qk = queries @ keys.T / math.sqrt(query.shape[-1])
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov


def skip_connection_in_the_table(embedding, query, key, value, output, unembedding):
    """Adds the token itself to what the head writes, as if it were the logit and not its rise."""
    D = query.size(0)
    qk = (embedding @ query.T) @ (embedding @ key.T).T / D**0.5
    written = embedding @ value.T @ output.T
    ov = (embedding + written) @ unembedding.T
    return qk, ov


# 11/ablation


def mean_of_all_heads_of_the_layer(run, tokens, targets, reference):
    """Averages over the heads too, so all heads of a layer find the same mean."""

    def loss(replaced):
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    found = run(reference).found
    means = found.mean(dim=(1, 2, 3))
    L, H = found.shape[0], found.shape[2]
    whole = F.cross_entropy(run(tokens).logits.flatten(0, 1), targets.flatten())
    rises = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            rises[layer, head] = loss({(layer, head): means[layer]}) - whole
    return rises


def replaced_heads_stay_replaced(run, tokens, targets, reference):
    """Fills one dictionary and never empties it, so each head is tested without those before."""
    found = run(reference).found
    L, _, H, _, D = found.shape
    mean = found.transpose(1, 2).reshape(L, H, -1, D).mean(dim=2)
    y = targets.reshape(-1)

    whole = F.cross_entropy(run(tokens).logits.reshape(len(y), -1), y)
    result = torch.empty(L, H)
    other = {}
    for i in range(L):
        for h in range(H):
            other[i, h] = mean[i, h]
            logits = run(tokens, other).logits
            result[i, h] = F.cross_entropy(logits.reshape(len(y), -1), y) - whole
    return result


# 11/patching


def lead_of_probabilities(run, clean, corrupted, right, wrong):
    """Takes the lead between probabilities instead of logits."""

    def lead(logits):
        probabilities = logits[:, -1].softmax(dim=-1)
        rows = torch.arange(len(right))
        return (probabilities[rows, right] - probabilities[rows, wrong]).mean()

    good, bad = run(clean), run(corrupted)
    top, bottom = lead(good.logits), lead(bad.logits)
    L, _, H = good.found.shape[:3]
    share = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            share[layer, head] = (lead(patched.logits) - bottom) / (top - bottom)
    return share


def last_find_at_all_positions(run, clean, corrupted, right, wrong):
    """Hands over what the head found at the last position, which broadcasts to all positions."""

    def mean_lead(logits):
        last = logits[:, -1]
        difference = last.gather(1, right[:, None]) - last.gather(1, wrong[:, None])
        return difference.mean().item()

    source = run(clean)
    high = mean_lead(source.logits)
    low = mean_lead(run(corrupted).logits)
    table = [
        [
            mean_lead(run(corrupted, {(i, h): source.found[i, :, h, -1:]}).logits)
            for h in range(source.found.shape[2])
        ]
        for i in range(source.found.shape[0])
    ]
    return (torch.tensor(table) - low) / (high - low)


# 11/which-head


def looks_from_the_source_to_the_hyphen(run, texts, targets, sources, reference):
    """Swaps row and column of the weights, and finds how much the source looks at the hyphen."""
    found = run(reference).found
    L, _, H = found.shape[:3]
    plain = run(texts)
    last = targets[:, -1]
    whole = F.cross_entropy(plain.logits[:, -1], last)
    damage = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            mean = found[layer, :, head].mean(dim=(0, 1))
            logits = run(texts, {(layer, head): mean}).logits[:, -1]
            damage[layer, head] = F.cross_entropy(logits, last) - whole
    layer, head = divmod(int(damage.argmax()), H)
    looks = plain.weights[layer, torch.arange(len(texts)), head, sources, -1].mean()
    return {
        "prediction": "layer 1, head 0: its weights at the hyphen are the sharpest",
        "damage": damage,
        "head": (layer, head),
        "looks": float(looks),
    }


def mean_of_the_last_positions(run, texts, targets, sources, reference):
    """Averages the reference at its last position only, because the loss is taken there."""
    usual = run(reference).found[:, :, :, -1].mean(dim=1)  # (L, H, D)
    whole = run(texts)
    y = targets[:, -1]
    base = F.cross_entropy(whole.logits[:, -1], y)
    damage = torch.stack(
        [
            torch.stack(
                [
                    F.cross_entropy(run(texts, {(i, h): usual[i, h]}).logits[:, -1], y) - base
                    for h in range(usual.shape[1])
                ]
            )
            for i in range(usual.shape[0])
        ]
    )
    best = damage.argmax().item()
    layer, head = best // damage.shape[1], best % damage.shape[1]
    at_hyphen = whole.weights[layer, :, head, -1]  # (N, T)
    looks = at_hyphen.gather(1, sources[:, None]).mean().item()
    return {"prediction": (1, 1), "damage": damage, "head": (layer, head), "looks": looks}


WRITTEN = {
    "11/previous-head": [undoes_the_root_of_the_channels, root_on_both_sides],
    "11/prefix-matching": [own_place_counts_as_earlier, divides_by_the_pairs],
    "11/lens": [eps_of_the_library, variance_around_zero],
    "11/circuits": [root_of_the_wrong_axis, skip_connection_in_the_table],
    "11/ablation": [mean_of_all_heads_of_the_layer, replaced_heads_stay_replaced],
    "11/patching": [lead_of_probabilities, last_find_at_all_positions],
    "11/which-head": [looks_from_the_source_to_the_hyphen, mean_of_the_last_positions],
}
