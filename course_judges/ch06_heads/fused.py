"""Judges 06/fused: all heads in one multiplication, each with its own reach."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import Weights, weights_behind
from course_judges.ch06_heads import wording
from course_judges.ch06_heads.sections import (
    AVERAGE,
    LEAK,
    PROJECTION,
    SAME,
    STACK,
    SUBSPACES,
    VIEW,
)
from course_judges.ch06_heads.wording import largest_gap, rows_of_view
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.properties import unchanged_by_other_samples, unchanged_by_the_future
from course_judges.wording import listed, number, row, unwrapped
from course_judges.wrong_arrays.comparisons import compared
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Tells


def fused_attention(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    """(B, T, C) → (B, T, C); position t of head h sees the last reach[h] positions."""
    T, H = x.shape[1], len(reach)
    every = x @ qkv.T  # all queries, keys and values (B, T, 3·C)
    q, k, v = every.chunk(3, dim=-1)
    query = q.unflatten(-1, (H, -1)).transpose(1, 2)  # the queries (B, H, T, D)
    key = k.unflatten(-1, (H, -1)).transpose(1, 2)  # the keys (B, H, T, D)
    D = query.shape[-1]  # D
    back = torch.arange(T)[:, None] - torch.arange(T)  # the distances back in time (T, T)
    past = back >= 0  # the past (T, T)
    near = back < torch.tensor(reach)[:, None, None]  # the windows (H, T, T)
    seen = past & near  # what the heads may see (H, T, T)
    scores = query @ key.mT / math.sqrt(D)  # the scores (B, H, T, T)
    masked = scores.masked_fill(~seen, -torch.inf)  # the masked scores (B, H, T, T)
    weights = masked.softmax(dim=-1)  # the weights (B, H, T, T)
    value = v.unflatten(-1, (H, -1)).transpose(1, 2)  # the values (B, H, T, D)
    merged = (weights @ value).transpose(1, 2).flatten(2)  # the merged heads (B, T, C)
    return merged @ projection.T  # your output (B, T, C)


_Answer = Callable[[Tensor, Tensor, Tensor, list[int]], Tensor]


def _from_rows(rows: Callable[[Tensor, int], Tensor]) -> _Answer:
    """The right layer with other rows of `qkv`, made from it and the number of heads."""
    return lambda x, qkv, projection, reach: fused_attention(
        x, rows(qkv, len(reach)), projection, reach
    )


def _thirds(order: tuple[int, int, int]) -> _Answer:
    """The thirds of `qkv` with these numbers for queries, keys and values."""
    return _from_rows(lambda qkv, _: torch.cat([qkv.chunk(3)[n] for n in order]))


def _head_by_head(qkv: Tensor, H: int) -> Tensor:
    """The rows in an order that makes each head's query, key and value lie side by side."""
    return qkv.view(H, 3, -1, qkv.shape[1]).transpose(0, 1).reshape(qkv.shape)


def _dealt_out(qkv: Tensor, H: int) -> Tensor:
    """The rows in an order that deals channels out to the heads in turn."""
    return qkv.view(3, -1, H, qkv.shape[1]).transpose(1, 2).reshape(qkv.shape)


