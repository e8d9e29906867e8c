"""What 10/convert asks."""

from __future__ import annotations

from typing import Any

import torch

from course_lib.model import FusedMultiHead
from course_tasks.ch10_jax.shared import matrix
from course_tasks.ch10_jax.sides import Side, grown, side_of
from course_tasks.inputs import Rng, values, whole
from course_tasks.probing import Inputs, Probe

# What torch puts into every entry of its tensors.
WRITTEN = 7.0


def _convert_inputs(rng: Rng) -> Inputs:
    # As many heads as there are of query, key and value would hide which of the two comes first.
    H = int(rng.choice([2, 4, 5]))
    D = int(rng.choice([n for n in (2, 3, 5) if n != H]))
    return _convert_drawn(rng, H, D)


def _convert_drawn(rng: Rng, H: int, D: int) -> Inputs:
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


def _torch_state(given: Inputs) -> dict[str, torch.Tensor]:
    return {
        "query_key_value.weight": torch.from_numpy(given["rows"]),
        "projection.weight": torch.from_numpy(given["projection"]),
        "projection.bias": torch.from_numpy(given["bias"]),
    }


def _to_tree(answer: Any, given: Inputs) -> Any:
    _, made = side_of(answer)
    return made(int(given["H"])).to_tree(_torch_state(given))


def _kinds(answer: Any, given: Inputs) -> Any:
    """Whether each array of the tree is one of JAX, and the state after it was read."""
    side, made = side_of(answer)
    state = _torch_state(given)
    tree = made(int(given["H"])).to_tree(state)
    return {"of_jax": grown(side.holds, tree), "state": state}


def _tree_inputs(side: Side, given: Inputs) -> dict[str, Any]:
    tree = {
        "heads": {name: given[f"tree_{name}"] for name in ("query", "key", "value")},
        "projection": {"weight": given["tree_weight"], "bias": given["tree_bias"]},
    }
    return grown(side.array, tree)


def _to_state(answer: Any, given: Inputs) -> Any:
    side, made = side_of(answer)
    return made(int(given["H"])).to_state(_tree_inputs(side, given))


def _mapped(answer: Any, given: Inputs) -> Any:
    """The state of a tree as `jax.tree.map` returns it: with its names in alphabetical order."""
    side, made = side_of(answer)
    tree = {
        part: dict(sorted(entries.items())) for part, entries in _tree_inputs(side, given).items()
    }
    return made(int(given["H"])).to_state(tree)


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
    with torch.no_grad():  # they may be parameters
        for tensor in state.values():
            tensor.fill_(WRITTEN)
    return tree


PROBE = Probe(
    _convert_inputs,
    {
        "tree": _to_tree,
        "kinds": _kinds,
        "state": _to_state,
        "mapped": _mapped,
        "loaded": _loaded,
        "apart": _apart,
    },
    second=lambda rng: _convert_drawn(rng, 1, 1),
)
