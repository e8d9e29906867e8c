"""Judges 06/fused: all heads in one multiplication, each with a reach of its own."""

from __future__ import annotations

import math
from functools import partial

import torch
from torch import Tensor

from course_judges import families
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
    stack,
    windows,
)
from course_judges.ch06_heads.wording import (
    MASK_ADDED,
    MASK_OF_ONES,
    largest_gap,
    rows_of_view,
)
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import unchanged_by_other_samples, unchanged_by_the_future
from course_judges.wording import listed, number, unwrapped


def _view_effect(evidence: Evidence) -> str:
    return f"{rows_of_view(evidence)} {largest_gap(evidence, 'plain')}"


def _plain(evidence: Evidence) -> str:
    return largest_gap(evidence, "plain")


def _reaches(evidence: Evidence) -> str:
    return f"With `reach` = [{listed(evidence.inputs['reach'])}]: {largest_gap(evidence, 'reach')}"


def _scale_effect(evidence: Evidence, yours: float) -> str:
    D = evidence.number("D")
    return unwrapped(f"""D = {D}, so the scores are divided by {number(D**0.5)}; you divide by
    {number(yours)}. {largest_gap(evidence, "plain")}""")


_PLAIN = ("plain",)
_BOTH = ("plain", "reach")


_no_transpose_at_all = mistake(
    "Heads are split and merged by `view` or `reshape` alone, without a transpose.",
    _view_effect,
    VIEW,
)(Variant(split=as_it_comes, merge=flat))

_view_without_transpose = mistake(
    "Heads were brought before time by `view` or `reshape` alone, which moves no entry.",
    lambda e: f"{_view_effect(e)} The mask now hides the wrong positions.",
    LEAK,
)(Variant(split=as_it_comes))

_merge_without_transpose = mistake(
    "Heads are merged by `view` or `reshape` alone: positions get parts of others.", _plain, VIEW
)(Variant(merge=flat))

_attends_across_heads = mistake(
    "Time stands before the heads, so at each position the heads look at each other.",
    lambda e: unwrapped(f"""Your scores have shape ({e.number("B")}, {e.number("T")},
    {e.number("H")}, {e.number("H")}); they should be (B, H, T, T). {_plain(e)}"""),
    STACK,
)(across_heads)

_other_layout = mistake(
    "You cut as if each head's query, key and value stood together, as in the split task.",
    lambda e: unwrapped(f"""Here rows 0 … {e.number("C") - 1} of `qkv` are the queries of all heads.
    {_plain(e)}"""),
    STACK,
)(Variant(split=head_by_head))

_swapped_query_key = families.swapped_query_key(_plain, STACK)(Variant(order=(1, 0, 2)))

_values_first = mistake(
    "You took the first third for values; it holds queries, then come keys, then values.",
    _plain,
    STACK,
)(Variant(order=(1, 2, 0)))

_matrix_not_transposed = mistake(
    "You multiplied by the parts of `qkv` as they are; stored as (out, in), they have to be "
    "transposed.",
    lambda e: unwrapped(f"""A square part fits both ways round, so nothing complains. The layer is
    `x @ weight.T`. {_plain(e)}"""),
    STACK,
)(Variant(transposes=False))

_matrix_reshaped = mistake(
    "You brought `qkv` from (3·C, C) to (C, 3·C) by `view` or `reshape`, which moves no entry.",
    lambda e: f"A layer multiplies by the transposed matrix: `x @ qkv.T`. {_plain(e)}",
    STACK,
)(
    lambda x, qkv, projection, reach: fused_attention(
        x, qkv.reshape(qkv.shape[1], -1).T, projection, reach
    )
)

_scale_by_channels = families.scale_by_channels(
    lambda e: _scale_effect(e, e.number("C") ** 0.5), SUBSPACES
)(Variant(scale=lambda C, D: math.sqrt(C)))  # noqa: ARG005

_no_scale = families.no_scale(lambda e: _scale_effect(e, 1.0), SUBSPACES)(
    Variant(scale=lambda C, D: 1.0)  # noqa: ARG005
)

_scale_without_root = mistake(
    "You divide the scores by the head size; divide by its root.",
    lambda e: _scale_effect(e, e.number("D")),
    SUBSPACES,
)(Variant(scale=lambda C, D: float(D)))  # noqa: ARG005

_divided_by_2D = mistake(
    "You divide the scores by twice the head size; divide by its root.",
    lambda e: unwrapped(f"""`D ** 1 / 2` is (D ** 1) / 2, since `**` binds before `/`, and what is
    divided by D ** 1 and then by 2 is divided by 2 D. Write `D ** 0.5`.
    {_scale_effect(e, 2 * e.number("D"))}"""),
    SUBSPACES,
)(Variant(scale=lambda C, D: 2.0 * D))  # noqa: ARG005

