"""Judges 08/top-k: the k likeliest symbols of each row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges.ch08_gpt.rows import (
    alone,
    exactly_zero,
    nearly_zero,
    other_symbols,
    probabilities,
    replaced,
    row_that_differs,
    sets_agree,
)
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.chance import softmax
from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, sentence, unwrapped
from course_tasks.answers import Array


def top_k(logits: Tensor, k: Tensor) -> Tensor:
    """Probabilities (B, V): row b keeps its k[b] likeliest symbols, and what ties with the last."""
    V = logits.shape[1]  # V
    ordered = logits.sort(dim=-1, descending=True).values  # your sorted logits (B, V)
    place = k.clamp(max=V) - 1  # the places of the k-th largest logits (B,)
    last = ordered.gather(1, place[:, None])  # your k-th largest logits (B, 1)
    cut = logits.masked_fill(logits < last, -torch.inf)  # your cut logits (B, V)
    # In float64, so that no kept symbol underflows to 0.
    return cut.double().softmax(dim=-1)  # your probabilities (B, V)


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
    """True if one threshold separates kept from cut logits in all rows."""
    kept, logits = evidence.yours("kept") > 1e-9, evidence.inputs["logits"]
    return (
        evidence.comparable("kept")
        and 0 < kept.sum() < kept.size
        and np.allclose(evidence.yours("kept").sum(axis=-1), 1, atol=1e-4)
        and bool(logits[kept].min() > logits[~kept].max())
    )


def _kept_first(evidence: Evidence) -> str:
    k = evidence.inputs["k"].tolist()
    return f"With k = {listed(k)}, {row_that_differs('kept')(evidence)}"


@mistake(
    "You didn't cut anything: every symbol keeps its probability.",
    lambda e: unwrapped(f"""{_kept_first(e)} If you did call `masked_fill`, remember that it returns
    a new tensor."""),
)
def _keeps_everything(logits: Tensor, k: Tensor) -> Tensor:  # noqa: ARG001
    return logits.softmax(dim=-1)


@mistake(
    "You set probabilities to 0 without renormalizing, so the rest no longer sum to 1.",
    lambda e: f"{_kept_first(e)} Divide by the sum, or cut the logits before the softmax.",
)
def _not_renormalised(logits: Tensor, k: Tensor) -> Tensor:
    return logits.softmax(dim=-1) * _kept(logits, k)


@mistake(
    "You set the other symbols' logits to 0, but a logit of 0 still has the weight e⁰ = 1.",
    lambda e: f"{_kept_first(e)} Set them to −inf.",
)
def _zero_mask(logits: Tensor, k: Tensor) -> Tensor:
    return (logits * _kept(logits, k)).softmax(dim=-1)


_keeps_one_too_few = mistake(
    "You keep one symbol too few in each row.",
    lambda e: unwrapped(f"""{_kept_first(e)} The k-th symbol itself should be kept. Did you write >
    instead of ≥, or subtract 1 from k twice?"""),
)(_keeping(lambda z, k: _ranks(z) < k.unsqueeze(1) - 1))


@mistake(
    "You cut the least likely symbol in rows where k is at least V.",
    lambda e: unwrapped(f"""Such a row should keep all its V = {e.yours("edges").shape[1]} symbols.
    Do you limit k to V − 1? The k-th largest logit has index k − 1 in the sorted row, so with
    k = V it is still there."""),
    cases=("kept", "edges"),
)
def _capped_below_all(logits: Tensor, k: Tensor) -> Tensor:
    return top_k(logits, k.clamp(max=logits.shape[1] - 1))


_keeps_one_too_many = mistake(
    "You keep one symbol too many in each row.",
    lambda e: f"{_kept_first(e)} Ranks start at 0.",
)(_keeping(lambda z, k: _ranks(z) <= k.unsqueeze(1)))

_keeps_the_unlikeliest = mistake(
    "You keep the least likely symbols instead of the likeliest ones.",
    lambda e: f"{_kept_first(e)} `sort` is ascending unless you pass `descending=True`.",
)(_keeping(lambda z, k: _ranks(z, descending=False) < k.unsqueeze(1)))


_keeps_the_first_columns = mistake(
    "You keep the first k columns instead of the k likeliest symbols.",
    lambda e: unwrapped(f"""{_kept_first(e)} Column j belongs to symbol j, however likely it is. If
    you sorted, bring your mask back into the order of the symbols."""),
)(_keeping(lambda z, k: torch.arange(z.shape[1]).expand_as(z) < k.unsqueeze(1)))

_ranks_not_inverted = mistake(
    "You compared the output of `argsort` with k, but it holds symbols, not ranks.",
    lambda e: unwrapped(f"""{_kept_first(e)} `argsort` tells you which symbol has which rank. Apply
    it a second time to get the rank of each symbol."""),
)(_keeping(lambda z, k: z.argsort(dim=-1, descending=True) < k.unsqueeze(1)))

_one_k_for_all = mistake("You use the k of row 0 for every row.", _kept_first)(
    _keeping(lambda z, k: _ranks(z) < k[0])
)

_largest_k_for_all = mistake("You use the largest k of the batch for every row.", _kept_first)(
    _keeping(lambda z, k: _ranks(z) < k.max())
)

_smallest_k_for_all = mistake("You use the smallest k of the batch for every row.", _kept_first)(
    _keeping(lambda z, k: _ranks(z) < k.min())
)


@mistake(
    "Your softmax runs along the wrong dimension, over the rows instead of the symbols.",
    lambda e: unwrapped(f"""Your columns sum to 1, but row 0 sums to
    {float(e.yours("kept")[0].sum()):.3f}. In a (B, V) tensor, the symbols are along the last
    dimension."""),
)
def _softmax_over_rows(logits: Tensor, k: Tensor) -> Tensor:
    cut = logits.masked_fill(~_kept(logits, k), -torch.inf)
    return cut.softmax(dim=0).nan_to_num(0.0)


def _holds_logits(evidence: Evidence) -> bool:
    """True if a softmax of each row would be right."""
    mine = evidence.yours("kept").astype(float)
    if not evidence.comparable("kept") or not np.isfinite(mine.max(axis=-1)).all():
        return False
    weights = np.exp(mine - mine.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return bool(np.allclose(weights, evidence.right("kept"), atol=1e-5))


@mistake(
    "You return logits or logarithms of probabilities instead of probabilities.",
    lambda e: unwrapped(f"""A softmax of your rows would be right. Row 0 sums to
    {number(float(e.yours("kept")[0].sum()))}, but it should sum to 1."""),
    recognized=_holds_logits,
)
def _logits_returned(logits: Tensor, k: Tensor) -> Tensor:
    return logits.masked_fill(~_kept(logits, k), -torch.inf)


_one_edge = mistake(
    "You use one threshold for all rows, but each row has its own k-th largest logit.",
    _kept_first,
    recognized=_one_edge_for_all,
)(_keeping(lambda z, k: z >= _kth(z, k).min()))

_ranks_over_the_batch = mistake(
    "You rank each logit among the other rows instead of within its own row.",
    _kept_first,
)(lambda z, k: z.masked_fill(_ranks(z, dim=0) >= k.unsqueeze(1), -1e9).softmax(-1))


@mistake(
    "You gave all kept symbols the same probability.",
    lambda e: f"{_kept_first(e)} Their ratios shouldn't change, so take the softmax over them.",
)
def _all_alike(logits: Tensor, k: Tensor) -> Tensor:
    kept = _kept(logits, k).to(logits.dtype)
    return kept / kept.sum(dim=-1, keepdim=True)


@mistake(
    "Your rows are still sorted, so column j no longer belongs to symbol j.",
    lambda e: f"{_kept_first(e)} `scatter` brings sorted values back to their columns.",
)
def _left_sorted(logits: Tensor, k: Tensor) -> Tensor:
    return top_k(logits, k).sort(dim=-1, descending=True).values


@mistake(
    "You took the softmax twice: the second time, of probabilities.",
    _kept_first,
    also=(lambda logits, k: top_k(logits, k).softmax(dim=-1),),
)
def _softmax_twice(logits: Tensor, k: Tensor) -> Tensor:
    return top_k(logits.softmax(dim=-1), k)


def _keeps_exactly_k(evidence: Evidence) -> bool:
    """True if everything is right except for ties, where exactly k symbols are kept."""
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
        f"In row 0, with k = {k}, symbols {tied} both have the k-th largest logit, {number(last)},"
        " but you keep only one of them. Compare each logit with the k-th largest one to keep both."
    )


@mistake(
    "You keep exactly k symbols, but those that are as likely as the k-th should be kept, too.",
    _tied_row,
    recognized=_keeps_exactly_k,
)
def _cuts_ties(logits: Tensor, k: Tensor) -> Tensor:
    order = logits.sort(dim=-1, descending=True, stable=True).indices  # (B, V)
    return logits.masked_fill(order.argsort(dim=-1) >= k.unsqueeze(1), -torch.inf).softmax(dim=-1)


def _cuts_what_ties(evidence: Evidence) -> bool:
    """True if everything is right except for ties, of which none is kept."""
    if not evidence.same("kept", "edges") or not evidence.comparable("ties"):
        return False
    kept, right, tied = evidence.yours("ties") > 1e-9, evidence.right("ties") > 0, _tied(evidence)
    return bool((kept == (right & ~tied)).all() and tied.any())


def _tied(evidence: Evidence) -> Array:
    """(B, V) which symbols share the k-th largest logit with others."""
    right, logits = evidence.right("ties") > 0, evidence.inputs["tied"]
    last = logits == np.where(right, logits, np.inf).min(axis=-1, keepdims=True)
    return last & (last.sum(axis=-1, keepdims=True) > 1)


@mistake(
    "You cut all symbols that tie with the k-th, but they should all be kept.",
    lambda e: unwrapped(f"""In row 0, with k = {int(e.inputs["k"][0])}, symbols
    {" and ".join(map(str, np.flatnonzero(_tied(e)[0])))} both have the k-th largest logit, and you
    keep neither of them. Do you count a symbol's equals among those ahead of it? Only larger logits
    are ahead."""),
    recognized=_cuts_what_ties,
)
def _equals_counted_as_ahead(logits: Tensor, k: Tensor) -> Tensor:
    ahead = (logits.unsqueeze(1) >= logits.unsqueeze(2)).sum(dim=-1)  # (B, V), itself included
    return logits.masked_fill(ahead > k.unsqueeze(1), -torch.inf).softmax(dim=-1)


def _without_a_limit(logits: Tensor, k: Tensor) -> Tensor:
    last = logits.sort(dim=-1, descending=True).values.gather(1, k.unsqueeze(1) - 1)
    return logits.masked_fill(logits < last, -torch.inf).softmax(dim=-1)


_stops_beyond_all = mistake(
    "Your answer stops with an error when some entries of `k` are V or larger.",
    lambda e: unwrapped(f"""The rows have V = {e.number("V")} symbols, and `k` is
    {listed(e.inputs["large"])}. The error says: {sentence(e.answers.errors["edges"].message)}
    A row with k ≥ V should keep all its symbols, and the last one has index V − 1 in the sorted
    row."""),
    recognized=lambda e: e.same("kept") and "edges" in e.answers.errors,
)(_without_a_limit)


@mistake(
    "You count equal logits only once when you look for the k-th largest.",
    lambda e: (
        unwrapped(f"""In row 2 the two likeliest symbols have the same logit, so it is both the
    largest and the second largest. With k = {int(e.inputs["k"][2])} you keep
    {int((e.yours("ties")[2] > 1e-9).sum())} symbols of that row instead of
    {int((e.right("ties")[2] > 0).sum())}.""")
    ),
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
    return unwrapped(f"""In row 1, with k = {k}, the k-th largest logit is {last:.4f}. The next one
    is smaller, {further:.4f}, but you keep it. You don't need a tolerance here, because nothing was
    computed with the logits.""")


@mistake(
    "You also keep symbols that are only nearly as likely as the k-th.",
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
        Part("Each row keeps its own k likeliest symbols and no others.", 1, sets_agree("kept")),
        Part(
            "The kept symbols have their renormalized probabilities.",
            1,
            lambda e: (
                e.same("kept", "edges", "extreme", "row", "symbol")
                and exactly_zero("kept", "edges", "extreme")(e)
            ),
        ),
        Part("Symbols that are as likely as the k-th are kept, too.", 2, matches("ties")),
    ),
    properties=(
        probabilities("kept"),
        replaced("kept", lambda e: e.inputs["logits"]),
        other_symbols("kept", lambda e: softmax(e.inputs["logits"])),
        nearly_zero("kept", "edges", "extreme"),
        alone("row", "symbol"),
    ),
    cases=("kept",),
    steps={
        "V": Step("A row has as many symbols as the last dimension says."),
        "your sorted logits": Step(
            "In a row that is sorted in descending order, the k-th largest logit is the k-th entry."
        ),
        "the places of the k-th largest logits": Step(
            "The k-th entry has index k − 1, and a row with k ≥ V ends with index V − 1."
        ),
        "your k-th largest logits": Step("Each row has its own k, and so its own threshold."),
        "your cut logits": Step(
            "Whatever is smaller than the k-th largest logit of its row gets −∞, so that nothing of"
            " it is left after the softmax."
        ),
        "your probabilities": Step("The softmax of each row shares 1 among the kept symbols."),
    },
)
