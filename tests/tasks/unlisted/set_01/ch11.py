"""Unlisted wrong answers to chapter 11."""

import math

import torch
from torch.nn import functional as F

# 11/previous-head


def only_as_many_as_positions(V, T, strength):
    C = V + T + V
    query, key = torch.zeros(T, C), torch.zeros(T, C)
    value, output = torch.zeros(T, C), torch.zeros(C, T)
    query[:, V : V + T] = torch.eye(T).roll(-1, dims=0) * strength * math.sqrt(T)
    key[:, V : V + T] = torch.eye(T)
    width = min(V, T)
    value[:width, :width] = output[V + T : V + T + width, :width] = torch.eye(width)
    return {"query": query, "key": key, "value": value, "output": output}


def _head(V, T, strength, *, key=1.0, value=1.0, last=None):
    """The right one, with places to go wrong."""
    D, C = max(V, T), V + T + V
    made = {name: torch.zeros(D, C) for name in ("query", "key", "value")}
    made["output"] = torch.zeros(C, D)
    for t in range(T):
        made["key"][t, V + t] = key
        if 0 < t < (last or T):
            made["query"][t - 1, V + t] = strength * math.sqrt(D)
    made["value"][:V, :V] = value * torch.eye(V)
    made["output"][V + T :, :V] = torch.eye(V)
    return made


def strength_of_both(V, T, strength):
    return _head(V, T, strength, key=strength)


def also_into_the_token(V, T, strength):
    made = _head(V, T, strength)
    made["output"][:V, :V] = torch.eye(V)
    return made


def value_times_strength(V, T, strength):
    return _head(V, T, strength, value=strength)


def all_but_the_last_row(V, T, strength):
    return _head(V, T, strength, last=T - 1)


# 11/prefix-matching


def last_place_only(weights, tokens):
    B, H, T, _ = weights.shape
    total, count = torch.zeros(H), 0
    for b in range(B):
        for t in range(T):
            before = [s for s in range(t) if tokens[b, s] == tokens[b, t]]
            if before:
                count += 1
                total += weights[b, :, t, before[-1] + 1]
    return total / max(count, 1)


def mean_over_places(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    return found / same.sum().clamp(min=1)


def best_text(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(2, 3))
    return (found / same.any(dim=-1).sum(dim=1).clamp(min=1)[:, None]).amax(dim=0)


def one_score_for_all_heads(weights, tokens):
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(-1)
    found = (weights[..., 1:] * same[:, None, :, :-1]).sum(dim=(0, 2, 3))
    score = found / same.any(dim=-1).sum().clamp(min=1)
    return score.mean().expand(len(score))


# 11/lens


def norm_of_all_channels_and_positions(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-2:], None, None, eps)
    return (normed * gain + shift) @ unembedding.T


def eps_outside_of_the_root(streams, gain, shift, eps, unembedding):
    gap = streams - streams.mean(dim=-1, keepdim=True)
    normed = gap / (gap.square().mean(dim=-1, keepdim=True).sqrt() + eps)
    return (normed * gain + shift) @ unembedding.T


def norm_for_the_last_only(streams, gain, shift, eps, unembedding):
    logits = streams @ unembedding.T
    logits[-1] = F.layer_norm(streams[-1], gain.shape, gain, shift, eps) @ unembedding.T
    return logits


def probabilities(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-1:], gain, shift, eps)
    return (normed @ unembedding.T).softmax(dim=-1)


def gain_after_the_shift(streams, gain, shift, eps, unembedding):
    normed = F.layer_norm(streams, streams.shape[-1:], None, None, eps)
    return ((normed + shift) * gain) @ unembedding.T


# 11/circuits


