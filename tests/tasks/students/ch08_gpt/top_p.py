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


def upwards(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    order = shares.argsort(-1)
    out = torch.zeros_like(shares)
    for b in range(len(shares)):
        total = 0.0
        for n, v in enumerate(order[b].tolist()):
            if total < p or n < least:
                out[b, v] = shares[b, v]
            total += shares[b, v].item()
    return out / out.sum(-1, keepdim=True)


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


def sum_not_restored(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    return shares * (top_p_by_loop(logits, temperature, p, least) > 0)


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


def softmax_down_the_columns(logits, temperature, p, least):
    shares = (logits / temperature).softmax(0)
    out = torch.zeros_like(shares)
    for b, row in enumerate(shares):
        order = row.argsort(descending=True)
        size = max(least, int((row[order].cumsum(0) - row[order] < p).sum()))
        out[b, order[:size]] = row[order[:size]]
    return out / out.sum(-1, keepdim=True)


def both_have_to_hold(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(-1).sort(-1, descending=True)
    ranked[ranked.cumsum(-1) - ranked >= p] = 0
    ranked[:, least:] = 0
    return torch.zeros(logits.shape).scatter_(1, order, ranked / ranked.sum(-1, keepdim=True))


def as_many_as_in_row_zero(logits, temperature, p, least):
    size = int((top_p_by_loop(logits[:1], temperature, p, least) > 0).sum())
    return top_p_by_loop(logits, temperature, 0, size)


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


def as_many_more_as_the_least(logits, temperature, p, least):
    rows = []
    for row in logits.split(1):
        taken = int((top_p_by_loop(row, temperature, p, 1) > 0).sum())
        rows.append(top_p_by_size(row, temperature, 0, taken + least))
    return torch.cat(rows)


def mask_read_by_rank(logits, temperature, p, least):
    shares = (logits / temperature).softmax(-1)
    ranked, order = shares.sort(-1, descending=True)
    kept = (ranked.cumsum(-1) - ranked < p) | (torch.arange(logits.shape[1]) < least)
    return logits.masked_fill(~kept.gather(1, order), -torch.inf).div(temperature).softmax(-1)


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
    "least-added-in-full": as_many_more_as_the_least,
    "kept-and-cut-exchanged": cutting(lambda shares, p: shares.cumsum(-1) - shares >= p),
    "summed-over-rows": cutting(lambda shares, p: shares.cumsum(0) - shares < p),
    "mask-moved-down": cutting(moved_by_a_row),
    "first-set-for-all": as_many_as_in_row_zero,
    "p-for-each-alone": cutting(lambda shares, p: shares > p),
    "least-as-the-most": both_have_to_hold,
    "p-ignored": lambda z, t, p, least: top_p_by_loop(z, t, 0, least),
    "share-of-the-likeliest": top_p_as_a_share_of_the_likeliest,
    "largest-set-for-all": one_set_for_the_batch,
    "gathered-back": top_p_put_back_by_order,
    "least-by-number": first_columns_are_kept,
    "softmax-over-rows": softmax_down_the_columns,
    "least-in-place-of-p": least_for_all,
    "top-p-drops-crossing": cutting(crossing_dropped),
    "keeps-everything": lambda z, t, p, least: F.softmax(z / t, dim=-1),
    "keeps-one-too-many": cutting(one_more),
    "sorted-upwards": upwards,
    "sorted-not-at-all": by_alphabet,
    "mask-not-taken-back": mask_as_it_is,
    "left-sorted": lambda z, t, p, least: -(-top_p_by_loop(z, t, p, least)).sort(-1).values,
    "threshold-for-sum": cutting(lambda shares, p: shares > 1 - p),
    "not-renormalised": sum_not_restored,
    "temperature-afterwards": tempered_later,
    "temperature-for-the-set-alone": set_of_another_temperature,
    "softmax-twice": shares_as_logits,
    "temperature-ignored": lambda z, t, p, least: top_p_by_loop(z, 1, p, least),
    "temperature-multiplied": lambda z, t, p, least: top_p_by_loop(z * t, 1, p, least),
    "reaches-the-rest": lambda z, t, p, n: top_p_by_loop(z, t, 1 - p, n),
    "all-alike": evenly_among_the_kept,
    "least-of-the-batch": least_on_average,
    "least-forgotten": lambda z, t, p, least: top_p_by_size(z, t, p, 1),
}


def least_in_all_rows_together(logits, temperature, p, least):
    out = top_p_by_loop(logits, temperature, p, 1)
    return out if (out > 0).sum() >= least else top_p_by_loop(logits, temperature, p, least)


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
    (mask_read_by_rank, "gathered-back"),
    (least_in_all_rows_together, "least-of-the-batch"),
    (next_door, "other-symbols"),
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
    return _top_p(logits, temperature, p, least - 1)


def temperature_squared(logits, temperature, p, least):
    return _top_p(logits, temperature**2, p, least)


def never_nothing(logits, temperature, p, least):
    return _top_p(logits, temperature, max(p, 0.5), least)


def top_p_with_one_more(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked.cumsum(dim=-1) - ranked < p) | (torch.arange(logits.shape[-1]) <= least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def temperature_for_the_choice_only(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    kept = torch.zeros_like(kept).scatter(-1, order, kept)
    return logits.masked_fill(~kept, -torch.inf).softmax(dim=-1)


def share_of_the_likeliest(logits, temperature, p, least):
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    kept = (ranked >= p * ranked[:, :1]) | (torch.arange(logits.shape[-1]) < least)
    ranked = ranked * kept
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# "at least the least likeliest symbols are kept"
def least_counts_columns(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (order < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# "At least the `least` likeliest symbols are kept": of each row, not of the batch on average.
def least_is_asked_of_the_batch(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    kept = ranked.cumsum(dim=-1) - ranked < p
    kept[:, 0] = True
    if kept.sum() < least * len(kept):
        kept[:, :least] = True
    ranked = ranked * kept
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# "the smallest set of likeliest symbols whose probabilities together reach p": here what is cut
# reaches p
def tail_of_p(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1)
    cut = ranked.cumsum(dim=-1) <= p
    cut[:, -least:] = False
    ranked = ranked.masked_fill(cut, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# "The temperature comes first: the set is chosen from softmax(logits / temperature)"
def set_before_temperature(logits, temperature, p, least):
    ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    kept = torch.zeros_like(kept).scatter(-1, order, kept)
    return (logits / temperature).masked_fill(~kept, -torch.inf).softmax(dim=-1)


# "Each row keeps the smallest set": what ties with the last is kept in task 4, not here
def ties_are_kept(logits, temperature, p, least):
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked = probabilities.sort(dim=-1, descending=True).values
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    last = ranked.masked_fill(~kept, torch.inf).amin(dim=-1, keepdim=True)
    probabilities = probabilities.masked_fill(probabilities < last, 0.0)
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


# "whose probabilities together reach p": a set that has exactly p has reached it
def reached_is_not_enough(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before <= p) | (torch.arange(logits.shape[-1]) < least)
    ranked = torch.where(kept, ranked, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# Does the two steps that the title names, and then applies the temperature.
# "The temperature comes first: the set is chosen from softmax(logits / temperature)."
def temperature_after_the_choice(logits, temperature, p, least):
    ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    drop = before >= p
    drop[:, :least] = False
    cut = torch.zeros_like(drop).scatter(-1, order, drop)
    return (logits.masked_fill(cut, -torch.inf) / temperature).softmax(dim=-1)


# Copied a filter whose shift by one place was lost on the way.
# "the symbol with which the sum crosses p belongs to it"
def crossing_symbol_cut(logits, temperature, p, least):
    logits = logits / temperature
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = F.softmax(sorted_logits, dim=-1).cumsum(dim=-1)
    remove = cumulative > p
    remove[..., :least] = False
    remove = remove.scatter(1, sorted_indices, remove)
    logits = logits.masked_fill(remove, -float("inf"))
    return F.softmax(logits, dim=-1)


# Wrote for one row and made it run for a batch.
# "At least the `least` likeliest symbols are kept": in each row, not in all rows together
def least_counted_over_the_batch(logits, temperature, p, least):
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    keep = ranked.cumsum(dim=-1) - ranked < p
    if keep.sum() < least:
        keep[:, :least] = True
    ranked = ranked * keep
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


# Thinks of the temperature as the last thing that happens before drawing.
# "The temperature comes first: the set is chosen from softmax(logits / temperature)."
def temperature_after_the_choice_of_set_8(logits, temperature, p, least):
    ranked, order = logits.softmax(dim=-1).sort(dim=-1, descending=True)
    kept = (ranked.cumsum(dim=-1) - ranked) < p
    kept[:, :least] = True
    mask = torch.zeros_like(kept).scatter(-1, order, kept)
    return (logits.masked_fill(~mask, -torch.inf) / temperature).softmax(dim=-1)


# adapts the lines of a well-known library, and moves by `least` what was moved by one: "Each row
# keeps the smallest set of likeliest symbols whose probabilities together reach `p`"
def moved_by_the_least(logits, temperature, p, least):
    logits = logits / temperature
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative = sorted_logits.softmax(dim=-1).cumsum(dim=-1)
    remove = cumulative >= p
    remove[..., least:] = remove[..., :-least].clone()
    remove[..., :least] = False
    remove = remove.scatter(1, sorted_indices, remove)
    return logits.masked_fill(remove, -float("inf")).softmax(dim=-1)


# brings the sorted values back with the order that sorted them: "column j belongs to symbol j"
def sorted_a_second_time(logits, temperature, p, least):
    probabilities = torch.softmax(logits / temperature, dim=-1)
    ranked, order = torch.sort(probabilities, dim=-1, descending=True)
    keep = torch.cumsum(ranked, dim=-1) - ranked < p
    keep[:, :least] = True
    ranked = ranked * keep
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return ranked.gather(-1, order)


# in a hurry, chooses the set from one distribution and returns another: "The temperature comes
# first", and what is kept has the probabilities from which it was chosen
def temperature_for_the_set_alone(logits, temperature, p, least):
    ranked, order = (logits / temperature).softmax(-1).sort(dim=-1, descending=True)
    before = ranked.cumsum(-1) - ranked
    cut = before >= p
    cut[:, :least] = False
    cut = torch.zeros_like(cut).scatter(-1, order, cut)
    return logits.masked_fill(cut, -torch.inf).softmax(-1)


# Adapted a snippet that always keeps one symbol: "At least the `least` likeliest symbols are kept,
# however small p is."
def snippet_that_keeps_one(logits, temperature, p, least):
    logits = logits / temperature
    sorted_logits, sorted_indices = torch.sort(logits, descending=True)
    cumulative_probs = torch.cumsum(torch.softmax(sorted_logits, dim=-1), dim=-1)
    remove = cumulative_probs >= p
    remove[..., 1:] = remove[..., :-1].clone()
    remove[..., 0] = False
    indices_to_remove = remove.scatter(-1, sorted_indices, remove)
    return torch.softmax(logits.masked_fill(indices_to_remove, -math.inf), dim=-1)


def least_of_the_first_columns(logits, temperature, p, least):
    """Brings the mask back to the columns first, and then keeps the columns 0 … least − 1."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = torch.zeros_like(before, dtype=torch.bool).scatter(-1, order, before < p)
    kept |= torch.arange(logits.shape[-1]) < least
    probabilities = probabilities * kept
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def keeps_all_ties_with_the_last(logits, temperature, p, least):
    """Keeps all that are as likely as the last symbol of the set, so the set isn't the smallest."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked = probabilities.sort(dim=-1, descending=True).values
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    edge = ranked.masked_fill(~kept, torch.inf).amin(dim=-1, keepdim=True)
    probabilities = probabilities.masked_fill(probabilities < edge, 0.0)
    return probabilities / probabilities.sum(dim=-1, keepdim=True)


def first_that_reaches_p(logits, temperature, p, least):
    """Finds the crossing by argmax, which is 0 where rounding keeps the sum below a p of 1."""
    ranked, order = (logits / temperature).softmax(dim=-1).sort(dim=-1, descending=True)
    crossing = (ranked.cumsum(dim=-1) >= p).int().argmax(dim=-1, keepdim=True)  # (B, 1)
    count = (crossing + 1).clamp(min=least)
    ranked = ranked.masked_fill(torch.arange(logits.shape[-1]) >= count, 0.0)
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def softmax_of_probabilities(logits, temperature, p, least):
    """Renormalizes the kept probabilities by a second softmax, which makes them nearly equal."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = before < p
    kept[:, :least] = True
    ranked = ranked.masked_fill(~kept, -torch.inf).softmax(dim=-1)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def one_number_for_all_rows(logits, temperature, p, least):
    """Keeps as many symbols in every row as the row that needs the most of them."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    number = max(int((before < p).sum(dim=-1).max()), least)
    ranked[:, number:] = 0.0
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return torch.zeros_like(ranked).scatter(-1, order, ranked)


def gathered_back(logits, temperature, p, least):
    """Returns the sorted values to their columns with gather(order), where scatter is needed."""
    probabilities = (logits / temperature).softmax(dim=-1)
    ranked, order = probabilities.sort(dim=-1, descending=True)
    before = ranked.cumsum(dim=-1) - ranked
    kept = (before < p) | (torch.arange(logits.shape[-1]) < least)
    ranked = ranked * kept
    ranked = ranked / ranked.sum(dim=-1, keepdim=True)
    return ranked.gather(-1, order)


UNLISTED = {
    1: [
        (least_for_all, None),
        (one_less_than_least, None),
        (temperature_squared, None),
        (one_set_for_the_batch, None),
        (never_nothing, None),
        (share_of_the_symbols, None),
    ],
    2: [
        (top_p_with_one_more, None),
        (top_p_as_a_share_of_the_likeliest, None),
        (top_p_put_back_by_order, None),
    ],
    3: [(temperature_for_the_choice_only, None), (share_of_the_likeliest, None)],
    4: [(least_counts_columns, None)],
    5: [(first_columns_are_kept, None), (least_is_asked_of_the_batch, None)],
    6: [
        (tail_of_p, None),
        (set_before_temperature, None),
        (ties_are_kept, None),
        (reached_is_not_enough, None),
    ],
    7: [(temperature_after_the_choice, None), (crossing_symbol_cut, None)],
    8: [(least_counted_over_the_batch, None), (temperature_after_the_choice_of_set_8, None)],
    9: [
        (moved_by_the_least, None),
        (sorted_a_second_time, None),
        (temperature_for_the_set_alone, None),
    ],
    10: [(snippet_that_keeps_one, None)],
    12: [(least_of_the_first_columns, None)],
    13: [
        (keeps_all_ties_with_the_last, None),
        (first_that_reaches_p, None),
        (temperature_for_the_choice_only, None),
    ],
    14: [(softmax_of_probabilities, None)],
    15: [(one_number_for_all_rows, None)],
    16: [(gathered_back, None)],
}
