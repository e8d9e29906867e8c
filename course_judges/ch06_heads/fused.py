"""Judges 06/fused: all heads in one multiplication, each with its own reach."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import Weights, weights_behind
from course_judges.ch06_heads import wording
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
    by_view,
    flat,
    fused_attention,
    head_by_head,
    sideways,
    stack,
    windows,
)
from course_judges.ch06_heads.wording import largest_gap, rows_of_view
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import unchanged_by_other_samples, unchanged_by_the_future
from course_judges.wording import listed, number, row, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_tasks.answers import Array
from course_tasks.verdict import Finding


def _view_effect(evidence: Evidence) -> str:
    return f"{rows_of_view(evidence)} {largest_gap(evidence, 'plain')}"


def _plain(evidence: Evidence) -> str:
    return largest_gap(evidence, "plain")


def _reaches(evidence: Evidence) -> str:
    return f"`reach` is [{listed(evidence.inputs['reach'])}]. {largest_gap(evidence, 'reach')}"


def _scale_effect(evidence: Evidence, yours: float) -> str:
    D = evidence.number("D")
    return unwrapped(f"""D = {D}, so the scores should be divided by {number(D**0.5)}, but you
    divided by {number(yours)}. {largest_gap(evidence, "plain")}""")


_PLAIN = ("plain",)
_BOTH = ("plain", "reach")


_no_transpose_at_all = mistake(
    "You split and merged the heads by `view` or `reshape` alone, without a transpose.",
    _view_effect,
    VIEW,
)(Variant(split=by_view, merge=flat))

_view_without_transpose = mistake(
    wording.MOVED_BY_VIEW,
    lambda e: f"{_view_effect(e)} So the mask hides the wrong positions.",
    LEAK,
)(Variant(split=by_view))

_merge_without_transpose = mistake(
    "You merged the heads by `view` or `reshape` alone, so positions get parts of others.",
    _plain,
    VIEW,
)(Variant(merge=flat))

_attends_across_heads = mistake(
    "Time comes before the heads, so at each position the heads look at each other.",
    lambda e: unwrapped(f"""Your scores have shape ({e.number("B")}, {e.number("T")},
    {e.number("H")}, {e.number("H")}) instead of (B, H, T, T). {_plain(e)}"""),
    STACK,
)(across_heads)

_other_layout = mistake(
    "You cut as if each head's query, key and value were side by side, as in the split task.",
    lambda e: unwrapped(f"""Here rows 0 … {e.number("C") - 1} of `qkv` make the queries of all
    heads. {_plain(e)}"""),
    STACK,
)(Variant(split=head_by_head))

_swapped_query_key = families.swapped_query_key(_plain, STACK)(Variant(order=(1, 0, 2)))

_thirds_mixed_up = mistake(
    "You mixed up the three parts of `qkv`.",
    lambda e: unwrapped(f"""Its rows are for all queries, then all keys, then all values. Queries
    and keys make the scores, and values are averaged. {_plain(e)}"""),
    STACK,
    also=tuple(
        Variant(order=order)
        for order in itertools.product(range(3), range(3), range(3))
        if order not in ((0, 1, 2), (1, 0, 2), (1, 2, 0), (0, 0, 2))
    ),
)(Variant(order=(0, 0, 2)))

_values_first = mistake(
    "You took the first third as values, but it holds queries, followed by keys and values.",
    _plain,
    STACK,
)(Variant(order=(1, 2, 0)))

_matrix_not_transposed = mistake(
    "You multiplied by the parts of `qkv` as they are, but matrices stored as (out, in) have to be "
    "transposed.",
    lambda e: unwrapped(f"""A square part fits either way, so there is no error. The layer is
    `x @ weight.T`. {_plain(e)}"""),
    STACK,
)(Variant(transposes=False))

_matrix_reshaped = mistake(
    "You turned `qkv` from (3·C, C) to (C, 3·C) by `view` or `reshape`, which moves no entry.",
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
    wording.SIZE_WITHOUT_ROOT,
    lambda e: f"{_scale_effect(e, e.number('D'))} {wording.ROOT_TWICE}",
    SUBSPACES,
)(Variant(scale=lambda C, D: float(D)))  # noqa: ARG005

_divided_by_2D = mistake(
    wording.TWICE_THE_SIZE,
    lambda e: f"{wording.ROOT_BY_PRECEDENCE} {_scale_effect(e, 2 * e.number('D'))}",
    SUBSPACES,
)(Variant(scale=lambda C, D: 2.0 * D))  # noqa: ARG005

_scale_by_heads = mistake(
    "You divided the scores by the root of the number of heads instead of √D.",
    lambda e: _scale_effect(e, e.number("H") ** 0.5),
    SUBSPACES,
)(Variant(scale=lambda C, D: math.sqrt(C // D)))

_scale_multiplied = mistake(
    "You multiplied the scores by √D instead of dividing by it.",
    lambda e: f"{wording.MULTIPLIED} {_plain(e)}",
    SUBSPACES,
)(Variant(scale=lambda C, D: D**-0.5))  # noqa: ARG005

_scale_by_length = mistake(
    "You divided the scores by √T, the root of the number of positions.",
    lambda e: _scale_effect(e, e.number("T") ** 0.5),
    SUBSPACES,
)(
    lambda x, qkv, projection, reach: Variant(
        scale=lambda C, D: math.sqrt(x.shape[1])  # noqa: ARG005
    )(x, qkv, projection, reach)
)

_scale_after_softmax = mistake(
    "You divided what the heads find by √D, instead of their scores.",
    lambda e: unwrapped(f"""The weights of each output then sum to 1/√D =
    {number(e.number("D") ** -0.5)} instead of 1, and the scores stay too large. {_plain(e)}"""),
    SUBSPACES,
)(
    Variant(
        scale=lambda C, D: 1.0,  # noqa: ARG005
        merge=lambda found: found.transpose(1, 2).flatten(2) / math.sqrt(found.shape[-1]),
    )
)

_no_causal_mask = families.no_causal_mask(
    lambda e: unwrapped(f"""Position 0 should see only itself, but yours averages {e.number("T")}
    positions. {_plain(e)}"""),
    cases=_BOTH,
)(Variant(visible=lambda T, reach: torch.ones(len(reach), T, T, dtype=torch.bool)))

_reach_without_past = mistake(
    "Your windows end at the right place in the past, but they are open to the future.",
    lambda e: f"Position 0 sees all {e.number('T')} positions. {_plain(e)}",
    cases=_BOTH,
)(Variant(visible=sideways))

_windows_to_both_sides = mistake(
    "Your windows reach as far into the future as into the past.",
    lambda e: unwrapped(f"""A distance without its sign is small on both sides of a position, so
    `t − s` also has to be at least 0. {_reaches(e)}"""),
    cases=_BOTH,
)(
    Variant(
        visible=lambda T, reach: (
            (torch.arange(T)[:, None] - torch.arange(T)).abs() < torch.tensor(reach)[:, None, None]
        )
    )
)

_upper_triangle = families.upper_triangle(_plain, cases=_BOTH)(
    Variant(visible=lambda T, reach: windows(T, reach).mT)
)

_softmax_over_queries = families.softmax_over_queries(_plain, AVERAGE)(Variant(dim=-2))


_softmax_over_heads = mistake(
    "Your softmax runs over heads (`dim=1`) or over samples (`dim=0`) instead of positions.",
    wording.OTHER_SOFTMAX,
    AVERAGE,
    also=(Variant(dim=0),),
)(Variant(dim=1))


@mistake(wording.MASK_ADDED, lambda e: f"{wording.MASK_OF_ONES} {_plain(e)}")
def _mask_added_to_scores(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    B, T, _ = x.shape
    query, key, value = stack(x @ qkv.T, B, T, len(reach))
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = (scores + windows(T, reach)).softmax(dim=-1)
    return (weights @ value).transpose(1, 2).flatten(2) @ projection.T


_zero_mask = families.zero_mask(_plain)(Variant(fill=0.0))

_no_output_projection = mistake(
    "You returned the merged heads without using the projection.",
    lambda e: f"Without it, each head writes only to its own channels. {_plain(e)}",
    PROJECTION,
)(Variant(mix=lambda found, projection: found))  # noqa: ARG005

_projection_not_transposed = mistake(
    "You multiplied by `projection`, but a matrix stored as (out, in) needs `.T`.",
    lambda e: f"It is square, ({e.number('C')}, {e.number('C')}), so both fit. {_plain(e)}",
    PROJECTION,
)(Variant(mix=lambda found, projection: found @ projection))

_reach_ignored = mistake(
    "Your heads see all of their past, whatever `reach` says.", _reaches, cases=_BOTH
)(Variant(visible=lambda T, reach: past(T).expand(len(reach), T, T)))


def _alike(one: Callable[[list[int]], int]) -> Callable[[int, list[int]], Tensor]:
    """One reach for all heads, computed from all of theirs."""
    return lambda T, reach: windows(T, [one(reach)] * len(reach))


_one_reach_for_all = mistake(
    "You gave all heads the reach of one of them, but each has its own.",
    _reaches,
    AVERAGE,
    cases=(*_BOTH, "ends"),  # where the first is not the largest
    also=tuple(Variant(visible=_alike(one)) for one in (max, min, lambda reach: reach[-1])),
)(Variant(visible=lambda T, reach: windows(T, [reach[0]] * len(reach))))

_reach_one_too_many = mistake(
    "Your windows hold one position too many, because the position itself counts.",
    _reaches,
    cases=_BOTH,
)(Variant(visible=partial(windows, more=1)))

_reach_one_too_few = mistake(
    "Your windows hold one position too few, because the position itself counts only once.",
    _reaches,
    cases=_BOTH,
)(Variant(visible=partial(windows, more=-1)))


@mistake(
    "You took the softmax over all of the past and cut what is out of reach only afterwards.",
    lambda e: unwrapped(f"""The share of what you cut is missing, so rows sum to less than 1.
    {_reaches(e)}"""),
    cases=_BOTH,
)
def _reach_after_softmax(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    B, T, _ = x.shape
    H = len(reach)
    query, key, value = stack(x @ qkv.T, B, T, H)
    scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
    weights = scores.masked_fill(~past(T), -torch.inf).softmax(dim=-1) * windows(T, reach)
    return (weights @ value).transpose(1, 2).flatten(2) @ projection.T


def _scored_out_of_reach(
    change: Callable[[Tensor, Tensor], Tensor],
) -> Callable[..., Tensor]:
    """The future hidden, and scores out of reach only changed: (B, H, T, T), (H, T, T) → scores."""

    def answer(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
        B, T, _ = x.shape
        query, key, value = stack(x @ qkv.T, B, T, len(reach))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        scores = change(scores, windows(T, reach)).masked_fill(~past(T), -torch.inf)
        return (scores.softmax(dim=-1) @ value).transpose(1, 2).flatten(2) @ projection.T

    return answer


def _filled(fill: float, scores: Tensor, near: Tensor) -> Tensor:
    return scores.masked_fill(~near, fill)


_scores_out_of_reach = mistake(
    "You hide the future, but positions beyond a head's reach still get a weight.",
    lambda e: unwrapped(f"""Only a score of −∞ gives a weight of 0. A score that you set to 0, or
    multiply by 0, still counts as e⁰ = 1. Hide what is out of reach as you hide the future.
    {_reaches(e)}"""),
    cases=_BOTH,
    also=(
        _scored_out_of_reach(lambda scores, near: scores + near),
        *(_scored_out_of_reach(partial(_filled, fill)) for fill in (1.0, -1.0, -10.0)),
    ),
)(_scored_out_of_reach(lambda scores, near: scores * near))

_reach_from_the_start = mistake(
    "Your heads see the first `reach` positions of the text instead of the last ones they may see.",
    _reaches,
    cases=_BOTH,
)(
    Variant(
        visible=lambda T, reach: past(T) & (torch.arange(T) < torch.tensor(reach)[:, None, None])
    )
)


def _masked_by(
    visible: Callable[[int, list[int]], Tensor], fill: float = -math.inf, *, kept: bool = True
) -> Callable[..., Tensor]:
    """An answer with other windows; if rows see nothing, NaN and means are kept, or set to 0."""

    def answer(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
        B, T, _ = x.shape
        query, key, value = stack(x @ qkv.T, B, T, len(reach))
        scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])
        weights = scores.masked_fill(~visible(T, reach), fill).softmax(dim=-1)
        found = (weights if kept else weights.nan_to_num(0.0)) @ value
        return found.transpose(1, 2).flatten(2) @ projection.T

    return answer


def _out_of_sight(T: int, reach: list[int]) -> Tensor:
    return ~windows(T, reach)


_mask_turned_round = mistake(
    "Your mask is inverted, so your heads see exactly what they shouldn't.",
    lambda e: f"{wording.MASKS_DIFFER} {_plain(e)}",
    cases=_BOTH,
    also=(_masked_by(_out_of_sight, -1e9), _masked_by(_out_of_sight, kept=False)),
)(_masked_by(_out_of_sight))


def _end_of_the_text(T: int, reach: list[int]) -> Tensor:
    return past(T) & (torch.arange(T) >= T - torch.tensor(reach)[:, None, None])


_reach_from_the_end = mistake(
    "Your heads see the last `reach` positions of the text, but each position has its own window.",
    lambda e: unwrapped(f"""The window of position t should end at t. Yours begins at T − `reach` in
    every row, so the first rows see nothing. {_reaches(e)}"""),
    cases=_BOTH,
    also=(_masked_by(_end_of_the_text), _masked_by(_end_of_the_text, -1e9)),
)(_masked_by(_end_of_the_text, kept=False))


def _slices(T: int, reach: list[int]) -> Tensor:
    visible = torch.zeros(len(reach), T, T, dtype=torch.bool)
    for h, width in enumerate(reach):
        for t in range(T):
            visible[h, t, t - width + 1 : t + 1] = True
    return visible


_slices_wrap = mistake(
    "Your windows are slices that begin below 0, which Python counts from the end.",
    lambda e: unwrapped(f"""At the beginning of a text, t − `reach` + 1 is negative. With T =
    {e.number("T")}, the slice −1:1 begins at position {e.number("T") - 1}, so it is empty, and
    −{e.number("T") - 1}:2 begins at 1. Begin at max(0, t − `reach` + 1). {_plain(e)}"""),
    cases=_BOTH,
    also=(_masked_by(_slices, kept=False), _masked_by(_slices, -1e9)),
)(_masked_by(_slices))


def _beside_a_low_score(evidence: Evidence) -> str:
    mine, right = (of("low")[0, 0, :3] for of in (evidence.yours, evidence.right))
    return unwrapped(f"""Position 0 of sample 0 may see only itself, and its score in head 0 is −60.
    Its output begins with {row(mine)}, but it should begin with {row(right)}. −inf is below every
    score, and e to the power of −inf is exactly 0.""")


def _right_but_for_a_fill(evidence: Evidence) -> bool:
    """True if answers are right or nearly so, except where the only visible score is very low."""
    cases = ("plain", "reach", "low", "low_reach")
    gaps = {case: np.abs(evidence.yours(case) - evidence.right(case)) for case in cases}
    alone = float(gaps["low"][0, 0].max())
    for case in ("low", "low_reach"):
        gaps[case][0] = 0.0  # the sample with the low score
    return float(max(np.quantile(gap, 0.9) for gap in gaps.values())) < 0.05 < alone


_moderate_fill = mistake(
    "You give what you hide a low score, but it isn't lower than every score.",
    _beside_a_low_score,
    AVERAGE,
    recognized=_right_but_for_a_fill,
)(Variant(fill=-20.0))

_reach_capped_below_the_text = mistake(
    "However long the reach, your last position never sees the first.",
    lambda e: unwrapped(f"""The text has T = {e.number("T")} positions, so with a reach of
    {e.number("T")} or more, the last position sees all of them. Cap the reach at T."""),
    cases=_BOTH,
)(Variant(visible=lambda T, reach: windows(T, [min(width, T - 1) for width in reach])))

_reach_of_the_text_cut = mistake(
    "If a reach is exactly as long as the text, your last position doesn't see the first.",
    lambda e: unwrapped(f"""The text has T = {e.inputs["ends"].shape[1]} positions, so with a reach
    of T, the last position sees all of them. Cap the reach at T, not at T − 1."""),
    cases=(*_BOTH, "ends"),
)(
    Variant(
        visible=lambda T, reach: windows(
            T, [width if width > T else min(width, T - 1) for width in reach]
        )
    )
)

_reach_of_two_at_least = mistake(
    "With a reach of 1, your positions see two, but they should see only themselves.",
    lambda e: unwrapped(f"""The reach counts the position itself, so a reach of 1 means that
    position and no other. {largest_gap(e, "ends")}"""),
    cases=(*_BOTH, "ends"),
)(Variant(visible=lambda T, reach: windows(T, [max(width, 2) for width in reach])))


def _blocks(T: int, reach: list[int]) -> Tensor:
    t = torch.arange(T)
    return torch.stack([(t[:, None] // r == t // r) & (t <= t[:, None]) for r in reach])


_blocks_not_windows = mistake(
    "You cut the text into blocks of `reach` positions, but the window moves with each position.",
    lambda e: unwrapped(f"""The first position of a block then sees only itself, whatever its reach.
    {_reaches(e)}"""),
    cases=_BOTH,
)(Variant(visible=_blocks))


def _first_seen_too(T: int, reach: list[int]) -> Tensor:
    near = windows(T, reach)
    near[:, :, 0] = True
    return near


_first_always_seen = mistake(
    "Your heads see the first position of the text, however far back it is.", _reaches, cases=_BOTH
)(Variant(visible=_first_seen_too))


def _dealt_out(x: Tensor, B: int, T: int, H: int) -> Tensor:
    """(B, T, 3C) → (3, B, H, T, D), with channels dealt out to the heads in turn."""
    return x.view(B, T, 3, -1, H).permute(2, 0, 4, 1, 3)


_heads_take_turns = mistake(
    wording.DEALT_OUT,
    lambda e: unwrapped(f"""Channels 0 … {e.number("D") - 1} of the queries belong to head 0, so the
    C channels should be cut into (H, D), not (D, H). {_plain(e)}"""),
    STACK,
    also=(Variant(split=_dealt_out, merge=lambda found: found.permute(0, 2, 3, 1).flatten(2)),),
)(Variant(split=_dealt_out))

_interleaved = mistake(
    wording.INTERLEAVED,
    lambda e: unwrapped(f"""When you merge the heads, channels 0 … {e.number("D") - 1} should all
    come from head 0. {_plain(e)}"""),
    STACK,
)(Variant(merge=lambda found: found.permute(0, 2, 3, 1).flatten(2)))


_LEAKS = (
    unchanged_by_the_future("plain", "future", "t", LEAK),
    unchanged_by_other_samples("plain", "samples", VIEW),
)


_CASES = (*_BOTH, "low", "low_reach")


def _attention(evidence: Evidence, case: str) -> tuple[Array, Array, Array, Array]:
    """(H, B, T, D) What heads found in your answer, and their values; (H, B, T, T) right scores,
    and what may be seen.
    """
    H, D, T = (evidence.number(name) for name in "HDT")
    x = evidence.inputs["low" if case.startswith("low") else "x"].astype(float)
    qkv, projection = (evidence.inputs[name].astype(float) for name in ("qkv", "projection"))
    B, _, C = x.shape

    def split(of_all: Array) -> Array:
        return np.asarray(of_all.reshape(B, T, H, D).transpose(2, 0, 1, 3))

    query, key, value = (split(x @ part.T) for part in qkv.reshape(3, C, C))
    found = split(np.linalg.solve(projection, evidence.yours(case).reshape(-1, C).T).T)
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(D)
    reach = evidence.inputs["reach"].tolist() if case.endswith("reach") else [T] * H
    seen = np.broadcast_to(windows(T, reach).numpy()[:, None], scores.shape)
    return found, value, scores, seen


def _heads_shown(evidence: Evidence, case: str) -> list[Weights] | None:
    """The weights of each head, as the output shows them; None if it shows none."""
    dims = {name: evidence.number(name) for name in "DCHTB"}
    shown = []
    for found, value, scores, seen in zip(*_attention(evidence, case), strict=True):
        weights = weights_behind(found, value)
        if weights is None:
            return None
        shown.append(Weights(weights, scores, seen, dims, solved=True))
    return shown


def _when(evidence: Evidence, case: str) -> str:
    if case.endswith("reach"):
        return f"`reach` is [{listed(evidence.inputs['reach'])}]."
    return "The reach goes beyond the text here."


def _shown_by_the_outputs(evidence: Evidence) -> Finding | None:
    """What the weights of the first wrong head are a softmax of, and over which positions."""
    case = next((one for one in _CASES if not evidence.same(one)), None)
    if case is None or not evidence.comparable(case):
        return None
    if evidence.number("C") == 1:  # where an output shows no weights
        one = Finding("other-weights", "Your layer is wrong.", largest_gap(evidence, case), SAME)
        return replace(_worked_out(evidence) or one, name="other-weights")
    told = [one.told() for one in _heads_shown(evidence, case) or []]
    h, first = next(((h, one) for h, one in enumerate(told) if one is not None), (0, None))
    if first is None:
        return None
    alike = len(told) > 1 and all(one is not None and one[0] == first[0] for one in told)
    of = "This holds for all heads" if alike else f"This is about head {h}"
    return Finding(
        "other-weights",
        first[0],
        f"{_when(evidence, case)} {of}, judging by the output. {first[1]}",
        AVERAGE,
    )


def _of_other_heads(evidence: Evidence, case: str) -> str:
    """A sentence on weights that are those of another head, or the mean of all heads'."""
    shown = _heads_shown(evidence, case)
    if shown is None:
        return ""
    right = [one.right for one in shown]
    if len(shown) > 1 and all(
        np.allclose(one.mine, np.mean(right, axis=0), atol=1e-3) for one in shown
    ):
        return "All heads have the mean of their weights, but each should use its own."
    for h, one in enumerate(shown):
        same = [o for o, other in enumerate(right) if np.allclose(one.mine, other, atol=1e-3)]
        if same and h not in same:
            return f"Judging by the output, head {h} has the weights of head {same[0]}."
    off = (not np.allclose(one.mine, one.right, atol=1e-3) for one in shown)
    h = next((h for h, wrong in enumerate(off) if wrong), 0)
    what, effect = shown[h].described()
    return f"This is about head {h}, judging by the output. {what} {effect}"


