"""Wrong answers to chapter 11 that no list names: the sixth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


# "strength after the division by √D": D is the number of rows of the query, not the channels
def root_of_the_channels(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value, output = (torch.zeros(D, C) for _ in range(4))
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(C)
    value[:V, :V] = torch.eye(V)
    output[:V, V + T :] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output.T}


# "the score for every other position 0": position 0 has the last one before it here
def ring_of_positions(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value, output = (torch.zeros(D, C) for _ in range(4))
    key[:T, V : V + T] = torch.eye(T)
    query[:T, V : V + T] = torch.eye(T).roll(-1, dims=0) * strength * math.sqrt(D)
    value[:V, :V] = torch.eye(V)
    output[:V, V + T :] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output.T}


# "The head writes the token that it looks at", whichever of the V: T channels are too few for it
# where there are more tokens than positions
def as_many_tokens_as_positions(V, T, strength):
    C = V + T + V
    query, key, value = (torch.zeros(T, C) for _ in range(3))
    output = torch.zeros(C, T)
    key[:, V : V + T] = torch.eye(T)
    query[: T - 1, V + 1 : V + T] = torch.eye(T - 1) * strength * math.sqrt(T)
    value[:, :V] = torch.eye(T, V)
    output[V + T :] = torch.eye(V, T)
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


# "add up the weights on all positions s + 1": here on the one behind the last earlier place
def behind_the_last_place(weights, tokens):
    B, H = weights.shape[:2]
    found, n = torch.zeros(H), 0
    for b in range(B):
        last = {}
        for t, token in enumerate(tokens[b].tolist()):
            if token in last:
                found += weights[b, :, t, last[token] + 1]
                n += 1
            last[token] = t
    return found / max(n, 1)


# "where s < t holds the same token": also t − 1, behind which t itself comes
def not_behind_the_neighbor(weights, tokens):
    earlier = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    behind = earlier.roll(1, dims=-1).tril(-1)
    found = (weights * behind[:, None]).sum(dim=(0, 2, 3))
    return found / earlier.any(dim=-1).sum().clamp(min=1)


# "If no token comes back at all, every score is 0": there is one for each head
def one_zero_for_all_heads(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    if not same.any():
        return torch.tensor(0.0)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.any(dim=-1).sum()


# 11/lens


# "The norm is that of the model": of each stream's own mean and variance, not of the last one's
def statistics_of_the_last_stream(streams, gain, shift, eps, unembedding):
    mean = streams[-1].mean(dim=-1, keepdim=True)
    variance = streams[-1].var(dim=-1, keepdim=True, correction=0)
    normed = gain * (streams - mean) / (variance + eps).sqrt() + shift
    return normed @ unembedding.T


# "Read all of them as logits [...]: through the final LayerNorm": the one before the first block
# too
def embedding_without_norm(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, (streams.shape[-1],), gain, shift, eps)
    normed[0] = streams[0]
    return normed @ unembedding.T


# "unembedding: (V, C)": also where V is C, and nothing but the order tells the two axes apart
def transposed_only_if_it_must_be(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, (streams.shape[-1],), gain, shift, eps)
    if unembedding.shape[0] != streams.shape[-1]:
        unembedding = unembedding.T
    return normed @ unembedding


# 11/circuits


# "qk[i, j] is the score that a position with token i gives": tokens are not places, so none of
# them is in another's future
def no_score_for_later_tokens(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk.tril(), ov


# "by how much the logit of token j rises when the head looks at token i": the scores alone are
# divided
def both_circuits_scaled(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = embedding @ query.T @ key @ embedding.T / root
    ov = embedding @ value.T @ output.T @ unembedding.T / root
    return qk, ov


# "by how much the logit of token j rises": not compared with what the other logits do
def logits_centered(embedding, query, key, value, output, unembedding):
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(query.shape[0])
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov - ov.mean(dim=1, keepdim=True)


# 11/ablation


# "One head is replaced at a time": here those before it stay replaced
def heads_stay_replaced(run, tokens, targets, reference):
    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    whole, replaced = loss({}), {}
    rise = torch.zeros(means.shape[:2])
    for layer in range(rise.shape[0]):
        for head in range(rise.shape[1]):
            replaced[layer, head] = means[layer, head]
            rise[layer, head] = loss(replaced) - whole
    return rise


# "loss with the head replaced minus loss of the whole model": less than 0 for a head that harms
def no_head_harms(run, tokens, targets, reference):
    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    rise = torch.zeros(means.shape[:2])
    for layer in range(rise.shape[0]):
        for head in range(rise.shape[1]):
            rise[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    return rise.clamp(min=0)


# "over all texts and positions of reference": there may be more of them than of the tested ones
def as_many_texts_as_are_tested(run, tokens, targets, reference):
    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    means = run(reference[: len(tokens)]).found.mean(dim=(1, 3))
    rise = torch.zeros(means.shape[:2])
    for layer in range(rise.shape[0]):
        for head in range(rise.shape[1]):
            rise[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    return rise


# 11/patching


# "A lead is the logit of right minus the logit of wrong": here of their probabilities
def lead_of_probabilities(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1].softmax(dim=-1)
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good = run(clean)
    bottom = lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (lead(good) - bottom)
    return shares


# "One head is patched at a time, at all positions": here at the last one
def patched_at_the_end_only(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            mixed = bad.found[layer, :, head].clone()
            mixed[:, -1] = good.found[layer, :, head, -1]
            patched = run(corrupted, {(layer, head): mixed})
            shares[layer, head] = (lead(patched) - lead(bad)) / (lead(good) - lead(bad))
    return shares


# "The share is (patched − corrupted) / (clean − corrupted)": it may be negative, or above 1
def shares_between_0_and_1(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    good = run(clean)
    bottom = lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            patched = run(corrupted, {(layer, head): good.found[layer, :, head]})
            shares[layer, head] = (lead(patched) - bottom) / (lead(good) - bottom)
    return shares.clamp(0, 1)


# 11/which-head


def _damage(run, texts, targets, means):
    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    damage = torch.zeros(means.shape[:2])
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    return damage


# "looks: how much weight that head gives": the one that is missed, not the one that was bet on
def looks_of_the_bet(run, texts, targets, sources, reference):
    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)
    bet = divmod(int(looks.argmax()), looks.shape[1])
    damage = _damage(run, texts, targets, run(reference).found.mean(dim=(1, 3)))
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": bet, "damage": damage, "head": head, "looks": float(looks[bet])}


# "its mean over reference, as in task 5": over all positions, not at the hyphens alone
def mean_at_the_hyphens(run, texts, targets, sources, reference):
    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)
    damage = _damage(run, texts, targets, run(reference).found[..., -1, :].mean(dim=1))
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": "1, 2", "damage": damage, "head": head, "looks": float(looks[head])}


# "how much weight that head gives from the hyphen to the source": not to wherever it looks most
def weight_where_it_looks_most(run, texts, targets, sources, reference):
    weights = run(texts).weights[:, :, :, -1]
    damage = _damage(run, texts, targets, run(reference).found.mean(dim=(1, 3)))
    layer, head = divmod(int(damage.argmax()), damage.shape[1])
    looks = weights[layer, :, head].amax(dim=-1).mean().item()
    return {"prediction": (1, 1), "damage": damage, "head": (layer, head), "looks": looks}


WRITTEN = {
    "11/previous-head": [root_of_the_channels, ring_of_positions, as_many_tokens_as_positions],
    "11/prefix-matching": [behind_the_last_place, not_behind_the_neighbor, one_zero_for_all_heads],
    "11/lens": [
        statistics_of_the_last_stream,
        embedding_without_norm,
        transposed_only_if_it_must_be,
    ],
    "11/circuits": [no_score_for_later_tokens, both_circuits_scaled, logits_centered],
    "11/ablation": [heads_stay_replaced, no_head_harms, as_many_texts_as_are_tested],
    "11/patching": [lead_of_probabilities, patched_at_the_end_only, shares_between_0_and_1],
    "11/which-head": [
        looks_of_the_bet,
        mean_at_the_hyphens,
        weight_where_it_looks_most,
    ],
}

ASIDE = {
    "behind_the_last_place",
    "embedding_without_norm",
    "no_score_for_later_tokens",
    "logits_centered",
    "lead_of_probabilities",
    "mean_at_the_hyphens",
    "weight_where_it_looks_most",
}
