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
    (
        lambda z, k: top_k_by_edge(z, k.roll(1)),
        "moved-the-places-of-the-k-th-largest-logits-one-place-on-along-the-last-axis",
    ),
    (lambda z, k: top_k_by_rows(z, k.clamp(max=len(z))), "other-counts"),
    (one_symbol_left_over, "other-symbols"),
    (lambda z, k: z, "no-distribution"),
    (lambda z, k: top_k_by_edge(z, k).squeeze(), "axis-of-one"),
    (lambda z, k: top_k_by_edge(z, k) if z.shape[1] > 1 else z, "dimension-of-one"),
    (one_tie_alone, "some-rows"),
    (no_logit_below_sixty, "nearly-zero"),
]


# --- Answers that no list names ---


def mean_subtracted(logits, k):
    """`exp` overflows in a row that lies far above the mean of all."""
    powers = (logits - logits.mean()).exp() * (top_k_by_edge(logits, k) > 0)
    return powers / powers.sum(-1, keepdim=True)


def k_is_clamped_in_place(logits, k):
    return top_k_by_edge(logits, k.clamp_(max=logits.shape[1]))


UNLISTED = {
    1: [(mean_subtracted, "not-finite"), (k_is_clamped_in_place, "changes-its-input")],
}
