"""Judges 10/convert: a fused torch layer as a tree of JAX arrays, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch10_jax.sections import TRAVEL
from course_judges.ch10_jax.wording import gap
from course_judges.equality import close, same_value
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import Answers
from course_tasks.ch10_jax.convert import WRITTEN
from course_tasks.ch10_jax.sides import InTorch
from course_tasks.verdict import Finding


def _apart(rows: Tensor, H: int) -> Tensor:
    """(3C, C) → (3, H, C, D)."""
    return rows.unflatten(0, (3, H, -1)).transpose(-2, -1)


def _together(matrices: Tensor) -> Tensor:
    """(3, H, C, D) → (3C, C)."""
    return matrices.transpose(-2, -1).flatten(0, 2)


def _copied(matrix: Tensor) -> Tensor:
    return matrix.clone()


@dataclass(frozen=True)
class Converter:
    """Both ways, right unless told otherwise; called with H it is itself a converter for H."""

    n_head: int = 0
    apart: Callable[[Tensor, int], Tensor] = _apart
    together: Callable[[Tensor], Tensor] = _together
    weight_in: Callable[[Tensor], Tensor] = lambda weight: weight.T
    weight_out: Callable[[Tensor], Tensor] = lambda weight: weight.T
    hand_over: Callable[[Tensor], Any] = _copied
    order: tuple[int, int, int] = (0, 1, 2)
    tree_of: Callable[[Tensor], Any] = _copied
    order_back: tuple[int, int, int] = (0, 1, 2)
    read: Callable[[Any], Any] = lambda given: given

    def to_tree(self, state: dict[str, Tensor]) -> Any:
        """A state dict as a tree."""
        state = self.read(state)
        parts = self.apart(state["query_key_value.weight"], self.n_head)
        names = ("query", "key", "value")
        return {
            "heads": {
                name: self.tree_of(parts[i]) for name, i in zip(names, self.order, strict=True)
            },
            "projection": {
                "weight": self.tree_of(self.weight_in(state["projection.weight"])),
                "bias": self.tree_of(state["projection.bias"]),
            },
        }

    def to_state(self, tree: Any) -> dict[str, Any]:
        """A tree as a state dict."""
        tree = self.read(tree)
        thirds = [tree["heads"][name] for name in ("query", "key", "value")]
        parts = torch.stack([thirds[i] for i in self.order_back])
        return {
            "query_key_value.weight": self.hand_over(self.together(parts)),
            "projection.weight": self.hand_over(self.weight_out(tree["projection"]["weight"])),
            "projection.bias": self.hand_over(tree["projection"]["bias"]),
        }


def _emptied(given: dict[str, Any]) -> dict[str, Any]:
    """What was given, taken out of it."""
    held = dict(given)
    given.clear()
    return held


def _head_after_head(parts: Tensor) -> Tensor:
    """(3, H, C, D) → (3C, C), with query, key and value of each head together."""
    return parts.transpose(0, 1).transpose(-2, -1).flatten(0, 2)


def _variant(**changed: Any) -> InTorch:
    return InTorch(partial(Converter, **changed))


def _tree(evidence: Evidence) -> str:
    sizes = ", ".join(f"{name} = {evidence.number(name)}" for name in ("C", "H", "D"))
    return f"With {sizes}: {gap(evidence, 'tree')}"


def _state(evidence: Evidence) -> str:
    sizes = ", ".join(f"{name} = {evidence.number(name)}" for name in ("C", "H", "D"))
    return f"With {sizes}: {gap(evidence, 'state')}"


_heads_reshaped = mistake(
    "You reached (H, C, D) by `reshape`; a matrix that is stored as (out, in) needs `.T`.",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (3, H, -1)).reshape(3, H, len(rows) // 3, -1)))

_heads_not_transposed = mistake(
    "Your heads are (H, D, C), as torch stores them; `x @ query` needs (H, C, D).",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (3, H, -1))))

_heads_dealt_out = mistake(
    "You dealt the rows out to the heads in turn; head 0 has the first D of them.",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (3, -1, H)).permute(0, 2, 3, 1)))

_head_by_head = mistake(
    "You cut as if each head's query, key and value stood together; all queries come first.",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (H, 3, -1)).transpose(0, 1).transpose(-2, -1)))

_keys_first = mistake(
    "Queries and keys changed places; the first third holds queries.",
    _tree,
)(_variant(order=(1, 0, 2)))

_values_first = mistake(
    "You took the first third for values; it holds queries, then come keys, then values.",
    _tree,
)(_variant(order=(1, 2, 0)))

_projection_not_transposed = mistake(
    unwrapped("""The projection is as torch stores it, (out, in); the tree wants (in, out). It is
    square, so both fit."""),
    _tree,
)(_variant(weight_in=_copied))

_heads_reshaped_back = mistake(
    "You reached (3C, C) by `reshape`; each (C, D) has to be turned to (D, C) first.",
    _state,
    cases=("state",),
)(_variant(together=lambda parts: parts.reshape(-1, parts.shape[-2])))

_heads_side_by_side_back = mistake(
    "The matrices of the heads stand side by side, (C, H·D) each; torch stores the transpose.",
    _state,
    cases=("state",),
)(_variant(together=lambda parts: parts.permute(0, 2, 1, 3).reshape(-1, parts.shape[-2])))

_heads_dealt_out_back = mistake(
    "The rows of the heads alternate; torch wants all D rows of head 0, then those of head 1.",
    _state,
    cases=("state",),
)(_variant(together=lambda parts: parts.permute(0, 3, 1, 2).flatten(0, 2)))

_head_by_head_back = mistake(
    "You wrote query, key and value of each head together; torch wants all queries first.",
    _state,
    cases=("state",),
)(_variant(together=_head_after_head))

_thirds_in_another_order_back = mistake(
    "The thirds of the fused weight stand in another order than queries, keys, values.",
    _state,
    cases=("state",),
    also=tuple(
        _variant(order_back=order) for order in ((0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))
    ),
)(_variant(order_back=(1, 0, 2)))

_projection_not_transposed_back = mistake(
    "The projection came back as (in, out); torch stores (out, in). It is square, so both fit.",
    _state,
    cases=("state",),
)(_variant(weight_out=_copied))

_not_tensors = mistake(
    "The numbers of the state are right, and they are not tensors.",
    lambda e: unwrapped(f"""`load_state_dict` stopped with {e.answers.errors["loaded"].kind}: torch
    loads torch tensors only."""),
    recognized=lambda e: e.same("state") and "loaded" in e.answers.errors,
)(_variant(hand_over=lambda tensor: tensor.numpy().copy()))


def _leaves(answers: Answers, case: str) -> set[str]:
    return {name for name in answers.values if name.startswith(f"{case}.")}


def _filled(evidence: Evidence) -> list[str]:
    """Which arrays of the tree hold what torch wrote into its own."""
    return [
        name.removeprefix("apart.")
        for name in sorted(_leaves(evidence.expected, "apart"))
        if evidence.comparable(name) and (evidence.yours(name) == WRITTEN).all()
    ]


_shares_memory = mistake(
    "What you hand to torch is the memory of the JAX arrays.",
    lambda e: unwrapped(f"""torch filled its tensors with {WRITTEN:g}, and that is what the tree
    holds now in {", ".join(f"`{name}`" for name in _filled(e))}. `np.array` copies, `np.asarray`
    does not."""),
    recognized=lambda e: e.same("state") and bool(_filled(e)),
)(_variant(hand_over=lambda tensor: tensor))


def _gone(evidence: Evidence) -> list[str]:
    """What the tree or the state that was given does not hold any more."""
    return [
        name.partition(".")[2].removeprefix("state.")
        for case in ("apart", "kinds.state")
        for name in sorted(_leaves(evidence.expected, case) - _leaves(evidence.answers, case))
        if case.split(".")[0] not in evidence.answers.errors
    ]


_takes_apart = mistake(
    "Your converter takes entries out of what it is given: nobody can use that again.",
    lambda e: unwrapped(f"""These are gone from it after the call:
    {", ".join(f"`{name}`" for name in _gone(e))}. Read an entry with `[…]`; `pop` and `del` take it
    away."""),
    recognized=lambda e: e.same("tree", "state") and bool(_gone(e)),
)(_variant(read=_emptied))


def _not_of_jax(evidence: Evidence) -> list[str]:
    return [
        name.removeprefix("kinds.of_jax.")
        for name in sorted(_leaves(evidence.expected, "kinds.of_jax"))
        if not evidence.yours(name).all()
    ]


_not_jax_arrays = mistake(
    "The numbers of the tree are right, and they are not all in arrays of JAX.",
    lambda e: (
        unwrapped(f"""Others hold {", ".join(f"`{name}`" for name in _not_of_jax(e))}. What JAX
    differentiates and compiles are its own arrays: make them with `jnp.array`.""")
    ),
    recognized=lambda e: e.same("tree") and bool(_not_of_jax(e)),
)(_variant(tree_of=lambda tensor: tensor.detach().numpy()))


def _of_one_way(evidence: Evidence, case: str, what: str) -> Finding | None:
    """Which entries are wrong where others are right, and what is so with the first."""
    right = _leaves(evidence.expected, case)
    wrong = [name for name in evidence.wrong_values if name in right]
    if not wrong or len(wrong) == len(right) or case in evidence.answers.errors:
        return None
    if len(wrong) == 2 and _exchanged(evidence, *wrong):
        return None  # which is said of every answer
    entries = ", ".join(f"`{name.removeprefix(f'{case}.')}`" for name in wrong)
    return Finding(
        f"some-of-the-{case}",
        f"In your {what} {entries} {'is' if len(wrong) == 1 else 'are'} wrong; the rest is right.",
        f"{_of_an_entry(evidence, wrong[0])} {gap(evidence, case)}".strip(),
        TRAVEL,
    )


def _exchanged(evidence: Evidence, one: str, other: str) -> bool:
    mine = evidence.answers.values
    return (
        one in mine
        and other in mine
        and same_value(mine[one], evidence.right(other))
        and same_value(mine[other], evidence.right(one))
    )


def _of_an_entry(evidence: Evidence, name: str) -> str:
    if name not in evidence.answers.values:
        return "It is missing."
    mine, right = evidence.yours(name), evidence.right(name)
    if mine.size and not mine.any():
        return "It holds zeros only."
    if mine.shape == right.shape and mine.ndim > 1 and close(mine.mT, right).all():
        return "It is the right one, transposed."
    if mine.shape == right.shape and close(-mine, right).all():
        return "It is the right one with the other sign."
    if mine.size == right.size and close(np.sort(mine, None), np.sort(right, None)).all():
        return "It holds the right numbers at other places."
    return ""


def _to_jax(evidence: Evidence) -> Finding | None:
    return _of_one_way(evidence, "tree", "tree")


def _to_torch(evidence: Evidence) -> Finding | None:
    return _of_one_way(evidence, "state", "state")


TASK = Task(
    "Carried over and back",
    _variant(),
    TRAVEL,
    (
        Part("To JAX: every matrix stands where the tree wants it.", 3, matches("tree", "kinds")),
        Part("To torch: the layer loads it and computes the same.", 2, matches("state", "loaded")),
        Part("What torch writes into does not reach the tree.", 1, matches("state", "apart")),
    ),
    properties=(_to_jax, _to_torch),
    cases=("tree",),
)