def one_embedding_for_both(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ embedding.T


def scaled_by_channels(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(query.shape[1])
    return qk, embedding @ value.T @ output.T @ unembedding.T


def keys_ask(embedding, query, key, value, output, unembedding):
    qk = (embedding @ key.T) @ (embedding @ query.T).T / math.sqrt(len(query))
    return qk, embedding @ value.T @ output.T @ unembedding.T


def ov_scaled_too(embedding, query, key, value, output, unembedding):
    root = math.sqrt(len(query))
    qk = (embedding @ query.T) @ (embedding @ key.T).T / root
    return qk, embedding @ value.T @ output.T @ unembedding.T / root


def weights_for_scores(embedding, query, key, value, output, unembedding):
    qk = (embedding @ query.T) @ (embedding @ key.T).T / math.sqrt(len(query))
    return qk.softmax(dim=-1), embedding @ value.T @ output.T @ unembedding.T


# 11/ablation


def _loss(run, tokens, targets, replaced):
    return F.cross_entropy(run(tokens, replaced).logits.flatten(0, 1), targets.flatten())


def _increase(run, tokens, targets, mean):
    L, H = run(tokens).found.shape[0], run(tokens).found.shape[2]
    whole = _loss(run, tokens, targets, {})
    rows = [
        [_loss(run, tokens, targets, {(n, h): mean(n, h)}) - whole for h in range(H)]
        for n in range(L)
    ]
    return torch.tensor(rows)


def median_for_mean(run, tokens, targets, reference):
    found = run(reference).found
    return _increase(
        run, tokens, targets, lambda n, h: found[n, :, h].flatten(0, 1).median(dim=0).values
    )


def mean_number(run, tokens, targets, reference):
    found = run(reference).found
    return _increase(run, tokens, targets, lambda n, h: found[n, :, h].mean())


def mean_of_the_first_text(run, tokens, targets, reference):
    found = run(reference[:1]).found.mean(dim=(1, 3))
    return _increase(run, tokens, targets, lambda n, h: found[n, h])


def whole_layers(run, tokens, targets, reference):
    means = run(reference).found.mean(dim=(1, 3))
    L, H = means.shape[:2]
    whole = _loss(run, tokens, targets, {})
    rows = [
        _loss(run, tokens, targets, {(n, h): means[n, h] for h in range(H)}) - whole
        for n in range(L)
    ]
    return torch.tensor(rows)[:, None].expand(L, H)


# 11/patching


def _lead(one, right, wrong):
    end, rows = one.logits[:, -1], torch.arange(len(right))
    return end[rows, right] - end[rows, wrong]


def _shares(run, clean, corrupted, right, wrong, share, lead=_lead):
    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    rows = [
        [
            share(
                lead(run(corrupted, {(n, h): good.found[n, :, h]}), right, wrong),
                lead(good, right, wrong),
                lead(bad, right, wrong),
            )
            for h in range(H)
        ]
        for n in range(L)
    ]
    return torch.tensor(rows)


def mean_of_shares(run, clean, corrupted, right, wrong):
    return _shares(run, clean, corrupted, right, wrong, lambda p, c, b: ((p - b) / (c - b)).mean())


def share_of_the_clean_lead(run, clean, corrupted, right, wrong):
    return _shares(
        run, clean, corrupted, right, wrong, lambda p, c, b: (p.mean() - b.mean()) / c.mean()
    )


def share_that_is_missing(run, clean, corrupted, right, wrong):
    return _shares(
        run,
        clean,
        corrupted,
        right,
        wrong,
        lambda p, c, b: (c.mean() - p.mean()) / (c.mean() - b.mean()),
    )


def difference_of_probabilities(run, clean, corrupted, right, wrong):
    def lead(one, right, wrong):
        end, rows = one.logits[:, -1].softmax(dim=-1), torch.arange(len(right))
        return end[rows, right] - end[rows, wrong]

    return _shares(
        run,
        clean,
        corrupted,
        right,
        wrong,
        lambda p, c, b: (p.mean() - b.mean()) / (c.mean() - b.mean()),
        lead,
    )


def last_position_only(run, clean, corrupted, right, wrong):
    good, bad = run(clean), run(corrupted)
    L, _, H = good.found.shape[:3]
    shares = torch.zeros(L, H)
    c, b = (_lead(one, right, wrong).mean() for one in (good, bad))
    for n in range(L):
        for h in range(H):
            mixed = bad.found[n, :, h].clone()
            mixed[:, -1] = good.found[n, :, h, -1]
            p = _lead(run(corrupted, {(n, h): mixed}), right, wrong).mean()
            shares[n, h] = (p - b) / (c - b)
    return shares


# 11/which-head


def _report(run, texts, targets, sources, reference, *, loss=None, means=None, looks=None):
    def at_the_end(replaced):
        return F.cross_entropy(run(texts, replaced).logits[:, -1], targets[:, -1])

    loss = loss or at_the_end
    means = run(reference).found.mean(dim=(1, 3)) if means is None else means
    L, H = means.shape[:2]
    damage = torch.tensor(
        [[loss({(n, h): means[n, h]}) - loss({}) for h in range(H)] for n in range(L)]
    )
    n, h = divmod(int(damage.argmax()), H)
    weights = run(texts).weights[n, torch.arange(len(texts)), h, -1, sources]
    return {
        "prediction": "layer 1",
        "damage": damage,
        "head": (n, h),
        "looks": weights.mean() if looks is None else looks(n, h),
    }


def loss_at_every_position(run, texts, targets, sources, reference):
    return _report(
        run,
        texts,
        targets,
        sources,
        reference,
        loss=lambda replaced: F.cross_entropy(
            run(texts, replaced).logits.flatten(0, 1), targets.flatten()
        ),
    )


def mean_of_the_tested_texts(run, texts, targets, sources, reference):
    means = run(texts).found.mean(dim=(1, 3))
    return _report(run, texts, targets, sources, reference, means=means)


def largest_weight_anywhere(run, texts, targets, sources, reference):
    weights = run(texts).weights
    return _report(
        run,
        texts,
        targets,
        sources,
        reference,
        looks=lambda n, h: weights[n, :, h, -1].amax(dim=-1).mean(),
    )


def head_counted_from_one(run, texts, targets, sources, reference):
    report = _report(run, texts, targets, sources, reference)
    n, h = report["head"]
    return report | {"head": (n + 1, h + 1)}


def source_of_the_first_text(run, texts, targets, sources, reference):
    weights = run(texts).weights
    return _report(
        run,
        texts,
        targets,
        sources,
        reference,
        looks=lambda n, h: weights[n, :, h, -1, int(sources[0])].mean(),
    )


WRITTEN = {
    "11/previous-head": [
        only_as_many_as_positions,
        strength_of_both,
        also_into_the_token,
        value_times_strength,
        all_but_the_last_row,
    ],
    "11/prefix-matching": [
        last_place_only,
        mean_over_places,
        best_text,
        one_score_for_all_heads,
    ],
    "11/lens": [
        norm_of_all_channels_and_positions,
        eps_outside_of_the_root,
        norm_for_the_last_only,
        probabilities,
        gain_after_the_shift,
    ],
    "11/circuits": [
        one_embedding_for_both,
        scaled_by_channels,
        keys_ask,
        ov_scaled_too,
        weights_for_scores,
    ],
    "11/ablation": [
        median_for_mean,
        mean_number,
        mean_of_the_first_text,
        whole_layers,
    ],
    "11/patching": [
        mean_of_shares,
        share_of_the_clean_lead,
        share_that_is_missing,
        difference_of_probabilities,
        last_position_only,
    ],
    "11/which-head": [
        loss_at_every_position,
        mean_of_the_tested_texts,
        largest_weight_anywhere,
        head_counted_from_one,
        source_of_the_first_text,
    ],
}

ASIDE = ()
