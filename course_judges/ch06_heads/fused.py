"""Judges 06/fused: all heads in one multiplication, each with a reach of its own."""

from __future__ import annotations

import math
from functools import partial

import torch

from course_judges.ch06_heads.attention import past
from course_judges.ch06_heads.sections import (
    AVERAGE,
    LEAK,
    PROJECTION,
    SAME,
    STACK,
    SUBSPACES,
    VIEW,
)
from course_judges.ch06_heads.variants import (
    Variant,
    across_heads,
    as_it_comes,
    flat,
    fused_attention,
    head_by_head,
    sideways,
    windows,
)
from course_judges.ch06_heads.wording import largest_gap, rows_of_view
from course_judges.judging import Evidence, Mistake, Part, Task, matches
from course_judges.properties import unchanged_by_other_samples, unchanged_by_the_future
from course_judges.wording import listed, number


def _view_effect(evidence: Evidence) -> str:
    return f"{rows_of_view(evidence)} {largest_gap(evidence, 'plain')}"


def _plain(evidence: Evidence) -> str:
    return largest_gap(evidence, "plain")


def _reaches(evidence: Evidence) -> str:
    return f"With `reach` = [{listed(evidence.inputs['reach'])}]: {largest_gap(evidence, 'reach')}"


def _scale_effect(evidence: Evidence, yours: float) -> str:
    D = evidence.number("D")
    return (
        f"D = {D}, so the scores are divided by {number(D**0.5)}; you divide by {number(yours)}. "
        + largest_gap(evidence, "plain")
    )


_PLAIN = ("plain",)
_BOTH = ("plain", "reach")

_LAYOUT = (
    Mistake(
        "no-transpose-at-all",
        Variant(split=as_it_comes, merge=flat),
        "Heads are split and merged by `view` or `reshape` alone, without a transpose.",
        _view_effect,
        VIEW,
        cases=_PLAIN,
    ),
    Mistake(
        "view-without-transpose",
        Variant(split=as_it_comes),
        "Heads were brought before time by `view` or `reshape` alone, which moves no entry.",
        lambda e: _view_effect(e) + " The mask now hides the wrong positions.",
        LEAK,
        cases=_PLAIN,
    ),
    Mistake(
        "merge-without-transpose",
        Variant(merge=flat),
        "Heads are merged by `view` or `reshape` alone: positions get parts of others.",
        _plain,
        VIEW,
        cases=_PLAIN,
    ),
    Mistake(
        "attends-across-heads",
        across_heads,
        "Time stands before the heads, so at each position the heads look at each other.",
        lambda e: (
            f"Your scores have shape ({e.number('B')}, {e.number('T')}, {e.number('H')}, "
            f"{e.number('H')}); they should be (B, H, T, T). {_plain(e)}"
        ),
        STACK,
        cases=_PLAIN,
    ),
    Mistake(
        "other-layout",
        Variant(split=head_by_head),
        "You cut as if each head's query, key and value stood together, as in the split task.",
        lambda e: (
            f"Here rows 0 … {e.number('C') - 1} of `qkv` are the queries of all heads. {_plain(e)}"
        ),
        STACK,
        cases=_PLAIN,
    ),
    Mistake(
        "swapped-query-key",
        Variant(order=(1, 0, 2)),
        "Queries and keys changed places.",
        _plain,
        STACK,
        cases=_PLAIN,
    ),
    Mistake(
        "values-first",
        Variant(order=(1, 2, 0)),
        "You took the first third for values; it holds queries, then come keys, then values.",
        _plain,
        STACK,
        cases=_PLAIN,
    ),
)

