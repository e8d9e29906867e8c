"""Judges 13/alignment: how often each head looks at a word that a target's word comes from."""

# mypy: allow-untyped-defs

# ruff: noqa: ARG005

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from course_judges.ch13_two_sequences.scored_heads import explanations
from course_judges.ch13_two_sequences.sections import LOOKS
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number, row, unwrapped
from course_tasks.verdict import Finding


def _hits(weights, links, real):
    """(B, H, T): whether the largest weight is on a word that is linked to the target's word."""
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
    return unwrapped(f"""Your scores for the {evidence.number("H")} heads are
    {row(evidence.yours(case).reshape(-1)[:4])} instead of {row(evidence.right(case))}.""")


def _linked(evidence: Evidence) -> str:
    made = evidence.inputs["links"].any(axis=-1)
    counts = ", ".join(str(int(n)) for n in made.sum(axis=1))
    return unwrapped(f"""Of {made.shape[1]} rows in each sample, {counts} have a link.
    {_both(evidence)}""")


def _with_padding(evidence: Evidence) -> str:
    return f"{int((~evidence.inputs['real']).sum())} source places are padding. {_both(evidence)}"


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
    """(H,): the share of linked source words whose largest weight is from a linked target word."""
    best = weights.argmax(dim=2, keepdim=True)  # (B, H, 1, S)
    hits = links[:, None].expand(weights.shape).gather(2, best)[:, :, 0]
    made = (links.any(dim=1) & real)[:, None]
    return (hits & made).sum(dim=(0, 2)) / made.sum()


def _share_of_each_sample(weights, links, real):
    """(B, H)."""
    return _hits(weights, links, real).sum(dim=2) / links.any(dim=-1).sum(dim=1, keepdim=True)


def _next_row(weights, links, real):
    return _hits(weights.roll(-1, dims=2), links, real)


_mean_of_heads = mistake(
    "You averaged the weights of the heads first, but each head should have its own score.", _both
)(Scorer(look=lambda weights: weights.mean(dim=1, keepdim=True).expand_as(weights)))

_best_of_heads = mistake(
    "You count a word as right for all heads as soon as one of them is right.", _both
)(Scorer(share=lambda hits, made: _share(hits.any(dim=1, keepdim=True).expand_as(hits), made)))

_unlinked_count = mistake(
    "You count words without a link as wrong, but they shouldn't count at all.", _linked
)(Scorer(share=lambda hits, made: hits.float().mean(dim=(0, 2))))

_unlinked_right = mistake(
    "You count words without a link as right, but they shouldn't count at all.", _linked
)(Scorer(share=lambda hits, made: (hits | ~made[:, None]).float().mean(dim=(0, 2))))

_samples_averaged_first = mistake(
    "You averaged within each sample first, and then over the samples.",
    lambda e: f"{_linked(e)} Every word should weigh the same.",
)(
    Scorer(
        share=lambda hits, made: (
            (hits & made[:, None]).sum(dim=2) / made.sum(dim=1, keepdim=True)
        ).mean(dim=0)
    )
)

_padding_looked_at = mistake(
    "You count a head as wrong if it looks most at padding, but padding should be left out first.",
    _with_padding,
)(Scorer(masked=False))


def _without_padding_lookers(weights, links, real):
    best = weights.argmax(dim=-1, keepdim=True)  # (B, H, T, 1)
    shape = weights.shape
    counts = real[:, None, None].expand(shape).gather(-1, best)[..., 0] & links.any(-1)[:, None]
    right = links[:, None].expand(shape).gather(-1, best)[..., 0] & counts
    return right.sum(dim=(0, 2)) / counts.sum(dim=(0, 2)).clamp(min=1)


_padding_lookers_left_out = mistake(
    "You leave out words for which a head looks most at padding instead of only the padding.",
    _with_padding,
)(_without_padding_lookers)

_first_link_only = mistake(
    "You count only the first of several links, but any of them is right.", _both
)(Scorer(hits=_first_link))

