"""Judges 13/alignment: how often each head looks at the word that made a word."""

# mypy: allow-untyped-defs

# ruff: noqa: ARG005

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from course_judges.ch13_two_sequences.sections import LOOKS
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, row, unwrapped
from course_tasks.verdict import Finding


def _hits(weights, links, real):
    """(B, H, T): whether the most attended word is one of those that made the word."""
    best = weights.masked_fill(~real[:, None, None], -1).argmax(dim=-1)  # (B, H, T)
    several = links[:, None].expand(-1, weights.shape[1], -1, -1)
    return several.gather(-1, best.unsqueeze(-1)).squeeze(-1)


def _share(hits, made):
    return (hits & made[:, None]).sum(dim=(0, 2)) / made.sum()


@dataclass(frozen=True)
class Scorer:
    """An answer with one of its steps replaced."""

    look: Callable[..., Any] = lambda weights: weights
    hits: Callable[..., Any] = _hits
    share: Callable[..., Any] = _share
    masked: bool = True

    def __call__(self, weights, links, real):
        """(B, H, T, S), (B, T, S), (B, S) → (H,)."""
        if not self.masked:
            real = torch.ones_like(real)
        return self.share(self.hits(self.look(weights), links, real), links.any(dim=-1))


alignment_scores = Scorer()


def _both(evidence: Evidence) -> str:
    case = "padded" if evidence.same("whole") else "whole"
    return unwrapped(f"""Your scores of the {evidence.number("H")} heads are
    {row(evidence.yours(case).reshape(-1)[:4])}; expected {row(evidence.right(case))}.""")


def _linked(evidence: Evidence) -> str:
    made = evidence.inputs["links"].any(axis=-1)
    counts = ", ".join(str(int(n)) for n in made.sum(axis=1))
    return unwrapped(f"""The samples have {counts} words with a link, of {made.shape[1]} rows each.
    {_both(evidence)}""")


def _by_mass(weights, links, real):
    kept = weights * real[:, None, None]
    return (kept * links[:, None]).sum(dim=-1) > 0.5 * kept.sum(dim=-1)


def _two_best(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -1).topk(2, dim=-1).indices
    return links[:, None].expand(-1, weights.shape[1], -1, -1).gather(-1, best).any(dim=-1)


def _weight_on_links(weights, links, real):
    return (weights * links[:, None] * real[:, None, None]).sum(dim=-1)


def _one_link_by_weight(weights, links, real):
    return ((weights > 0.5) & (links & real[:, None])[:, None]).any(dim=-1)


def _first_link(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -1).argmax(dim=-1)
    return best == links.int().argmax(dim=-1)[:, None]


def _last_link(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -1).argmax(dim=-1)
    return best == (links.shape[-1] - 1 - links.int().flip(-1).argmax(dim=-1))[:, None]


def _links_against_the_rest(weights, links, real):
    others = (weights * real[:, None, None]).masked_fill(links[:, None], -1)
    return _weight_on_links(weights, links, real) > others.amax(dim=-1)


def _all_links(weights, links, real):
    return _hits(weights, links & (links.sum(-1, keepdim=True) == 1), real)


def _by_columns(weights, links, real):
    best = weights.argmax(dim=2)  # (B, H, S)
    where = torch.arange(weights.shape[2])[:, None]
    looked = (best[:, :, None] == where) & real[:, None, None]  # (B, H, T, S)
    return (looked & links[:, None]).any(dim=-1)


def _by_source_words(weights, links, real):
    """(H,): of the source words that made a word, which share is looked at most by one of these."""
    best = weights.argmax(dim=2, keepdim=True)  # (B, H, 1, S)
    hits = links[:, None].expand(weights.shape).gather(2, best)[:, :, 0]
    made = (links.any(dim=1) & real)[:, None]
    return (hits & made).sum(dim=(0, 2)) / made.sum()


def _next_row(weights, links, real):
    return _hits(weights.roll(-1, dims=2), links, real)


