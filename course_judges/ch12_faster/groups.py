"""Judges 12/groups: heads that were trained apart, with keys and values pooled in groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from course_judges import families
from course_judges.ch12_faster.numbers import farthest, row_of_weights
from course_judges.ch12_faster.sections import GROUPS
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.mixtures import weights_on
from course_judges.wording import listed, number, unwrapped
from course_tasks.answers import Array
from course_tasks.verdict import Finding

Pool = Callable[[Tensor, int], Tensor]

# Weights are read off numbers in single precision: smaller ones say little.
_READABLE = 1e-4
# That many scores rarely have one factor in common by chance.
_ENOUGH = 4


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
    after_softmax: bool = False,
    over: int = -1,
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
        future = torch.ones(scores.shape[-2:], dtype=torch.bool).triu(diagonal)
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


# What may be wrong at position 0 if no mean explains it.
_SEES = unwrapped("""Either you pool the values in another way, or your position 0 sees another
position, or itself with another weight than 1.""")


def _whose_mean(evidence: Evidence) -> str:
    """Of which heads the first wrong value is the mean, if it is the mean of some."""
    x, value = (evidence.inputs[name].astype(float) for name in ("x", "value"))
    H, G = evidence.number("H"), evidence.number("G")
    own = (x[:, 0] @ value.T).reshape(len(x), H, -1)  # (B, H, D)
    mine, right = (
        side("several")[:, 0].reshape(own.shape) for side in (evidence.yours, evidence.right)
    )
    h = next(h for h in range(H) if not close(mine[:, h], right[:, h]).all())
    for many in sorted(range(1, H + 1), key=lambda many: abs(many - H // G)):
        for heads in itertools.combinations(range(H), many):
            if close(mine[:, h], own[:, list(heads)].mean(axis=1)).all():
                made = (
                    f"the mean of heads {listed(heads)}" if many > 1 else f"head {heads[0]}'s own"
                )
                return f" Your value for head {h} is {made}."
    return ""


def _shared_otherwise(evidence: Evidence) -> Finding | None:
    """Wrong outputs at position 0, where a head finds nothing but its own value."""
    mine, right = (side("several")[:, 0] for side in (evidence.yours, evidence.right))
    H, G = evidence.number("H"), evidence.number("G")
    heads = mine.reshape(len(mine), G, H // G, -1)
    if (
        G == H
        or close(mine, right).any()
        or not close(heads, np.broadcast_to(heads[:, :, :1], heads.shape)).all()
    ):
        return None
    return Finding(
        "shared-otherwise",
        "Your heads of a group share a value, but it isn't the mean of their own values.",
        unwrapped(f"""Position 0 sees only itself, so each head's output there should be its
        value, the mean of its group.{_whose_mean(evidence) or f" {_SEES}"}
        {_groups(evidence)}"""),
        GROUPS,
    )


def _alike_in_groups(mine: Array, G: int, H: int) -> bool:
    heads = mine.reshape(*mine.shape[:2], G, H // G, -1)
    return G < H and bool(close(heads, np.broadcast_to(heads[..., :1, :], heads.shape)).all())


def _other_weights(evidence: Evidence) -> Finding | None:
    """Wrong outputs at later positions if position 0, which sees only itself, is right."""
    mine, right = evidence.yours("several"), evidence.right("several")
    if mine.shape != right.shape or not close(mine[:, 0], right[:, 0]).all():
        return None
    if _alike_in_groups(mine, evidence.number("G"), evidence.number("H")):
        return Finding(
            "heads-of-a-group-alike",
            "All your heads of a group find the same, but each should ask with its own query.",
            unwrapped(f"""Position 0, which sees only its own value, is right, but later positions
            aren't. {_groups(evidence)}"""),
            GROUPS,
        )
    return Finding(
        "other-weights",
        "You share the values as you should, but you average them with wrong weights.",
        unwrapped(f"""Position 0, which sees only its own value, is right, but later positions
        aren't. {_read_off(evidence) or _LOOK} {_groups(evidence)}"""),
        GROUPS,
    )


_LOOK = "Look at your queries and keys, at the scale of the scores, and at what you hide."


def _read_off(evidence: Evidence) -> str:
    """The weights of position 1 for 0 and itself, and the factor by which all scores are off, if
    there is one; empty if the weights can't be solved for.
    """
    x, value = (evidence.inputs[name].astype(float) for name in ("x", "value"))
    H, G = evidence.number("H"), evidence.number("G")
    if x.shape[1] < 2:
        return ""
    pooled = value.reshape(G, H // G, -1, x.shape[2]).mean(axis=1).repeat(H // G, axis=0)
    values = np.einsum("btc,hdc->bhtd", x[:, :2], pooled)
    mine, right = (
        side("several").reshape(*x.shape[:2], H, -1)[:, 1]
        for side in (evidence.yours, evidence.right)
    )
    gaps = []
    shown: list[tuple[Array, Array]] = []
    for b, h in np.ndindex(len(x), H):
        weights, wanted = (weights_on(values[b, h], side[b, h]) for side in (mine, right))
        if weights is None or wanted is None:
            return ""
        shown.append((weights, wanted))
        if min(weights.min(), wanted.min()) > _READABLE:
            gaps.append([float(np.log(both[1] / both[0])) for both in (weights, wanted)])
    weights, wanted = max(shown, key=lambda both: float(abs(both[0] - both[1]).max()))
    told = (
        f"In one head, your position 1 sees 0 and itself with {row_of_weights(weights)}, but "
        "expected "
        f"was {row_of_weights(wanted)}."
    )
    if len(gaps) < _ENOUGH:
        return f"{told} {_LOOK}"
    of_yours, of_right = np.array(gaps).T
    times = float((of_yours @ of_right) / (of_right @ of_right))
    if not np.allclose(of_yours, times * of_right, rtol=2e-2, atol=2e-2):
        return f"{told} {_LOOK}"
    D = len(value) // H
    return unwrapped(f"""{told} Your scores seem to be {number(times)} times as large as they should
    be. Do you divide or multiply them by anything else than √D = {number(D**0.5)}?""")


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
    properties=(_other_weights,),
    examples=(_shared_otherwise,),
)
