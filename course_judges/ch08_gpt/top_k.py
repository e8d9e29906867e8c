"""Judges 08/top-k: the k likeliest symbols of each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch08_gpt.rows import (
    alone,
    exactly_zero,
    extremes,
    nearly_zero,
    other_symbols,
    probabilities,
    row_that_differs,
    sets_agree,
)
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.chance import softmax
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, unwrapped


def top_k(logits: Tensor, k: Tensor) -> Tensor:
    """Probabilities (B, V): row b keeps its k[b] likeliest symbols, and what ties with the last."""
    ordered = logits.sort(dim=-1, descending=True).values  # (B, V)
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)  # (B, 1)
    cut = logits.masked_fill(logits < last, -torch.inf)
    return cut.double().softmax(dim=-1)  # so that none of the others becomes 0


def _ranks(logits: Tensor, *, descending: bool = True, dim: int = -1) -> Tensor:
    return logits.argsort(dim=dim, descending=descending).argsort(dim=dim)


def _keeping(keep: Callable[[Tensor, Tensor], Tensor]) -> Callable[[Tensor, Tensor], Tensor]:
    """An answer that keeps other symbols: `keep(logits, k)` is a mask (B, V)."""

    def answer(logits: Tensor, k: Tensor) -> Tensor:
        return logits.masked_fill(~keep(logits, k), -torch.inf).softmax(dim=-1)

    return answer


def _kept(logits: Tensor, k: Tensor) -> Tensor:
    return _ranks(logits) < k.unsqueeze(1)


def _kth(logits: Tensor, k: Tensor) -> Tensor:
    """(B, 1) the k-th largest logit of each row."""
    ordered = logits.sort(dim=-1, descending=True).values
    return ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)


def _one_edge_for_all(evidence: Evidence) -> bool:
    """True if one number parts the logits that are kept from those that are cut, in all rows."""
    kept, logits = evidence.yours("kept") > 1e-9, evidence.inputs["logits"]
    return (
        evidence.comparable("kept")
        and 0 < kept.sum() < kept.size
        and np.allclose(evidence.yours("kept").sum(axis=-1), 1, atol=1e-4)
        and bool(logits[kept].min() > logits[~kept].max())
    )


def _kept_first(evidence: Evidence) -> str:
    k = evidence.inputs["k"]
    return f"k is {', '.join(str(int(n)) for n in k)} here. " + row_that_differs("kept")(evidence)


@mistake(
    "Every symbol kept its chance: nothing was cut.",
    lambda e: unwrapped(f"""{_kept_first(e)} If you did call `masked_fill`: it returns a new tensor,
    so keep what it returns."""),
)
def _keeps_everything(logits: Tensor, k: Tensor) -> Tensor:  # noqa: ARG001
    return logits.softmax(dim=-1)


@mistake(
    "You set probabilities to 0 and left the others as they were; they no longer sum to 1.",
    lambda e: f"{_kept_first(e)} Divide by the sum, or cut the logits before the softmax.",
)
def _not_renormalised(logits: Tensor, k: Tensor) -> Tensor:
    return logits.softmax(dim=-1) * _kept(logits, k)


@mistake(
    "You set the logits of the others to 0; a logit of 0 still has the weight e⁰ = 1.",
    lambda e: f"{_kept_first(e)} Set them to −inf.",
)
def _zero_mask(logits: Tensor, k: Tensor) -> Tensor:
    return (logits * _kept(logits, k)).softmax(dim=-1)


_keeps_one_too_few = mistake(
    "Each row keeps one symbol too few.",
    lambda e: (
        unwrapped(f"""{_kept_first(e)} The k-th itself belongs to the k likeliest. It is lost to
    a > in the place of ≥, or where 1 is subtracted from k twice.""")
    ),
)(_keeping(lambda z, k: _ranks(z) < k.unsqueeze(1) - 1))


@mistake(
    "A row that should stay whole loses its unlikeliest symbol.",
    lambda e: unwrapped(f"""With k ≥ V = {e.yours("edges").shape[1]} a row keeps all of its
    symbols. Is k capped below V, or is there something beyond the last one that is compared with?
    The place of the unlikeliest is V − 1, and nothing stands at place V."""),
    cases=("kept", "edges"),
)
def _capped_below_all(logits: Tensor, k: Tensor) -> Tensor:
    return top_k(logits, k.clamp(max=logits.shape[1] - 1))


_keeps_one_too_many = mistake(
    "Each row keeps one symbol too many.", lambda e: f"{_kept_first(e)} Ranks count from 0."
)(_keeping(lambda z, k: _ranks(z) <= k.unsqueeze(1)))

_keeps_the_unlikeliest = mistake(
    "You keep the least likely symbols.",
    lambda e: f"{_kept_first(e)} `sort` goes upwards unless told otherwise.",
)(_keeping(lambda z, k: _ranks(z, descending=False) < k.unsqueeze(1)))

_kept_and_cut_exchanged = mistake(
    "You keep the symbols that are to be cut, and cut those that are likelier.",
    lambda e: f"{_kept_first(e)} Is the comparison, or the mask, the other way round?",
    also=(_keeping(lambda z, k: z <= _kth(z, k)),),
)(_keeping(lambda z, k: z < _kth(z, k)))

_kth_from_below = mistake(
    "You keep the k-th smallest logit and all above it; it is the k-th largest that counts.",
    lambda e: f"{_kept_first(e)} `kthvalue`, and `sort` unless told otherwise, count from below.",
)(_keeping(lambda z, k: z >= -_kth(-z, k)))

_keeps_the_first_columns = mistake(
    "You keep the symbols with the smallest numbers, not the likeliest ones.",
    lambda e: unwrapped(f"""{_kept_first(e)} Columns stand in the order of the symbols. And a place
    in a sorted row is not a symbol: it has to be taken back."""),
)(_keeping(lambda z, k: torch.arange(z.shape[1]).expand_as(z) < k.unsqueeze(1)))

_ranks_not_inverted = mistake(
    "You compare the sorted symbols' numbers with k, not their ranks.",
    lambda e: unwrapped(f"""{_kept_first(e)} `argsort` says which symbol stands at a rank; its own
    `argsort` says which rank a symbol has."""),
)(_keeping(lambda z, k: z.argsort(dim=-1, descending=True) < k.unsqueeze(1)))

_one_k_for_all = mistake("Every row is cut at the k of row 0.", _kept_first)(
    _keeping(lambda z, k: _ranks(z) < k[0])
)

_largest_k_for_all = mistake("Every row is cut at the largest k of the batch.", _kept_first)(
    _keeping(lambda z, k: _ranks(z) < k.max())
)

_smallest_k_for_all = mistake("Every row is cut at the smallest k of the batch.", _kept_first)(
    _keeping(lambda z, k: _ranks(z) < k.min())
)


@mistake(
    "Your softmax runs over the rows; it runs over the symbols of each row.",
    lambda e: unwrapped(f"""Row 0 sums to {float(e.yours("kept")[0].sum()):.3f}, and columns sum to
    1. In a (B, V) tensor symbols stand along the last dimension."""),
)
def _softmax_over_rows(logits: Tensor, k: Tensor) -> Tensor:
    cut = logits.masked_fill(~_kept(logits, k), -torch.inf)
    return cut.softmax(dim=0).nan_to_num(0.0)


def _holds_logits(evidence: Evidence) -> bool:
    """True if a softmax of each row is what was asked for."""
    mine = evidence.yours("kept").astype(float)
    if not evidence.comparable("kept") or not np.isfinite(mine.max(axis=-1)).all():
        return False
    weights = np.exp(mine - mine.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return bool(np.allclose(weights, evidence.right("kept"), atol=1e-5))


@mistake(
    "You return logits, or logarithms of probabilities; asked for are probabilities.",
    lambda e: unwrapped(f"""A softmax of your rows would be right. Row 0 sums to
    {float(e.yours("kept")[0].sum()):.3g}, and should sum to 1."""),
    recognized=_holds_logits,
)
def _logits_returned(logits: Tensor, k: Tensor) -> Tensor:
    return logits.masked_fill(~_kept(logits, k), -torch.inf)


_one_edge = mistake(
    "All rows are cut at one and the same logit; each row has a k-th largest of its own.",
    _kept_first,
    recognized=_one_edge_for_all,
)(_keeping(lambda z, k: z >= _kth(z, k).min()))

_ranks_over_the_batch = mistake(
    "You rank each symbol against the other rows; rank it within its own row.",
    _kept_first,
)(lambda z, k: z.masked_fill(_ranks(z, dim=0) >= k.unsqueeze(1), -1e9).softmax(-1))


@mistake(
    "The symbols that are kept all got the same chance.",
    lambda e: f"{_kept_first(e)} They keep their ratios: take the softmax over them.",
)
def _all_alike(logits: Tensor, k: Tensor) -> Tensor:
    kept = _kept(logits, k).to(logits.dtype)
    return kept / kept.sum(dim=-1, keepdim=True)


@mistake(
    "Your rows are sorted: column j no longer belongs to symbol j.",
    lambda e: f"{_kept_first(e)} `scatter` takes sorted values back to their columns.",
)
def _left_sorted(logits: Tensor, k: Tensor) -> Tensor:
    return top_k(logits, k).sort(dim=-1, descending=True).values


@mistake("The softmax was taken twice: probabilities were treated as logits.", _kept_first)
def _softmax_twice(logits: Tensor, k: Tensor) -> Tensor:
    return top_k(logits.softmax(dim=-1), k)


def _keeps_exactly_k(evidence: Evidence) -> bool:
    """All is right but where symbols tie, and there as many are kept as k says."""
    if not evidence.same("kept", "edges") or not evidence.comparable("ties"):
        return False
    kept = evidence.yours("ties") > 1e-9
    right, tied = evidence.right("ties") > 0, evidence.inputs["tied"]
    larger = tied > np.where(right, tied, np.inf).min(axis=-1, keepdims=True)  # than the k-th
    as_likely = not (kept & ~right).any() and bool(kept[larger].all())
    return as_likely and bool((kept.sum(axis=-1) == evidence.inputs["k"]).all())


def _tied_row(evidence: Evidence) -> str:
    right = evidence.right("ties")[0]
    row, k = evidence.inputs["tied"][0], int(evidence.inputs["k"][0])
    last = row[right > 0].min()
    tied = " and ".join(str(int(v)) for v in np.flatnonzero(row == last))
    return (
        f"With k = {k}, symbols {tied} of row 0 have the same logit, {number(last)}, which is the"
        " k-th largest, and you keep one of them. Both are as likely as the k-th, so keep both:"
        " compare each logit with the k-th largest one."
    )


@mistake(
    unwrapped("""You keep exactly k symbols, and of several that are as likely as the k-th, you cut
    those for which there is no room."""),
    _tied_row,
    recognized=_keeps_exactly_k,
)
def _cuts_ties(logits: Tensor, k: Tensor) -> Tensor:
    order = logits.sort(dim=-1, descending=True, stable=True).indices  # (B, V)
    return logits.masked_fill(order.argsort(dim=-1) >= k.unsqueeze(1), -torch.inf).softmax(dim=-1)


@mistake(
    "You take the k-th largest of the different logits; equal ones count as often as they occur.",
    lambda e: unwrapped(f"""In row 2 the two likeliest symbols have the same logit, which is the
    largest and the second largest one. With k = {int(e.inputs["k"][2])} you keep
    {int((e.yours("ties")[2] > 1e-9).sum())} symbols of that row; asked for are
    {int((e.right("ties")[2] > 0).sum())}."""),
    cases=("ties",),
)
def _distinct_logits(logits: Tensor, k: Tensor) -> Tensor:
    rows = []
    for row, n in zip(logits, k.tolist(), strict=True):
        different = row.unique().flip(0)
        last = different[min(n, len(different)) - 1]
        rows.append(row.masked_fill(row < last, -torch.inf).softmax(dim=-1))
    return torch.stack(rows)


def _nearly_tied_row(evidence: Evidence) -> str:
    row, k = evidence.inputs["tied"][1], int(evidence.inputs["k"][1])
    last, further = np.sort(row)[::-1][k - 1 : k + 1]
    return unwrapped(f"""With k = {k}, the k-th largest logit of row 1 is {last:.4f} and the next
    one {further:.4f}: that is less, and you keep both. Two equal logits need no allowance for
    rounding, since nothing was computed with them.""")


@mistake(
    "You keep what is nearly as likely as the k-th; only what is exactly as likely is kept.",
    _nearly_tied_row,
    cases=("ties",),
)
def _near_ties_kept(logits: Tensor, k: Tensor) -> Tensor:
    ordered = logits.sort(dim=-1, descending=True).values
    last = ordered.gather(1, k.clamp(max=logits.shape[1]).unsqueeze(1) - 1)
    return logits.masked_fill(logits < last - 1e-2, -torch.inf).softmax(dim=-1)


TASK = Task(
    "The likeliest k",
    top_k,
    CHOICE,
    (
        Part("Each row keeps its own k likeliest symbols and no other.", 1, sets_agree("kept")),
        Part(
            "What is kept has its probability, renormalized, with any k and any logits.",
            1,
            lambda e: (
                e.same("kept", "edges", "extreme", "row", "symbol")
                and exactly_zero("kept", "edges", "extreme")(e)
            ),
        ),
        Part("What is as likely as the k-th symbol is kept, too.", 2, matches("ties")),
    ),
    properties=(
        probabilities("kept"),
        other_symbols("kept", lambda e: softmax(e.inputs["logits"])),
        nearly_zero("kept", "edges", "extreme"),
        extremes("extreme", "kept", "edges", "ties"),
        alone("row", "symbol"),
    ),
    cases=("kept",),
)
