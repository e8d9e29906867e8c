"""Judges 10/heads: many queries, shared keys and values, and no loop."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations, product
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch10_jax.sections import HEADS
from course_judges.ch10_jax.wording import gap
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, unwrapped
from course_tasks.answers import Array
from course_tasks.ch10_jax.sides import InTorch
from course_tasks.verdict import Finding

Tree = dict[str, Tensor]


def _found(head: Any, parameters: Tree, x: Tensor) -> Tensor:
    """(B, H, T, D): every head over every sequence, without a loop."""
    in_dims = {"query": 0, "key": None, "value": None}
    over_heads = torch.func.vmap(head, in_dims=(in_dims, None))
    found: Tensor = torch.func.vmap(over_heads, in_dims=(None, 0))(parameters, x)
    return found


def _merged(found: Tensor) -> Tensor:
    return found.transpose(1, 2).flatten(2)  # (B, H, T, D) → (B, T, H, D) → (B, T, H·D)


def _variant(merge: Callable[[Tensor], Tensor]) -> InTorch:
    return InTorch(lambda head, parameters, x: merge(_found(head, parameters, x)))


def _one(parameters: Tree, h: int) -> Tree:
    return {**parameters, "query": parameters["query"][h]}


def _over_heads(head: Any, parameters: Tree, x: Tensor) -> Tensor:
    found = [
        torch.func.vmap(head, in_dims=(None, 0))(_one(parameters, h), x)
        for h in range(len(parameters["query"]))
    ]
    return torch.cat(found, dim=-1)


def _over_batch(head: Any, parameters: Tree, x: Tensor) -> Tensor:
    return torch.cat([_merged(_found(head, parameters, row[None])) for row in x])


def _over_both(head: Any, parameters: Tree, x: Tensor) -> Tensor:
    rows = [
        torch.cat([head(_one(parameters, h), row) for h in range(len(parameters["query"]))], -1)
        for row in x
    ]
    return torch.stack(rows)


def _own_head(head: Any, parameters: Tree, x: Tensor) -> Tensor:
    """Computes what `head` computes without calling the one that was given."""
    return _over_both(type(head)(), parameters, x)


def _values(evidence: Evidence) -> str:
    return gap(evidence, "values")


def _calls(evidence: Evidence) -> int:
    return int(evidence.yours("calls"))


def _looped(count: Callable[[int, int], int]) -> Callable[[Evidence], bool]:
    def fits(evidence: Evidence) -> bool:
        B, H = evidence.number("B"), evidence.number("H")
        return evidence.same("values") and _calls(evidence) == count(B, H)

    return fits


def _few_calls(evidence: Evidence) -> bool:
    # A compiled loop such as `lax.map` may trace its body twice.
    return evidence.same("values") and 1 <= _calls(evidence) <= 2


def _how_often(evidence: Evidence) -> str:
    B, H = evidence.number("B"), evidence.number("H")
    return unwrapped(f"""With B = {B} and H = {H}, you called `head` {_calls(evidence)} times. If
    you map it over both, it is called only once.""")


_loop_over_heads = mistake(
    "Your numbers are right, but you seem to loop over the heads in Python.",
    _how_often,
    recognized=_looped(lambda B, H: H),  # noqa: ARG005
)(InTorch(_over_heads))

_loop_over_batch = mistake(
    "Your numbers are right, but you seem to loop over the batch in Python.",
    _how_often,
    recognized=_looped(lambda B, H: B),  # noqa: ARG005
)(InTorch(_over_batch))

_loop_over_both = mistake(
    "Your numbers are right, but you seem to loop over the batch and over the heads in Python.",
    _how_often,
    recognized=_looped(lambda B, H: B * H),
)(InTorch(_over_both))


def _says_unused(evidence: Evidence) -> str:
    if evidence.same("values"):
        return (
            "Your numbers are right, because you computed what this head computes. But they would "
            "be wrong for any other head, so pass `head` itself to `jax.vmap`."
        )
    return unwrapped(f"""It doesn't have to compute what the chapter's head does, so pass `head`
    itself to `jax.vmap`. {_values(evidence)}""")


_head_not_used = mistake(
    "You never call the `head` that you are given.",
    _says_unused,
    recognized=lambda e: _calls(e) == 0,
)(InTorch(_own_head))

_merge_without_transpose = mistake(
    "You merged the heads with `reshape` alone, so positions get parts of other positions.",
    lambda e: unwrapped(f"""To get from (B, H, T, D) to (B, T, H·D), the axis of the heads, here
    H = {e.number("H")}, has to move past that of the positions, T = {e.number("T")}, first.
    {_values(e)}"""),
)(_variant(lambda found: found.reshape(found.shape[0], found.shape[2], -1)))

_heads_dealt_out = mistake(
    "You let the heads alternate channel by channel, but head 0 should come whole, then head 1.",
    _values,
)(_variant(lambda found: found.permute(0, 2, 3, 1).flatten(2)))

_heads_not_merged = mistake(
    "You didn't merge the heads.",
    lambda e: f"They should be side by side, in shape (B, T, H·D). {_values(e)}",
)(_variant(lambda found: found))

_heads_averaged = mistake("You averaged the heads instead of putting them side by side.", _values)(
    _variant(lambda found: found.mean(1))
)

_heads_added = mistake("You added up the heads instead of putting them side by side.", _values)(
    _variant(lambda found: found.sum(1))
)

_one_head_for_all = mistake(
    "You used the query of head 0 for all heads.",
    lambda e: unwrapped(f"""`query` holds {e.number("H")} matrices, and `in_axes` says along which
    axis to take them. {_values(e)}"""),
)(_variant(lambda found: _merged(found[:, :1].expand_as(found))))


def _rows_repeated_own(head: Any, parameters: Tree, x: Tensor) -> Tensor:
    """Every head with keys and values of its own, made of each row H times."""
    H = len(parameters["query"])
    own = {
        name: matrix.repeat_interleave(H, dim=0).reshape(H, *matrix.shape)
        for name, matrix in parameters.items()
        if name != "query"
    }
    over_heads = torch.func.vmap(head, in_dims=(0, None))
    return _merged(torch.func.vmap(over_heads, in_dims=(None, 0))({**parameters, **own}, x))


_rows_repeated = mistake(
    "You repeated each row of the keys and values instead of the whole matrices.",
    lambda e: (
        unwrapped(f"""`jnp.repeat(key, H, axis=0)` has each row {e.number("H")} times in a row,
    so after a reshape to (H, C, D) no head has the right matrix. `key[None]` and
    `jnp.broadcast_to` repeat the matrix, but with `None` in `in_axes` you need no copies.
    {_values(e)}""")
    ),
)(InTorch(_rows_repeated_own))


def _with_tree(change: Callable[[Tree], Tree]) -> InTorch:
    """Everything right, but of another tree."""
    return InTorch(lambda head, parameters, x: _merged(_found(head, change(parameters), x)))


_keys_and_values_exchanged = mistake("You exchanged keys and values.", _values)(
    _with_tree(lambda tree: {**tree, "key": tree["value"], "value": tree["key"]})
)

_queries_averaged = mistake(
    "You averaged the queries of the heads, so all heads are the same.",
    _values,
)(_with_tree(lambda tree: {**tree, "query": tree["query"].mean(0).expand_as(tree["query"])}))


def _one_long_sequence(flatten: Callable[[Tensor], Tensor]) -> InTorch:
    """The batch flattened into one sequence, and what is found there brought back."""

    def answer(head: Any, parameters: Tree, x: Tensor) -> Tensor:
        B, T, _ = x.shape
        found = _merged(_found(head, parameters, flatten(x).flatten(0, 1)[None]))
        return flatten(found[0].unflatten(0, (B, T) if flatten is _as_it_is else (T, B)))

    return InTorch(answer)


def _as_it_is(x: Tensor) -> Tensor:
    return x


def _position_first(x: Tensor) -> Tensor:
    return x.transpose(0, 1)


_batch_as_one_sequence = mistake(
    "Your texts see each other, because you made one long sequence of the batch.",
    lambda e: unwrapped(f"""`head` takes one sequence, whose positions see all before them. With all
    B · T = {e.number("B") * e.number("T")} positions in one sequence, those of a text also see
    other texts that come before. Map over the batch instead. {_values(e)}"""),
    also=(_one_long_sequence(_position_first),),
)(_one_long_sequence(_as_it_is))


_texts_as_positions = mistake(
    "You map over the positions, so `head` gets the texts at one position as its sequence.",
    lambda e: (
        unwrapped(f"""`x` is (B, T, C), and a sequence is one of its B = {e.number("B")} texts,
    (T, C). So map over axis 0, not over axis 1. {_values(e)}""")
    ),
)(
    InTorch(
        lambda head, parameters, x: _merged(_found(head, parameters, x.transpose(0, 1))).transpose(
            0, 1
        )
    )
)


def _mapped_apart(evidence: Evidence) -> bool:
    raised = evidence.answers.errors.get("values")
    said = ("inconsistent sizes", "same size in the mapped dimension")  # of JAX, of torch
    return raised is not None and any(one in raised.message for one in said)


def _all_mapped(head: Any, parameters: Tree, x: Tensor) -> Any:
    return torch.func.vmap(head, in_dims=(0, None))(parameters, x[0])


_axes_of_different_lengths = mistake(
    "You map over axes of different lengths at the same time.",
    lambda e: unwrapped(f"""`vmap` stopped, because all axes that it maps over need one length. Only
    `query` has an axis for the H = {e.number("H")} heads. `key` and `value` are (C, D) and belong
    to all heads, so their entries in `in_axes` should be `None`."""),
    recognized=_mapped_apart,
)(InTorch(_all_mapped))


def _by_head(evidence: Evidence, array: Array) -> Array:
    """(B, T, H·D) → (B, T, H, D)."""
    B, T, H, D = (evidence.number(name) for name in "BTHD")
    return array.reshape(B, T, H, D)


def _axes_mixed(evidence: Evidence) -> Finding | None:
    """The right numbers of every head, but reshaped from axes in another order."""
    if evidence.same("values") or not evidence.comparable("values"):
        return None
    mine, right = evidence.yours("values"), _by_head(evidence, evidence.right("values"))
    for order in permutations(range(4)):
        if close(right.transpose(order).reshape(mine.shape), mine).all():
            axes = ", ".join("BTHD"[axis] for axis in order)
            return Finding(
                "axes-mixed",
                "You reshaped an array whose axes aren't in the right order.",
                f"Your numbers are those of an array with axes ({axes}) that was reshaped to"
                " (B, T, H·D), which mixes them. Its axes should be (B, T, H, D) before that, so"
                f" transpose it first, or set `out_axes`. {_values(evidence)}",
                HEADS,
            )
    return None


def _pairs_mixed(evidence: Evidence) -> Finding | None:
    """What heads find in samples, each of it right, but for another head or another sample."""
    if evidence.same("values") or not evidence.comparable("values"):
        return None
    mine, right = (_by_head(evidence, side("values")) for side in (evidence.yours, evidence.right))
    B, H = evidence.number("B"), evidence.number("H")
    places = list(product(range(B), range(H)))
    found = [
        next((p for p in places if close(mine[b, :, h], right[p[0], :, p[1]]).all()), None)
        for b, h in places
    ]
    sources = [source for source in found if source is not None]
    samples = [sample for sample, _ in sources] == [b for b, _ in places]
    heads = [head for _, head in sources]
    if len(sources) < len(places) or (samples and heads == heads[:H] * B):
        return None  # the last is true of heads in another order
    own = heads == [h for _, h in places]
    (b, h), (sample, head) = next(
        pair for pair in zip(places, sources, strict=True) if len({*pair}) > 1
    )
    return Finding(
        "pairs-mixed",
        "Your heads have the right queries, but some of them read the wrong sample."
        if own
        else "Your answer has what heads find, but not each at its own sample and head.",
        unwrapped(f"""In your answer, head {h} of sample {b} is what head {head} finds in sample
        {sample}. If you make one axis of all B · H = {B * H} pairs, tile either the queries or the
        samples, repeat the others entry by entry, and take B and H apart in that order. Two nested
        `vmap` don't need that."""),
        HEADS,
    )


