"""Wrong answers to chapter 11 that no list names: the tenth set.

The comment before each says who wrote it and which sentence of the statement it breaks.
"""

import math

import torch
import torch.nn.functional as F

# 11/previous-head


# Began with D = T, raised D when the value matrix did not fit, and left the factor as it was.
# "must be `strength` *after* the division by √D"
def factor_of_the_first_try(V, T, strength):
    C = V + T + V
    factor = strength * math.sqrt(T)
    D = max(T, V)
    query, key, value = torch.zeros(D, C), torch.zeros(D, C), torch.zeros(D, C)
    for t in range(T):
        query[t, V + t] = factor
        if t + 1 < T:
            key[t + 1, V + t] = 1.0
    output = torch.zeros(C, D)
    for v in range(V):
        value[v, v] = 1.0
        output[V + T + v, v] = 1.0
    return {"query": query, "key": key, "value": value, "output": output}


# 11/prefix-matching


# Puts texts and heads into one axis as a library does, and repeats the mask in the other order.
# "add up the weights on all positions s + 1 where s < t holds the same token": of the same text
def mask_repeated_in_the_other_order(weights, tokens):
    B, H, T, _ = weights.shape
    same = (tokens.unsqueeze(2) == tokens.unsqueeze(1)).tril(diagonal=-1)
    positions = same.any(dim=2).sum()
    if positions == 0:
        return torch.zeros(H)
    flat = weights.reshape(B * H, T, T)
    mask = same.repeat(H, 1, 1)
    found = (flat[:, :, 1:] * mask[:, :, :-1]).sum(dim=(1, 2))
    return found.view(B, H).sum(dim=0) / positions


# 11/lens


# Comes from a library whose last hidden state has been through the final norm already.
# "Read all of them as logits ...: through the final LayerNorm"
def last_stream_taken_as_normed(streams, gain, shift, eps, unembedding):
    logits = []
    for i, stream in enumerate(streams):
        if i < len(streams) - 1:
            mean = stream.mean(dim=-1, keepdim=True)
            var = stream.var(dim=-1, unbiased=False, keepdim=True)
            stream = (stream - mean) / torch.sqrt(var + eps) * gain + shift
        logits.append(stream @ unembedding.T)
    return torch.stack(logits)


# 11/circuits


# A statistician who knows that only differences of logits count, and centers each row.
# "`ov[i, j]` is by how much the logit of token j rises"
def rows_of_ov_centered(embedding, query, key, value, output, unembedding):
    D = query.shape[0]
    qk = embedding @ query.T @ key @ embedding.T / math.sqrt(D)
    ov = embedding @ value.T @ output.T @ unembedding.T
    return qk, ov - ov.mean(dim=1, keepdim=True)


# 11/ablation


# From a framework whose losses are added up over a text and averaged over the batch.
# "The loss is the mean cross-entropy in nats."
def loss_averaged_over_texts_only(run, tokens, targets, reference):
    def loss(logits):
        each = F.cross_entropy(logits.transpose(1, 2), targets, reduction="none")
        return each.sum(dim=1).mean()

    base = loss(run(tokens).logits)
    found = run(reference).found
    L, _, H, _, D = found.shape
    damage = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            mean = found[i, :, j].reshape(-1, D).mean(dim=0)
            damage[i, j] = loss(run(tokens, {(i, j): mean}).logits) - base
    return damage


# 11/patching


# Read elsewhere of patching in the other direction, which breaks the clean run.
# "put what it found in the clean run into the corrupted run"
def corrupted_findings_in_the_clean_run(run, clean, corrupted, right, wrong):
    rows = torch.arange(len(clean))

    def lead(logits):
        return (logits[rows, -1, right] - logits[rows, -1, wrong]).mean()

    bad = run(corrupted)
    top, bottom = lead(run(clean).logits), lead(bad.logits)
    L, _, H, _, _ = bad.found.shape
    shares = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            broken = lead(run(clean, {(i, j): bad.found[i, :, j]}).logits)
            shares[i, j] = (top - broken) / (top - bottom)
    return shares


# Thinks of the lead, which is read at the last position, and takes what was found there.
# "One head is patched at a time, at all positions."
def last_finding_at_all_positions(run, clean, corrupted, right, wrong):
    def lead(result):
        end = result.logits[:, -1, :]
        of_right = end.gather(1, right.unsqueeze(1)).squeeze(1)
        of_wrong = end.gather(1, wrong.unsqueeze(1)).squeeze(1)
        return of_right.mean() - of_wrong.mean()

    clean_run, corrupted_run = run(clean), run(corrupted)
    span = lead(clean_run) - lead(corrupted_run)
    L, H = clean_run.found.shape[0], clean_run.found.shape[2]
    table = torch.zeros(L, H)
    for layer in range(L):
        for head in range(H):
            other = clean_run.found[layer, :, head, -1:, :]
            patched = run(corrupted, {(layer, head): other})
            table[layer, head] = (lead(patched) - lead(corrupted_run)) / span
    return table


# 11/which-head


# Measures at the hyphens only, so takes the mean of the last positions only.
# "each head finds its mean over `reference`, as in task 5": over texts and positions
def mean_of_the_last_positions(run, texts, targets, sources, reference):
    whole = run(texts)
    base = F.cross_entropy(whole.logits[:, -1], targets[:, -1])
    means = run(reference).found[:, :, :, -1].mean(dim=1)  # (L, H, D)
    L, H = means.shape[:2]
    damage = torch.zeros(L, H)
    looks = torch.zeros(L, H)
    for i in range(L):
        for j in range(H):
            logits = run(texts, {(i, j): means[i, j]}).logits
            damage[i, j] = F.cross_entropy(logits[:, -1], targets[:, -1]) - base
            row = whole.weights[i, :, j, -1]  # (N, T)
            looks[i, j] = row[torch.arange(len(texts)), sources].mean()
    best = int(damage.argmax())
    head = (best // H, best % H)
    return {
        "prediction": "the one that looks at the capital",
        "damage": damage,
        "head": head,
        "looks": looks[head].item(),
    }


WRITTEN = {
    "11/previous-head": [factor_of_the_first_try],
    "11/prefix-matching": [mask_repeated_in_the_other_order],
    "11/lens": [last_stream_taken_as_normed],
    "11/circuits": [rows_of_ov_centered],
    "11/ablation": [loss_averaged_over_texts_only],
    "11/patching": [corrupted_findings_in_the_clean_run, last_finding_at_all_positions],
    "11/which-head": [mean_of_the_last_positions],
}