def _of_position_0(evidence: Evidence, case: str, b: int) -> str:
    """A sentence on what position 0 holds instead of the values, if it is known."""
    found, value, _, _ = _attention(evidence, case)
    mine, right = found[:, b, 0], value[:, b, 0]  # (H, D)
    projection = evidence.inputs["projection"].astype(float)

    def same(one: Array, other: Array) -> bool:
        return bool(np.allclose(one, other, rtol=1e-3, atol=1e-3))

    if same(mine, right.clip(min=0)):
        return " What your heads find is 0 where it should be negative, as after a ReLU."
    if same(mine.ravel(), projection @ right.ravel()):
        return " Your output is what you get if the projection is applied twice."
    met = [next((o for o, one in enumerate(right) if same(own, one)), -1) for own in mine]
    if -1 not in met and met != list(range(len(met))):
        return f" What should be of heads {listed(range(len(met)))} is of heads {listed(met)}."
    factor = float((mine * right).sum() / (right * right).sum())
    if same(mine, factor * right) and abs(factor) > 1e-3:
        return f" What your heads find there is {number(factor)} times their values."
    factors = (mine * right).sum(axis=1) / (right * right).sum(axis=1)  # (H,)
    if right.shape[1] > 1 and same(mine, factors[:, None] * right):
        shared = math.isclose(factors.sum(), 1, abs_tol=1e-3)
        why = ", which sum to 1, as after a softmax over the heads" if shared else ""
        return f" What your heads find there is {row(factors)} times their values{why}."
    return ""


