"""Judges 12/drafts: how many drafts are kept, and what is written after them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch12_faster.draft_outcomes import (
    Rule,
    counts,
    exact,
    exact_for_one,
    fits,
    kept_often,
    normed,
    obeys_the_generator,
    off_at,
    reaching,
)
from course_judges.ch12_faster.draft_rules import wrong_step
from course_judges.ch12_faster.sections import DRAFTS
from course_judges.chance import follows
from course_judges.judging import Evidence, Mistake, Part, Task, mistake
from course_judges.properties import integers
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def _right(
    p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    """Keep with min(1, p / q), and after a rejection draw from where q is below p."""
    B, K = draft.shape
    at = draft.unsqueeze(-1)  # (B, K, 1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)  # (B, K)
    keep = (torch.rand(B, K, generator=generator) < share) & (torch.arange(K) < drafted[:, None])
    count = keep.long().cumprod(dim=1).sum(dim=1)  # (B,)
    rows = torch.arange(B)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]  # (B, V)
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


def _first_place(evidence: Evidence) -> str:
    """The share of a symbol at the first place, next to the model's."""
    kept, drafted, written = reaching(evidence, 0)
    found = np.bincount(np.where(kept, drafted, written), minlength=evidence.number("V"))
    shares, p = found / found.sum(), evidence.inputs["p"][0]
    worst = int(np.abs(shares - p).argmax())
    return unwrapped(f"""At the first place you write symbol {worst} in
    {100 * shares[worst]:.1f} % of the rows that have a draft there, but the model gives it
    {100 * p[worst]:.1f} %.""")


def _following(rule: Rule, *, stops: bool = True, limited: bool = True) -> Callable[..., Any]:
    """An answer that keeps and draws by a rule, with the distributions of the first row."""

    def answer(
        p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, Tensor]:
        B, K = draft.shape
        own, theirs = p[0].double().numpy(), q[0].double().numpy()
        pairs = [(own[i], theirs[i]) for i in range(K)]
        share = torch.from_numpy(np.stack([rule.keep(*pair) for pair in pairs]))  # (K, V)
        place = torch.arange(K)
        keep = torch.rand(B, K, generator=generator) < share[place, draft]
        if limited:
            keep &= place < drafted[:, None]
        before = keep.long().cumprod(dim=1).sum(dim=1)
        rejected = before < (drafted if limited else K)
        instead = np.stack([*(rule.instead(*pair) for pair in pairs), own[-1]])
        after = np.stack([rule.after(own, k) for k in range(K + 1)])
        choice = torch.where(
            rejected[:, None], torch.from_numpy(instead)[before], torch.from_numpy(after)[before]
        )
        symbol = torch.multinomial(choice, 1, generator=generator).squeeze(1)
        return (before if stops else keep.long().sum(dim=1)), symbol

    return answer


def _likeliest(shares: Array) -> Array:
    """(V,): 1 for the largest, 0 for all others."""
    return (np.arange(len(shares)) == shares.argmax()).astype(float)


def _by_rule(what: str, effect: Callable[[Evidence], str], rule: Rule) -> Mistake:
    """A mistake whose outcomes are those of a rule."""
    return mistake(what, effect, recognized=lambda e: fits(e, rule))(_following(rule))


_again_from_p = _by_rule(
    "After a rejection you drew from p itself, and not from what drafts have too little of.",
    lambda e: f"That gives a rejected symbol a second chance. {_first_place(e)}",
    Rule(instead=lambda p, _: p),
)


_from_the_draft_again = _by_rule(
    "After a rejection you drew from the draft's distribution q again.",
    _first_place,
    Rule(instead=lambda _, q: q),
)


def _writes_what_it_rejects(evidence: Evidence) -> bool:
    """Whether each rejected draft is written after all."""
    rejected = [
        (written[~kept], drafted[~kept])
        for place in range(evidence.number("K"))
        for kept, drafted, written in (reaching(evidence, place),)
    ]
    return all(np.array_equal(*one) for one in rejected) and any(len(one[0]) for one in rejected)


