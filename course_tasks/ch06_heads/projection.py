"""What 06/projection asks."""

from __future__ import annotations

from itertools import zip_longest
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from course_tasks.ch06_heads.shared import matrix
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe, load_weights


class RunningMean(nn.Module):
    """A head that weighs all of its past equally: (B, T, C) → (B, T, D)."""

    def __init__(self, weight: Tensor):
        super().__init__()
        self.value = nn.Linear(weight.shape[1], weight.shape[0], bias=False)
        with torch.no_grad():
            self.value.weight.copy_(weight)

    def forward(self, x: Tensor) -> Tensor:
        """The mean of the values so far."""
        T = x.shape[1]
        past = torch.ones(T, T).tril()
        return past / past.sum(dim=1, keepdim=True) @ self.value(x)  # (T, T) @ (B, T, D)


def _projection_inputs(rng: Rng) -> Inputs:
    B, T = int(rng.integers(2, 4)), int(rng.integers(6, 9))
    H, D, C = int(rng.choice([3, 4])), 5, int(rng.choice([9, 10, 11]))
    return _layer(rng, B, T, C, H, D)


def _least(rng: Rng) -> Inputs:
    """One of each: sample, channel, head, and channel of the head."""
    return _layer(rng, 1, 2, 1, 1, 1)


def _layer(rng: Rng, B: int, T: int, C: int, H: int, D: int) -> Inputs:
    # If there are several heads, the first one appears twice.
    order = [*range(H), 0] if H > 1 else [0]
    return {
        "order": np.array(order),
        "longer": matrix(rng, C, len(order) * D, H * D, gain=1.5),
        "x": values(rng, B, T, C),
        "heads": np.stack([matrix(rng, D, C, C) for _ in range(H)]),
        "weight": matrix(rng, C, H * D, H * D, gain=1.5),
        "bias": values(rng, C),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
    }


def _heads(given: Inputs) -> list[RunningMean]:
    return [RunningMean(tensor(weight)) for weight in given["heads"]]


def _built(answer: Any, given: Inputs, heads: list[RunningMean] | None = None) -> nn.Module:
    module = answer(_heads(given) if heads is None else heads, int(given["D"]), int(given["C"]))
    if not isinstance(module, nn.Module):
        raise TypeError(
            f"calling the class should make an nn.Module, but it made a {type(module).__name__}"
        )
    return module


def _project(answer: Any, given: Inputs, *, silent: bool) -> Any:
    module = _built(answer, given)
    weight = np.zeros_like(given["weight"]) if silent else given["weight"]
    load_weights(module, {"projection.weight": weight, "projection.bias": given["bias"]})
    return module(tensor(given["x"]))


def _project_first_head(answer: Any, given: Inputs) -> Any:
    """The output if the projection reads only head 0, after another module was made with other
    heads; and the same for a shorter text.
    """
    module = _built(answer, given)
    answer([RunningMean(tensor(given["heads"][0])) for _ in range(2)], int(given["D"]), 2)
    weight = given["weight"].copy()
    weight[:, int(given["D"]) :] = 0
    load_weights(module, {"projection.weight": weight, "projection.bias": given["bias"]})
    x = tensor(given["x"])
    shorter = x[:, : (x.shape[1] + 1) // 2].clone()
    return {"output": module(x), "shorter": module(shorter)}


def _learns(module: nn.Module, heads: list[RunningMean], x: Tensor) -> list[bool]:
    """Whether gradients reach the module, and each of the heads, from its output; taken to be so if
    there is no output, or if the module writes into its input, which other cases show.
    """
    given = x.clone()
    try:
        output = module(x)
    except NotImplementedError:
        raise
    except Exception:
        return [True] * (1 + len(heads))
    if not torch.equal(x, given):
        return [True] * (1 + len(heads))
    if isinstance(output, Tensor) and output.requires_grad:
        output.square().sum().backward()
    return [any(one.grad is not None for one in part.parameters()) for part in (module, *heads)]


def _count(answer: Any, given: Inputs) -> Any:
    """How many parameters the module knows and of which of the given heads; whether gradients reach
    the module and these heads; and whether they are still in the list, with their weights, and
    trainable.
    """
    heads = _heads(given)
    listed = list(heads)
    module = _built(answer, given, heads)
    known = {id(parameter): parameter.numel() for parameter in module.parameters()}
    return {
        "count": sum(known.values()),
        "heads": [all(id(one) in known for one in head.parameters()) for head in listed],
        "learns": _learns(module, listed, tensor(given["x"])),
        "given": {
            "list": [head is one for head, one in zip_longest(heads, listed)],
            "weights": torch.stack([head.value.weight for head in listed]),
            "trained": [head.value.weight.requires_grad for head in listed],
        },
    }


def _listed_twice(answer: Any, given: Inputs) -> Any:
    """The output if one head is in the list twice."""
    heads = _heads(given)
    module = answer([heads[h] for h in given["order"]], int(given["D"]), int(given["C"]))
    load_weights(module, {"projection.weight": given["longer"], "projection.bias": given["bias"]})
    return module(tensor(given["x"]))


PROBE = Probe(
    _projection_inputs,
    {
        "output": lambda answer, given: _project(answer, given, silent=False),
        "silent": lambda answer, given: _project(answer, given, silent=True),
        "first_head": _project_first_head,
        "twice": _listed_twice,
        "parameters": _count,
    },
    second=_least,
)