def _span(first: int, last: int) -> str:
    return f"positions {first} to {last}" if first < last else f"only position {last}"


def _worked_out(evidence: Evidence) -> Finding | None:
    """The output of position 0, which sees only itself; if it is right, which positions are not."""
    e = evidence.inputs
    case = next((one for one in ("plain", "reach") if not evidence.same(one)), None)
    if case is None:
        return None
    mine, right = evidence.yours(case), evidence.right(case)
    if evidence.number("B") > 1 and (
        compared(mine, right) or any(leak(evidence) for leak in _LEAKS)
    ):
        return None  # these say more
    good = np.asarray(close(mine, right).all(axis=(0, 2)))  # (T,)
    if case == "reach":
        t = int(np.argmin(good))
        seen = ", ".join(
            f"head {h} should see {_span(max(0, t - int(r) + 1), t)}"
            for h, r in enumerate(e["reach"])
        )
        return Finding(
            "reach-wrong",
            "Your layer is right with reaches beyond the text, but not with shorter ones.",
            f"With `reach` = [{listed(e['reach'])}], the first wrong position is {t}, where "
            f"{seen}. {largest_gap(evidence, 'reach', t)}",
            SAME,
        )
    if good[0]:
        shown = _of_other_heads(evidence, case)
        advice = "At later positions the weights matter, too. "
        if not shown:
            advice += "Check queries, keys, scores and the mask, head by head. "
        return Finding(
            "later-positions",
            "Position 0, which sees only itself, is right, but later positions aren't.",
            f"{advice}{shown or _plain(evidence)}",
            SAME,
        )
    b = int(np.argmin(close(mine, right)[:, 0].all(axis=-1)))
    value = e["qkv"][-evidence.number("C") :] @ e["x"][b, 0]
    return Finding(
        "position-0-wrong",
        "Even position 0, which sees only itself, is wrong.",
        "There each head finds the value of that position, whatever the scores are. In sample "
        f"{b}, the values of all heads begin with {row(value[:3])}, and the projection turns them "
        f"into {row(right[b, 0, :3])}, but yours begins with {row(mine[b, 0, :3])}."
        f"{_of_position_0(evidence, case, b)}",
        SAME,
    )


