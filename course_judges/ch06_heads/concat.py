"""Judges 06/concat: heads of different sizes, side by side."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from course_judges.ch06_heads.attention import by_head_size, looks, past
from course_judges.ch06_heads.sections import AVERAGE, LIST, SUBSPACES
from course_judges.ch06_heads.wording import largest_gap, shape
from course_judges.judging import Evidence, Mistake, Part, Task, matches
from course_judges.wording import listed, number

Heads = Sequence[tuple[Tensor, Tensor, Tensor]]


def concatenate(x: Tensor, heads: Heads) -> Tensor:
    """What causal heads of any sizes find, side by side: (B, T, C) → (B, T, ΣD)."""
    found = []
    for query, key, value in heads:
        q, k, v = x @ query, x @ key, x @ value  # (B, T, D) each
        found.append(looks(q, k, v, past(x.shape[1]), scale=by_head_size(q)))
    return torch.cat(found, dim=-1)


def _found(x: Tensor, heads: Heads, **settings: Any) -> list[Tensor]:
    """What each head finds, with settings of `looks` that replace the right ones."""
    found = []
    for query, key, value in heads:
        right: dict[str, Any] = {"scale": by_head_size(query), "visible": past(x.shape[1])}
        found.append(looks(x @ query, x @ key, x @ value, **(right | settings)))
    return found


def _side_by_side(**settings: Any) -> Callable[[Tensor, Heads], Tensor]:
    return lambda x, heads: torch.cat(_found(x, heads, **settings), dim=-1)


def _no_mask(x: Tensor, heads: Heads) -> Tensor:
    everything = torch.ones(x.shape[1], x.shape[1], dtype=torch.bool)
    return torch.cat(_found(x, heads, visible=everything), dim=-1)


def _scale_by_channels(x: Tensor, heads: Heads) -> Tensor:
    return torch.cat(_found(x, heads, scale=math.sqrt(x.shape[-1])), dim=-1)


def _scale_by_sum(x: Tensor, heads: Heads) -> Tensor:
    width = sum(query.shape[1] for query, _, _ in heads)
    return torch.cat(_found(x, heads, scale=math.sqrt(width)), dim=-1)


def _first_scale(x: Tensor, heads: Heads) -> Tensor:
    return torch.cat(_found(x, heads, scale=by_head_size(heads[0][0])), dim=-1)


def _swapped(x: Tensor, heads: Heads) -> Tensor:
    return concatenate(x, [(key, query, value) for query, key, value in heads])


def _raw_values(x: Tensor, heads: Heads) -> Tensor:
    return concatenate(x, [(query, key, torch.eye(x.shape[-1])) for query, key, _ in heads])


def _first_only(x: Tensor, heads: Heads) -> Tensor:
    return concatenate(x, heads[:1])


def _last_only(x: Tensor, heads: Heads) -> Tensor:
    return concatenate(x, heads[-1:])


def _is_stacked(evidence: Evidence) -> bool:
    mine = evidence.yours("equal")
    return mine.ndim == 4 and mine.size == evidence.right("equal").size


def _scales(evidence: Evidence, yours: float, name: str) -> str:
    sizes = evidence.inputs["sizes"]
    return (
        f"Heads of size {listed(sizes)} need scales {', '.join(number(s**0.5) for s in sizes)}; "
        f"{name} is {number(yours)}. {largest_gap(evidence, 'unequal')}"
    )


TASK = Task(
    "Heads of different sizes",
    concatenate,
    LIST,
    (
        Part("Heads of equal size are right, side by side.", 2, matches("equal")),
        Part("Heads of different sizes are right, too.", 2, matches("unequal")),
    ),
    (
        Mistake(
            "no-causal-mask",
            _no_mask,
            "Your heads look at the whole text, future included.",
            lambda e: (
                f"Position 0 has one position in sight, and yours averages {e.number('T')}. "
                + largest_gap(e, "equal")
            ),
            AVERAGE,
        ),
        Mistake(
            "scale-by-channels",
            _scale_by_channels,
            "You divide the scores by √C; the scale goes by the size of the head.",
            lambda e: _scales(e, e.number("C") ** 0.5, f"√C = √{e.number('C')}"),
            SUBSPACES,
        ),
        Mistake(
            "scale-by-all-heads",
            _scale_by_sum,
            "You divide the scores by the root of the sizes of all heads together.",
            lambda e: _scales(
                e, float(e.inputs["sizes"].sum()) ** 0.5, f"√{e.inputs['sizes'].sum()}"
            ),
            SUBSPACES,
        ),
        Mistake(
            "no-scale",
            _side_by_side(scale=1.0),
            "The scores are not divided by √D.",
            lambda e: _scales(e, 1.0, "yours"),
            SUBSPACES,
        ),
        Mistake(
            "one-scale-for-all",
            _first_scale,
            "You divide the scores of all heads by one and the same number.",
            lambda e: _scales(e, float(e.inputs["sizes"][0]) ** 0.5, "yours"),
            SUBSPACES,
            cases=("unequal",),
        ),
        Mistake(
            "softmax-over-queries",
            _side_by_side(dim=-2),
            "Your softmax runs over the queries: columns of weights sum to 1, rows do not.",
            lambda e: "What a position finds is then no average. " + largest_gap(e, "equal"),
            AVERAGE,
        ),
        Mistake(
            "zero-mask",
            _side_by_side(fill=0.0),
            "You set hidden scores to 0; a score of 0 still gets weight, e⁰ = 1 before the sum.",
            lambda e: largest_gap(e, "equal") + " Hidden scores are −∞.",
            AVERAGE,
        ),
        Mistake(
            "swapped-query-key",
            _swapped,
            "Queries and keys changed places: row t holds how much others look at t.",
            lambda e: largest_gap(e, "equal"),
            SUBSPACES,
        ),
        Mistake(
            "raw-values",
            _raw_values,
            "Your heads average x itself; they should average their values, `x @ value`.",
            lambda e: shape(e, "equal"),
            SUBSPACES,
        ),
        Mistake(
            "shared-head",
            lambda x, heads: concatenate(x, [heads[0]] * len(heads)),
            "You used one head for all: the same findings stand side by side several times.",
            lambda e: (
                f"Channels 0 … {e.number('D') - 1} of your answer come again "
                f"{e.number('H') - 1} times. {largest_gap(e, 'equal')}"
            ),
            AVERAGE,
            cases=("equal",),
        ),
        Mistake(
            "first-head-only",
            _first_only,
            "You return what the first head found; is there a `return` inside the loop?",
            lambda e: shape(e, "equal"),
            LIST,
        ),
        Mistake(
            "last-head-only",
            _last_only,
            "You return what the last head found; each turn of the loop forgets the one before.",
            lambda e: shape(e, "equal"),
            LIST,
        ),
        Mistake(
            "sums-not-concatenates",
            lambda x, heads: torch.stack(_found(x, heads)).sum(dim=0),
            "You added the findings up; they should stand side by side.",
            lambda e: shape(e, "equal") + " In a sum nobody knows who found what.",
            LIST,
            cases=("equal",),
        ),
        Mistake(
            "concatenated-along-time",
            lambda x, heads: torch.cat(_found(x, heads), dim=1),
            "You concatenated along time: the text became longer, not wider.",
            lambda e: shape(e, "equal") + " Channels are the last size, `dim=-1`.",
            LIST,
            cases=("equal",),
        ),
        Mistake(
            "interleaved",
            lambda x, heads: torch.stack(_found(x, heads), dim=-1).flatten(2),
            "The channels of your heads take turns; each head's should stand together.",
            lambda e: (
                f"Your channel 1 belongs to head 1; channels 0 … {e.number('D') - 1} should "
                f"belong to head 0. {largest_gap(e, 'equal')}"
            ),
            LIST,
            cases=("equal",),
        ),
        Mistake(
            "stacked",
            lambda x, heads: torch.stack(_found(x, heads)),
            "You stacked the findings: that makes a new size; `torch.cat` uses one that is there.",
            lambda e: shape(e, "equal"),
            LIST,
            recognised=_is_stacked,
        ),
    ),
)