_scale_after_softmax = mistake(
    "You divide what the heads find by √D, in place of the scores.",
    lambda e: unwrapped(f"""The rows of weights sum to 1, and divided then they sum to 1/√D =
    {number(e.number("D") ** -0.5)}; the scores stay as large as they were. {_plain(e)}"""),
    SUBSPACES,
)(
    Variant(
        scale=lambda C, D: 1.0,  # noqa: ARG005
        merge=lambda found: found.transpose(1, 2).flatten(2) / math.sqrt(found.shape[-1]),
    )
)

_no_causal_mask = families.no_causal_mask(
    lambda e: unwrapped(f"""Position 0 has itself in sight, and yours averages
    {e.number("T")}. {_plain(e)}"""),
    cases=_BOTH,
)(Variant(visible=lambda T, reach: torch.ones(len(reach), T, T, dtype=torch.bool)))

_reach_without_past = mistake(
    "Your windows end at the right place in the past and are open to the future.",
    lambda e: f"Position 0 sees all {e.number('T')} positions. {_plain(e)}",
    cases=_BOTH,
)(Variant(visible=sideways))

_softmax_over_queries = families.softmax_over_queries(_plain, AVERAGE)(Variant(dim=-2))


@mistake(MASK_ADDED, lambda e: f"{MASK_OF_ONES} {_plain(e)}")
def _mask_added_to_scores(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    B, T, _ = x.shape
    query, key, value = stack(x @ qkv.T, B, T, len(reach))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = (scores + windows(T, reach)).softmax(dim=-1)
    return (weights @ value).transpose(1, 2).flatten(2) @ projection.T


_zero_mask = families.zero_mask(_plain)(Variant(fill=0.0))

_no_output_projection = mistake(
    "You return the merged heads; the projection is not used.",
    lambda e: f"Head 0 speaks to its own channels only. {_plain(e)}",
    PROJECTION,
)(Variant(mix=lambda found, projection: found))  # noqa: ARG005

_projection_not_transposed = mistake(
    "You multiplied by `projection`; a matrix that is stored as (out, in) needs `.T`.",
    lambda e: f"It is square, ({e.number('C')}, {e.number('C')}), so both fit. {_plain(e)}",
    PROJECTION,
)(Variant(mix=lambda found, projection: found @ projection))

_reach_ignored = mistake(
    "Your heads see all of their past, whatever `reach` says.", _reaches, cases=_BOTH
)(Variant(visible=lambda T, reach: past(T).expand(len(reach), T, T)))

_one_reach_for_all = mistake(
    "You gave all heads the reach of the first one.",
    _reaches,
    AVERAGE,
    cases=(*_BOTH, "ends"),  # where the first is not the largest
)(Variant(visible=lambda T, reach: windows(T, [reach[0]] * len(reach))))

_reach_one_too_many = mistake(
    "Your windows hold one position too many: the position itself counts.", _reaches, cases=_BOTH
)(Variant(visible=partial(windows, more=1)))

_reach_one_too_few = mistake(
    "Your windows hold one position too few: the position itself counts once.",
    _reaches,
    cases=_BOTH,
)(Variant(visible=partial(windows, more=-1)))


@mistake(
    "You took the softmax over all of the past, and cut what is out of reach afterwards.",
    lambda e: unwrapped(f"""The share of what was cut is missing: the rows of a head sum to less
    than 1. {_reaches(e)}"""),
    cases=_BOTH,
)
def _reach_after_softmax(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    B, T, _ = x.shape
    H = len(reach)
    query, key, value = stack(x @ qkv.T, B, T, H)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(~past(T), -torch.inf).softmax(dim=-1) * windows(T, reach)
    return (weights @ value).transpose(1, 2).flatten(2) @ projection.T


_reach_from_the_start = mistake(
    "Your heads see the first `reach` positions of the text; they should see the last ones.",
    _reaches,
    cases=_BOTH,
)(
    Variant(
        visible=lambda T, reach: past(T) & (torch.arange(T) < torch.tensor(reach)[:, None, None])
    )
)

_reach_capped_below_the_text = mistake(
    "Your reach ends one position before the text does: the last position never sees the first.",
    lambda e: unwrapped(f"""The text has T = {e.number("T")} positions, and a head with a reach of
    {e.number("T")} or more sees all of them from the last one: cap the reach at T."""),
    cases=_BOTH,
)(Variant(visible=lambda T, reach: windows(T, [min(width, T - 1) for width in reach])))

_reach_reversed = mistake("The reaches went to the heads in reverse order.", _reaches, cases=_BOTH)(
    Variant(visible=lambda T, reach: windows(T, reach[::-1]))
)


TASK = Task(
    "The fused layer",
    fused_attention,
    SAME,
    (
        Part("With a reach beyond the text, every head sees all of its past.", 3, matches("plain")),
        Part("Each head sees as far back as its own reach.", 3, matches("reach", "ends")),
    ),
    properties=(
        unchanged_by_the_future("plain", "future", "t", LEAK),
        unchanged_by_other_samples("plain", "samples", VIEW),
    ),
    cases=_PLAIN,
)