def _seen_back(evidence: Evidence, case: str) -> tuple[int, ...] | None:
    """The reaches, up to T, with which a right answer returns yours; None if there are none."""
    H, mine = evidence.number("H"), evidence.yours(case)
    if evidence.same(case) or mine.shape != evidence.right(case).shape:
        return None
    x, qkv, projection = (
        torch.from_numpy(evidence.inputs[name])
        for name in ("ends" if case == "ends" else "x", "qkv", "projection")
    )
    T, D = x.shape[1], projection.shape[0] // H
    shares = []  # what each head adds to the output, with each reach
    for h in range(H):
        alone = torch.zeros_like(projection)
        alone[:, h * D : (h + 1) * D] = projection[:, h * D : (h + 1) * D]
        shares.append([fused_attention(x, qkv, alone, [r] * H).numpy() for r in range(1, T + 1)])
    # One number tells nearly all combinations apart; those that agree in it are compared in full.
    weighing = np.random.default_rng(0).normal(size=mine.shape)
    told = [[float((one * weighing).sum()) for one in of_a_head] for of_a_head in shares]
    wanted = float((mine * weighing).sum())
    for reaches in itertools.product(range(1, T + 1), repeat=H):
        if abs(sum(told[h][r - 1] for h, r in enumerate(reaches)) - wanted) < 1e-2 and np.allclose(
            sum(shares[h][r - 1] for h, r in enumerate(reaches)), mine, rtol=1e-3, atol=1e-4
        ):
            return reaches
    return None


