"""Judges 12/groups: heads that were trained apart, with keys and values pooled in groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.attention_weights import weights_on
from course_judges.ch12_faster.numbers import farthest, row_of_weights
from course_judges.ch12_faster.sections import GROUPS
from course_judges.ch12_faster.weights import (
    READABLE,
    factor_of_scores,
    of_a_factor,
    of_no_softmax,
    sight,
    total_of_each,
)
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Pool = Callable[[Tensor, int], Tensor]


def _mean_of_neighbors(heads: Tensor, n_group: int) -> Tensor:
    """(H, D, C) → (H, D, C): each head with what its group shares."""
    pooled = heads.unflatten(0, (n_group, -1)).mean(dim=1)  # (G, D, C)
    return pooled.repeat_interleave(len(heads) // n_group, dim=0)


def _variant(
    keys: Pool = _mean_of_neighbors,
    values: Pool = _mean_of_neighbors,
    *,
    queries: Pool = lambda heads, _: heads,
    split: Callable[[Tensor, int], Tensor] = lambda w, H: w.view(H, -1, w.shape[-1]),
    causal: bool = True,
    scale: Callable[[int, int, int], float] = lambda D, C, H: math.sqrt(D),  # noqa: ARG005
    merged: Callable[[Tensor], Tensor] = lambda found: found.transpose(1, 2).flatten(2),
    hidden: float = -torch.inf,
    diagonal: int = 1,
    past: bool = False,
    after_softmax: bool = False,
    over: int = -1,
    transposed: bool = False,
    shared_cut: Callable[[Tensor, int], Tensor] = lambda heads, _: heads,
    queries_cut: Callable[[Tensor, int], Tensor] = lambda heads, _: heads,
) -> Callable[..., Tensor]:
    def answer(
        x: Tensor, query: Tensor, key: Tensor, value: Tensor, n_head: int, n_group: int
    ) -> Tensor:
        C = x.shape[-1]
        query, key, value = (split(w, n_head) for w in (query, key, value))  # (H, D, C)
        parts = (queries(query, n_group), keys(key, n_group), values(value, n_group))
        q, k, v = (torch.einsum("btc,hdc->bhtd", x, w) for w in parts)
        q, k, v = queries_cut(q, n_head), shared_cut(k, n_group), shared_cut(v, n_group)
        scores = q @ k.mT / scale(q.shape[-1], C, n_head)  # (B, H, T, T)
        scores = scores.mT if transposed else scores
        future = torch.ones(scores.shape[-2:], dtype=torch.bool)
        future = future.tril(diagonal) if past else future.triu(diagonal)
        if causal and not after_softmax:
            scores = scores.masked_fill(future, hidden)
        weights = scores.softmax(dim=over)
        return merged((weights.masked_fill(future, 0.0) if after_softmax else weights) @ v)

    return answer


def _groups(evidence: Evidence) -> str:
    H, G = evidence.number("H"), evidence.number("G")
    first, second = listed(range(H // G)), listed(range(H // G, 2 * (H // G)))
    return unwrapped(f"""With {H} heads and {G} groups, group 0 is heads {first}, and group 1 is
    heads {second}. {farthest(evidence, "several")}""")


def _repeats(evidence: Evidence) -> str:
    return unwrapped(f"""If you used `repeat`: it puts whole copies one after another, but the heads
    of a group have to be neighbors. {_groups(evidence)}""")


def _every_nth(heads: Tensor, n_group: int) -> Tensor:
    pooled = heads.unflatten(0, (-1, n_group)).mean(dim=0)  # (G, D, C)
    return pooled.repeat(len(heads) // n_group, 1, 1)


def _repeated(heads: Tensor, n_group: int) -> Tensor:
    pooled = heads.unflatten(0, (n_group, -1)).mean(dim=1)
    return pooled.repeat(len(heads) // n_group, 1, 1)


def _of_group_0(heads: Tensor, n_group: int) -> Tensor:
    return _mean_of_neighbors(heads, n_group)[:1].expand_as(heads)


def _summed(heads: Tensor, n_group: int) -> Tensor:
    return _mean_of_neighbors(heads, n_group) * (len(heads) // n_group)


def _first_of_each(heads: Tensor, n_group: int) -> Tensor:
    each = len(heads) // n_group
    return heads[::each].repeat_interleave(each, dim=0)


def _last_of_each(heads: Tensor, n_group: int) -> Tensor:
    each = len(heads) // n_group
    return heads[each - 1 :: each].repeat_interleave(each, dim=0)


def _largest(heads: Tensor, n_group: int) -> Tensor:
    largest = heads.unflatten(0, (n_group, -1)).amax(dim=1)
    return largest.repeat_interleave(len(heads) // n_group, dim=0)


def _own(heads: Tensor, _: int) -> Tensor:
    return heads


def _all_together(heads: Tensor, _: int) -> Tensor:
    return heads.mean(dim=0, keepdim=True).expand_as(heads)


_group_is_every_nth_head = mistake(
    "Your groups are made of every G-th head, but a group is a run of neighboring heads.", _groups
)(_variant(_every_nth, _every_nth))

_repeated_in_turn = mistake(
    "You pooled neighbors, but then gave head 0 group 0, head 1 group 1, and so on in turn.",
    _repeats,
)(_variant(_repeated, _repeated))

_values_repeated_in_turn = mistake(
    "You gave the values of the groups to the heads in turn, but the keys are right.",
    _repeats,
)(_variant(values=_repeated))

_keys_repeated_in_turn = mistake(
    "You gave the keys of the groups to the heads in turn, but the values are right.",
    _repeats,
)(_variant(keys=_repeated))

_group_0_for_all = mistake(
    "All your heads use the keys and values of group 0, but each group has its own.",
    lambda e: unwrapped(f"""Heads {listed(range(e.number("H") // e.number("G"), e.number("H")))}
    belong to other groups. {_groups(e)}"""),
)(_variant(_of_group_0, _of_group_0))

_summed_not_averaged = mistake(
    "You added up the keys and values of a group instead of taking their mean.", _groups
)(_variant(_summed, _summed))

_first_head_of_each_group = mistake(
    "Each group uses the key and value of its first head instead of the mean of all.", _groups
)(_variant(_first_of_each, _first_of_each))

_summed_values = mistake(
    "You averaged the keys of a group but added up its values, which should be averaged, too.",
    _groups,
)(_variant(values=_summed))

_summed_keys = mistake(
    "You averaged the values of a group but added up its keys, which should be averaged, too.",
    _groups,
)(_variant(keys=_summed))

_last_head_of_each_group = mistake(
    "Each group uses the key and value of its last head instead of the mean of all.", _groups
)(_variant(_last_of_each, _last_of_each))

_keys_of_one_head = mistake(
    "Each group uses the key of one of its heads instead of the mean of all, but your values are "
    "right.",
    _groups,
    also=(_variant(keys=_last_of_each),),
)(_variant(keys=_first_of_each))

_values_of_one_head = mistake(
    "Each group uses the value of one of its heads instead of the mean of all, but your keys are "
    "right.",
    _groups,
    also=(_variant(values=_last_of_each),),
)(_variant(values=_first_of_each))

_keys_of_group_0 = mistake(
    "All your heads use the keys of group 0, but each group has its own. Your values are right.",
    _groups,
)(_variant(keys=_of_group_0))

_values_of_group_0 = mistake(
    "All your heads use the values of group 0, but each group has its own. Your keys are right.",
    _groups,
)(_variant(values=_of_group_0))

_largest_of_each_group = mistake(
    "You took the largest of a group's weights at each place instead of their mean.",
    _groups,
    also=(_variant(keys=_largest), _variant(values=_largest)),
)(_variant(_largest, _largest))


def _rows_as_read(order: str) -> Pool:
    """Pools the members of each group after its rows were read in another order of axes: "GDm" is
    (groups, D, members).
    """

    def pooled(heads: Tensor, n_group: int) -> Tensor:
        H, D, C = heads.shape
        lengths = {"G": n_group, "D": D, "m": H // n_group}
        rows = heads.reshape(*(lengths[axis] for axis in order), C)
        mean = torch.einsum(f"{order}c->GDc", rows) / lengths["m"]
        return mean.repeat_interleave(lengths["m"], dim=0)

    return pooled


def _rows_of_members(evidence: Evidence) -> str:
    H, G, D = evidence.number("H"), evidence.number("G"), len(evidence.inputs["key"]) // 6
    return unwrapped(f"""Rows 0 to {D - 1} of the weights are head 0, and rows {D} to {2 * D - 1}
    are head 1, so read (H · D, C) as (groups, members, D, C), here ({G}, {H // G}, {D},
    {evidence.number("C")}), and take the mean over the members. {_groups(evidence)}""")


_members_after_rows = mistake(
    "You read the rows of the weights with the axes groups, members and D in another order.",
    _rows_of_members,
    also=tuple(
        _variant(keys, values)
        for order in ("GDm", "mDG", "DGm", "DmG")
        for read in (_rows_as_read(order),)
        for keys, values in ((read, read), (read, _mean_of_neighbors), (_mean_of_neighbors, read))
    ),
)(_variant(_rows_as_read("GDm"), _rows_as_read("GDm")))

_values_not_pooled = mistake("Your groups share keys, but each head kept its own values.", _groups)(
    _variant(values=_own)
)

_keys_not_pooled = mistake("Your groups share values, but each head kept its own keys.", _groups)(
    _variant(keys=_own)
)

_queries_pooled = mistake(
    "You pooled the queries, too, so all heads of a group find the same.",
    lambda e: f"Only keys and values are shared, and each head keeps its own query. {_groups(e)}",
)(_variant(queries=_mean_of_neighbors))

_queries_for_keys = mistake(
    "You pooled the queries and left the keys as they are, but keys should be pooled, and not "
    "queries.",
    _groups,
)(_variant(_own, queries=_mean_of_neighbors))

_queries_and_keys_exchanged = mistake(
    "You exchanged queries and keys, so the groups share queries, and each head has its own key.",
    _groups,
)(lambda x, query, key, value, n_head, n_group: _variant()(x, key, query, value, n_head, n_group))

_nothing_shared = mistake("You ignored `n_group`: each head kept its own key and value.", _groups)(
    _variant(_own, _own)
)

_one_group_for_all = mistake(
    "All your heads share one key and one value, whatever `n_group` is.", _groups
)(_variant(_all_together, _all_together))

_no_scale = families.no_scale(_groups)(_variant(scale=lambda D, C, H: 1.0))  # noqa: ARG005

_scale_by_channels = families.scale_by_channels(_groups)(
    _variant(scale=lambda D, C, H: math.sqrt(C))  # noqa: ARG005
)

_scale_by_a_share_of_channels = mistake(
    "You divided the scores by √(C / H) instead of √D.",
    lambda e: f"D is the number of rows of a head's weights, and H · D need not be C. {_groups(e)}",
)(_variant(scale=lambda D, C, H: math.sqrt(C / H)))  # noqa: ARG005

_scale_by_all_heads = mistake(
    "You divided the scores by √(H · D), but a score is a sum of D products, so the scale is √D.",
    _groups,
)(_variant(scale=lambda D, C, H: math.sqrt(D * H)))  # noqa: ARG005

_scale_by_heads = mistake("You divided the scores by √H instead of √D.", _groups)(
    _variant(scale=lambda D, C, H: math.sqrt(H))  # noqa: ARG005
)

_scale_multiplied = mistake("You multiplied the scores by √D instead of dividing by it.", _groups)(
    _variant(scale=lambda D, C, H: 1 / math.sqrt(D))  # noqa: ARG005
)

_scale_without_the_root = mistake("You divided the scores by D instead of √D.", _groups)(
    _variant(scale=lambda D, C, H: D)  # noqa: ARG005
)

_zero_mask = families.zero_mask(_groups)(_variant(hidden=0.0))

_masked_after_softmax = families.masked_after_softmax(_groups)(_variant(after_softmax=True))

_new_hidden = mistake(
    "Your positions see only those before them, but position t should also see itself.",
    _groups,
    also=(_variant(diagonal=0, hidden=-1e9),),
)(_variant(diagonal=0))

_softmax_over_queries = families.softmax_over_queries(
    _groups, also=(_variant(over=-2, hidden=-1e9),)
)(_variant(over=-2))

_softmax_over_heads = mistake(
    "Your softmax runs over the heads instead of the keys.",
    lambda e: f"Each head's weights at a position should sum to 1 over the keys. {_groups(e)}",
    also=(_variant(over=1, hidden=-1e9), _variant(over=1, after_softmax=True)),
)(_variant(over=1))

_future_alone = families.upper_triangle(
    _groups, also=(_variant(past=True), _variant(past=True, diagonal=0))
)(_variant(past=True, diagonal=-1))

_scores_transposed = mistake(
    "You multiplied keys by queries instead of queries by keys, so your scores are transposed.",
    lambda e: f"Row t of the scores should hold those of query t with all keys. {_groups(e)}",
)(_variant(transposed=True))

_no_causal_mask = families.no_causal_mask(_groups)(_variant(causal=False))

_members_for_groups = mistake(
    "You made groups of `n_group` heads, but `n_group` is the number of groups.", _groups
)(
    _variant(
        lambda heads, n_group: _mean_of_neighbors(heads, len(heads) // n_group),
        lambda heads, n_group: _mean_of_neighbors(heads, len(heads) // n_group),
    )
)

_rows_in_turn = mistake(
    "Your heads are made of every H-th row of the weights, but rows 0 to D − 1 are head 0.",
    lambda e: f"View (H · D, C) as (H, D, C), not as (D, H, C). {_groups(e)}",
    also=(
        _variant(
            split=lambda w, H: w.view(-1, H, w.shape[-1]).transpose(0, 1),
            merged=lambda found: found.permute(0, 2, 3, 1).flatten(2),
        ),
    ),
)(_variant(split=lambda w, H: w.view(-1, H, w.shape[-1]).transpose(0, 1)))

_heads_not_moved = mistake(
    "You flattened the heads' outputs without moving the head axis behind the positions.",
    lambda e: f"(B, H, T, D) has to become (B, T, H, D) first. {_groups(e)}",
)(_variant(merged=lambda found: found.reshape(len(found), found.shape[2], -1)))


def _cut_across_positions(heads: Tensor, n: int) -> Tensor:
    """(B, H, T, D) → (B, H, T, D): n different heads, with (B, T, n · D) read as (B, n, T, D)."""
    B, H, T, D = heads.shape
    each = H // n
    flat = heads[:, ::each].transpose(1, 2).reshape(B, n, T, D)
    return flat.repeat_interleave(each, dim=1)


def _positions_of_group_0(evidence: Evidence) -> str:
    T, G = evidence.number("T"), evidence.number("G")
    return unwrapped(f"""Then group 0 is made of positions {listed(range((T - 1) // G + 1))} alone,
    with numbers of several groups. View as (B, T, G, D), and then move the axis of the groups in
    front of that of the positions. {_groups(evidence)}""")


_groups_cut_across_positions = mistake(
    "You viewed keys and values, (B, T, G · D), as (B, G, T, D) without moving an axis.",
    _positions_of_group_0,
    also=(
        _variant(shared_cut=_cut_across_positions, queries_cut=_cut_across_positions),
        _variant(
            shared_cut=_cut_across_positions,
            queries_cut=_cut_across_positions,
            merged=lambda found: found.reshape(len(found), found.shape[2], -1),
        ),
    ),
)(_variant(shared_cut=_cut_across_positions))

_channels_interleaved = mistake(
    "The channels of your heads alternate in the output, but heads should be side by side.", _groups
)(_variant(merged=lambda found: found.permute(0, 2, 3, 1).flatten(2)))


def _own_values(evidence: Evidence) -> Array:
    """(B, H, T, D): the values of each head as it was trained."""
    x, value = (evidence.inputs[name].astype(float) for name in ("x", "value"))
    own = value.reshape(evidence.number("H"), -1, value.shape[1])  # (H, D, C)
    return np.asarray(np.einsum("btc,hdc->bhtd", x, own))


def _by_heads(found: Array, H: int) -> Array:
    """(B, T, H · D) → (B, H, T, D)."""
    return found.reshape(*found.shape[:2], H, -1).swapaxes(1, 2).astype(float)


def _whose_mean(evidence: Evidence) -> str:
    """Of which heads the first wrong value is the mean, if it is the mean of some."""
    H, G = evidence.number("H"), evidence.number("G")
    own = _own_values(evidence)[:, :, 0]  # (B, H, D)
    mine, right = (
        _by_heads(side("several"), H)[:, :, 0] for side in (evidence.yours, evidence.right)
    )
    h = next(h for h in range(H) if not close(mine[:, h], right[:, h]).all())
    for many in sorted(range(1, H + 1), key=lambda many: abs(many - H // G)):
        for heads in itertools.combinations(range(H), many):
            if close(mine[:, h], own[:, list(heads)].mean(axis=1)).all():
                made = (
                    f"the mean of heads {listed(heads)}" if many > 1 else f"head {heads[0]}'s own"
                )
                return f"Your value for head {h} is {made}."
    return ""


def _times_the_mean(evidence: Evidence) -> str:
    """By which factor all values at position 0 are off, if there is one."""
    mine, right = (side("several")[:, 0].astype(float) for side in (evidence.yours, evidence.right))
    times = float((mine * right).sum() / (right * right).sum())
    if not close(mine, times * right).all():
        return ""
    G, many = evidence.number("G"), evidence.number("H") // evidence.number("G")
    ways = {many: "1", many / G: f"n_group = {G}", 1 / G: f"{many} · n_group", math.sqrt(many): ""}
    divisor = next((said for held, said in ways.items() if abs(times / held - 1) < 1e-3), "")
    divisor = divisor or number(many / times)
    how = "don't divide it" if divisor == "1" else f"divide it by {divisor}"
    solved = _solved(evidence)
    factor = (
        None
        if solved is None
        else factor_of_scores(
            *(side.reshape(-1, side.shape[-1]) for side in (solved[0] / times, solved[1]))
        )
    )
    too = ", and so are your keys" if factor and abs(factor / times - 1) < READABLE else ""
    return unwrapped(f"""Your values are {number(times)} times the mean of their group{too}. A group
    has {many} members, so divide their sum by {many}. You seem to {how}.""")


def _in_another_order(evidence: Evidence) -> Finding | None:
    """Whole heads at the places of others."""
    H = evidence.number("H")
    mine, right = (_by_heads(side("several"), H) for side in (evidence.yours, evidence.right))
    order = [[h for h in range(H) if close(mine[:, k], right[:, h]).all()] for k in range(H)]
    if any(len(found) != 1 for found in order):
        return None
    heads = [found[0] for found in order]
    G = evidence.number("G")
    if sorted(heads) != list(range(H)) or heads == sorted(heads):
        return None
    members_first = [g * (H // G) + m for m in range(H // G) for g in range(G)]
    how = (
        "First comes the first head of every group, so put the axis of the groups before that of "
        "the members when you lay the heads side by side."
        if heads == members_first
        else "Lay them side by side in the order in which they were given."
    )
    return Finding(
        "heads-in-another-order",
        "Your heads' outputs are right, but they lie in another order.",
        f"Where heads 0 to {H - 1} should be, you have heads {listed(heads)}. {how} "
        f"{_groups(evidence)}",
        GROUPS,
    )


def _shared_otherwise(evidence: Evidence) -> Finding | None:
    """Wrong outputs at position 0, where a head finds nothing but its own value."""
    mine, right = evidence.yours("several"), evidence.right("several")
    G, H = evidence.number("G"), evidence.number("H")
    first = mine[:, :1].astype(float), right[:, :1].astype(float)
    if G == H or close(*first).all() or _in_one_ratio(mine, right):
        return None
    heads = first[0].reshape(len(mine), G, H // G, -1)
    shared = close(heads, np.broadcast_to(heads[:, :, :1], heads.shape)).all()
    why = _times_the_mean(evidence) or _whose_mean(evidence)
    if not (shared or why):
        return None
    return Finding(
        "shared-otherwise",
        f"What your heads {'of a group share' if shared else 'find'} at position 0 isn't the mean "
        "of their group's values.",
        unwrapped(f"""Position 0 sees only itself, so each head's output there should be that mean.
        {why or "It isn't the mean of other whole heads either."} {_groups(evidence)}"""),
        GROUPS,
    )


def _in_one_ratio(mine: Array, right: Array) -> bool:
    """True if all outputs are off by one factor, which says more."""
    times = float((mine * right).sum() / (right * right).sum())
    return bool(close(mine, times * right).all())


def _solved(evidence: Evidence) -> tuple[Array, Array] | None:
    """The weights (B, H, T, T) with which your heads average the right values, and the right ones;
    None if you average others.
    """
    H, G = evidence.number("H"), evidence.number("G")
    own = _own_values(evidence)
    pooled = own.reshape(len(own), G, H // G, *own.shape[2:]).mean(axis=2).repeat(H // G, axis=1)
    found = [_by_heads(side("several"), H) for side in (evidence.yours, evidence.right)]
    T = pooled.shape[2]
    mine, right = (np.empty((*pooled.shape[:2], T, T)) for _ in found)
    for made, side in zip((mine, right), found, strict=True):
        for b, h, t in np.ndindex(made.shape[:3]):
            weights = weights_on(pooled[b, h], side[b, h, t])
            if weights is None:
                return None
            made[b, h, t] = weights
    return mine, right


def _what_positions_see(mine: Array, right: Array) -> str:
    """Which positions are seen, if all that is seen has the right proportions; empty if that is
    right or can't be told.
    """
    T = mine.shape[-1]
    sights = [
        sight(mine[:, :, t].reshape(-1, T), right[:, :, t].reshape(-1, T), np.arange(T) <= t)
        for t in range(T)
    ]
    for t, one in reversed(list(enumerate(sights))):
        if one is None:
            return ""
        missed = [s for s in one.unseen if s <= t]
        more = [s for s in one.seen if s > t]
        if missed or more:
            said = [f"doesn't see {listed(missed)}"] if missed else []
            said += [f"sees {listed(more)}, which is in its future"] if more else []
            return unwrapped(f"""Your position {t} {" and ".join(said)}, but it should see all
            positions up to itself. What it sees has the right proportions, so look at your
            mask.""")
    return ""


def _of_all_weights(evidence: Evidence, mine: Array, right: Array) -> str:
    """What all weights have in common, (B, H, T, T) each; empty if nothing is known."""
    T, H = mine.shape[-1], mine.shape[1]
    past = np.tril(np.ones((T, T), dtype=bool))
    if np.allclose(mine.sum(axis=1)[:, past], 1, atol=READABLE):
        return "Your weights sum to 1 over the heads, but the softmax should run over the keys."
    if len(mine) > 1 and np.allclose(mine.sum(axis=0)[:, past], 1, atol=READABLE):
        return "Your weights sum to 1 over the texts, but the softmax should run over the keys."
    flat = mine.reshape(-1, T), right.reshape(-1, T)
    if total_of_each(*flat) is not None:
        return "Your weights have the right proportions, but those of a position should sum to 1."
    if said := of_no_softmax(*flat, np.tile(past, (len(flat[0]) // T, 1))):
        return said
    factor = factor_of_scores(*flat)
    if factor is not None:
        G, D = evidence.number("G"), len(evidence.inputs["key"]) // H
        others = {"T": T, "H": H, "C": evidence.number("C"), "G": G, "(D · H / G)": D * H // G}
        return of_a_factor(factor, D, others)
    return _what_positions_see(mine, right) or _LOOK


_LOOK = "Look at your queries and keys, at the scale of the scores, and at what you hide."


def _other_weights(evidence: Evidence) -> Finding | None:
    """If heads average the right values with wrong weights, what these have in common."""
    if evidence.same("several") or evidence.number("T") < 2:
        return None
    found, T = evidence.yours("several"), evidence.number("T")
    solved = _solved(evidence)
    past = np.tril(np.ones((T, T), dtype=bool))
    uniform = solved is not None and np.allclose(
        solved[0], past / past.sum(axis=1, keepdims=True), atol=READABLE
    )
    first = close(found[:, 0], evidence.right("several")[:, 0]).all()
    if (
        first
        and not uniform
        and _alike_in_groups(found, evidence.number("G"), evidence.number("H"))
    ):
        return Finding(
            "heads-of-a-group-alike",
            "All your heads of a group find the same, but each should ask with its own query.",
            unwrapped(f"""Position 0, which sees only its own value, is right, but later positions
            aren't. {_groups(evidence)}"""),
            GROUPS,
        )
    if solved is None:
        return None
    mine, right = solved
    totals = mine.sum(axis=-1)
    if abs(totals[0, 0, 0] - 1) > READABLE and np.allclose(totals, totals[0, 0, 0], rtol=READABLE):
        return None  # the values are off by a factor, and not the weights
    b, h, t = (int(i) for i in np.unravel_index(abs(mine - right).sum(-1).argmax(), mine.shape[:3]))
    return Finding(
        "other-weights",
        "You share the values as you should, but you average them with wrong weights.",
        unwrapped(f"""{_of_all_weights(evidence, mine, right)} In text {b}, position {t} of head {h}
        sees positions 0 to {mine.shape[-1] - 1} with {row_of_weights(mine[b, h, t])} instead of
        {row_of_weights(right[b, h, t])}."""),
        GROUPS,
    )


def _alike_in_groups(mine: Array, G: int, H: int) -> bool:
    heads = mine.reshape(*mine.shape[:2], G, H // G, -1)
    return G < H and bool(close(heads, np.broadcast_to(heads[..., :1, :], heads.shape)).all())


TASK = Task(
    "Heads that share",
    _variant(),
    GROUPS,
    (
        Part("With a group for each head, nothing changes.", 1, matches("one_a_head")),
        Part("Neighbors share the mean of their keys and values.", 2, matches("several")),
        Part("All heads can share a single key and value.", 1, matches("single")),
    ),
    cases=("several",),
    properties=(_in_another_order, _other_weights, _shared_otherwise),
)
