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
from course_judges.equality import close
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import unwrapped
from course_tasks.answers import Answers
from course_tasks.ch10_jax.convert import WRITTEN
from course_tasks.ch10_jax.sides import InTorch
from course_tasks.verdict import Finding

_HEADS = ("query", "key", "value")


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
    """Converts both ways, right unless told otherwise; calling it with H makes one for H heads."""

    n_head: int = 0
    apart: Callable[[Tensor, int], Tensor] = _apart
    together: Callable[[Tensor], Tensor] = _together
    weight_in: Callable[[Tensor], Tensor] = lambda weight: weight.T
    weight_out: Callable[[Tensor], Tensor] = Tensor.t
    hand_over: Callable[[Tensor], Any] = _copied
    order: tuple[int, int, int] = (0, 1, 2)
    tree_of: Callable[[Tensor], Any] = _copied
    order_back: tuple[int, int, int] = (0, 1, 2)
    read: Callable[[Any], Any] = lambda given: given
    heads_of: Callable[[Any], list[Any]] = lambda heads: [heads[name] for name in _HEADS]
    projection_of: Callable[[Any], list[Any]] = lambda entries: [entries["weight"], entries["bias"]]

    def to_tree(self, state: dict[str, Tensor]) -> Any:
        """A state dict as a tree."""
        state = self.read(state)
        parts = self.apart(state["query_key_value.weight"], self.n_head)
        return {
            "heads": {
                name: self.tree_of(parts[i]) for name, i in zip(_HEADS, self.order, strict=True)
            },
            "projection": {
                "weight": self.tree_of(self.weight_in(state["projection.weight"])),
                "bias": self.tree_of(state["projection.bias"]),
            },
        }

    def to_state(self, tree: Any) -> dict[str, Any]:
        """A tree as a state dict."""
        tree = self.read(tree)
        thirds = self.heads_of(tree["heads"])
        parts = torch.stack([thirds[i] for i in self.order_back])
        weight, bias = self.projection_of(tree["projection"])
        return {
            "query_key_value.weight": self.hand_over(self.together(parts)),
            "projection.weight": self.hand_over(self.weight_out(weight)),
            "projection.bias": self.hand_over(bias),
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
    return _off(evidence, "tree")


def _state(evidence: Evidence) -> str:
    return _off(evidence, "state")


def _off(evidence: Evidence, case: str) -> str:
    C, H, D = (evidence.number(name) for name in ("C", "H", "D"))
    return f"Here C = {C}, H = {H} and D = {D}. {gap(evidence, case)}"


def _order_back(evidence: Evidence) -> str:
    """In which order queries, keys and values are in the fused weight."""
    name = "state.query_key_value.weight"
    mine, right = (np.split(side(name), 3) for side in (evidence.yours, evidence.right))
    order = [next(n for n, r in zip(_HEADS, right, strict=True) if close(m, r).all()) for m in mine]
    why = " `jax.tree.leaves` and `sorted` go by the alphabet." if order == sorted(order) else ""
    return f"Yours are in the order {', '.join(order)}.{why} "


_heads_reshaped = mistake(
    "You got to (H, C, D) with `reshape`, but a matrix stored as (out, in) has to be transposed.",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (3, H, -1)).reshape(3, H, len(rows) // 3, -1)))

_heads_not_transposed = mistake(
    "Your heads are (H, D, C), as torch stores them, but `x @ query` needs (H, C, D).",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (3, H, -1))))

_transposed_before_cutting = mistake(
    "You transposed the whole fused weight before you cut it, so `reshape` mixes its entries.",
    lambda e: f"Cut its 3·C rows into queries, keys, values and heads first. {_tree(e)}",
)(_variant(apart=lambda rows, H: rows.T.reshape(3, H, rows.shape[1], -1)))

_thirds_transposed_before_cutting = mistake(
    "You transposed each third before you cut it into heads, so `reshape` mixes its entries.",
    lambda e: f"Cut its C rows into heads of D rows first. {_tree(e)}",
)(_variant(apart=lambda rows, H: rows.unflatten(0, (3, -1)).mT.reshape(3, H, rows.shape[1], -1)))

_heads_dealt_out = mistake(
    "You dealt the rows out to the heads in turn, but head 0 has the first D rows.",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (3, -1, H)).permute(0, 2, 3, 1)))

_head_by_head = mistake(
    "You split the weight head by head, but all queries come first, then all keys and all values.",
    _tree,
)(_variant(apart=lambda rows, H: rows.unflatten(0, (H, 3, -1)).transpose(0, 1).transpose(-2, -1)))

_values_first = mistake(
    "You took the first third as values, but the order is queries, keys, values.",
    _tree,
)(_variant(order=(1, 2, 0)))

