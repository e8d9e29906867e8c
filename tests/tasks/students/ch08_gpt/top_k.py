"""Students' answers to 08/top-k."""

import math

import numpy as np
import torch
import torch.nn.functional as F


def top_k_with_near_ties(logits, k):
    last = logits.sort(descending=True).values.gather(1, k.clamp(max=logits.shape[1])[:, None] - 1)
    return F.softmax(logits.where(logits >= last - 1e-3, torch.tensor(-math.inf)), dim=-1)


def top_k_row_by_row(logits, k):
    rows = []
    for row, n in zip(logits, k.tolist(), strict=True):
        if n < len(row):
            row = row.masked_fill(row < row.topk(n).values.min(), -math.inf)
        rows.append(F.softmax(row, dim=0))
    return torch.stack(rows)


def top_k_by_rows(logits, k):
    rows = []
    for row, n in zip(logits, k.tolist(), strict=True):
        values, places = row.topk(min(n, len(row)))
        p = torch.zeros_like(row)
        p[places] = F.softmax(values, dim=0)
        rows.append(p)
    return torch.stack(rows)


def top_k_by_edge(logits, k):
    ordered = logits.sort(descending=True).values
    edge = ordered.gather(1, (k.clamp(max=logits.shape[1]) - 1)[:, None])
    p = logits.softmax(-1) * (logits >= edge)
    return p / p.sum(-1, keepdim=True)


def top_k_in_numpy(logits, k):
    z = logits.numpy().astype(np.float32)
    better = (z[:, None, :] > z[:, :, None]).sum(-1)
    e = np.where(better < k.numpy()[:, None], np.exp(z), 0)
    return (e / e.sum(1, keepdims=True)).tolist()


def rank_of(logits):
    return (logits.unsqueeze(1) > logits.unsqueeze(2)).sum(-1)


def softmax_of(logits, keep):
    return torch.softmax(torch.where(keep, logits, torch.tensor(-math.inf).to(logits)), -1)


def without_new_sum(logits, k):
    return torch.where(rank_of(logits) < k[:, None], logits.softmax(-1), 0.0)


def zero_in_logits(logits, k):
    return torch.where(rank_of(logits) < k[:, None], logits, 0.0).softmax(-1)


def first_columns(logits, k):
    columns = np.arange(logits.shape[1])[None]
    return softmax_of(logits, torch.from_numpy(columns < k.numpy()[:, None]))


def fair_dice(logits, k):
    keep = (rank_of(logits) < k[:, None]).double()
    return keep / keep.sum(1, keepdim=True)


def over_rows(logits, k):
    rank = (logits.unsqueeze(0) > logits.unsqueeze(1)).sum(1)
    return logits.masked_fill(rank >= k[:, None], -1e9).softmax(-1)


def one_symbol_left_over(logits, k):
    p = top_k_by_rows(logits, k)
    return (p + p.roll(1, 0)) / 2


# "k[b] may be larger than V; then the whole row stays"
def place_kept_inside_by_one_too_many(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, (k.clamp(max=logits.shape[1] - 1) - 1)[:, None])
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def kth_of_the_set(logits, k):
    kept = []
    for row, n in zip(logits.tolist(), k.tolist(), strict=True):
        edge = sorted(set(row), reverse=True)[:n][-1]
        weights = [math.exp(z) if z >= edge else 0.0 for z in row]
        kept.append([w / sum(weights) for w in weights])
    return torch.tensor(kept)


def one_tie_alone(logits, k):
    ordered, order = logits.sort(dim=1, descending=True)
    n = k.clamp(max=logits.shape[1])[:, None]
    rank, edge = torch.arange(logits.shape[1]), ordered.gather(1, n - 1)
    keep = (rank < n) | ((rank == n) & (ordered == edge))
    shares = ordered.masked_fill(~keep, -math.inf).softmax(1)
    return torch.zeros_like(logits).scatter(1, order, shares)


def no_logit_below_sixty(logits, k):
    return top_k_by_edge(logits.clamp(min=-60), k)


RIGHT = {"rows": top_k_row_by_row, "edge": top_k_by_edge, "numpy": top_k_in_numpy}


def softmax_down_the_columns(logits, k):
    weights = torch.exp(logits) * (top_k_by_edge(logits, k) > 0)
    return weights / weights.sum(0).clamp(min=1e-12)


def larger_or_equal_ahead(logits, k):
    rows = []
    for row, n in zip(logits, k, strict=True):
        kept = [bool((row >= one).sum() <= n) for one in row]
        rows.append(torch.where(torch.tensor(kept), row, -torch.inf).softmax(-1))
    return torch.stack(rows)