_several_links_wrong = mistake(
    "You never count a word with several links as right, but any of its links is right.", _both
)(Scorer(hits=_all_links))

_by_weight = mistake(
    "You ask for more than half of the weight, but the largest weight is enough.",
    _both,
    also=(
        Scorer(hits=lambda weights, links, real: _weight_on_links(weights, links, real) > 0.5),
        Scorer(hits=_one_link_by_weight),
    ),
)(Scorer(hits=_by_mass))

_two_chances = mistake(
    "You count a word as right if one of its two largest weights is on a link.",
    lambda e: f"Only the largest weight counts. {_both(e)}",
)(Scorer(hits=_two_best))

_weight_added = mistake(
    "You added up the weight on the links instead of counting how often the largest is on one.",
    _both,
)(
    Scorer(
        hits=_weight_on_links,
        share=lambda hits, made: (hits * made[:, None]).sum(dim=(0, 2)) / made.sum(),
    )
)

_columns = mistake(
    "You took the largest weight of each column instead of each row.",
    lambda e: f"{_both(e)} Each row holds the weights of one word of the target.",
)(Scorer(hits=_by_columns))


@mistake(
    "You ask for each source word which target word looks at it most.",
    lambda e: f"{_both(e)} Ask for each word of the target, which is a row, where it looks most.",
    also=(lambda weights, links, real: _by_source_words(weights, links, torch.ones_like(real)),),
)
def _source_words_asked(weights, links, real):
    return _by_source_words(weights, links, real)


_row_after = mistake(
    "You used the row after the one that predicts the word.",
    lambda e: f"{_both(e)} Row t of the weights belongs to word t of the links.",
)(Scorer(hits=_next_row))


def _behind(weights, links, real):
    count = real.sum(dim=-1, keepdim=True)
    return _hits(weights, links, torch.arange(real.shape[1]) < count)


_padding_behind = mistake(
    "You assume that a source has all its words in front and its padding behind.",
    lambda e: (
        f"`real` says where the words are, and in one sample the padding is in front. {_both(e)}"
    ),
)(Scorer(hits=_behind))


@mistake("You divided by the number of links, but a word with two links counts only once.", _linked)
def _divided_by_links(weights, links, real):
    return _hits(weights, links, real).sum(dim=(0, 2)) / links.sum()


_counts = mistake("You returned how many words are right instead of their share.", _linked)(
    Scorer(share=lambda hits, made: (hits & made[:, None]).sum(dim=(0, 2)))
)


_last_link_only = mistake(
    "You count only the last of several links, but any of them is right.", _both
)(Scorer(hits=_last_link))

_words_with_one_link = mistake(
    "You leave out words with several links, but all words with any link count.", _linked
)(lambda weights, links, real: _share(_hits(weights, links, real), links.sum(dim=-1) == 1))

_first_sample_alone = mistake(
    "You scored only the first sample, but the words of all samples count.", _linked
)(lambda weights, links, real: alignment_scores(weights[:1], links[:1], real[:1]))

_row_before = mistake(
    "You used the row before the one that predicts the word.",
    lambda e: f"{_both(e)} Row t of the weights belongs to word t of the links.",
)(Scorer(hits=lambda weights, links, real: _hits(weights.roll(1, dims=2), links, real)))

_positions_averaged_first = mistake(
    "You averaged over the samples at each position first, and then over the positions.",
    lambda e: f"{_linked(e)} Every word should weigh the same.",
)(
    Scorer(
        share=lambda hits, made: (
            (hits & made[:, None]).sum(dim=0) / made.sum(dim=0).clamp(min=1)
        ).mean(dim=-1)
    )
)

_a_score_for_each_sample = mistake(
    "You have scores for each sample, but each head has one score over the words of all samples.",
    lambda e: (
        f"Your answer has shape {e.yours('whole').shape} instead of ({e.number('H')},)."
        if e.yours("whole").shape != e.right("whole").shape
        else f"Here B and H are both {e.number('H')}. {_both(e)}"
    ),
    also=(
        lambda weights, links, real: _share_of_each_sample(weights, links, real).T,
        lambda weights, links, real: (
            _hits(weights, links, real).sum(dim=(1, 2)) / links.any(dim=-1).sum()
        ),
    ),
)(lambda weights, links, real: _share_of_each_sample(weights, links, real))