def _interleaving(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
    """The projection reads channels as if heads took turns."""
    columns = projection.unflatten(1, (-1, len(reach))).transpose(1, 2).flatten(1)
    return fused_attention(x, qkv, columns, reach)


def _heads_of(x: Tensor, qkv: Tensor, H: int) -> Tensor:
    """(B, T, C) → (3, B, H, T, D)."""
    return (x @ qkv.T).unflatten(-1, (3, H, -1)).permute(2, 0, 3, 1, 4)


def _heads_by_view(x: Tensor, qkv: Tensor, H: int) -> Tensor:
    """The same, but heads are moved before time by view alone."""
    return torch.stack(
        [part.reshape(len(x), H, x.shape[1], -1) for part in (x @ qkv.T).chunk(3, dim=-1)]
    )


def _merged(found: Tensor) -> Tensor:
    return found.transpose(1, 2).flatten(2)


def _flat(found: Tensor) -> Tensor:
    """(B, H, T, D) → (B, T, C) by view alone."""
    return found.reshape(found.shape[0], found.shape[2], -1)


def _windows(T: int, reach: list[int]) -> Tensor:
    """(H, T, T) True where a position of a head may look."""
    back = torch.arange(T)[:, None] - torch.arange(T)
    return (back >= 0) & (back < torch.tensor(reach)[:, None, None])


def _past(T: int) -> Tensor:
    return torch.ones(T, T, dtype=torch.bool).tril()


def _weighing(
    weigh: Callable[[Tensor, int, list[int]], Tensor],
    split: Callable[[Tensor, Tensor, int], Tensor] = _heads_of,
    merge: Callable[[Tensor], Tensor] = _merged,
) -> _Answer:
    """Other weights, made from the scores (B, H, T, T), T and the reaches."""

    def answer(x: Tensor, qkv: Tensor, projection: Tensor, reach: list[int]) -> Tensor:
        query, key, value = split(x, qkv, len(reach))
        scores = query @ key.mT / math.sqrt(query.shape[-1])
        return merge(weigh(scores, x.shape[1], reach) @ value) @ projection.T

    return answer


def _masked(
    scores: Tensor,
    T: int,
    reach: list[int],
    *,
    visible: Callable[[int, list[int]], Tensor] = _windows,
    fill: float = -math.inf,
    nan: float = math.nan,
) -> Tensor:
    """Weights of what is visible; rows that see nothing hold `nan`."""
    return scores.masked_fill(~visible(T, reach), fill).softmax(dim=-1).nan_to_num(nan)


def _seeing(
    visible: Callable[[int, list[int]], Tensor], fill: float = -math.inf, nan: float = math.nan
) -> _Answer:
    """Heads that see other positions."""
    return _weighing(partial(_masked, visible=visible, fill=fill, nan=nan))


def _reaching(change: Callable[[int, list[int]], list[int]]) -> _Answer:
    """The right layer for other reaches, made from T and those that were given."""
    return lambda x, qkv, projection, reach: fused_attention(
        x, qkv, projection, change(x.shape[1], reach)
    )


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
)(_weighing(_masked, _heads_by_view, _flat))

_view_without_transpose = mistake(
    wording.MOVED_BY_VIEW,
    lambda e: f"{_view_effect(e)} So the mask hides the wrong positions.",
    LEAK,
)(_weighing(_masked, _heads_by_view))

_attends_across_heads = mistake(
    "Time comes before the heads, so at each position the heads look at each other.",
    lambda e: unwrapped(f"""Your scores have shape ({e.number("B")}, {e.number("T")},
    {e.number("H")}, {e.number("H")}) instead of (B, H, T, T). {_plain(e)}"""),
    STACK,
)(
    lambda x, qkv, projection, reach: (
        F.scaled_dot_product_attention(*_heads_of(x, qkv, len(reach)).transpose(2, 3)).flatten(2)
        @ projection.T
    )
)

_other_layout = mistake(
    "You cut as if each head's query, key and value were side by side, as in the split task.",
    lambda e: unwrapped(f"""Here rows 0 … {e.number("C") - 1} of `qkv` make the queries of all
    heads. {_plain(e)}"""),
    STACK,
)(_from_rows(_head_by_head))

_thirds_mixed_up = mistake(
    "You mixed up the three parts of `qkv`.",
    lambda e: unwrapped(f"""Its rows are for all queries, then all keys, then all values. Queries
    and keys make the scores, and values are averaged. {_plain(e)}"""),
    STACK,
    also=tuple(
        _thirds(order)
        for order in itertools.product(range(3), range(3), range(3))
        if order not in ((0, 1, 2), (1, 0, 2), (0, 0, 2))
    ),
)(_thirds((0, 0, 2)))

_matrix_not_transposed = mistake(
    "You multiplied by the parts of `qkv` as they are, but matrices stored as (out, in) have to be "
    "transposed.",
    lambda e: unwrapped(f"""A square part fits either way, so there is no error. The layer is
    `x @ weight.T`. {_plain(e)}"""),
    STACK,
)(_from_rows(lambda qkv, _: torch.cat([part.T for part in qkv.chunk(3)])))