def kth_value_without_a_limit(logits, k):
    rows = []
    for row, n in zip(logits, k.tolist(), strict=True):
        rows.append(softmax_of(row, row >= row.topk(n).values[-1]))
    return torch.stack(rows)


WRONG = {
    "equals-counted-as-ahead": larger_or_equal_ahead,
    "stops-beyond-all": kth_value_without_a_limit,
    "smallest-k-for-all": lambda z, k: top_k_by_rows(z, k.min().repeat(len(k))),
    "softmax-over-rows": softmax_down_the_columns,
    "logits-returned": lambda z, k: top_k_by_edge(z, k).log(),
    "capped-below-all": place_kept_inside_by_one_too_many,
    "keeps-everything": lambda z, k: F.softmax(z, dim=1),
    "not-renormalised": without_new_sum,
    "zero-mask": zero_in_logits,
    "keeps-one-too-few": lambda z, k: top_k_row_by_row(z, (k - 1).clamp(min=1)),
    "keeps-one-too-many": lambda z, k: top_k_row_by_row(z, k + 1),
    "keeps-the-unlikeliest": lambda z, k: softmax_of(z, rank_of(-z) < k[:, None]),
    "kept-and-cut-exchanged": lambda z, k: softmax_of(z, top_k_by_edge(z, k) == 0),
    "kth-from-below": lambda z, k: softmax_of(
        z,
        z
        >= torch.stack(
            [row.kthvalue(min(int(n), len(row))).values for row, n in zip(z, k, strict=True)]
        )[:, None],
    ),
    "one-edge": lambda z, k: softmax_of(z, z >= z[top_k_by_edge(z, k) > 0].min()),
    "keeps-the-first-columns": first_columns,
    "ranks-not-inverted": lambda z, k: softmax_of(z, (-z).argsort(1) < k[:, None]),
    "one-k-for-all": lambda z, k: top_k_by_rows(z, k[:1].expand_as(k)),
    "largest-k-for-all": lambda z, k: top_k_by_rows(z, torch.full_like(k, int(k.max()))),
    "ranks-over-the-batch": over_rows,
    "all-alike": fair_dice,
    "left-sorted": lambda z, k: top_k_by_rows(z, k).sort(descending=True).values,
    "cuts-ties": top_k_by_rows,
    "distinct-logits": kth_of_the_set,
    "near-ties-kept": top_k_with_near_ties,
    "softmax-twice": lambda z, k: top_k_by_edge(F.softmax(z, -1), k),
}


ODD = [
    (
        lambda z, k: F.softmax(z.masked_fill(top_k_by_edge(z, k) == 0, -4.0), -1),
        "replaced-by-a-number",
    ),
    (lambda z, k: F.softmax(top_k_by_edge(z, k), -1), "softmax-twice"),
    (lambda z, k: top_k_by_rows(z, k.roll(1)), "other-counts"),
    (one_symbol_left_over, "other-symbols"),
    (lambda z, k: z, "no-distribution"),
    (lambda z, k: top_k_by_edge(z, k).squeeze(), "axis-of-one"),
    (lambda z, k: top_k_by_edge(z, k) if z.shape[1] > 1 else z, "dimension-of-one"),
    (one_tie_alone, "some-rows"),
    (no_logit_below_sixty, "nearly-zero"),
]


# --- Answers that no list names ---


def naive_exponentials(logits, k):
    e = (logits - logits.mean()).exp() * (
        logits
        >= logits.sort(-1, descending=True).values.gather(
            1, k.clamp(max=logits.shape[1])[:, None] - 1
        )
    )
    return e / (e.sum(-1, keepdim=True) + 1e-6)


def smallest_k_for_all(logits, k):
    return _top(logits, torch.full_like(k, int(k.min())))


def _top(logits, k):
    last = logits.sort(-1, descending=True).values.gather(
        1, k.clamp(max=logits.shape[1])[:, None] - 1
    )
    return logits.masked_fill(logits < last, -torch.inf).softmax(-1)


def k_of_the_next_row(logits, k):
    return _top(logits, k.roll(1))


def ranked_by_size(logits, k):
    return _top(logits.abs(), k)


def k_is_clamped_in_place(logits, k):
    k.clamp_(max=logits.shape[1])
    return _top(logits, k)


def logarithms(logits, k):
    return _top(logits, k).log()


def top_k_of_one_symbol_fewer(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1] - 1).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def top_k_without_the_last(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)
    keep = (logits > last) | (logits == ordered[:, :1])
    return logits.masked_fill(~keep, -torch.inf).softmax(dim=-1)