_one_score_for_all_heads = mistake(
    "You return a single score for all heads, but each head should have its own.",
    lambda e: (
        f"With {e.number('H')} heads you have {number(float(e.yours('whole')))} instead of "
        f"{row(e.right('whole'))}."
    ),
    also=(
        lambda weights, links, real: (
            (_hits(weights, links, real) & links.any(-1)[:, None]).sum() / links.any(dim=-1).sum()
        ),
    ),
)(lambda weights, links, real: alignment_scores(weights, links, real).mean())

_links_added_up = mistake(
    "You compare the sum of the weights on all links with the largest other weight.",
    lambda e: f"Only the single largest weight counts. {_both(e)}",
)(Scorer(hits=_links_against_the_rest))


def _above(least: Callable[[Any], Any]) -> Scorer:
    return Scorer(
        hits=lambda weights, links, real: (
            (weights > least(real)) & (links & real[:, None])[:, None]
        ).any(dim=-1)
    )


_by_threshold = mistake(
    "You count a link as right if its weight is above a threshold, but it has to be the largest.",
    _both,
    also=(_above(lambda real: 1 / real.sum(-1)[:, None, None, None]), _above(lambda _: 0.1)),
)(_above(lambda _: 0.3))


_CASES = (("whole", "unpadded"), ("padded", "real"))


def _other_choices(evidence: Evidence) -> Finding | None:
    """Which one or two other choices explain all scores."""
    calls = []
    for case, real in _CASES:
        names = {"weights": "weights", "links": "links", "real": real}
        arguments = {name: torch.from_numpy(evidence.inputs[of]) for name, of in names.items()}
        calls.append((arguments, evidence.shaped(case, evidence.right(case).shape)))
    found = explanations(calls)
    if not found:
        return None
    what, *others = [choice.says for choice in found[0]]
    if len(found) > 1:  # several ways give the same scores in this draw
        ways = [_begins_small(one.says.split(". ")[0].rstrip(".")) for (one,) in found]
        what, others = f"Either {' or '.join(ways)}.", []
    besides = "".join(f"Besides, {_begins_small(says)} " for says in others)
    alone = "both" if others else "that alone"
    return Finding(
        "other-choices",
        what,
        f"{besides}With {alone}, a right answer has exactly your scores. {_linked(evidence)}",
        LOOKS,
    )


def _begins_small(text: str) -> str:
    return text[:1].lower() + text[1:]


def _worked_out(evidence: Evidence) -> Finding | None:
    """How many words count, and how many of them are right for head 0."""
    case = "padded" if evidence.same("whole") else "whole"
    mine, right = evidence.shaped(case, evidence.right(case).shape), evidence.right(case)
    if np.ptp(mine / np.maximum(right, 1e-9)) < 1e-3 or np.ptp(mine + right) < 1e-3:
        return None  # saying that one factor or 1 minus all explains it tells more
    count = int(evidence.inputs["links"].any(axis=-1).sum())
    return Finding(
        "other-shares",
        "Your scores aren't the shares of words whose largest weight is on a link.",
        f"{count} words have a link. For {round(float(right[0]) * count)} of them, the largest "
        "weight "
        f"of head 0 on real source words is on a link, so its score is "
        f"{number(float(right[0]))}, but yours is {number(float(mine[0]))}. {_both(evidence)}",
        LOOKS,
    )


TASK = Task(
    "Which head aligns?",
    alignment_scores,
    LOOKS,
    (
        Part("Without padding, every head has the right score.", 2, matches("whole")),
        Part("Padding is left out first.", 2, matches("padded")),
    ),
    properties=(_other_choices,),
    examples=(_worked_out,),
)