@mistake(
    "After a rejection you write the rejected draft itself.",
    lambda e: unwrapped(f"""So every draft is written, whether you count it or not. A new symbol
    should be drawn, from max(0, p − q). {_first_place(e)}"""),
    recognized=_writes_what_it_rejects,
)
def _rejected_draft_written(
    p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    count, symbol = _right(p, q, draft, drafted, generator)
    rejected = draft.gather(1, count.clamp(max=draft.shape[1] - 1)[:, None]).squeeze(1)
    return count, torch.where(count < drafted, rejected, symbol)


_difference_the_other_way = _by_rule(
    "After a rejection you drew from max(0, q − p), which is what drafts have too much of.",
    _first_place,
    Rule(instead=lambda p, q: normed(np.maximum(0, q - p))),
)

_absolute_difference = _by_rule(
    "After a rejection you drew from |p − q|, but what drafts have too much of should count as 0.",
    _first_place,
    Rule(instead=lambda p, q: normed(np.abs(p - q))),
)

_ratio_inverted = _by_rule(
    "You kept a draft with probability q / p instead of p / q.",
    _first_place,
    Rule(keep=lambda p, q: np.minimum(1, q / p)),
)

_kept_by_p_alone = _by_rule(
    "You kept a draft with probability p, and after a rejection drew from max(0, p − q).",
    lambda e: (
        "These are halves of two rules: max(0, p − q) goes with min(1, p / q). If instead you keep "
        "a draft when a symbol drawn from p equals it, you have to write that very symbol "
        f"otherwise. {_first_place(e)}"
    ),
    Rule(keep=lambda p, _: p),
)


_kept_if_likelier = _by_rule(
    "You kept a draft exactly when p ≥ q, without any chance.",
    lambda e: f"If p is smaller, keep the draft with probability p / q. {_first_place(e)}",
    Rule(keep=lambda p, q: (p >= q).astype(float)),
)

_kept_if_the_likeliest = _by_rule(
    "You kept a draft exactly when it is the model's likeliest symbol, without any chance.",
    lambda e: (
        unwrapped(f"""Any symbol may be kept, with probability min(1, p / q). That also holds for
    the likeliest one, so it isn't always kept if q is larger than p. {_first_place(e)}""")
    ),
    Rule(keep=lambda p, _: _likeliest(p)),
)


_everything_kept = _by_rule(
    "You kept every draft, so your text follows q instead of the model.",
    _first_place,
    Rule(keep=lambda p, _: np.ones_like(p)),
)

_no_chance_in_the_symbol = _by_rule(
    "You wrote the likeliest symbol after the drafts, but it has to be drawn.",
    lambda e: f"You keep drafts as often as you should. {_first_place(e)}",
    Rule(
        instead=lambda p, q: _likeliest(p - q),
        after=lambda p, k: _likeliest(p[k]),
    ),
)

_no_chance_after_a_rejection = _by_rule(
    "After a rejection you took the symbol with the largest p − q, but it has to be drawn.",
    lambda e: (
        unwrapped(f"""You keep drafts as often as you should, but of all symbols with p > q you then
    write only one. {_first_place(e)}""")
    ),
    Rule(instead=lambda p, q: _likeliest(p - q)),
)


_last_of_all_places = _by_rule(
    "After a row's drafts were all kept, you drew from the last place of `p` in every row.",
    lambda e: (
        unwrapped(f"""The distribution after the last draft of row b is `p[b, drafted[b]]`, but
    `p[b, {e.number("K")}]` is the one after {e.number("K")} drafts, and some rows have fewer.""")
    ),
    Rule(after=lambda p, k: p[-1]),  # noqa: ARG005
)


def _rejected_after_the_last(evidence: Evidence) -> bool:
    """Whether rows that keep all their drafts, fewer than K, draw as after a rejection."""
    p, q = evidence.inputs["p"].astype(float), evidence.inputs["q"].astype(float)
    count, symbol = counts(evidence)
    drafted, K = evidence.inputs["drafted"], len(q)
    off = off_at(evidence)
    if off is None or off[:2] != (K - 1, K - 1):
        return False
    return all(
        follows(symbol[(drafted == k) & (count == k)], normed(np.maximum(0, p[k] - q[k])))
        for k in (0, K - 1)
    )


@mistake(
    "After a row's last draft you drew as after a rejection, as if its padding were rejected.",
    lambda e: unwrapped(f"""If a row keeps all its drafts, its symbol should be drawn from
    `p[b, drafted[b]]` itself, even if that isn't place {e.number("K")}."""),
    recognized=_rejected_after_the_last,
)
def _padding_rejected(
    p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    K = draft.shape[1]
    count, symbol = _right(p, q, draft, drafted, generator)
    rows = torch.arange(len(p))
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)]
    other = torch.multinomial(lacking, 1, generator=generator).squeeze(1)
    return count, torch.where(count < K, other, symbol)


def _right_if_swapped(evidence: Evidence) -> bool:
    """Whether the two results are right in the other order."""
    values = evidence.answers.values
    other = {"count": "symbol", "symbol": "count"}
    swapped = {
        name: values[f"{case}.{other[result]}"] if result in other else value
        for name, value in values.items()
        for case, _, result in (name.partition("."),)
    }
    return exact(replace(evidence, answers=replace(evidence.answers, values=swapped)))