_mean_of_heads = mistake(
    "You averaged the heads before looking; each head should have a score of its own.", _both
)(Scorer(look=lambda weights: weights.mean(dim=1, keepdim=True).expand_as(weights)))

_best_of_heads = mistake("A word counts for all heads as soon as one of them is right.", _both)(
    Scorer(share=lambda hits, made: _share(hits.any(dim=1, keepdim=True).expand_as(hits), made))
)

_unlinked_count = mistake(
    "Words that nothing made count as wrong; they should not count at all.", _linked
)(Scorer(share=lambda hits, made: hits.float().mean(dim=(0, 2))))

_unlinked_right = mistake(
    "Words that nothing made count as right; they should not count at all.", _linked
)(Scorer(share=lambda hits, made: (hits | ~made[:, None]).float().mean(dim=(0, 2))))

_samples_averaged_first = mistake(
    "You averaged within each sample first, and then over samples.",
    lambda e: f"{_linked(e)} Every word should weigh the same.",
)(
    Scorer(
        share=lambda hits, made: (
            (hits & made[:, None]).sum(dim=2) / made.sum(dim=1, keepdim=True)
        ).mean(dim=0)
    )
)

_padding_looked_at = mistake(
    "A head that looks most at padding is wrong for you; padding should be left out first.",
    lambda e: f"{int((~e.inputs['real']).sum())} places are padding. {_both(e)}",
)(Scorer(masked=False))


def _without_padding_lookers(weights, links, real):
    best = weights.argmax(dim=-1, keepdim=True)  # (B, H, T, 1)
    shape = weights.shape
    counts = real[:, None, None].expand(shape).gather(-1, best)[..., 0] & links.any(-1)[:, None]
    right = links[:, None].expand(shape).gather(-1, best)[..., 0] & counts
    return right.sum(dim=(0, 2)) / counts.sum(dim=(0, 2)).clamp(min=1)


_padding_lookers_left_out = mistake(
    "Words at which a head looks most at padding don't count for you; leave the padding out "
    "instead, and see where it looks then.",
    lambda e: f"{int((~e.inputs['real']).sum())} places are padding. {_both(e)}",
)(_without_padding_lookers)

_first_link_only = mistake(
    "Only the first of several links counts for you; any of them is right.", _both
)(Scorer(hits=_first_link))

_several_links_wrong = mistake(
    "A word with several links is never right for you; any of them should do.", _both
)(Scorer(hits=_all_links))

_by_weight = mistake(
    "You ask for more than half of the weight; the largest weight is enough.",
    _both,
    also=(
        Scorer(hits=lambda weights, links, real: _weight_on_links(weights, links, real) > 0.5),
        Scorer(hits=_one_link_by_weight),
    ),
)(Scorer(hits=_by_mass))

_two_chances = mistake(
    "A word is right for you if one of the two largest weights is linked; only the largest counts.",
    _both,
)(Scorer(hits=_two_best))

_weight_added = mistake(
    "You added up the weight on the links; asked for is how often the largest weight is on one.",
    _both,
)(
    Scorer(
        hits=_weight_on_links,
        share=lambda hits, made: (hits * made[:, None]).sum(dim=(0, 2)) / made.sum(),
    )
)

_columns = mistake(
    "You took the largest weight of each column, over the target's words.",
    lambda e: f"{_both(e)} Each row of weights is a word that looks.",
)(Scorer(hits=_by_columns))


@mistake(
    "You ask of each source word at which target word it is looked at most.",
    lambda e: (
        f"{_both(e)} Each row of weights is a word of the target, and the question is its own."
    ),
    also=(lambda weights, links, real: _by_source_words(weights, links, torch.ones_like(real)),),
)
def _source_words_asked(weights, links, real):
    return _by_source_words(weights, links, real)


_row_after = mistake(
    "You read the row after the one that predicts the word.",
    lambda e: f"{_both(e)} Row t of the weights belongs to word t of the links.",
)(Scorer(hits=_next_row))


