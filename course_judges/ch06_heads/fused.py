"""Judges 06/fused: all heads in one multiplication, each with a reach of its own."""

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
from course_judges.comparisons import compared
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.properties import unchanged_by_other_samples, unchanged_by_the_future
from course_judges.wording import listed, number, row, unwrapped
from course_tasks.verdict import Finding


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

_thirds_mixed_up = mistake(
    "You took one of the three parts of `qkv` for another.",
    lambda e: unwrapped(f"""Its rows hold all queries, then all keys, then all values, and each part
    has one use: queries and keys make the scores, values are averaged. {_plain(e)}"""),
    STACK,
    also=tuple(
        Variant(order=order)
        for order in itertools.product(range(3), range(3), range(3))
        if order not in ((0, 1, 2), (1, 0, 2), (1, 2, 0), (0, 0, 2))
    ),
)(Variant(order=(0, 0, 2)))

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
    "Your scores are divided by the head size in all; divide by its root.",
    lambda e: unwrapped(f"""{_scale_effect(e, e.number("D"))} If it is the root that you divide by,
    it happens twice: in queries and in keys, or before `scaled_dot_product_attention`, which
    divides as well."""),
    SUBSPACES,
)(Variant(scale=lambda C, D: float(D)))  # noqa: ARG005

_divided_by_2D = mistake(
    "You divide the scores by twice the head size; divide by its root.",
    lambda e: unwrapped(f"""`D ** 1 / 2` is (D ** 1) / 2, since `**` binds before `/`, and what is
    divided by D ** 1 and then by 2 is divided by 2 D. Write `D ** 0.5`.
    {_scale_effect(e, 2 * e.number("D"))}"""),
    SUBSPACES,
)(Variant(scale=lambda C, D: 2.0 * D))  # noqa: ARG005

