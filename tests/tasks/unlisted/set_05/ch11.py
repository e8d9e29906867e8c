"""Chapter 11, the fifth set: task -> wrong answers, each beside the sentence that it breaks."""

import math

import torch
import torch.nn.functional as F


# "The head writes the token that it looks at", whichever of V it is: D is T here, and tokens from
# T on are lost.
def as_many_rows_as_positions(V, T, strength):
    D, C = T, V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(D)
    for token in range(min(V, D)):
        value[token, token] = output[V + T + token, token] = 1.0
    return {"query": query, "key": key, "value": value, "output": output}


# "The score of position t for position t − 1 must be `strength` after the division by √D"
def root_of_the_streams_channels(V, T, strength):
    D, C = max(V, T), V + T + V
    query, key, value = (torch.zeros(D, C) for _ in range(3))
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(C)
    value[:V, :V] = output[V + T :, :V] = torch.eye(V)
    return {"query": query, "key": key, "value": value, "output": output}


# "all positions s + 1 where s < t holds the same token": t itself is one where its token has just
# been.
def itself_is_left_out(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-2)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    earlier = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    return found / earlier.any(dim=-1).sum().clamp(min=1)


# "over all such positions of all texts": each text overwrites the one before.
def only_the_last_text(weights, tokens):
    for w, row in zip(weights, tokens, strict=True):
        same = (row[:, None] == row[None, :]).tril(-1)
        found = (w[..., 1:] * same[:, :-1]).sum(dim=(1, 2))
        score = found / same.any(dim=-1).sum().clamp(min=1)
    return score


# "What you return for the last stream must be the model's own logits."
def log_probabilities_of_the_lens(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-1:], gain, shift, eps)
    return (normed @ unembedding.T).log_softmax(dim=-1)


# "Read all of them as logits ... through the final LayerNorm": its own statistics, not those of
# the last stream.
def norm_of_the_last_stream(streams, gain, shift, eps, unembedding):
    mean = streams[-1].mean(dim=-1, keepdim=True)
    variance = streams[-1].var(dim=-1, keepdim=True, unbiased=False)
    return ((streams - mean) / (variance + eps).sqrt() * gain + shift) @ unembedding.T


# "ov[i, j] is by how much the logit of token j rises when the head looks at token i": through the
# value first, and then the output; the shapes fit the other way round, too.
def output_before_value(embedding, query, key, value, output, unembedding):
    queries, keys = embedding @ query.T, embedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    return qk, embedding @ output @ value @ unembedding.T


# "for a head that reads the embedding directly": the keys read the unembedding.
def keys_of_the_unembedding(embedding, query, key, value, output, unembedding):
    queries, keys = embedding @ query.T, unembedding @ key.T
    qk = queries @ keys.T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ unembedding.T


# "One head is replaced at a time": those before it stay replaced.
def heads_stay_replaced(run, tokens, targets, reference):
    def loss(replaced):
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    increase, replaced = torch.zeros(means.shape[:2]), {}
    whole = loss({})
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            replaced[layer, head] = means[layer, head]
            increase[layer, head] = loss(replaced) - whole
    return increase


# "Return loss with the head replaced minus loss of the whole model": divided by it, too.
def relative_rise(run, tokens, targets, reference):
    def loss(replaced):
        logits = run(tokens, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    increase, whole = torch.zeros(means.shape[:2]), loss({})
    for layer in range(means.shape[0]):
        for head in range(means.shape[1]):
            increase[layer, head] = loss({(layer, head): means[layer, head]}) / whole - 1
    return increase


def patched(run, clean, corrupted, lead, share):
    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            now = lead(run(corrupted, {(layer, head): good.found[layer, :, head]}))
            shares[layer, head] = share(now, top, bottom)
    return shares


def mean_lead(right, wrong):
    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    return lead


# "The share is (patched − corrupted) / (clean − corrupted)", which may be below 0 or above 1.
def shares_within_zero_and_one(run, clean, corrupted, right, wrong):
    def share(now, top, bottom):
        return ((now - bottom) / (top - bottom)).clamp(0, 1)

    return patched(run, clean, corrupted, mean_lead(right, wrong), share)


# "A lead is the logit of `right` minus the logit of `wrong`": these are probabilities.
def leads_of_probabilities(run, clean, corrupted, right, wrong):
    def lead(one):
        end = one.logits[:, -1].softmax(dim=-1)
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    def share(now, top, bottom):
        return (now - bottom) / (top - bottom)

    return patched(run, clean, corrupted, lead, share)


def measured(run, texts, targets, sources, reference):
    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)
    means = run(reference).found.mean(dim=(1, 3))
    damage = torch.zeros(looks.shape)
    for layer in range(damage.shape[0]):
        for head in range(damage.shape[1]):
            damage[layer, head] = loss({(layer, head): means[layer, head]}) - loss({})
    return looks, damage


# "`looks`: how much weight that head gives": that of the bet is another head's.
def looks_of_the_bet(run, texts, targets, sources, reference):
    looks, damage = measured(run, texts, targets, sources, reference)
    bet = divmod(int(looks.argmax()), looks.shape[1])
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": bet, "damage": damage, "head": head, "looks": looks[bet]}


# "`head`: the pair (layer, head)": divided by the number of layers.
def divided_by_the_layers(run, texts, targets, sources, reference):
    looks, damage = measured(run, texts, targets, sources, reference)
    head = divmod(int(damage.argmax()), damage.shape[0])
    best = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": "head 0", "damage": damage, "head": head, "looks": looks[best]}


WRITTEN = {
    "11/previous-head": [as_many_rows_as_positions, root_of_the_streams_channels],
    "11/prefix-matching": [itself_is_left_out, only_the_last_text],
    "11/lens": [log_probabilities_of_the_lens, norm_of_the_last_stream],
    "11/circuits": [output_before_value, keys_of_the_unembedding],
    "11/ablation": [heads_stay_replaced, relative_rise],
    "11/patching": [shares_within_zero_and_one, leads_of_probabilities],
    "11/which-head": [looks_of_the_bet, divided_by_the_layers],
}

ASIDE = {
    "itself_is_left_out",
    "heads_stay_replaced",
    "leads_of_probabilities",
    "looks_of_the_bet",
}
