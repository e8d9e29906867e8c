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
    sight,
)
from course_judges.equality import close
from course_judges.judging import Evidence, Like, Part, Step, Task, matches, mistake
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Answer = Callable[[Tensor, Tensor, Tensor, Tensor, int, int], Tensor]
Pool = Callable[[Tensor, int, int], Tensor]


def grouped_attention(
    x: Tensor, query: Tensor, key: Tensor, value: Tensor, n_head: int, n_group: int
) -> Tensor:
    """A right answer to 12/groups: (B, T, C), (H · D, C) three times → (B, T, H · D)."""
    members = n_head // n_group

    def pooled(heads: Tensor) -> Tensor:
        groups = heads.unflatten(0, (n_group, members))
        mean = groups.mean(dim=1)  # the mean of each group (G, D, C)
        return mean.repeat_interleave(members, dim=0)

    queries = query.unflatten(0, (n_head, -1))
    keys = key.unflatten(0, (n_head, -1))
    values = value.unflatten(0, (n_head, -1))
    keys = pooled(keys)  # the pooling of the keys (H, D, C)
    values = pooled(values)  # the pooling of the values (H, D, C)
    q = x[:, None] @ queries.mT  # the queries (B, H, T, D)
    k = x[:, None] @ keys.mT  # the keys (B, H, T, D)
    v = x[:, None] @ values.mT
    D = q.shape[-1]  # D
    scores = q @ k.mT / math.sqrt(D)  # the scores (B, H, T, T)
    past = torch.ones(scores.shape[-2:], dtype=torch.bool).tril()  # the mask (T, T)
    masked = scores.masked_fill(~past, -torch.inf)  # the masked scores (B, H, T, T)
    weights = masked.softmax(dim=-1)  # the weights (B, H, T, T)
    found = weights @ v
    return found.transpose(1, 2).flatten(2)  # your outputs (B, T, H · D)