@mistake(
    "You return the symbol first and then the count, but the count comes first.",
    "In the other order, both are right.",
    recognized=_right_if_swapped,
)
def _returned_in_the_other_order(
    p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    return _right(p, q, draft, drafted, generator)[::-1]


def _counts_the_symbol(evidence: Evidence) -> bool:
    """Whether each row keeps at least one draft, even if it has none, and at most one too many."""
    count, _ = counts(evidence)
    drafted = evidence.inputs["drafted"]
    return bool((count >= 1).all() and (count <= drafted + 1).all())


@mistake(
    "Your count includes the symbol after the drafts, which isn't a draft.",
    "So a row that has no draft has a count of 1.",
    recognized=_counts_the_symbol,
)
def _symbol_counted(
    p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    count, symbol = _right(p, q, draft, drafted, generator)
    return count + 1, symbol


def _padding_kept(evidence: Evidence) -> bool:
    count, _ = counts(evidence)
    return bool((count > evidence.inputs["drafted"]).any())


_beyond_the_drafted = mistake(
    "Some of your rows keep more drafts than they have, but all after `drafted[b]` is padding.",
    lambda e: (
        unwrapped(f"""This happens in {int((e.yours("chance.count") > e.inputs["drafted"]).sum())}
    of {e.number("B")} rows.""")
    ),
    recognized=_padding_kept,
)(_following(Rule(), limited=False))


def _goes_on(evidence: Evidence) -> bool:
    """Whether as many are kept as if each were judged by itself, even after a rejection."""
    p, q = evidence.inputs["p"].astype(float), evidence.inputs["q"].astype(float)
    K = len(q)
    chance = np.minimum(p[:K], q).sum(axis=-1)
    number_kept = np.array([1.0])
    for share in chance:
        number_kept = np.convolve(number_kept, [1 - share, share])
    count, _ = counts(evidence)
    return follows(count[evidence.inputs["drafted"] == K], number_kept)


_goes_on_after_a_rejection = mistake(
    "You count every draft that would be kept, even those after a rejected one.",
    "Drafts after a rejected symbol belong to a text that isn't written, so none of them counts.",
    recognized=_goes_on,
)(_following(Rule(), stops=False))


def _without_the_generator(
    p: Tensor,
    q: Tensor,
    draft: Tensor,
    drafted: Tensor,
    generator: torch.Generator,  # noqa: ARG001
) -> tuple[Tensor, Tensor]:
    own = torch.Generator().manual_seed(int(torch.randint(2**31, ())))
    return _right(p, q, draft, drafted, own)


def _one_number_a_row(evidence: Evidence) -> bool:
    """Whether the first draft is kept as often as it should be, and the second, after it, as often
    as if the same number decided on both.
    """
    p, q = (evidence.inputs[name].astype(float) for name in "pq")
    count, _ = counts(evidence)
    draft, reached = evidence.inputs["draft"], (evidence.inputs["drafted"] > 1) & (count >= 1)
    share, own = np.minimum(1, p[:2] / q[:2]), []
    for first, second in np.ndindex(p.shape[1], p.shape[1]):
        rows = reached & (draft[:, 0] == first) & (draft[:, 1] == second)
        if not rows.any():
            continue
        kept = (count[rows] >= 2).astype(int)
        together = min(1.0, float(share[1, second] / share[0, first]))
        if not follows(kept, np.array([1 - together, together])):
            return False
        own.append(follows(kept, np.array([1 - share[1, second], share[1, second]])))
    return _keeps_by_the_quotient(evidence) and not all(own)


@mistake(
    "You use one random number for all drafts of a row, but each draft needs its own.",
    lambda e: (
        unwrapped(f"""If a number was small enough to keep one draft, it is probably small enough
    for the next, too, which is then kept too often. Draw (B, K) numbers, here
    (B, {e.number("K")}).""")
    ),
    recognized=_one_number_a_row,
)
def _one_number_for_all(
    p: Tensor, q: Tensor, draft: Tensor, drafted: Tensor, generator: torch.Generator
) -> tuple[Tensor, Tensor]:
    B, K = draft.shape
    at = draft.unsqueeze(-1)
    share = (p[:, :K].gather(-1, at) / q.gather(-1, at)).squeeze(-1)
    keep = (torch.rand(B, 1, generator=generator) < share) & (torch.arange(K) < drafted[:, None])
    count = keep.long().cumprod(dim=1).sum(dim=1)
    rows = torch.arange(B)
    lacking = (p[:, :K] - q).clamp(min=0)[rows, count.clamp(max=K - 1)] + 1e-12
    instead = torch.where((count < drafted)[:, None], lacking, p[rows, count])
    return count, torch.multinomial(instead, 1, generator=generator).squeeze(1)


_generator_ignored = mistake(
    "Not all of your random numbers come from the given generator.",
    "With the same seed, your answer drew other symbols. Pass `generator=generator` to each draw.",
    recognized=lambda e: (
        exact(e) and not np.array_equal(e.yours("seeded.first"), e.yours("seeded.again"))
    ),
)(_without_the_generator)


def _keeps_by_the_quotient(evidence: Evidence) -> bool:
    """Whether each symbol is kept with min(1, p / q) at the first place."""
    kept, drafted, _ = reaching(evidence, 0)
    p, q = (evidence.inputs[name][0].astype(float) for name in "pq")
    V = len(p)
    share = np.minimum(p, q)
    return follows(np.where(kept, drafted, V), np.append(share, 1 - share.sum()))


def _no_whole_numbers(evidence: Evidence) -> Finding | None:
    for name in ("count", "symbol"):
        if evidence.yours(f"chance.{name}").dtype.kind not in "iu":
            return Finding(
                "kind-of-number",
                f"Your `{name}` doesn't hold whole numbers.",
                "Counts and symbols are used as indices, so return them as integers, for example "
                "with `.long()`.",
                DRAFTS,
            )
    return None


def _never_keeps(evidence: Evidence) -> Finding | None:
    if exact(evidence) and not kept_often(evidence):
        kept, _, _ = reaching(evidence, 0)
        count, _ = counts(evidence)
        drafted = evidence.inputs["drafted"]
        if kept.any() and not (count >= drafted)[drafted > 0].any():
            return Finding(
                "last-never-kept",
                "What you write follows the model, but no row keeps all its drafts.",
                f"Rows with {int(drafted.max())} drafts keep at most {int(count.max())}. The last "
                "draft, at place `drafted[b]` − 1, can be kept like those before it.",
                DRAFTS,
            )
        return Finding(
            "keeps-too-few",
            "What you write follows the model, but you keep too few drafts.",
            f"You keep {100 * kept.mean():.1f} % of the first drafts, so drafting gains little.",
            DRAFTS,
        )
    return None


def _always_the_same(evidence: Evidence) -> Finding | None:
    first, other = evidence.yours("seeded.first"), evidence.yours("seeded.other")
    if exact(evidence) and np.array_equal(first, other):
        return Finding(
            "always-the-same",
            "You draw the same symbols with two different generators.",
            "Do you set a seed of your own? Use the given generator for all draws.",
            DRAFTS,
        )
    return None


def _off(evidence: Evidence) -> Finding | None:
    off = off_at(evidence)
    if off is None:
        return None
    most, place, written = off
    p = evidence.inputs["p"][place].astype(float)
    shares = np.bincount(np.clip(written, 0, len(p) - 1), minlength=len(p)) / len(written)
    worst = int(np.abs(shares - p).argmax())
    kept = f", after {'one kept draft' if place == 1 else f'{place} kept drafts'}," if place else ""
    return Finding(
        "other-distribution",
        "What you write doesn't follow the model's distribution.",
        unwrapped(f"""In rows with {most or "no"} {"draft" if most == 1 else "drafts"} you write
        symbol {worst} at place {place}{kept} with a share of {number(shares[worst])}, but `p[b,
        {place}]` gives it {number(p[worst])}."""),
        DRAFTS,
    )


def _wrong_for_one(evidence: Evidence) -> Finding | None:
    if "single" in evidence.answers.errors or exact_for_one(evidence):
        return None
    return Finding(
        "wrong-for-one-draft",
        "Your answer is wrong for K = 1, where each row has its own distributions.",
        f"It is right for K = {evidence.number('K')} and rows with the same distributions. Does it "
        "assume that there are several drafts, drop an axis of length 1, as `squeeze()` without "
        "an axis does, or use one row's distributions for another?",
        DRAFTS,
    )


TASK = Task(
    "Drafts of several lengths",
    _right,
    DRAFTS,
    (
        Part(
            "What is written follows the model's distribution.",
            5,
            lambda e: exact(e) and exact_for_one(e),
        ),
        Part(
            "Drafts are kept often enough, by the generator's chance.",
            3,
            lambda e: (
                exact(e)
                and kept_often(e)
                and obeys_the_generator(e)
                and integers(e, "chance.count", "chance.symbol")
            ),
        ),
    ),
    properties=(
        _no_whole_numbers,
        _never_keeps,
        _always_the_same,
        wrong_step,
        _off,
        _wrong_for_one,
    ),
)
