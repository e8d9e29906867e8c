"""Wrong answers to chapter 11 that no list names: the seventh set, what students hand in.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


# Builds the model as one remembers it and forgets that it divides.
# "must be `strength` *after* the division by √D"
def strength_before_the_division(V, T, strength):
    C = 2 * V + T
    D = V + T
    query = torch.zeros(D, C)
    key = torch.zeros(D, C)
    value = torch.zeros(D, C)
    output = torch.zeros(C, D)
    for t in range(T):
        key[t, V + t] = 1
    for t in range(1, T):
        query[t - 1, V + t] = strength
    for i in range(V):
        value[i, i] = 1
        output[V + T + i, i] = 1
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


# Divides by the number of trues in the mask.
# "The score of a head is the mean of this over all such positions", not over all earlier places
def mean_over_the_pairs(weights, tokens):
    T = tokens.shape[1]
    mask = tokens.unsqueeze(2) == tokens.unsqueeze(1)
    mask = mask & torch.ones(T, T).tril(-1).bool()
    shifted = torch.zeros_like(mask)
    shifted[:, :, 1:] = mask[:, :, :-1]
    found = (weights * shifted[:, None]).sum(dim=(0, 2, 3))
    return found / max(int(mask.sum()), 1)


# 11/lens


# Writes the norm by hand with std, whose default is another one.
# "biased variance over the C channels of each position, `eps` under the root"
def std_and_eps(streams, gain, shift, eps, unembedding):
    mean = streams.mean(dim=-1, keepdim=True)
    std = streams.std(dim=-1, keepdim=True)
    x = gain * (streams - mean) / (std + eps) + shift
    return x @ unembedding.T


# Takes the final norm for something that belongs to the last stream.
# "Read all of them as logits …: through the final LayerNorm"
def norm_of_the_last_only(streams, gain, shift, eps, unembedding):
    last = F.layer_norm(streams[-1], (streams.shape[-1],), gain, shift, eps)
    streams = torch.cat([streams[:-1], last[None]])
    return torch.einsum("lbtc,vc->lbtv", streams, unembedding)


# 11/circuits


# Knows the chapter's model, which has one table for both.
# "Embedding and unembedding are two different matrices here."
def one_table_for_both(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    q = embedding @ query.T
    k = embedding @ key.T
    qk = q @ k.T / math.sqrt(D)
    ov = embedding @ (output @ value).T @ embedding.T
    return qk, ov


# 11/ablation


# Keeps the dictionary of one head and adds the next.
# "One head is replaced at a time, at all positions."
def replaced_heads_pile_up(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    L, H = means.shape[:2]
    base = F.cross_entropy(run(tokens).logits.transpose(1, 2), targets)
    rise = torch.zeros(L, H)
    patch = {}
    for layer in range(L):
        for head in range(H):
            patch[(layer, head)] = means[layer, head]
            logits = run(tokens, patch).logits
            rise[layer, head] = F.cross_entropy(logits.transpose(1, 2), targets) - base
    return rise


# 11/patching


# Divides text by text and takes the mean of the shares.
# "Average the leads over the texts first."
def mean_of_the_shares(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(clean))
    clean_run = run(clean)
    corrupted_run = run(corrupted)

    def lead(logits):
        return logits[rows, -1, right] - logits[rows, -1, wrong]

    c, k = lead(clean_run.logits), lead(corrupted_run.logits)
    L, _, H = clean_run.found.shape[:3]
    out = torch.zeros(L, H)
    for i in range(L):
        for h in range(H):
            p = lead(run(corrupted, {(i, h): clean_run.found[i, :, h]}).logits)
            out[i, h] = ((p - k) / (c - k)).mean()
    return out


# Mixes up where the piece comes from and where it goes.
# "put what it found in the clean run into the corrupted run"
def corrupted_into_clean(run, clean, corrupted, right, wrong):
    def lead(logits):
        last = logits[:, -1, :]
        r = last.gather(1, right.unsqueeze(1))
        w = last.gather(1, wrong.unsqueeze(1))
        return (r - w).mean().item()

    good, bad = run(clean), run(corrupted)
    good_lead, bad_lead = lead(good.logits), lead(bad.logits)
    L, H = good.found.shape[0], good.found.shape[2]
    shares = torch.empty(L, H)
    for layer in range(L):
        for head in range(H):
            patched = lead(run(clean, {(layer, head): bad.found[layer, :, head]}).logits)
            shares[layer, head] = (good_lead - patched) / (good_lead - bad_lead)
    return shares


# 11/which-head


# Pasted the answer of task 5, and its loss with it.
# "by how much the loss *at the hyphens* (the last position of each text) rises"
def loss_of_task_five(run, texts, targets, sources, reference):
    def loss(replaced):
        logits = run(texts, replaced).logits
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())

    means = run(reference).found.mean(dim=(1, 3))
    L, H = means.shape[:2]
    damage = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            damage[i, j] = loss({(i, j): means[i, j]}) - loss({})
    head = divmod(damage.argmax().item(), H)
    rows = torch.arange(len(texts))
    looks = run(texts).weights[head[0], rows, head[1], -1, sources].mean().item()
    return {"prediction": (1, 0), "damage": damage, "head": head, "looks": looks}


# Averages what the head gives to each column, and takes the columns of all texts.
# "how much weight that head gives from the hyphen to the source, averaged over the texts"
def sources_of_all_texts(run, texts, targets, sources, reference):
    whole = run(texts)
    means = run(reference).found.mean(dim=(1, 3))
    base = F.cross_entropy(whole.logits[:, -1], targets[:, -1])
    L, H, _ = means.shape
    damage = torch.zeros(L, H)
    for layer in range(L):
        for h in range(H):
            logits = run(texts, {(layer, h): means[layer, h]}).logits[:, -1]
            damage[layer, h] = F.cross_entropy(logits, targets[:, -1]) - base
    best = int(damage.argmax())
    layer, h = best // H, best % H
    looks = whole.weights[layer, :, h, -1, sources].mean().item()
    return {
        "prediction": "layer 1, the first head",
        "damage": damage,
        "head": (layer, h),
        "looks": looks,
    }


WRITTEN = {
    "11/previous-head": [strength_before_the_division],
    "11/prefix-matching": [mean_over_the_pairs],
    "11/lens": [std_and_eps, norm_of_the_last_only],
    "11/circuits": [one_table_for_both],
    "11/ablation": [replaced_heads_pile_up],
    "11/patching": [mean_of_the_shares, corrupted_into_clean],
    "11/which-head": [loss_of_task_five, sources_of_all_texts],
}
