"""How chapter 10 asks for attention: a head, many heads, and a layer carried to torch and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_lib.errors import ShapeError
from course_lib.model import FusedMultiHead
from course_tasks.ch10_jax.drawing import matrix, values
from course_tasks.ch10_jax.sides import Side, grown, side_of
from course_tasks.inputs import Rng, whole
from course_tasks.probing import Case, Inputs, Probe

# --- head -----------------------------------------------------------------------------------------


def _head_inputs(rng: Rng) -> Inputs:
    C, D, E = (int(n) for n in rng.choice([5, 7, 9], size=3, replace=False))
    T = int(rng.choice([6, 8]))
    inputs = {"x": values(rng, T, C), "T": whole(T), "C": whole(C)}
    for set_ in ("first", "second"):
        inputs[f"{set_}_query"] = matrix(rng, C, D, gain=1.5)
        inputs[f"{set_}_key"] = matrix(rng, C, D, gain=1.5)
        inputs[f"{set_}_value"] = matrix(rng, C, E)
        inputs[f"{set_}_sink"] = np.asarray(rng.uniform(0.6, 1.6), dtype=np.float32)
    return inputs | {"D": whole(D), "E": whole(E)}


def _head_tree(side: Side, given: Inputs, which: str) -> dict[str, Any]:
    names = ("query", "key", "value", "sink")
    return {name: side.array(given[f"{which}_{name}"]) for name in names}


def _head(which: str) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        side, function = side_of(answer)
        return function(_head_tree(side, given, which), side.array(given["x"]))

    return ask


def _head_compiled(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    call, x = side.compiled(function), side.array(given["x"])
    call(_head_tree(side, given, "first"), x)
    return call(_head_tree(side, given, "second"), x)


def _head_kept(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    tree = _head_tree(side, given, "first")
    function(tree, side.array(given["x"]))
    return tree


# --- heads ----------------------------------------------------------------------------------------


def _heads_inputs(rng: Rng) -> Inputs:
    B, H = (int(n) for n in rng.choice([3, 4, 5], size=2, replace=False))
    T, C, D = int(rng.choice([6, 7])), 9, int(rng.choice([2, 8]))
    return {
        "x": values(rng, B, T, C),
        "query": matrix(rng, H, C, D, gain=2.0),
        "key": matrix(rng, C, D, gain=2.0),
        "value": matrix(rng, C, D),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
    }


class CountedHead:
    """One causal head over one sequence, (T, C) → (T, D), that counts how often it is called."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, parameters: Any, x: Any) -> Any:
        """Position t averages the values of its past, with weights from a ratio of scores."""
        if getattr(x, "ndim", 0) != 2 or getattr(parameters["query"], "ndim", 0) != 2:
            raise ShapeError(
                "head takes one sequence x (T, C) and one query (C, D), got "
                f"x {tuple(x.shape)} and query {tuple(parameters['query'].shape)}"
            )
        self.calls += 1
        scores = (x @ parameters["query"]) @ (x @ parameters["key"]).T  # (T, T)
        weights = (1 + scores * scores) * self._past(x, len(scores))
        return weights / weights.sum(1)[:, None] @ (x @ parameters["value"])  # (T, D)

    @staticmethod
    def _past(x: Any, T: int) -> Any:
        lower = np.tril(np.ones((T, T), dtype=np.float32))
        return torch.from_numpy(lower) if isinstance(x, torch.Tensor) else lower


def _heads_run(answer: Any, given: Inputs) -> tuple[Any, int]:
    side, function = side_of(answer)
    head = CountedHead()
    tree = {name: side.array(given[name]) for name in ("query", "key", "value")}
    return function(head, tree, side.array(given["x"])), head.calls


# --- convert --------------------------------------------------------------------------------------


def _convert_inputs(rng: Rng) -> Inputs:
    H, D = (int(n) for n in rng.choice([2, 3, 5], size=2, replace=False))
    C, T = H * D, int(rng.choice([7, 8]))
    return {
        "rows": matrix(rng, 3 * C, C, gain=1.5),
        "projection": matrix(rng, C, C),
        "bias": values(rng, C),
        "tree_query": matrix(rng, H, C, D, gain=1.5),
        "tree_key": matrix(rng, H, C, D, gain=1.5),
        "tree_value": matrix(rng, H, C, D),
        "tree_weight": matrix(rng, C, C),
        "tree_bias": values(rng, C),
        "x": values(rng, 2, T, C),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
    }


def _to_tree(answer: Any, given: Inputs) -> Any:
    _, made = side_of(answer)
    state = {
        "query_key_value.weight": torch.from_numpy(given["rows"]),
        "projection.weight": torch.from_numpy(given["projection"]),
        "projection.bias": torch.from_numpy(given["bias"]),
    }
    return made(int(given["H"])).to_tree(state)


def _tree_inputs(side: Side, given: Inputs) -> dict[str, Any]:
    tree = {
        "heads": {name: given[f"tree_{name}"] for name in ("query", "key", "value")},
        "projection": {"weight": given["tree_weight"], "bias": given["tree_bias"]},
    }
    return grown(side.array, tree)


def _to_state(answer: Any, given: Inputs) -> Any:
    side, made = side_of(answer)
    return made(int(given["H"])).to_state(_tree_inputs(side, given))


def _loaded(answer: Any, given: Inputs) -> Any:
    """What the torch layer computes once it has loaded the state."""
    side, made = side_of(answer)
    layer = FusedMultiHead(int(given["C"]), int(given["H"]), int(given["T"]))
    layer.load_state_dict(made(int(given["H"])).to_state(_tree_inputs(side, given)))
    return layer(torch.from_numpy(given["x"]))


def _apart(answer: Any, given: Inputs) -> Any:
    """The tree after torch has written into everything that was made of it."""
    side, made = side_of(answer)
    tree = _tree_inputs(side, given)
    state = made(int(given["H"])).to_state(tree)
    for tensor in state.values():
        tensor.fill_(7.0)
    return tree


HEAD = Probe(
    _head_inputs,
    {
        "values": _head("first"),
        "other": _head("second"),
        "compiled": _head_compiled,
        "kept": _head_kept,
    },
)


HEADS = Probe(
    _heads_inputs,
    {
        "values": lambda answer, given: _heads_run(answer, given)[0],
        "calls": lambda answer, given: _heads_run(answer, given)[1],
    },
)


CONVERT = Probe(
    _convert_inputs,
    {"tree": _to_tree, "state": _to_state, "loaded": _loaded, "apart": _apart},
)