def _which_heads(evidence: Evidence) -> Finding | None:
    """Heads in another order, or some that are right while others aren't."""
    if evidence.same("values") or not evidence.comparable("values"):
        return None
    mine, right = (_by_head(evidence, side("values")) for side in (evidence.yours, evidence.right))
    H = evidence.number("H")
    alike = [
        next((g for g in range(H) if close(mine[:, :, h], right[:, :, g]).all()), None)
        for h in range(H)
    ]
    if sorted(g for g in alike if g is not None) == list(range(H)):
        return Finding(
            "heads-in-another-order",
            "Your heads are right, but in another order.",
            f"In your answer, heads {', '.join(map(str, alike))} are side by side, in this order."
            " Head 0 comes first.",
            HEADS,
        )
    good = [h for h in range(H) if alike[h] == h]
    if not good:
        return None
    bad = [h for h in range(H) if alike[h] != h]
    return Finding(
        "some-heads",
        f"Your {_heads(good)} right, but your {_heads(bad)} wrong.",
        f"Each head has its own query, shares the keys and values with all "
        f"others, and reads every sample. {_values(evidence)}",
        HEADS,
    )


def _right_at_position_0(evidence: Evidence) -> Finding | None:
    """If only position 0 is right, which sees only itself, so that weights make no difference."""
    if evidence.same("values") or not evidence.comparable("values"):
        return None
    same = close(evidence.yours("values"), evidence.right("values"))
    good = np.asarray(same.all(axis=(0, 2)))  # (T,)
    if not good[0] or good[1:].any():
        return None
    return Finding(
        "right-at-position-0",
        "Your numbers are right only at position 0, which sees nothing but itself.",
        "There, weights make no difference. So your values seem to be right and your weights "
        "wrong: look at which `query` and `key` each call of `head` gets. "
        f"{_values(evidence)}",
        HEADS,
    )


def _heads(numbers: list[int]) -> str:
    """ "head 0 is" or "heads 1, 2 are"."""
    return f"heads {listed(numbers)} are" if len(numbers) > 1 else f"head {numbers[0]} is"


def _often(evidence: Evidence) -> Finding | None:
    if not evidence.same("values") or _few_calls(evidence):
        return None
    said = "Your numbers are right, but you call `head` more than once."
    return Finding("called-often", said, _how_often(evidence), HEADS)


TASK = Task(
    "Many queries, no loop",
    InTorch(lambda head, parameters, x: _merged(_found(head, parameters, x))),
    HEADS,
    (
        Part("Every head finds what it should, side by side.", 3, matches("values")),
        Part("No Python loop: `head` is called once.", 2, _few_calls),
    ),
    properties=(_axes_mixed, _pairs_mixed, _which_heads, _right_at_position_0, _often),
    cases=("values",),
)