_projection_not_transposed = mistake(
    "You left the projection as torch stores it, (out, in), but the tree needs (in, out).",
    lambda e: f"The matrix is square, so the shape doesn't show it. {_tree(e)}",
)(_variant(weight_in=_copied))

_heads_reshaped_back = mistake(
    "You got to (3C, C) with `reshape`, but each (C, D) has to be transposed to (D, C) first.",
    _state,
    cases=("state",),
)(_variant(together=lambda parts: parts.reshape(-1, parts.shape[-2])))

_transposed_after_joining_back = mistake(
    "You joined queries, keys and values with `reshape` and transposed the whole only after that.",
    lambda e: (
        f"Transpose each head's (C, D) to (D, C) first, then put all rows together. {_state(e)}"
    ),
    cases=("state",),
)(_variant(together=lambda parts: parts.reshape(parts.shape[-2], -1).T))

_thirds_transposed_after_joining_back = mistake(
    "You joined the heads of each third with `reshape` and transposed the third only after that.",
    lambda e: (
        f"Transpose each head's (C, D) to (D, C) first, then put all rows together. {_state(e)}"
    ),
    cases=("state",),
)(_variant(together=lambda parts: parts.reshape(3, *[parts.shape[-2]] * 2).mT.flatten(0, 1)))

_heads_side_by_side_back = mistake(
    "You put the heads' matrices side by side as (C, H·D), but torch stores the transpose.",
    _state,
    cases=("state",),
)(_variant(together=lambda parts: parts.permute(0, 2, 1, 3).reshape(-1, parts.shape[-2])))

_heads_dealt_out_back = mistake(
    "You let the rows of the heads alternate, but torch has all D rows of head 0 first.",
    _state,
    cases=("state",),
)(_variant(together=lambda parts: parts.permute(0, 3, 1, 2).flatten(0, 2)))

_head_by_head_back = mistake(
    "You put query, key and value of each head together, but torch has all queries first.",
    _state,
    cases=("state",),
)(_variant(together=_head_after_head))

_thirds_in_another_order_back = mistake(
    "You put the thirds of the fused weight in an order other than queries, keys, values.",
    lambda e: f"{_order_back(e)}{_state(e)}",
    cases=("state",),
    also=tuple(
        _variant(order_back=order) for order in ((0, 2, 1), (2, 1, 0), (1, 2, 0), (2, 0, 1))
    ),
)(_variant(order_back=(1, 0, 2)))

_IN_ORDER: dict[str, Callable[[Any], list[Any]]] = {
    "heads_of": lambda heads: list(heads.values()),
    "projection_of": lambda entries: list(entries.values()),
}

_order_of_the_tree = mistake(
    "You take the arrays in the order in which the tree holds them instead of by name.",
    lambda e: unwrapped(f"""`jax.tree.map` returns a tree that is sorted by name, so its heads come
    as key, query, value and its projection as bias, weight. From such a tree, your state is wrong.
    {_off(e, "mapped")}"""),
    cases=("state", "mapped"),
    also=tuple(_variant(**{name: taken}) for name, taken in _IN_ORDER.items()),
)(_variant(**_IN_ORDER))

_projection_not_transposed_back = mistake(
    "You returned the projection as (in, out), but torch stores (out, in).",
    lambda e: f"The matrix is square, so the shape doesn't show it. {_state(e)}",
    cases=("state",),
)(_variant(weight_out=_copied))

_not_tensors = mistake(
    "The numbers of your state are right, but torch can't load them.",
    lambda e: unwrapped(f"""`load_state_dict` stopped with {e.answers.errors["loaded"].kind}. It
    only loads torch tensors. Are all your entries tensors?"""),
    recognized=lambda e: e.same("state") and "loaded" in e.answers.errors,
)(_variant(hand_over=lambda tensor: tensor.numpy().copy()))


def _attribute(evidence: Evidence) -> str:
    """What attribute `to_state` asks for in vain, if `to_tree` works; empty if there is none."""
    raised = evidence.answers.errors.get("state")
    if raised is None or raised.kind != "AttributeError" or "tree" in evidence.answers.errors:
        return ""
    _, _, name = raised.message.partition("has no attribute ")
    return name.strip("'.") if "self." in (raised.line or "self.") else ""


class _RemembersTheWay:
    def __init__(self, n_head: int) -> None:
        self.n_head = n_head

    def to_tree(self, state: dict[str, Tensor]) -> Any:
        """A state dict as a tree."""
        self.C = state["query_key_value.weight"].shape[1]
        return Converter(self.n_head).to_tree(state)

    def to_state(self, tree: Any) -> dict[str, Any]:
        """A tree as a state dict."""
        assert self.C
        return Converter(self.n_head).to_state(tree)