_scale_by_channels = families.scale_by_channels(
    lambda e: _scale_effect(e, e.number("C") ** 0.5), SUBSPACES
)(Like("used-the-length-of-axis-minus-1-of-x-for-D"))

_scale_after_softmax = mistake(
    "You divided what the heads find by √D, instead of their scores.",
    lambda e: unwrapped(f"""The weights of each output then sum to 1/√D =
    {number(e.number("D") ** -0.5)} instead of 1, and the scores stay too large. {_plain(e)}"""),
    SUBSPACES,
)(
    lambda x, qkv, projection, reach: _weighing(
        lambda scores, T, reach: _masked(scores * (x.shape[2] // len(reach)) ** 0.5, T, reach)
    )(x, qkv, projection / (x.shape[2] // len(reach)) ** 0.5, reach)
)

_no_causal_mask = families.no_causal_mask(
    lambda e: unwrapped(f"""Position 0 should see only itself, but yours averages {e.number("T")}
    positions. {_plain(e)}"""),
    cases=_BOTH,
)(Like("used-or-instead-of-and-in-what-the-heads-may-see"))

_windows_to_both_sides = mistake(
    "Your windows reach as far into the future as into the past.",
    lambda e: unwrapped(f"""A distance without its sign is small on both sides of a position, so
    `t − s` also has to be at least 0. {_reaches(e)}"""),
    cases=_BOTH,
)(_seeing(lambda T, reach: _windows(T, reach) | _windows(T, reach).mT))

_mask_added_to_scores = mistake(
    wording.MASK_ADDED, lambda e: f"{wording.MASK_OF_ONES} {_plain(e)}"
)(_weighing(lambda scores, T, reach: (scores + _windows(T, reach)).softmax(dim=-1)))

_projection_not_transposed = mistake(
    "You multiplied by `projection`, but a matrix stored as (out, in) needs `.T`.",
    lambda e: f"It is square, ({e.number('C')}, {e.number('C')}), so both fit. {_plain(e)}",
    PROJECTION,
)(Like("left-out-the-transpose-in-your-output"))

_reach_after_softmax = mistake(
    "You took the softmax over all of the past and cut what is out of reach only afterwards.",
    lambda e: unwrapped(f"""The share of what you cut is missing, so rows sum to less than 1.
    {_reaches(e)}"""),
    cases=_BOTH,
)(
    _weighing(
        lambda scores, T, reach: (
            scores.masked_fill(~_past(T), -torch.inf).softmax(dim=-1) * _windows(T, reach)
        )
    )
)


def _scored_out_of_reach(change: Callable[[Tensor, Tensor], Tensor]) -> _Answer:
    """The future hidden, and scores out of reach only changed: (B, H, T, T), (H, T, T) → scores."""
    return _weighing(
        lambda scores, T, reach: (
            change(scores, _windows(T, reach)).masked_fill(~_past(T), -torch.inf).softmax(dim=-1)
        )
    )


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
)(_seeing(lambda T, reach: _past(T) & (torch.arange(T) < torch.tensor(reach)[:, None, None])))


def _out_of_sight(T: int, reach: list[int]) -> Tensor:
    return ~_windows(T, reach)


_mask_turned_round = mistake(
    "Your mask is inverted, so your heads see exactly what they shouldn't.",
    lambda e: f"{wording.MASKS_DIFFER} {_plain(e)}",
    cases=_BOTH,
    also=(_seeing(_out_of_sight, -1e9), _seeing(_out_of_sight, nan=0.0)),
)(_seeing(_out_of_sight))


def _end_of_the_text(T: int, reach: list[int]) -> Tensor:
    return _past(T) & (torch.arange(T) >= T - torch.tensor(reach)[:, None, None])


_reach_from_the_end = mistake(
    "Your heads see the last `reach` positions of the text, but each position has its own window.",
    lambda e: unwrapped(f"""The window of position t should end at t. Yours begins at T − `reach` in
    every row, so the first rows see nothing. {_reaches(e)}"""),
    cases=_BOTH,
    also=(_seeing(_end_of_the_text), _seeing(_end_of_the_text, -1e9)),
)(_seeing(_end_of_the_text, nan=0.0))


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
    also=(_seeing(_slices, nan=0.0), _seeing(_slices, -1e9)),
)(_seeing(_slices))


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
)(_weighing(partial(_masked, fill=-20.0)))

_reach_capped_below_the_text = mistake(
    "However long the reach, your last position never sees the first.",
    lambda e: unwrapped(f"""The text has T = {e.number("T")} positions, so with a reach of
    {e.number("T")} or more, the last position sees all of them. Cap the reach at T."""),
    cases=_BOTH,
)(_reaching(lambda T, reach: [min(width, T - 1) for width in reach]))


def _blocks(T: int, reach: list[int]) -> Tensor:
    t = torch.arange(T)
    return torch.stack([(t[:, None] // r == t // r) & (t <= t[:, None]) for r in reach])


_blocks_not_windows = mistake(
    "You cut the text into blocks of `reach` positions, but the window moves with each position.",
    lambda e: unwrapped(f"""The first position of a block then sees only itself, whatever its reach.
    {_reaches(e)}"""),
    cases=_BOTH,
)(_seeing(_blocks))


def _first_seen_too(T: int, reach: list[int]) -> Tensor:
    near = _windows(T, reach)
    near[:, :, 0] = True
    return near


_first_always_seen = mistake(
    "Your heads see the first position of the text, however far back it is.", _reaches, cases=_BOTH
)(_seeing(_first_seen_too))

_heads_take_turns = mistake(
    wording.DEALT_OUT,
    lambda e: unwrapped(f"""Channels 0 … {e.number("D") - 1} of the queries belong to head 0, so the
    C channels should be cut into (H, D), not (D, H). {_plain(e)}"""),
    STACK,
    also=(
        lambda x, qkv, projection, reach: _interleaving(
            x, _dealt_out(qkv, len(reach)), projection, reach
        ),
    ),
)(_from_rows(_dealt_out))

_interleaved = mistake(
    wording.INTERLEAVED,
    lambda e: unwrapped(f"""When you merge the heads, channels 0 … {e.number("D") - 1} should all
    come from head 0. {_plain(e)}"""),
    STACK,
)(_interleaving)


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
    seen = np.broadcast_to(_windows(T, reach).numpy()[:, None], scores.shape)
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
    return ""


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
        f"into {row(right[b, 0, :3])}, but yours begins with {row(mine[b, 0, :3])}.",
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


def _as_seen(evidence: Evidence, case: str) -> str:
    seen = _seen_back(evidence, case) or ()
    wanted = (
        f"with reaches beyond the text, each should see all {evidence.number('T')} positions"
        if case == "plain"
        else f"`reach` is [{listed(_asked(evidence, case))}]"
    )
    return f"Judging by your output, the reaches of your heads are [{listed(seen)}], but {wanted}."


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
        tells=Tells.CAUSE,
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
    steps={
        "all queries, keys and values": Step(
            "`qkv` is stored as (out, in), so it has to be transposed, and a view moves no entry.",
            STACK,
        ),
        "the queries": Step("A query says what a position looks for, in its own head.", STACK),
        "the keys": Step("A key says what a position has to offer, in its own head.", STACK),
        "D": Step("A score is a sum of D products, so D sets its scale.", SUBSPACES),
        "the distances back in time": Step("Position s is t − s places back from position t."),
        "the past": Step("A position may see itself and what is behind it, so t − s ≥ 0."),
        "the windows": Step("A reach counts the position itself, so t − s is below it."),
        "what the heads may see": Step("A head sees what is in its past and within its reach."),
        "the scores": Step(
            "Row t holds the scores of query t with all keys. A sum of D products spreads with √D.",
            SUBSPACES,
        ),
        "the masked scores": Step(
            "−inf is below every score, and e to the power of −inf is exactly 0.", AVERAGE
        ),
        "the weights": Step("Each row is an average of its own, so it sums to 1.", AVERAGE),
        "the values": Step("A value is what a position passes on, in its own head.", STACK),
        "the merged heads": Step(
            "Only a transpose brings the heads of one position together before they are joined.",
            VIEW,
        ),
        "your output": Step(
            "Without the projection, each head writes only to its own channels.",
            PROJECTION,
        ),
    },
)
