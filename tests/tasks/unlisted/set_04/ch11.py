"""Wrong answers to chapter 11 that no list names: the fourth set.

The comment before each says which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


# "writes the token that it looks at": also where there are more tokens than positions
def head_as_wide_as_the_positions(V, T, strength):
    D, C = T, V + T + V
    query, key = torch.zeros(D, C), torch.zeros(D, C)
    value, output = torch.zeros(D, C), torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1.0
        if t > 0:
            query[t - 1, V + t] = strength * math.sqrt(D)
    for token in range(min(V, D)):
        value[token, token] = 1.0
        output[V + T + token, token] = 1.0
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


# "the mean of this over all such positions of all texts, each position counting the same"
def mean_of_the_texts(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(2, 3))
    return (found / same.any(dim=-1).sum(dim=1).clamp(min=1)[:, None]).mean(dim=0)


# "add up the weights on all positions s + 1 where s < t holds the same token"
def last_earlier_place_alone(weights, tokens):
    B, H = weights.shape[:2]
    total, count = torch.zeros(H), 0
    for b in range(B):
        seen = {}
        for t, token in enumerate(tokens[b].tolist()):
            if token in seen:
                total += weights[b, :, t, seen[token] + 1]
                count += 1
            seen[token] = t
    return total / max(count, 1)


# 11/lens


# "through the final LayerNorm": the statistics are those of the stream that is read
def statistics_of_the_last_stream(streams, gain, shift, eps, unembedding):
    last = streams[-1]
    mean = last.mean(dim=-1, keepdim=True)
    variance = last.var(dim=-1, keepdim=True, unbiased=False)
    normed = (streams - mean) / (variance + eps).sqrt() * gain + shift
    return normed @ unembedding.T


# 11/circuits


# "the logit of token j rises when the head looks at token i": out by the unembedding
def embeddings_exchanged_in_ov(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    return qk, unembedding @ value.T @ output.T @ embedding.T


# 11/ablation


# "the mean is one vector (D,) for each head: over all texts and positions of reference"
def a_mean_for_each_position(run, tokens, targets, reference):
    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    T = tokens.shape[1]
    means = run(reference).found[:, :, :, :T].mean(dim=1)
    L, H = means.shape[:2]
    return torch.tensor(
        [[float(loss({(n, h): means[n, h]}) - loss({})) for h in range(H)] for n in range(L)]
    )


# "one head is replaced at a time"
def heads_stay_replaced(run, tokens, targets, reference):
    def loss(replaced):
        return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    whole, replaced = loss({}), {}
    increase = torch.zeros(means.shape[:2])
    for n in range(means.shape[0]):
        for h in range(means.shape[1]):
            replaced[n, h] = means[n, h]
            increase[n, h] = loss(replaced) - whole
    return increase


# 11/patching


def patched_shares(run, clean, corrupted, lead, found):
    good = run(clean)
    top, bottom = lead(good), lead(run(corrupted))
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    for n in range(L):
        for h in range(H):
            one = run(corrupted, {(n, h): found(good)[n, :, h]})
            shares[n, h] = (lead(one) - bottom) / (top - bottom)
    return shares


# "a lead is the logit of right minus the logit of wrong"
def lead_of_probabilities(run, clean, corrupted, right, wrong):
    def lead(one):
        p = one.logits[:, -1].softmax(dim=-1)
        return (p.gather(1, right[:, None]) - p.gather(1, wrong[:, None])).mean()

    return patched_shares(run, clean, corrupted, lead, lambda good: good.found)


# "put what it found in the clean run into the corrupted run": each text its own pair's
def mean_of_the_clean_texts(run, clean, corrupted, right, wrong):
    def lead(one):
        end = one.logits[:, -1]
        return (end.gather(1, right[:, None]) - end.gather(1, wrong[:, None])).mean()

    def found(good):
        return good.found.mean(dim=1, keepdim=True).expand_as(good.found)

    return patched_shares(run, clean, corrupted, lead, found)


# 11/which-head


# "looks: how much weight that head gives from the hyphen to the source"
def looks_of_the_bet(run, texts, targets, sources, reference):
    def loss(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    rows = torch.arange(len(texts))
    looks = run(texts).weights[:, rows, :, -1, sources].mean(dim=0)
    bet = divmod(int(looks.argmax()), looks.shape[1])
    means = run(reference).found.mean(dim=(1, 3))
    damage = torch.zeros(looks.shape)
    for n in range(damage.shape[0]):
        for h in range(damage.shape[1]):
            damage[n, h] = loss({(n, h): means[n, h]}) - loss({})
    head = divmod(int(damage.argmax()), damage.shape[1])
    return {"prediction": bet, "damage": damage, "head": head, "looks": float(looks.max())}


# 11/copying


# "the share of all places": as the two others, between 0 and 1
def found_in_percent():
    return {"text": "shakespeare", "one": 0.126, "three": 0.453, "found": 4.7}


WRITTEN = {
    "11/previous-head": [head_as_wide_as_the_positions],
    "11/prefix-matching": [mean_of_the_texts, last_earlier_place_alone],
    "11/lens": [statistics_of_the_last_stream],
    "11/circuits": [embeddings_exchanged_in_ov],
    "11/ablation": [a_mean_for_each_position, heads_stay_replaced],
    "11/patching": [lead_of_probabilities, mean_of_the_clean_texts],
    "11/which-head": [looks_of_the_bet],
    "11/copying": [found_in_percent],
}

ASIDE = {
    "mean_of_the_texts",
    "last_earlier_place_alone",
    "a_mean_for_each_position",
}
