"""Which words, which looks and which count an answer to 13/alignment may have got its scores from.

A score is made of choices: which rows of weights meet which links, when a word is right, what the
number of right words is divided by, and what is done with the heads. If an answer's scores come out
with one or two of them made in another way, these are what to say.
"""

# mypy: allow-untyped-defs
# ruff: noqa: ARG005

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, product
from typing import Any, NamedTuple

import torch

from course_judges.equality import close
from course_tasks.answers import Array


class Choice(NamedTuple):
    """One way to choose: a sentence that says what an answer does, and how it is done."""

    says: str
    make: Callable[..., Any]


def _every(weights, links, real):
    return weights, links, real


_ROWS = (
    Choice("", _every),
    Choice(
        "You compare row t of the weights with the links of word t + 1, and leave out the first "
        "word. Row t of the weights belongs to word t of the links.",
        lambda w, a, r: (w[:, :, :-1], a[:, 1:], r),
    ),
    Choice(
        "You compare row t + 1 of the weights with the links of word t. Row t of the weights "
        "belongs to word t of the links.",
        lambda w, a, r: (w.roll(-1, 2), a, r),
    ),
    Choice(
        "You compare row t of the weights with the links of word t + 1. Row t of the weights "
        "belongs to word t of the links.",
        lambda w, a, r: (w.roll(1, 2), a, r),
    ),
    Choice(
        "You leave out the last row of each sample, but all words with a link count.",
        lambda w, a, r: (w[:, :, :-1], a[:, :-1], r),
    ),
    Choice(
        "You score only the first sample, but the words of all samples count.",
        lambda w, a, r: (w[:1], a[:1], r[:1]),
    ),
    Choice(
        "You score only the last sample, but the words of all samples count. In a loop, add up "
        "over the samples instead of starting again.",
        lambda w, a, r: (w[-1:], a[-1:], r[-1:]),
    ),
    Choice(
        "You count only words with a single link, but words with several count as well.",
        lambda w, a, r: (w, a & (a.sum(-1, keepdim=True) == 1), r),
    ),
    Choice(
        "You average the weights of the heads first, but each head should have its own score.",
        lambda w, a, r: (w.mean(1, keepdim=True).expand_as(w), a, r),
    ),
    Choice("You don't leave out padding.", lambda w, a, r: (w, a, torch.ones_like(r))),
)


def _seen(weights, real):
    return weights * real[:, None, None]


def _best(weights, links, real):
    best = weights.masked_fill(~real[:, None, None], -1).argmax(-1)
    return _linked(best, links)


def _linked(best, links):
    """(B, H, T): whether the source word that was chosen is linked."""
    several = links[:, None].expand(-1, best.shape[1], -1, -1)
    return several.gather(-1, best[..., None])[..., 0]


def _to_place_0(weights, links, real):
    best = weights.argmax(-1)
    padding = ~real[:, None].expand(-1, best.shape[1], -1).gather(-1, best)
    return _linked(best.masked_fill(padding, 0), links)


def _beside(weights, links, real):
    return _seen(weights, real).masked_fill(links[:, None], -1).amax(-1)


def _at_least(least):
    return lambda w, a, r: ((w > least) & (a & r[:, None])[:, None]).any(-1)