def _asked(evidence: Evidence, case: str) -> list[int]:
    """The reaches of a case: as drawn, or 1 and the whole text in turn."""
    if case == "reach":
        return evidence.inputs["reach"].tolist()
    H = evidence.number("H")
    return ([1, evidence.inputs["ends"].shape[1]] * H)[:H]


def _first_wrong(evidence: Evidence) -> str:
    """The case in which a layer is wrong if it is right with reaches beyond the text."""
    return "ends" if evidence.same("reach") else "reach"


def _as_seen(evidence: Evidence, case: str) -> str:
    seen = _seen_back(evidence, case) or ()
    wanted = (
        f"with reaches beyond the text, each should see all {evidence.number('T')} positions"
        if case == "plain"
        else f"`reach` is [{listed(_asked(evidence, case))}]"
    )
    return f"Judging by your output, the reaches of your heads are [{listed(seen)}], but {wanted}."


_reaches_of_other_heads = mistake(
    "You gave reaches to the wrong heads.",
    lambda e: f"{_as_seen(e, _first_wrong(e))} {largest_gap(e, _first_wrong(e))}",
    recognized=lambda e: (
        e.same("plain")
        and sorted(_seen_back(e, _first_wrong(e)) or ()) == sorted(_asked(e, _first_wrong(e)))
    ),
)(Variant(visible=lambda T, reach: windows(T, reach[::-1])))


