"""Wrong answers to chapter 11 that no list names: the eighth set.

The comment before each says who wrote it, and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


# Shifts with NumPy's roll, which brings the last row to the front.
# "and the score for every other position 0": position 0 gives `strength` to the last one
def shifted_around_the_end(V, T, strength):
    C = V + T + V
    D = max(V, T)
    positions = torch.eye(T)
    query, key = torch.zeros(D, C), torch.zeros(D, C)
    query[:T, V : V + T] = torch.roll(positions, -1, dims=0) * strength * math.sqrt(D)
    key[:T, V : V + T] = positions
    value, output = torch.zeros(D, C), torch.zeros(C, D)
    value[:V, :V] = torch.eye(V)
    output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# Read "so it looks at itself" as one more score to set.
# "the score for every other position 0"
def position_zero_asks_for_itself(V, T, strength):
    D, C = max(V, T), V + T + V
    query = torch.zeros(D, C)
    key = torch.zeros(D, C)
    value = torch.zeros(D, C)
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1
        query[max(t - 1, 0), V + t] = strength * D**0.5
    for v in range(V):
        value[v, v] = 1
        output[V + T + v, v] = 1
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


# Takes the mean of a text first and that of the texts afterwards.
# "the mean of this over all such positions of all texts, each position counting the same"
def mean_of_the_texts(weights, tokens):
    scores = []
    for w, row in zip(weights, tokens, strict=True):
        same = (row[:, None] == row[None, :]).tril(-1)
        if same.any():
            found = (w[:, :, 1:] * same[:, :-1]).sum(dim=-1)  # (H, T)
            scores.append(found[:, same.any(dim=-1)].mean(dim=-1))
    if not scores:
        return torch.zeros(weights.shape[1])
    return torch.stack(scores).mean(dim=0)


# Remembers the induction head of the chapter, which finds the last place.
# "add up the weights on all positions s + 1 where s < t holds the same token"
def last_place_alone(weights, tokens):
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        last = {}
        for t in range(T):
            token = int(tokens[b, t])
            if token in last:
                total += weights[b, :, t, last[token] + 1]
                count += 1
            last[token] = t
    return total / count if count else total


# 11/lens


# Called the function without looking up its last argument.
# "`eps` under the root. `eps` is not small here."
def eps_not_handed_on(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, (streams.shape[-1],), gain, shift)
    return normed @ unembedding.T


# Takes "the final LayerNorm" to be one that is set up where the model ends.
# "of each position": each stream has a mean and a variance of its own
def statistics_of_the_last_stream(streams, gain, shift, eps, unembedding):
    final = streams[-1]
    mean = final.mean(dim=-1, keepdim=True)
    var = final.var(dim=-1, keepdim=True, unbiased=False)
    normed = (streams - mean) / torch.sqrt(var + eps) * gain + shift
    return torch.einsum("lbtc,vc->lbtv", normed, unembedding)


# 11/circuits


# Writes OV in the order of the paper, W_U W_O W_V W_E, where columns are sources.
# "`ov[i, j]` is by how much the logit of token j rises when the head looks at token i"
def ov_in_the_order_of_the_paper(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(D)
    ov = unembedding @ output @ value @ embedding.T
    return qk, ov


# Takes the shape of a weight the other way round.
# "scaled as in the model": by √D, not by √C
def divided_by_the_root_of_c(embedding, query, key, value, output, unembedding):
    q = F.linear(embedding, query)
    k = F.linear(embedding, key)
    qk = q @ k.T / query.shape[-1] ** 0.5
    ov = F.linear(F.linear(F.linear(embedding, value), output), unembedding)
    return qk, ov


# 11/ablation


# Averages over the first axis after the layers and lets broadcasting do the rest.
# "one vector (D,) for each head: over all texts *and* positions"
def a_mean_for_each_position(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=1)  # (L, H, T, D)
    logits = run(tokens).logits
    whole = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
    L, H = means.shape[:2]
    result = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            logits = run(tokens, {(layer, head): means[layer, head]}).logits
            loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten())
            result[layer, head] = loss - whole
    return result


# Makes the dict once, before the loops, and adds to it.
# "One head is replaced at a time"
def replaced_heads_stay_replaced(run, tokens, targets, reference):
    found = run(reference).found
    L, N, H, T, D = found.shape
    mean = found.permute(0, 2, 1, 3, 4).reshape(L, H, N * T, D).mean(dim=2)
    replaced = {}

    def loss_now():
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.transpose(1, 2), targets)

    base = loss_now()
    rises = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            replaced[i, j] = mean[i, j]
            rises[i, j] = loss_now() - base
    return rises


# 11/patching


# Is used to shares that are computed for each case and then averaged.
# "Average the leads over the texts first."
def mean_of_the_shares(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(clean))

    def leads(result):
        last = result.logits[:, -1]
        return last[rows, right] - last[rows, wrong]

    clean_run = run(clean)
    high, low = leads(clean_run), leads(run(corrupted))
    L, _, H, _, _ = clean_run.found.shape
    shares = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            patched = leads(run(corrupted, {(i, j): clean_run.found[i, :, j]}))
            shares[i, j] = ((patched - low) / (high - low)).mean()
    return shares


# Exchanged the two runs, and measures what is lost.
# "put what it found in the clean run into the corrupted run"
def corrupted_into_the_clean_run(run, clean, corrupted, right, wrong):
    def lead(logits):
        right_logit = logits[:, -1].gather(1, right[:, None])
        wrong_logit = logits[:, -1].gather(1, wrong[:, None])
        return (right_logit - wrong_logit).mean()

    bad = run(corrupted)
    high = lead(run(clean).logits)
    low = lead(bad.logits)
    L, H = bad.found.shape[0], bad.found.shape[2]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            logits = run(clean, {(layer, head): bad.found[layer, :, head]}).logits
            shares[layer, head] = (high - lead(logits)) / (high - low)
    return shares


# 11/which-head


# Divided by the number of layers, and exchanged the two when an index was out of range.
# "`head`: the pair (layer, head) that is missed most"
def row_and_column_by_the_number_of_layers(run, texts, targets, sources, reference):
    result = run(texts)
    L, N, H = result.weights.shape[:3]
    means = run(reference).found.mean(dim=(1, 3))
    base = F.cross_entropy(result.logits[:, -1], targets[:, -1])
    damage = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            logits = run(texts, {(i, j): means[i, j]}).logits
            damage[i, j] = F.cross_entropy(logits[:, -1], targets[:, -1]) - base
    best = damage.argmax().item()
    layer, head = best % L, best // L
    looks = result.weights[layer, torch.arange(N), head, -1, sources].mean()
    return {"prediction": "(1, 0)", "damage": damage, "head": (layer, head), "looks": looks}


# Copied the loss of task 5.
# "the loss *at the hyphens* (the last position of each text)"
def loss_of_all_positions(run, texts, targets, sources, reference):
    def loss(replaced):
        logits = run(texts, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    whole = loss({})
    damage = torch.stack(
        [
            torch.stack([loss({(i, j): means[i, j]}) - whole for j in range(means.shape[1])])
            for i in range(means.shape[0])
        ]
    )
    layer, head = divmod(int(damage.argmax()), damage.shape[1])
    weights = run(texts).weights[layer, :, head, -1]  # (N, T)
    looks = weights.gather(1, sources[:, None]).mean().item()
    return {"prediction": (1, 1), "damage": damage, "head": (layer, head), "looks": looks}


# Indexed with a slice and a tensor, and took the mean of the table that came out.
# "how much weight that head gives from the hyphen to the source": of the same text
def looks_at_the_sources_of_all_texts(run, texts, targets, sources, reference):
    result = run(texts)
    means = run(reference).found.mean(dim=(1, 3))
    L, H, _ = means.shape

    def loss(logits):
        return F.cross_entropy(logits[:, -1], targets[:, -1])

    damage = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            changed = run(texts, {(layer, head): means[layer, head]})
            damage[layer, head] = loss(changed.logits) - loss(result.logits)
    layer, head = divmod(int(damage.argmax()), H)
    looks = result.weights[layer, :, head, -1][:, sources].mean()
    return {
        "prediction": "layer 1, head 2, which looks there most",
        "damage": damage,
        "head": (layer, head),
        "looks": looks,
    }


WRITTEN = {
    "11/previous-head": [
        shifted_around_the_end,
        position_zero_asks_for_itself,
    ],
    "11/prefix-matching": [mean_of_the_texts, last_place_alone],
    "11/lens": [eps_not_handed_on, statistics_of_the_last_stream],
    "11/circuits": [ov_in_the_order_of_the_paper, divided_by_the_root_of_c],
    "11/ablation": [a_mean_for_each_position, replaced_heads_stay_replaced],
    "11/patching": [mean_of_the_shares, corrupted_into_the_clean_run],
    "11/which-head": [
        row_and_column_by_the_number_of_layers,
        loss_of_all_positions,
        looks_at_the_sources_of_all_texts,
    ],
}

ASIDE = {
    "last_place_alone",
    "eps_not_handed_on",
    "mean_of_the_shares",
    "corrupted_into_the_clean_run",
}