def top_k_of_the_whole_batch(logits, k):
    """The threshold of a row is that of the largest k."""
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered[:, min(int(k.max()), logits.shape[1]) - 1, None]
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def ties_within_a_thousandth(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1])[:, None] - 1)
    return logits.masked_fill(logits < last - 1e-3, -torch.inf).softmax(dim=-1)


# "everything else is exactly 0", with "logits as low as −40"
def cut_to_minus_hundred(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1])[:, None] - 1)
    return torch.where(logits < last, -100.0, logits).softmax(dim=-1)


# "k[b] may be larger than V; then the whole row stays."
def never_the_whole_row(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    place = (k - 1).clamp(max=logits.shape[1] - 2)
    last = ordered.gather(1, place.unsqueeze(1))
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# "everything else is exactly 0"
def cut_to_minus_fifty(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -50.0).softmax(dim=-1)


# "A symbol that is exactly as likely as the k-th is kept as well": nearly is not exactly.
def nearly_as_likely_is_kept(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last - 0.01, -torch.inf).softmax(dim=-1)


# "your functions leave what they are given as it was"
def k_is_clamped_in_place_of_set_5(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp_(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# "row b keeps its own k[b] likeliest symbols": symbols, not values; two that tie are two
def k_distinct_values(logits, k):
    cut = logits.clone()
    for b, row in enumerate(logits):
        values = row.unique().flip(0)
        last = values[min(int(k[b]), len(values)) - 1]
        cut[b, row < last] = -torch.inf
    return cut.softmax(dim=-1)


# "its own k[b]": the largest k of the batch decides for all
def largest_k_for_all(logits, k):
    V = logits.shape[1]
    last = logits.topk(min(int(k.max()), V), dim=-1).values[:, -1:]
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# "everything else is exactly 0", also where what is kept is at −40
def cut_to_minus_120(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, (k - 1).clamp(max=logits.shape[1] - 1)[:, None])
    return logits.masked_fill(logits < last, -120.0).softmax(dim=-1)


# "k[b] may be larger than V; then the whole row stays"
def clamped_one_too_low(logits, k):
    ordered = logits.sort(dim=-1, descending=True).values
    place = k.clamp(max=logits.shape[1] - 1) - 1
    last = ordered.gather(1, place.clamp(min=0)[:, None])
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


# Looks up torch.topk, which gives k values and no more.
# "A symbol that is exactly as likely as the k-th is kept as well"
def exactly_k(logits, k):
    B, V = logits.shape
    result = torch.zeros(B, V)
    for b in range(B):
        n = min(int(k[b]), V)
        values, indices = torch.topk(logits[b], n)
        result[b, indices] = F.softmax(values, dim=-1)
    return result


# Changed k until torch.topk accepted it: it wants one number.
# "row b keeps its own `k[b]` likeliest symbols"
def largest_k_for_all_of_set_7(logits, k):
    n = min(k.max().item(), logits.size(-1))
    v, _ = torch.topk(logits, n)
    out = logits.clone()
    out[out < v[:, [-1]]] = -float("inf")
    return F.softmax(out, dim=-1)


# Took the two lines from nanoGPT's generate and put a loop around them.
# "your functions leave what they are given as it was"
def rows_cut_in_the_argument(logits, k):
    for b in range(len(logits)):
        row = logits[b]
        v, _ = torch.topk(row, min(int(k[b]), row.size(-1)))
        row[row < v[-1]] = -float("inf")
    return torch.softmax(logits, dim=-1)


# Found topk with its indices and did not read on.
# "A symbol that is exactly as likely as the k-th is kept as well"
def exactly_k_of_each_row(logits, k):
    out = torch.zeros_like(logits)
    for b in range(logits.shape[0]):
        n = min(k[b].item(), logits.shape[1])
        values, indices = logits[b].topk(n)
        out[b, indices] = values.softmax(dim=0)
    return out


# comes from NumPy and takes the order of a sort for the ranks: "row b keeps its own `k[b]`
# likeliest symbols"
def order_taken_for_rank(logits, k):
    rank = logits.argsort(dim=-1, descending=True)  # (B, V)
    return logits.masked_fill(rank >= k[:, None], -torch.inf).softmax(dim=-1)


# adapts the lines of minGPT, which write into what they are given: "your functions leave what they
# are given as it was"
def cut_in_the_callers_logits(logits, k):
    v, _ = torch.topk(logits, logits.size(-1))
    last = v.gather(1, k.clamp(max=logits.size(-1))[:, None] - 1)
    logits[logits < last] = -float("inf")
    return torch.softmax(logits, dim=-1)


# comes from Keras and multiplies with a mask before the softmax: "everything else is exactly 0"
def logits_times_mask(logits, k):
    V = logits.shape[-1]
    ordered, _ = torch.sort(logits, dim=-1, descending=True)
    places = torch.clamp(k, max=V) - 1
    smallest = ordered[torch.arange(len(k)), places].unsqueeze(-1)
    mask = (logits >= smallest).float()
    return torch.softmax(logits * mask, dim=-1)


# From Java, goes through the rows and cuts in what is a view: "your functions leave what they are
# given as it was"
def cuts_in_the_rows_of_the_caller(logits, k):
    B, V = logits.shape
    for b in range(B):
        row = logits[b]
        n = min(int(k[b]), V)
        smallest = torch.topk(row, n).values[-1]
        row[row < smallest] = -float("inf")
    return torch.softmax(logits, dim=-1)


def k_different_logits(logits, k):
    """Counts logits that are equal as one, and keeps the k likeliest different values."""
    rows = []
    for row, number in zip(logits, k.tolist(), strict=True):
        values = torch.unique(row).flip(0)
        last = values[min(number, len(values)) - 1]
        rows.append(row.masked_fill(row < last, -torch.inf).softmax(dim=-1))
    return torch.stack(rows)


def never_the_whole_row_of_set_13(logits, k):
    """Clamps k to V - 1 before it subtracts 1, so a k of V or more still cuts the last symbol."""
    ordered = logits.sort(dim=-1, descending=True).values
    place = k.clamp(max=logits.shape[1] - 1).unsqueeze(1) - 1
    last = ordered.gather(1, place)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def clamps_the_callers_k(logits, k):
    """Uses clamp_ with an underscore, so that the caller's k is changed where it is above V."""
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp_(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def counts_ties_as_ahead(logits, k):
    """A symbol's rank counts all that are at least as likely, so ties at the k-th are all lost."""
    rank = (logits.unsqueeze(1) >= logits.unsqueeze(2)).sum(dim=-1)  # (B, V), 1 for the first
    return logits.masked_fill(rank > k.unsqueeze(1), -torch.inf).softmax(dim=-1)


def ranks_distinct_values(logits, k):
    """Counts equal logits as one rank, so ties above the k-th place let further symbols in."""
    V = logits.shape[1]
    kept = torch.zeros_like(logits, dtype=torch.bool)
    for b in range(len(logits)):
        values = logits[b].unique(sorted=True).flip(0)
        place = min(int(k[b]), len(values), V) - 1
        kept[b] = logits[b] >= values[place]
    return logits.masked_fill(~kept, float("-inf")).softmax(dim=-1)


def k_clamped_like_a_place(logits, k):
    """Clamps k itself to V - 1, the last place: with k of V or more, the unlikeliest is cut."""
    V = logits.shape[1]
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(1, V - 1).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


def limited_by_the_rows(logits, k):
    """Limits k to len(logits), which is the number of rows B, where V is meant."""
    ordered = logits.sort(dim=-1, descending=True).values
    place = k.clamp(max=len(logits)) - 1
    last = ordered.gather(1, place.clamp(max=logits.shape[1] - 1)[:, None])
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


UNLISTED = {
    1: [
        (naive_exponentials, None),
        (smallest_k_for_all, None),
        (k_of_the_next_row, None),
        (ranked_by_size, None),
        (k_is_clamped_in_place, None),
        (logarithms, None),
    ],
    2: [
        (top_k_of_one_symbol_fewer, None),
        (top_k_without_the_last, None),
        (top_k_of_the_whole_batch, None),
    ],
    3: [(ties_within_a_thousandth, None)],
    4: [(cut_to_minus_hundred, None)],
    5: [
        (never_the_whole_row, None),
        (cut_to_minus_fifty, None),
        (nearly_as_likely_is_kept, None),
        (k_is_clamped_in_place_of_set_5, None),
    ],
    6: [
        (k_distinct_values, None),
        (largest_k_for_all, None),
        (cut_to_minus_120, None),
        (clamped_one_too_low, None),
    ],
    7: [(exactly_k, None), (largest_k_for_all_of_set_7, None)],
    8: [(rows_cut_in_the_argument, None), (exactly_k_of_each_row, None)],
    9: [(order_taken_for_rank, None), (cut_in_the_callers_logits, None), (logits_times_mask, None)],
    10: [(cuts_in_the_rows_of_the_caller, None)],
    12: [(k_different_logits, None)],
    13: [
        (never_the_whole_row_of_set_13, None),
        (clamps_the_callers_k, None),
        (counts_ties_as_ahead, None),
    ],
    14: [(ranks_distinct_values, None)],
    15: [(k_clamped_like_a_place, None)],
    16: [(limited_by_the_rows, None)],
}