def _behind(weights, links, real):
    count = real.sum(dim=-1, keepdim=True)
    return _hits(weights, links, torch.arange(real.shape[1]) < count)


_padding_behind = mistake(
    "You take the first places of a source for its words, as many as there are words.",
    lambda e: f"`real` says where they are: in one sample the padding is in front. {_both(e)}",
)(Scorer(hits=_behind))


@mistake("You divided by the number of links; a word that has two of them is one word.", _linked)
def _divided_by_links(weights, links, real):
    return _hits(weights, links, real).sum(dim=(0, 2)) / links.sum()


_counts = mistake("You return how many words are right, not which share.", _linked)(
    Scorer(share=lambda hits, made: (hits & made[:, None]).sum(dim=(0, 2)))
)


_last_link_only = mistake(
    "Only the last of several links counts for you; any of them is right.", _both
)(Scorer(hits=_last_link))

_words_with_one_link = mistake(
    "Words with several links don't count for you; all words with any link do.", _linked
)(lambda weights, links, real: _share(_hits(weights, links, real), links.sum(dim=-1) == 1))

_first_sample_alone = mistake(
    "You score the first sample only; the words of all samples count.", _linked
)(lambda weights, links, real: alignment_scores(weights[:1], links[:1], real[:1]))

_row_before = mistake(
    "You read the row before the one that predicts the word.",
    lambda e: f"{_both(e)} Row t of the weights belongs to word t of the links.",
)(Scorer(hits=lambda weights, links, real: _hits(weights.roll(1, dims=2), links, real)))

_positions_averaged_first = mistake(
    "You averaged over the samples at each position first, and then over positions.",
    lambda e: f"{_linked(e)} Every word should weigh the same.",
)(
    Scorer(
        share=lambda hits, made: (
            (hits & made[:, None]).sum(dim=0) / made.sum(dim=0).clamp(min=1)
        ).mean(dim=-1)
    )
)

_links_added_up = mistake(
    "You compare the sum of the weights on all links with the largest other one; what counts is "
    "where the single largest weight is.",
    _both,
)(Scorer(hits=_links_against_the_rest))


def _above(least: Callable[[Any], Any]) -> Scorer:
    return Scorer(
        hits=lambda weights, links, real: (
            (weights > least(real)) & (links & real[:, None])[:, None]
        ).any(dim=-1)
    )


_by_threshold = mistake(
    "A link is enough for you if its weight is above a bound; it has to be the largest weight.",
    _both,
    also=(_above(lambda real: 1 / real.sum(-1)[:, None, None, None]), _above(lambda _: 0.1)),
)(_above(lambda _: 0.3))


def _worked_out(evidence: Evidence) -> Finding | None:
    """How many words count, and how many of them are right for head 0."""
    case = "padded" if evidence.same("whole") else "whole"
    mine, right = evidence.shaped(case, evidence.right(case).shape), evidence.right(case)
    if np.ptp(mine / np.maximum(right, 1e-9)) < 1e-3 or np.ptp(mine + right) < 1e-3:
        return None  # one factor for all, or 1 minus all of them, says more
    count = int(evidence.inputs["links"].any(axis=-1).sum())
    return Finding(
        "other-shares",
        "Your scores are not the shares of words whose largest weight is on a link.",
        f"{count} words have a link. For head 0 the largest weight among the real source words is "
        f"on one of them in {round(float(right[0]) * count)} of these, so its score is "
        f"{number(float(right[0]))}; yours is {number(float(mine[0]))}. {_both(evidence)}",
        LOOKS,
    )


TASK = Task(
    "Which head aligns?",
    alignment_scores,
    LOOKS,
    (
        Part("Without padding, every head has the right score.", 2, matches("whole")),
        Part("Padding is never where a head looks.", 2, matches("padded")),
    ),
    examples=(_worked_out,),
)