def _pooled(heads: Tensor, n_head: int, n_group: int) -> Tensor:
    """(H · D, C) → (H · D, C): each head with what its group shares."""
    pooled = heads.view(n_group, n_head // n_group, -1, heads.shape[-1]).mean(dim=1, keepdim=True)
    return pooled.expand(-1, n_head // n_group, -1, -1).reshape(heads.shape)


def _variant(
    keys: Pool = _pooled,
    values: Pool = _pooled,
    *,
    queries: Pool = lambda heads, *_: heads,
    scale: Callable[[int, int, int], float] = lambda D, C, H: 1.0,  # noqa: ARG005
) -> Answer:
    """An answer that shares keys and values in another way, or multiplies its scores."""

    def answer(
        x: Tensor, query: Tensor, key: Tensor, value: Tensor, n_head: int, n_group: int
    ) -> Tensor:
        q, k, v = (
            share(weights, n_head, n_group)
            for share, weights in ((queries, query), (keys, key), (values, value))
        )
        q = q * scale(len(q) // n_head, x.shape[-1], n_head)
        return grouped_attention(x, q, k, v, n_head, n_head)

    return answer


def _groups(evidence: Evidence) -> str:
    H, G = evidence.number("H"), evidence.number("G")
    first, second = listed(range(H // G)), listed(range(H // G, 2 * (H // G)))
    return unwrapped(f"""With {H} heads and {G} groups, group 0 is heads {first}, and group 1 is
    heads {second}. {farthest(evidence, "several")}""")


def _every_nth(heads: Tensor, n_head: int, n_group: int) -> Tensor:
    pooled = heads.view(n_head // n_group, n_group, -1, heads.shape[-1]).mean(dim=0)
    return pooled.repeat(n_head // n_group, 1, 1).view(heads.shape)


def _repeated(heads: Tensor, n_head: int, n_group: int) -> Tensor:
    pooled = heads.view(n_group, n_head // n_group, -1, heads.shape[-1]).mean(dim=1)
    return pooled.repeat(n_head // n_group, 1, 1).view(heads.shape)


def _last_of_each(heads: Tensor, n_head: int, n_group: int) -> Tensor:
    last = heads.view(n_group, n_head // n_group, -1, heads.shape[-1])[:, -1:]
    return last.expand(-1, n_head // n_group, -1, -1).reshape(heads.shape)


_group_is_every_nth_head = mistake(
    "Your groups are made of every G-th head, but a group is a run of neighboring heads.", _groups
)(_variant(_every_nth, _every_nth))

_repeated_in_turn = mistake(
    "You pooled neighbors, but then gave head 0 group 0, head 1 group 1, and so on in turn.",
    lambda e: unwrapped(f"""If you used `repeat`: it puts whole copies one after another, but the
    heads of a group have to be neighbors. {_groups(e)}"""),
)(_variant(_repeated, _repeated))

_last_head_of_each_group = mistake(
    "Each group uses the key and value of its last head instead of the mean of all.", _groups
)(_variant(_last_of_each, _last_of_each))


def _rows_as_read(order: str) -> Pool:
    """Pools the members of each group after its rows were read in another order of axes: "GDm" is
    (groups, D, members).
    """

    def pooled(heads: Tensor, n_head: int, n_group: int) -> Tensor:
        lengths = {"G": n_group, "m": n_head // n_group, "D": len(heads) // n_head}
        rows = heads.reshape(*(lengths[axis] for axis in order), heads.shape[-1])
        mean = torch.einsum(f"{order}c->GDc", rows)[:, None] / lengths["m"]
        return mean.expand(-1, lengths["m"], -1, -1).reshape(heads.shape)

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
        for keys, values in ((read, read), (read, _pooled), (_pooled, read))
    ),
)(_variant(_rows_as_read("GDm"), _rows_as_read("GDm")))

_queries_pooled = mistake(
    "You pooled the queries, too, so all heads of a group find the same.",
    lambda e: f"Only keys and values are shared, and each head keeps its own query. {_groups(e)}",
)(_variant(queries=_pooled))

_no_scale = families.no_scale(_groups)(Like("left-out-the-division-by-root-of-D-in-the-scores"))

_scale_by_a_share_of_channels = mistake(
    "You divided the scores by √(C / H) instead of √D.",
    lambda e: f"D is the number of rows of a head's weights, and H · D need not be C. {_groups(e)}",
)(_variant(scale=lambda D, C, H: math.sqrt(D * H / C)))

_zero_mask = families.zero_mask(_groups)(
    Like("filled-with-0-instead-of-minus-infinity-in-the-masked-scores")
)

_no_causal_mask = families.no_causal_mask(_groups)(Like("left-out-tril-in-the-mask"))

_members_for_groups = mistake(
    "You made groups of `n_group` heads, but `n_group` is the number of groups.", _groups
)(
    lambda x, query, key, value, n_head, n_group: grouped_attention(
        x, query, key, value, n_head, n_head // n_group
    )
)


@mistake(
    "The channels of your heads alternate in the output, but heads should be side by side.", _groups
)
def _channels_interleaved(
    x: Tensor, query: Tensor, key: Tensor, value: Tensor, n_head: int, n_group: int
) -> Tensor:
    found = grouped_attention(x, query, key, value, n_head, n_group)
    return found.unflatten(2, (n_head, -1)).transpose(2, 3).flatten(2)


def _with_every_hth_row(answer: Answer) -> Answer:
    def rows_in_turn(
        x: Tensor, query: Tensor, key: Tensor, value: Tensor, n_head: int, n_group: int
    ) -> Tensor:
        q, k, v = (
            weights.unflatten(0, (-1, n_head)).transpose(0, 1).flatten(0, 1)
            for weights in (query, key, value)
        )
        return answer(x, q, k, v, n_head, n_group)

    return rows_in_turn


_rows_in_turn = mistake(
    "Your heads are made of every H-th row of the weights, but rows 0 to D − 1 are head 0.",
    lambda e: f"View (H · D, C) as (H, D, C), not as (D, H, C). {_groups(e)}",
    also=(_with_every_hth_row(_channels_interleaved.answer),),
)(_with_every_hth_row(grouped_attention))


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
    many = evidence.number("H") // evidence.number("G")
    return unwrapped(f"""Your values are {number(times)} times the mean of their group. A group has
    {many} members, so divide their sum by {many}.""")


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
    flat = mine.reshape(-1, T), right.reshape(-1, T)
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
    grouped_attention,
    GROUPS,
    (
        Part("With a group for each head, nothing changes.", 1, matches("one_a_head")),
        Part("Neighbors share the mean of their keys and values.", 2, matches("several")),
        Part("All heads can share a single key and value.", 1, matches("single")),
    ),
    cases=("several",),
    properties=(_in_another_order, _other_weights, _shared_otherwise),
    steps={
        "the mean of each group": Step(
            "Each group has one key and one value, the mean of its heads'."
        ),
        "the pooling of the keys": Step("The heads of a group share one key, so fewer are kept."),
        "the pooling of the values": Step(
            "The heads of a group share one value, so fewer are kept."
        ),
        "the queries": Step("Only keys and values are shared, and each head keeps its own query."),
        "the keys": Step("Keys are made of x by the weights that a group shares."),
        "D": Step("A score is a sum of D products, so D sets its scale."),
        "the scores": Step("A score is a sum of D products, so D sets its scale."),
        "the mask": Step("Position t sees itself and what is before it."),
        "the masked scores": Step("What is hidden must get no weight, and only e to −∞ is 0."),
        "the weights": Step("Each position averages over the keys, so its weights sum to 1."),
        "your outputs": Step(
            "(B, H, T, D) has to become (B, T, H, D) before the heads are laid side by side."
        ),
    },
)
