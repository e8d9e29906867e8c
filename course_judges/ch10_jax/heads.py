"""Judges 10/heads: many queries, shared keys and values, and no loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from course_judges.ch10_jax.sections import HEADS
from course_judges.ch10_jax.wording import gap
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
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
    properties=(_often,),
    cases=("values",),
)
