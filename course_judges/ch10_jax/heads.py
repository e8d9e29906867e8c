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
    """As `head` computes it, without calling the one that was given."""
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
    return unwrapped(f"""With B = {B} and H = {H}, `head` was called {_calls(evidence)} times;
    mapped over both, it is called once.""")


_loop_over_heads = mistake(
    "The numbers are right, and a Python loop runs over the heads.",
    _how_often,
    recognized=_looped(lambda B, H: H),  # noqa: ARG005
)(InTorch(_over_heads))

_loop_over_batch = mistake(
    "The numbers are right, and a Python loop runs over the sequences of the batch.",
    _how_often,
    recognized=_looped(lambda B, H: B),  # noqa: ARG005
)(InTorch(_over_batch))

_loop_over_both = mistake(
    "The numbers are right, and Python loops run over the batch and over the heads.",
    _how_often,
    recognized=_looped(lambda B, H: B * H),
)(InTorch(_over_both))


def _says_unused(evidence: Evidence) -> str:
    if evidence.same("values"):
        return (
            "The numbers are right: you computed what this head computes. That will not change "
            "when the head does; pass `head` itself to `jax.vmap`."
        )
    return unwrapped(f"""What it makes of its parameters and a sequence is its own affair, and need
    not be what the chapter's head does: pass `head` itself to `jax.vmap`. {_values(evidence)}""")


_head_not_used = mistake(
    "The `head` that you are given is never called.",
    _says_unused,
    recognized=lambda e: _calls(e) == 0,
)(InTorch(_own_head))

_merge_without_transpose = mistake(
    "Heads were merged by `reshape` alone: positions get parts of others.",
    lambda e: unwrapped(f"""From (B, H, T, D) to (B, T, H·D) the heads have to move behind the time
    first, here H = {e.number("H")} past T = {e.number("T")}. {_values(e)}"""),
)(_variant(lambda found: found.reshape(found.shape[0], found.shape[2], -1)))

_heads_dealt_out = mistake(
    "The heads alternate channel by channel; asked for is head 0 whole, then head 1.", _values
)(_variant(lambda found: found.permute(0, 2, 3, 1).flatten(2)))

_heads_not_merged = mistake(
    "The heads stand along an axis of their own; asked for is one after the other, (B, T, H·D).",
    _values,
)(_variant(lambda found: found))

_heads_averaged = mistake(
    "You averaged the heads; side by side, each keeps its own channels.", _values
)(_variant(lambda found: found.mean(1)))

_heads_added = mistake(
    "You added the heads up; side by side, each keeps its own channels.", _values
)(_variant(lambda found: found.sum(1)))

_one_head_for_all = mistake(
    "All heads ask with the query of head 0.",
    lambda e: unwrapped(f"""`query` holds {e.number("H")} matrices; `in_axes` says along which axis
    they lie. {_values(e)}"""),
)(_variant(lambda found: _merged(found[:, :1].expand_as(found))))


def _often(evidence: Evidence) -> Finding | None:
    if not evidence.same("values") or _few_calls(evidence):
        return None
    said = "The numbers are right, and Python calls `head` more than once."
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