_scale_by_heads = mistake(
    "You divide the scores by the root of the number of heads; divide by √D.",
    lambda e: _scale_effect(e, e.number("H") ** 0.5),
    SUBSPACES,
)(Variant(scale=lambda C, D: math.sqrt(C // D)))

_scale_multiplied = mistake(
    "You multiply the scores by √D; divide by it.",
    lambda e: unwrapped(f"""Large scores grow larger still, and a softmax of large scores looks at
    one position alone. {_plain(e)}"""),
    SUBSPACES,
)(Variant(scale=lambda C, D: D**-0.5))  # noqa: ARG005

_scale_by_length = mistake(
    "You divide the scores by √T, the number of positions.",
    lambda e: _scale_effect(e, e.number("T") ** 0.5),
    SUBSPACES,
)(
    lambda x, qkv, projection, reach: Variant(
        scale=lambda C, D: math.sqrt(x.shape[1])  # noqa: ARG005
    )(x, qkv, projection, reach)
)

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

_windows_to_both_sides = mistake(
    "Your windows reach as far into the future as into the past.",
    lambda e: unwrapped(f"""A distance without its sign is small on both sides of a position:
    `t − s` has to be 0 or more, too. {_reaches(e)}"""),
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
    "Your softmax runs over the heads of a pair of positions, `dim=1`, or over samples, `dim=0`.",
    "Each row is an average of its own, over the positions that are seen: `dim=-1`. What lies in "
    "the future is hidden in all heads and samples, and a softmax over nothing but −inf is NaN.",
    AVERAGE,
    also=(Variant(dim=0),),
)(Variant(dim=1))


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


def _alike(one: Callable[[list[int]], int]) -> Callable[[int, list[int]], Tensor]:
    """One reach for all heads, made of all of them."""
    return lambda T, reach: windows(T, [one(reach)] * len(reach))


_one_reach_for_all = mistake(
    "You gave all heads the reach of one of them; each has a reach of its own.",
    _reaches,
    AVERAGE,
    cases=(*_BOTH, "ends"),  # where the first is not the largest
    also=tuple(Variant(visible=_alike(one)) for one in (max, min, lambda reach: reach[-1])),
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


def _masked_by(
    visible: Callable[[int, list[int]], Tensor], fill: float = -math.inf, *, kept: bool = True
) -> Callable[..., Tensor]:
    """An answer with other windows; rows that see nothing find NaN, all alike, or 0 if not kept."""

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
    "Your heads see exactly what they should not: your mask is the other way round.",
    lambda e: unwrapped(f"""`masked_fill` hides where its mask is True, and
    `scaled_dot_product_attention` shows there. {_plain(e)}"""),
    cases=_BOTH,
    also=(_masked_by(_out_of_sight, -1e9), _masked_by(_out_of_sight, kept=False)),
)(_masked_by(_out_of_sight))


def _end_of_the_text(T: int, reach: list[int]) -> Tensor:
    return past(T) & (torch.arange(T) >= T - torch.tensor(reach)[:, None, None])


_reach_from_the_end = mistake(
    "Your heads see the last `reach` positions of the text; each position has a window of its own.",
    lambda e: unwrapped(f"""The window of position t ends at t. Yours begins at T − `reach` in every
    row, so it holds nothing for the first rows. {_reaches(e)}"""),
    cases=_BOTH,
    also=(_masked_by(_end_of_the_text), _masked_by(_end_of_the_text, -1e9)),
)(_masked_by(_end_of_the_text, kept=False))

_reach_capped_below_the_text = mistake(
    "Your reach ends one position before the text does: the last position never sees the first.",
    lambda e: unwrapped(f"""The text has T = {e.number("T")} positions, and a head with a reach of
    {e.number("T")} or more sees all of them from the last one: cap the reach at T."""),
    cases=_BOTH,
)(Variant(visible=lambda T, reach: windows(T, [min(width, T - 1) for width in reach])))

_reach_of_the_text_cut = mistake(
    "Where a reach is exactly as long as the text, the last position does not see the first.",
    lambda e: unwrapped(f"""The text has {e.inputs["ends"].shape[1]} positions, and a head with a
    reach of as many sees all of them from the last one: cap the reach at T, not at T − 1."""),
    cases=(*_BOTH, "ends"),
)(
    Variant(
        visible=lambda T, reach: windows(
            T, [width if width > T else min(width, T - 1) for width in reach]
        )
    )
)

_reach_of_two_at_least = mistake(
    "Where the reach is 1, your heads see two positions; they should see themselves alone.",
    lambda e: unwrapped(f"""It counts the position itself, so a reach of 1 is that and nothing else.
    {largest_gap(e, "ends")}"""),
    cases=(*_BOTH, "ends"),
)(Variant(visible=lambda T, reach: windows(T, [max(width, 2) for width in reach])))


def _blocks(T: int, reach: list[int]) -> Tensor:
    t = torch.arange(T)
    return torch.stack([(t[:, None] // r == t // r) & (t <= t[:, None]) for r in reach])


_blocks_not_windows = mistake(
    "Your text is cut into blocks of `reach` positions; the window goes along with each position.",
    lambda e: (
        unwrapped(f"""The first position of a block sees itself alone then, whatever its reach.
    {_reaches(e)}""")
    ),
    cases=_BOTH,
)(Variant(visible=_blocks))


def _first_seen_too(T: int, reach: list[int]) -> Tensor:
    near = windows(T, reach)
    near[:, :, 0] = True
    return near


_first_always_seen = mistake(
    "Your heads see the first position of the text however far back it is.", _reaches, cases=_BOTH
)(Variant(visible=_first_seen_too))


def _dealt_out(x: Tensor, B: int, T: int, H: int) -> Tensor:
    """(B, T, 3C) → (3, B, H, T, D), channel after channel given to the next head."""
    return x.view(B, T, 3, -1, H).permute(2, 0, 4, 1, 3)


_heads_take_turns = mistake(
    "You dealt the channels out to the heads in turn; each head's D channels stand together.",
    lambda e: unwrapped(f"""Of queries, channels 0 … {e.number("D") - 1} belong to head 0: the C
    channels are cut into (H, D), not into (D, H). {_plain(e)}"""),
    STACK,
    also=(Variant(split=_dealt_out, merge=lambda found: found.permute(0, 2, 3, 1).flatten(2)),),
)(Variant(split=_dealt_out))

_interleaved = mistake(
    "Where the heads are merged, their channels take turns; each head's should stand together.",
    lambda e: unwrapped(f"""Channels 0 … {e.number("D") - 1} that go into the projection belong to
    head 0. {_plain(e)}"""),
    STACK,
)(Variant(merge=lambda found: found.permute(0, 2, 3, 1).flatten(2)))


_LEAKS = (
    unchanged_by_the_future("plain", "future", "t", LEAK),
    unchanged_by_other_samples("plain", "samples", VIEW),
)


def _span(first: int, last: int) -> str:
    return f"positions {first} to {last}" if first < last else f"position {last} alone"


def _worked_out(evidence: Evidence) -> Finding | None:
    """What position 0 finds, which has itself in sight and nothing else; where that is right, which
    positions go wrong.
    """
    e = evidence.inputs
    case = next((one for one in ("plain", "reach") if not evidence.same(one)), None)
    if case is None:
        return None
    mine, right = evidence.yours(case), evidence.right(case)
    if evidence.number("B") > 1 and (
        compared(mine, right) or any(leak(evidence) for leak in _LEAKS)
    ):
        return None  # which says more
    good = np.asarray(close(mine, right).all(axis=(0, 2)))  # (T,)
    if case == "reach":
        t = int(np.argmin(good))
        seen = ", ".join(
            f"head {h} should see {_span(max(0, t - int(r) + 1), t)}"
            for h, r in enumerate(e["reach"])
        )
        return Finding(
            "reach-wrong",
            "With reaches beyond the text your layer is right, with shorter ones it is not.",
            f"With `reach` = [{listed(e['reach'])}] the first position that is wrong is {t}: there "
            f"{seen}. {largest_gap(evidence, 'reach', t)}",
            SAME,
        )
    if good[0]:
        return Finding(
            "later-positions",
            "Position 0 is right, which sees itself alone; later positions are not.",
            "There it matters besides how much each position looks at which: queries, keys, scores "
            f"and the mask, head by head. {_plain(evidence)}",
            SAME,
        )
    b = int(np.argmin(close(mine, right)[:, 0].all(axis=-1)))
    value = e["qkv"][-evidence.number("C") :] @ e["x"][b, 0]
    return Finding(
        "position-0-wrong",
        "Position 0 is wrong already, which sees itself alone.",
        "There each head finds the value of that position, whatever the scores are. In sample "
        f"{b} the values of all heads begin with {row(value[:3])}, the projection makes "
        f"{row(right[b, 0, :3])} of them, and yours begins with {row(mine[b, 0, :3])}.",
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
    speaks = []  # of each head and reach, what it gives to the output
    for h in range(H):
        alone = torch.zeros_like(projection)
        alone[:, h * D : (h + 1) * D] = projection[:, h * D : (h + 1) * D]
        speaks.append([fused_attention(x, qkv, alone, [r] * H).numpy() for r in range(1, T + 1)])
    # One number tells nearly all combinations apart; whatever agrees in it is compared wholly.
    weighing = np.random.default_rng(0).normal(size=mine.shape)
    told = [[float((one * weighing).sum()) for one in of_a_head] for of_a_head in speaks]
    wanted = float((mine * weighing).sum())
    for reaches in itertools.product(range(1, T + 1), repeat=H):
        if abs(sum(told[h][r - 1] for h, r in enumerate(reaches)) - wanted) < 1e-2 and np.allclose(
            sum(speaks[h][r - 1] for h, r in enumerate(reaches)), mine, rtol=1e-3, atol=1e-4
        ):
            return reaches
    return None


def _asked(evidence: Evidence, case: str) -> list[int]:
    """The reaches of a case: as drawn, or the shortest and the whole text in turn."""
    if case == "reach":
        return evidence.inputs["reach"].tolist()
    H = evidence.number("H")
    return ([1, evidence.inputs["ends"].shape[1]] * H)[:H]


def _first_wrong(evidence: Evidence) -> str:
    """The case in which a layer is wrong that is right with reaches beyond the text."""
    return "ends" if evidence.same("reach") else "reach"


def _as_seen(evidence: Evidence, case: str) -> str:
    seen = _seen_back(evidence, case) or ()
    wanted = (
        f"with reaches beyond the text each should see all {evidence.number('T')}"
        if case == "plain"
        else f"`reach` is [{listed(_asked(evidence, case))}]"
    )
    return f"By your numbers the heads see the last {listed(seen)} positions; {wanted}."


_reaches_of_other_heads = mistake(
    "The reaches went to other heads than their own.",
    lambda e: f"{_as_seen(e, _first_wrong(e))} {largest_gap(e, _first_wrong(e))}",
    recognized=lambda e: (
        e.same("plain")
        and sorted(_seen_back(e, _first_wrong(e)) or ()) == sorted(_asked(e, _first_wrong(e)))
    ),
)(Variant(visible=lambda T, reach: windows(T, reach[::-1])))


def _other_reaches(evidence: Evidence) -> Finding | None:
    """Heads that see another number of positions than they should, and are right otherwise."""
    case = next((one for one in (*_BOTH, "ends") if not evidence.same(one)), None)
    if case is None or _seen_back(evidence, case) is None:
        return None
    return Finding(
        "other-reaches",
        "Your heads see another number of positions than their reach says.",
        f"{_as_seen(evidence, case)} {largest_gap(evidence, case)}",
        SAME,
    )


def _wrong_at_some_positions(evidence: Evidence) -> Finding | None:
    """The same, where other positions are right."""
    case = "plain" if not evidence.same("plain") else "reach"
    good = close(evidence.yours(case), evidence.right(case)).all(axis=(0, 2))
    found = _worked_out(evidence) if good.any() and not good.all() else None
    return found and replace(found, name="some-positions")


TASK = Task(
    "The fused layer",
    fused_attention,
    SAME,
    (
        Part("With a reach beyond the text, every head sees all of its past.", 3, matches("plain")),
        Part("Each head sees as far back as its own reach.", 3, matches("reach", "ends")),
    ),
    properties=(*_LEAKS, _other_reaches, _wrong_at_some_positions),
    cases=_PLAIN,
    examples=(_worked_out,),
)