_MADE = (
    Choice("", _best),
    Choice(
        "If the largest weight is on padding, you take place 0 instead of the largest weight on a "
        "real word. Hide padding before `argmax`, not after it.",
        _to_place_0,
    ),
    Choice(
        "You count a word as right only if its largest weight is on its first link.",
        lambda w, a, r: _best(w, a & (a.cumsum(-1) == 1), r),
    ),
    Choice(
        "You count a word as right only if its largest weight is on its last link.",
        lambda w, a, r: _best(w, a & (a.flip(-1).cumsum(-1).flip(-1) == 1), r),
    ),
    Choice(
        "You compare the sum of the weights on all links with the largest other weight.",
        lambda w, a, r: (_seen(w, r) * a[:, None]).sum(-1) > _beside(w, a, r),
    ),
    Choice(
        "You ask for more than half of the weight, but the largest weight is enough.",
        lambda w, a, r: (_seen(w, r) * a[:, None]).sum(-1) > 0.5 * _seen(w, r).sum(-1),
    ),
    Choice(
        "You ask for more than half of the weight, that of padding included, but the largest "
        "weight is enough.",
        lambda w, a, r: (_seen(w, r) * a[:, None]).sum(-1) > 0.5,
    ),
    Choice(
        "You add up the weight on the links instead of counting how often the largest is on one.",
        lambda w, a, r: (_seen(w, r) * a[:, None]).sum(-1),
    ),
    Choice(
        "You ask for a single weight of more than half, but the largest weight is enough.",
        lambda w, a, r: (_seen(w, r) * a[:, None]).amax(-1) > 0.5 * _seen(w, r).sum(-1),
    ),
    *(
        Choice(
            "You count a link as right if its weight is above a threshold, but it has to be the "
            "largest.",
            _at_least(least),
        )
        for least in (0.5, 0.3, 0.25, 0.2, 0.1)
    ),
    Choice(
        "You count a word as right if one of its two largest weights is on a link.",
        lambda w, a, r: (
            a[:, None]
            .expand(w.shape)
            .gather(-1, w.masked_fill(~r[:, None, None], -1).topk(2, dim=-1).indices)
            .any(-1)
        ),
    ),
    Choice(
        "You count a word as right for all heads as soon as one of them is right.",
        lambda w, a, r: _best(w, a, r).any(1, keepdim=True).expand(w.shape[:3]),
    ),
)


def _over(count):
    """The number of right words, divided by a count."""
    return lambda hits, w, a, r: hits.sum((0, 2)) / count(w, a, r)


_SHARES = (
    Choice("", _over(lambda w, a, r: a.any(-1).sum())),
    Choice(
        "You divide by the number of all rows, but words without a link don't count.",
        _over(lambda w, a, r: a.shape[0] * a.shape[1]),
    ),
    Choice(
        "You count words without a link as right, but they don't count at all.",
        lambda hits, w, a, r: (hits.bool() | ~a.any(-1)[:, None]).float().mean((0, 2)),
    ),
    Choice(
        "You divide by the number of links, but a word with two links counts only once.",
        _over(lambda w, a, r: a.sum()),
    ),
    Choice(
        "You divide by T, the length of a target, instead of by the number of words with a link.",
        _over(lambda w, a, r: w.shape[2]),
    ),
    Choice("You return how many words are right instead of their share.", _over(lambda w, a, r: 1)),
    Choice(
        "You average within each sample first, and then over the samples. All words should weigh "
        "the same.",
        lambda hits, w, a, r: (hits.sum(2) / a.any(-1).sum(1, keepdim=True)).mean(0),
    ),
    Choice(
        "You average over the samples at each position first. All words should weigh the same.",
        lambda hits, w, a, r: (hits.sum(0) / a.any(-1).sum(0).clamp(min=1)).mean(-1),
    ),
    Choice(
        "You return the share of wrong words instead of the right ones.",
        lambda hits, w, a, r: 1 - hits.sum((0, 2)) / a.any(-1).sum(),
    ),
    Choice(
        "You return percent instead of a share.",
        _over(lambda w, a, r: a.any(-1).sum() / 100),
    ),
)

_AXES: tuple[Sequence[Choice], ...] = (_ROWS, _MADE, _SHARES)


def explanations(
    given: Sequence[tuple[Mapping[str, Any], Array]], count: int
) -> list[tuple[Choice, ...]]:
    """The choices that explain all scores, made in another way than the task says, `count` at a
    time: all single ones, or the first pair.

    Parameters
    ----------
    given : sequence of (arguments, scores)
        `weights`, `links` and `real` of each call, with the scores of the answer.
    count : int
        1 or 2.
    """
    right = tuple(axis[0] for axis in _AXES)
    hits: dict[tuple[int, Choice, Choice], Any] = {}

    def explains(rows: Choice, made: Choice, share: Choice) -> bool:
        for call, (arguments, mine) in enumerate(given):
            w, a, r = rows.make(*(arguments[name] for name in ("weights", "links", "real")))
            key = call, rows, made
            if key not in hits:
                hits[key] = made.make(w, a, r) * a.any(-1)[:, None]
            found = share.make(hits[key], w, a, r).double().numpy()
            if found.shape != mine.shape or not close(mine, found).all():
                return False
        return True

    found = []
    for axes in combinations(range(len(_AXES)), count):
        for others in product(*(_AXES[axis][1:] for axis in axes)):
            made = list(right)
            for axis, other in zip(axes, others, strict=True):
                made[axis] = other
            if explains(*made):
                found.append(others)
                if count == 2:
                    return found
    return found