def _other_reaches(evidence: Evidence) -> Finding | None:
    """Heads that see the wrong number of positions, and are right otherwise."""
    case = next((one for one in (*_BOTH, "ends") if not evidence.same(one)), None)
    if case is None or _seen_back(evidence, case) is None:
        return None
    return Finding(
        "other-reaches",
        "Your heads don't see as many positions as their reach says.",
        f"{_as_seen(evidence, case)} {largest_gap(evidence, case)}",
        SAME,
    )


def _wrong_at_some_positions(evidence: Evidence) -> Finding | None:
    """The same, if other positions are right."""
    case = "plain" if not evidence.same("plain") else "reach"
    good = close(evidence.yours(case), evidence.right(case)).all(axis=(0, 2))
    found = _worked_out(evidence) if good.any() and not good.all() else None
    return found and replace(found, name="some-positions")


TASK = Task(
    "The fused layer",
    fused_attention,
    SAME,
    (
        Part(
            "With a large reach, every head sees its past.",
            3,
            matches("plain", "low"),
        ),
        Part(
            "Each head sees as far back as its own reach.", 3, matches("reach", "low_reach", "ends")
        ),
    ),
    properties=(_other_reaches, _shown_by_the_outputs, *_LEAKS, _wrong_at_some_positions),
    cases=_PLAIN,
    examples=(_worked_out,),
)