_WEIGHTS = (
    Mistake(
        "scale-by-channels",
        Variant(scale=lambda C, D: math.sqrt(C)),  # noqa: ARG005
        "You divide the scores by √C; the scale goes by the size of a head.",
        lambda e: _scale_effect(e, e.number("C") ** 0.5),
        SUBSPACES,
        cases=_PLAIN,
    ),
    Mistake(
        "no-scale",
        Variant(scale=lambda C, D: 1.0),  # noqa: ARG005
        "The scores are not divided by √D.",
        lambda e: _scale_effect(e, 1.0),
        SUBSPACES,
        cases=_PLAIN,
    ),
    Mistake(
        "no-causal-mask",
        Variant(visible=lambda T, reach: torch.ones(len(reach), T, T, dtype=torch.bool)),
        "Every position sees the whole text, future included.",
        lambda e: (
            f"Position 0 has itself in sight, and yours averages {e.number('T')}. {_plain(e)}"
        ),
        SAME,
        cases=_BOTH,
    ),
    Mistake(
        "reach-without-past",
        Variant(visible=sideways),
        "Your windows end at the right place in the past and are open to the future.",
        lambda e: f"Position 0 sees all {e.number('T')} positions. {_plain(e)}",
        SAME,
        cases=_BOTH,
    ),
    Mistake(
        "softmax-over-queries",
        Variant(dim=-2),
        "Your softmax runs over the queries: columns of weights sum to 1, rows do not.",
        _plain,
        AVERAGE,
        cases=_PLAIN,
    ),
    Mistake(
        "zero-mask",
        Variant(fill=0.0),
        "You set hidden scores to 0; a score of 0 still gets weight, e⁰ = 1 before the sum.",
        _plain,
        SAME,
        cases=_PLAIN,
    ),
    Mistake(
        "no-output-projection",
        Variant(mix=lambda found, projection: found),  # noqa: ARG005
        "You return the merged heads; the projection is not used.",
        lambda e: "Head 0 speaks to its own channels only. " + _plain(e),
        PROJECTION,
        cases=_PLAIN,
    ),
    Mistake(
        "projection-not-transposed",
        Variant(mix=lambda found, projection: found @ projection),
        "You multiplied by `projection`; a matrix that is stored as (out, in) needs `.T`.",
        lambda e: f"It is square, ({e.number('C')}, {e.number('C')}), so both fit. {_plain(e)}",
        PROJECTION,
        cases=_PLAIN,
    ),
)

_REACH = (
    Mistake(
        "reach-ignored",
        Variant(visible=lambda T, reach: past(T).expand(len(reach), T, T)),
        "Your heads see all of their past, whatever `reach` says.",
        _reaches,
        SAME,
        cases=_BOTH,
    ),
    Mistake(
        "one-reach-for-all",
        Variant(visible=lambda T, reach: windows(T, [reach[0]] * len(reach))),
        "You gave all heads the reach of the first one.",
        _reaches,
        AVERAGE,
        cases=_BOTH,
    ),
    Mistake(
        "reach-one-too-many",
        Variant(visible=partial(windows, more=1)),
        "Your windows hold one position too many: the position itself counts.",
        _reaches,
        SAME,
        cases=_BOTH,
    ),
    Mistake(
        "reach-one-too-few",
        Variant(visible=partial(windows, more=-1)),
        "Your windows hold one position too few: the position itself counts once.",
        _reaches,
        SAME,
        cases=_BOTH,
    ),
    Mistake(
        "reach-reversed",
        Variant(visible=lambda T, reach: windows(T, reach[::-1])),
        "The reaches went to the heads in reverse order.",
        _reaches,
        SAME,
        cases=_BOTH,
    ),
)

TASK = Task(
    "The fused layer",
    fused_attention,
    SAME,
    (
        Part("With a reach beyond the text, every head sees all of its past.", 3, matches("plain")),
        Part("Each head sees as far back as its own reach.", 3, matches("reach")),
    ),
    (*_LAYOUT, *_WEIGHTS, *_REACH),
    (
        unchanged_by_the_future("plain", "future", "t", LEAK),
        unchanged_by_other_samples("plain", "samples", VIEW),
    ),
)
