"""Parameters on their way between torch modules and the trees of `jax_model` (chapter 10)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_lib.jax_model import Parameters, jnp
from course_lib.model import FusedMultiHead, Head, ManyHeads


def from_torch(model: ManyHeads) -> Parameters:
    """The parameters of a torch model as a tree of JAX arrays.

    Parameters
    ----------
    model : course_lib.model.ManyHeads
        With its heads in a list, or fused.

    Returns
    -------
    tree
        As `initialize` makes it; copies.
    """
    attention = model.attention
    if isinstance(attention, FusedMultiHead):
        H = attention.n_head
        rows = attention.query_key_value.weight  # (3C, C): all queries, all keys, all values
        stacked = rows.unflatten(0, (3, H, -1))  # (3C, C) → (3, H, D, C)
    else:
        listed = [one for one in attention.heads if isinstance(one, Head)]
        parts = [(one.query.weight, one.key.weight, one.value.weight) for one in listed]
        stacked = torch.stack([torch.stack(part) for part in zip(*parts, strict=True)])
    query, key, value = stacked.transpose(-2, -1)  # (3, H, D, C) → 3 × (H, C, D)
    tree = {
        "tokens": model.embedding.tokens.weight,
        "positions": model.embedding.positions.weight,
        "heads": {"query": query, "key": key, "value": value},
        "projection": _linear_tree(attention.projection),
        "output": _linear_tree(model.output),
    }
    return _mapped(lambda tensor: jnp.array(tensor.detach().cpu().numpy()), tree)


def to_torch(parameters: Parameters) -> ManyHeads:
    """A torch model, with its heads in a list, that has the parameters of a tree.

    Parameters
    ----------
    parameters : tree
        As `initialize` makes it; gradients have the same form.

    Returns
    -------
    course_lib.model.ManyHeads
        Shares no memory with the tree.
    """
    # JAX hands out its own memory as an array; without a copy torch would write into it.
    tree = _mapped(lambda array: torch.from_numpy(np.array(array)), parameters)
    V, C = tree["tokens"].shape
    H = len(tree["heads"]["query"])
    model = ManyHeads(V, len(tree["positions"]), C, H)
    state = {
        "embedding.tokens.weight": tree["tokens"],
        "embedding.positions.weight": tree["positions"],
    }
    for name, matrices in tree["heads"].items():
        for h, matrix in enumerate(matrices):  # H × (C, D)
            state[f"attention.heads.{h}.{name}.weight"] = matrix.T
    for place, name in (("attention.projection", "projection"), ("output", "output")):
        state[f"{place}.weight"] = tree[name]["weight"].T
        state[f"{place}.bias"] = tree[name]["bias"]
    model.load_state_dict(state)
    return model


def _linear_tree(layer: nn.Linear) -> dict[str, Tensor]:
    return {"weight": layer.weight.T, "bias": layer.bias}  # (out, in) → (in, out)


def _mapped(change: Callable[[Any], Any], tree: Any) -> Any:
    """A tree of dictionaries with every leaf changed: JAX's own map knows no torch tensors."""
    if isinstance(tree, dict):
        return {name: _mapped(change, branch) for name, branch in tree.items()}
    return change(tree)
