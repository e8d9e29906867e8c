"""Wrong answers to chapter 11 that no list names: the eleventh set.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


# Remembers that the scale comes from the number of channels, and takes those of the stream:
# "must be `strength` *after* the division by √D"
def root_of_the_channels_of_the_stream(V, T, strength):
    C = V + T + V
    D = max(V, T)
    query = torch.zeros(D, C)
    key = torch.zeros(D, C)
    key[:T, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = torch.eye(T - 1) * strength * math.sqrt(C)
    value = torch.zeros(D, C)
    value[:V, :V] = torch.eye(V)
    output = torch.zeros(C, D)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


# Comes from statistics and divides by as many as were added up, which are pairs: "the mean of this
# over all such positions of all texts"
def mean_over_pairs_of_places(weights, tokens):
    H, T = weights.shape[1:3]
    same = tokens[:, :, None] == tokens[:, None, :]
    before = torch.ones(T, T, dtype=torch.bool).tril(diagonal=-1)
    same = same & before
    if not same.any():
        return torch.zeros(H)
    shifted = torch.zeros_like(same)
    shifted[:, :, 1:] = same[:, :, :-1]
    return torch.stack([weights[:, h][shifted].mean() for h in range(H)])


# 11/lens


# Comes from NumPy and writes −= to save memory: "your functions leave what they are given as it
# was"
def center_the_streams_in_place(streams, gain, shift, eps, unembedding):
    streams -= streams.mean(dim=-1, keepdim=True)
    variance = (streams**2).mean(dim=-1, keepdim=True)
    normed = streams / torch.sqrt(variance + eps) * gain + shift
    return normed @ unembedding.T


# 11/ablation


# Did task 7 first and took its loss over, with the last position only: "The loss is the mean
# cross-entropy in nats", of all of `tokens` and `targets`
def loss_of_the_last_positions(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    L, H, _ = means.shape
    whole = F.cross_entropy(run(tokens).logits[:, -1], targets[:, -1])
    rise = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            logits = run(tokens, {(layer, head): means[layer, head]}).logits
            rise[layer, head] = F.cross_entropy(logits[:, -1], targets[:, -1]) - whole
    return rise


# 11/patching


# Adapted the answer to task 5 and kept its mean: "put what it found in the clean run into the
# corrupted run"
def patch_with_the_mean_of_the_clean_run(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(right))

    def lead(result):
        last = result.logits[:, -1]
        return (last[rows, right] - last[rows, wrong]).mean()

    clean_run = run(clean)
    corrupted_lead = lead(run(corrupted))
    whole = lead(clean_run) - corrupted_lead
    means = clean_run.found.mean(dim=(1, 3))
    share = torch.zeros(means.shape[:2])
    for layer in range(share.shape[0]):
        for head in range(share.shape[1]):
            patched = run(corrupted, {(layer, head): means[layer, head]})
            share[layer, head] = (lead(patched) - corrupted_lead) / whole
    return share


# 11/which-head


# Hurried at the end, and returns the weight of the head of the bet: "how much weight that head
# gives", the one that is missed most
def looks_of_the_head_of_the_bet(run, texts, targets, sources, reference):
    weights = run(texts).weights
    L, N, H = weights.shape[:3]
    looks = torch.zeros(L, H)
    for n in range(N):
        looks += weights[:, n, :, -1, sources[n]] / N
    best = looks.argmax().item()
    prediction = (best // H, best % H)

    means = run(reference).found.mean(dim=(1, 3))
    before = F.cross_entropy(run(texts).logits[:, -1], targets[:, -1])
    damage = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            logits = run(texts, {(layer, head): means[layer, head]}).logits
            damage[layer, head] = F.cross_entropy(logits[:, -1], targets[:, -1]) - before
    worst = damage.argmax().item()
    return {
        "prediction": prediction,
        "damage": damage,
        "head": (worst // H, worst % H),
        "looks": looks[prediction].item(),
    }


WRITTEN = {
    "11/previous-head": [root_of_the_channels_of_the_stream],
    "11/prefix-matching": [mean_over_pairs_of_places],
    "11/lens": [center_the_streams_in_place],
    "11/ablation": [loss_of_the_last_positions],
    "11/patching": [patch_with_the_mean_of_the_clean_run],
    "11/which-head": [looks_of_the_head_of_the_bet],
}
