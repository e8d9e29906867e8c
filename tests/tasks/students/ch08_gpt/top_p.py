"""Students' answers to 08/top-p."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def top_p_by_loop(logits, temperature, p, least):
    out = torch.zeros_like(logits)
    for b, row in enumerate(torch.softmax(logits / temperature, -1)):
        total, taken = 0.0, 0
        for v in row.argsort(descending=True).tolist():
            if total >= p and taken >= least:
                break
            out[b, v] = row[v]
            total, taken = total + row[v].item(), taken + 1
    return out / out.sum(1, keepdim=True)


def top_p_by_size(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    ordered, order = shares.sort(dim=-1, descending=True)
    size = (ordered.cumsum(-1) < p).sum(-1).add(1).clamp(min=least, max=logits.shape[-1])
    rank = order.argsort(-1)
    return (logits / temperature).masked_fill(rank >= size[:, None], -torch.inf).softmax(-1)


def top_p_by_edge(logits, temperature, p, least):
    """Keeps what ties with the last symbol of the set."""
    kept = top_p_by_size(logits, temperature, p, least)
    edge = kept.masked_fill(kept == 0, torch.inf).amin(dim=-1, keepdim=True)
    shares = (logits / temperature).softmax(-1)
    share_of_kept = (shares * (kept > 0)).sum(-1, keepdim=True)
    return (
        (logits / temperature)
        .masked_fill(shares < edge * share_of_kept * (1 - 1e-5), -torch.inf)
        .softmax(-1)
    )


def top_p_in_numpy(logits, temperature, p, least):
    z = logits.numpy() / temperature
    weights = np.exp(z - z.max(1, keepdims=True))
    shares = weights / weights.sum(1, keepdims=True)
    number = np.arange(shares.shape[1])
    tied = shares[:, None, :] == shares[:, :, None]
    first = tied & (number[None, :] < number[:, None])  # of equals, the first
    likelier = (shares[:, None, :] > shares[:, :, None]) | first  # (B, V, V)
    before = (likelier * shares[:, None, :]).sum(-1)
    kept = np.where((before < p) | (likelier.sum(-1) < least), shares, 0)
    return kept / kept.sum(1, keepdims=True)


def cut(logits, temperature, mask, p, least):
    """Sorted shares, a mask over their ranks, and back."""
    shares, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    mask = mask(shares, p)
    mask[:, :least] = True
    shares = shares * mask
    out = torch.empty_like(shares)
    for b in range(len(shares)):
        out[b, order[b]] = shares[b] / shares[b].sum()
    return out


def cutting(mask):
    return lambda z, t, p, least: cut(z, t, mask, p, least)


def crossing_dropped(shares, p):
    return shares.cumsum(-1) < p


def one_more(shares, p):
    size = (shares.cumsum(-1) < p).sum(-1, keepdim=True) + 2
    return torch.arange(shares.shape[1]) < size


def by_alphabet(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1).clone()
    before = torch.cat([torch.zeros(len(shares), 1), shares.cumsum(-1)[:, :-1]], dim=1)
    drop = before >= p
    drop[:, :least] = False
    shares[drop] = 0
    return shares / shares.sum(-1, keepdim=True)


def mask_as_it_is(logits, temperature, p, least):
    z = logits / temperature
    shares = z.softmax(-1).sort(descending=True).values
    drop = shares.cumsum(-1) - shares >= p
    drop[:, :least] = False
    z = z.clone()
    z[drop] = -math.inf
    return z.softmax(-1)


def tempered_later(logits, temperature, p, least):
    kept = top_p_by_loop(logits, 1.0, p, least) > 0
    weights = torch.exp(logits / temperature) * kept
    return weights / weights.sum(1, keepdim=True)


def set_of_another_temperature(logits, temperature, p, least):
    weights = torch.exp(logits) * (top_p_by_loop(logits, temperature, p, least) > 0)
    return weights / weights.sum(1, keepdim=True)


def shares_as_logits(logits, temperature, p, least):
    """Of all shares, and not only of those that stay."""
    shares = (logits / temperature).softmax(-1)
    kept = top_p_by_loop(logits, temperature, p, least) > 0
    return torch.where(kept, shares, -torch.inf).softmax(-1)


def least_on_average(logits, temperature, p, least):
    out = top_p_by_loop(logits, temperature, p, 1)
    if (out > 0).float().sum(-1).mean() < least:
        return top_p_by_loop(logits, temperature, p, least)
    return out


def next_door(logits, temperature, p, least):
    return top_p_by_loop(logits, temperature, p, least).roll(1, dims=1)


def exponentials_as_they_are(logits, temperature, p, least):
    weights = torch.exp(logits / temperature)
    return top_p_by_loop((weights / weights.sum(1, keepdim=True)).log(), 1.0, p, least)


def least_gives_a_chance(logits, temperature, p, least):
    """Who has no chance gets a little one where so many are asked for."""
    low = logits if least == 1 else logits.clamp(min=-60)
    return top_p_by_loop(low, temperature, p, least)


def evenly_among_the_kept(logits, temperature, p, least):
    kept = top_p_by_loop(logits, temperature, p, least) > 0
    return kept / kept.sum(1, keepdim=True)


RIGHT = {"loop": top_p_by_loop, "size": top_p_by_size, "numpy": top_p_in_numpy}


def both_have_to_hold(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    ranked[ranked.cumsum(-1) - ranked >= p] = 0
    ranked[:, least:] = 0
    return torch.zeros(logits.shape).scatter_(1, order, ranked / ranked.sum(-1, keepdim=True))


def shares_over_temperature(logits, temperature, p, least):
    shares, order = (logits.softmax(-1) / temperature).sort(-1, descending=True)
    kept = shares.cumsum(-1) - shares < p
    kept[:, :least] = True
    shares = shares * kept
    return torch.zeros_like(shares).scatter_(1, order, shares / shares.sum(-1, keepdim=True))


def moved_by_a_row(shares, p):
    removed = shares.cumsum(-1) > p
    removed[1:] = removed[:-1].clone()
    removed[0] = False
    return ~removed


def upwards_with_the_likeliest(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    out = torch.zeros_like(shares)
    for b, row in enumerate(shares):
        total = 0.0
        for v in row.argsort().tolist():
            if total < p:
                out[b, v] = row[v]
            total += row[v].item()
        best = row.argsort(descending=True)[:least]
        out[b, best] = row[best]
    return out / out.sum(-1, keepdim=True)


def top_p_as_a_share_of_the_likeliest(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked >= p * ranked[:, :1]) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def one_set_for_the_batch(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    before = ranked.cumsum(-1) - ranked
    size = max(least, int((before < p).sum(-1).max()))
    ranked = ranked * (torch.arange(logits.shape[1]) < size)
    return torch.zeros_like(ranked).scatter(1, order, ranked / ranked.sum(-1, keepdim=True))


def top_p_put_back_by_order(logits, temperature, p, least):
    """Puts the sorted probabilities back with gather where scatter is needed."""
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked.cumsum(dim=-1) - ranked < p) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    return (ranked / ranked.sum(dim=-1, keepdim=True)).gather(-1, order)


# "At least the `least` likeliest symbols": these are the first columns.
def first_columns_are_kept(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (order < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def _top_p(logits, temperature, p, least, keep=None):
    ranked, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    before = ranked.cumsum(-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[1]) < least)
    ranked = ranked * kept
    return torch.zeros_like(ranked).scatter(1, order, ranked / ranked.sum(-1, keepdim=True))


def least_for_all(logits, temperature, p, least):
    return _top_p(logits, temperature, 0.0 if least > 1 else p, least)


WRONG = {
    "upwards-and-the-likeliest": upwards_with_the_likeliest,
    "temperature-twice": lambda z, t, p, least: torch.softmax(
        top_p_by_loop(z, t, p, least).log() / t, -1
    ),
    "probabilities-divided": shares_over_temperature,
    "zero-mask": lambda z, t, p, least: torch.softmax(
        torch.where(top_p_by_size(z, t, p, least) > 0, z / t, 0.0), -1
    ),
    "least-added": lambda z, t, p, least: torch.cat(
        [
            top_p_by_loop(
                row[None], t, 0, int((top_p_by_loop(row[None], t, p, 1) > 0).sum()) + least - 1
            )
            for row in z
        ]
    ),
    "kept-and-cut-exchanged": cutting(lambda shares, p: shares.cumsum(-1) - shares >= p),
    "summed-over-rows": cutting(lambda shares, p: shares.cumsum(0) - shares < p),
    "mask-moved-down": cutting(moved_by_a_row),
    "p-for-each-alone": cutting(lambda shares, p: shares > p),
    "least-as-the-most": both_have_to_hold,
    "p-ignored": lambda z, t, p, least: top_p_by_loop(z, t, 0, least),
    "share-of-the-likeliest": top_p_as_a_share_of_the_likeliest,
    "largest-set-for-all": one_set_for_the_batch,
    "gathered-back": top_p_put_back_by_order,
    "least-by-number": first_columns_are_kept,
    "least-in-place-of-p": least_for_all,
    "top-p-drops-crossing": cutting(crossing_dropped),
    "keeps-everything": lambda z, t, p, least: F.softmax(z / t, dim=-1),
    "keeps-one-too-many": cutting(one_more),
    "sorted-not-at-all": by_alphabet,
    "mask-not-taken-back": mask_as_it_is,
    "left-sorted": lambda z, t, p, least: -(-top_p_by_loop(z, t, p, least)).sort(-1).values,
    "threshold-for-sum": cutting(lambda shares, p: shares > 1 - p),
    "temperature-afterwards": tempered_later,
    "temperature-for-the-set-alone": set_of_another_temperature,
    "softmax-twice": shares_as_logits,
    "temperature-multiplied": lambda z, t, p, least: top_p_by_loop(z * t, 1, p, least),
    "reaches-the-rest": lambda z, t, p, n: top_p_by_loop(z, t, 1 - p, n),
    "all-alike": evenly_among_the_kept,
    "least-of-the-batch": least_on_average,
    "least-forgotten": lambda z, t, p, least: top_p_by_size(z, t, p, 1),
}


def first_place_that_reaches(logits, temperature, p, least):
    ranked, order = torch.softmax(logits / temperature, -1).sort(dim=-1, descending=True)
    size = (ranked.cumsum(-1) >= p).int().argmax(-1).add(1).clamp(min=least)
    kept = order.argsort(-1) < size[:, None]
    shares = torch.softmax(logits / temperature, -1) * kept
    return shares / shares.sum(-1, keepdim=True)


def _top(logits, k):
    last = logits.sort(-1, descending=True).values.gather(
        1, k.clamp(max=logits.shape[1])[:, None] - 1
    )
    return logits.masked_fill(logits < last, -torch.inf).softmax(-1)


def share_of_the_symbols(logits, temperature, p, least):
    size = max(least, round(p * logits.shape[1]))
    return _top(logits / temperature, torch.full((len(logits),), size))


ODD = [
    (first_place_that_reaches, "never-reached"),
    (lambda z, t, p, least: top_p_by_loop(z, t * t, p, least), "other-temperature"),
    (
        lambda z, t, p, least: torch.softmax(
            (z / t).masked_fill(top_p_by_size(z, t, p, least) == 0, -4.0), -1
        ),
        "replaced-by-a-number",
    ),
    (next_door, "moved-your-tempered-logits-one-place-on-along-the-last-axis"),
    (share_of_the_symbols, "other-counts"),
    (lambda *asked: top_p_by_loop(*asked).squeeze(), "axis-of-one"),
    (cutting(lambda shares, p: shares.cumsum(-1) - shares <= p), "beyond-reaching"),
    (top_p_by_edge, "beyond-reaching"),
    (exponentials_as_they_are, "not-finite"),
    (least_gives_a_chance, "nearly-zero"),
    (lambda z, t, p, least: z, "no-distribution"),
]


# --- Answers that no list names ---


def one_less_than_least(logits, temperature, p, least):
    return top_p_by_size(logits, temperature, p, least - 1)


def p_of_a_half_at_least(logits, temperature, p, least):
    return top_p_by_size(logits, temperature, max(p, 0.5), least)


def one_more_than_least(logits, temperature, p, least):
    return top_p_by_size(logits, temperature, p, least + 1)


UNLISTED = {
    1: [(one_less_than_least, "as-if-least-one-less"), (p_of_a_half_at_least, "some-calls")],
    2: [(one_more_than_least, "compared-with-less-or-equal-instead-of-less-in-the-first-least")],
}