_remembers_the_way = mistake(
    lambda e: f"Your `to_state` asks for `self.{_attribute(e)}`, which isn't there.",
    "A converter may be asked to go back without having gone there, so `to_state` can't rely on "
    "what `to_tree` has stored. Set the attribute in `__init__`, or take the number from the tree, "
    "whose heads are (H, C, D).",
    recognized=lambda e: e.same("tree") and bool(_attribute(e)),
)(InTorch(_RemembersTheWay))


def _leaves(answers: Answers, case: str) -> set[str]:
    return {name for name in answers.values if name.startswith(f"{case}.")}


def _filled(evidence: Evidence) -> list[str]:
    """Which arrays of the tree hold what torch wrote into its own tensors."""
    return [
        name.removeprefix("apart.")
        for name in sorted(_leaves(evidence.expected, "apart"))
        if evidence.comparable(name) and (evidence.yours(name) == WRITTEN).all()
    ]


_shares_memory = mistake(
    "The tensors that you give to torch share memory with the JAX arrays.",
    lambda e: unwrapped(f"""When torch filled its tensors with {WRITTEN:g}, the same number appeared
    in {", ".join(f"`{name}`" for name in _filled(e))} of the tree. `np.array` makes a copy, but
    `np.asarray` doesn't."""),
    recognized=lambda e: e.same("state") and bool(_filled(e)),
)(_variant(hand_over=lambda tensor: tensor))


def _gone(evidence: Evidence) -> list[str]:
    """Which entries are missing from the tree or the state that was given."""
    gone = {
        name.partition(".")[2].removeprefix("state.")
        for case in ("apart", "kinds.state")
        for name in _leaves(evidence.expected, case) - _leaves(evidence.answers, case)
        if case.split(".")[0] not in evidence.answers.errors
    }
    return sorted(gone)


_takes_apart = mistake(
    "Your converter removes entries from what it is given, so it can't be used again.",
    lambda e: unwrapped(f"""After the call, it no longer contains
    {", ".join(f"`{name}`" for name in _gone(e))}. Read an entry with `[…]`, because `pop` and `del`
    remove it."""),
    recognized=lambda e: e.same("tree", "state") and bool(_gone(e)),
)(_variant(read=_emptied))


def _not_of_jax(evidence: Evidence) -> list[str]:
    return [
        name.removeprefix("kinds.of_jax.")
        for name in sorted(_leaves(evidence.expected, "kinds.of_jax"))
        if not evidence.yours(name).all()
    ]


_not_jax_arrays = mistake(
    "The numbers of your tree are right, but not all of them are in JAX arrays.",
    lambda e: unwrapped(f"""These entries aren't JAX arrays:
    {", ".join(f"`{name}`" for name in _not_of_jax(e))}. JAX differentiates and compiles its own
    arrays, so make them with `jnp.array`."""),
    recognized=lambda e: e.same("tree") and bool(_not_of_jax(e)),
)(_variant(tree_of=lambda tensor: tensor.detach().numpy()))


def _of_one_way(evidence: Evidence, case: str, what: str) -> Finding | None:
    """Which entries are wrong while others are right, and what is wrong with the first."""
    right = _leaves(evidence.expected, case)
    wrong = [name for name in evidence.wrong_values if name in right]
    if not wrong or len(wrong) == len(right) or case in evidence.answers.errors:
        return None
    mine = evidence.answers.values.get(wrong[0])
    zeros = isinstance(mine, np.ndarray) and not mine.any()
    if "heads" in wrong[0] and not zeros:
        return None  # what is true of any array says more
    entries = ", ".join(f"`{name.removeprefix(f'{case}.')}`" for name in wrong)
    verb = "is" if len(wrong) == 1 else "are"
    return Finding(
        f"some-of-the-{case}",
        f"In your {what}, {entries} {verb} wrong, but the rest is right.",
        f"{'It contains only zeros. ' * zeros}{gap(evidence, case)}",
        TRAVEL,
    )


def _to_jax(evidence: Evidence) -> Finding | None:
    return _of_one_way(evidence, "tree", "tree")


def _to_torch(evidence: Evidence) -> Finding | None:
    return _of_one_way(evidence, "state", "state")


TASK = Task(
    "Carried over and back",
    _variant(),
    TRAVEL,
    (
        Part("To JAX: every matrix is where the tree wants it.", 3, matches("tree", "kinds")),
        Part(
            "To torch: the layer loads it and computes the same.",
            2,
            matches("state", "mapped", "loaded"),
        ),
        Part("What torch writes into does not reach the tree.", 1, matches("state", "apart")),
    ),
    properties=(_to_jax, _to_torch),
    cases=("tree",),
)
