"""What 07/feed-forward asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from course_tasks.ch07_block.shared import drawn, sizes
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe, load_weights


def _feed_forward_inputs(rng: Rng) -> Inputs:
    return _layers(rng, *sizes(rng), int(rng.integers(11, 15)))


def _least(rng: Rng) -> Inputs:
    """One sample, and one hidden channel: fewer than come in."""
    return _layers(rng, 1, 2, int(rng.integers(3, 6)), 1)


def _layers(rng: Rng, B: int, T: int, C: int, hidden: int) -> Inputs:
    gate = drawn(rng, hidden, C)
    return {
        # With nothing below 0 in input and gate, every gate is open.
        "open_x": np.abs(rng.normal(size=(B, T, C))).astype(np.float32) + 0.2,
        "open_gate": np.abs(gate),
        "x": rng.normal(size=(B, T, C)).astype(np.float32) * 1.5,
        "gate": gate,
        "up": drawn(rng, hidden, C),
        "down": drawn(rng, C, hidden),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "hidden": whole(hidden),
    }


def _gated(answer: Any, given: Inputs, gate: str) -> nn.Module:
    module = answer(int(given["C"]), int(given["hidden"]))
    weights = {"gate": given[gate], "up": given["up"], "down": given["down"]}
    load_weights(module, {f"{name}.weight": value for name, value in weights.items()})
    # A bias costs the points that are for its absence, and no others.
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith(".bias"):
                parameter.zero_()
    return module


@torch.no_grad()
def _biases(answer: Any, given: Inputs) -> Any:
    """The numbers of parameters in vectors (none, if no layer has a bias) and in matrices; and the
    output for a second, shorter text.
    """
    module, x = _gated(answer, given, "gate"), tensor(given["x"])
    parameters = list(module.parameters())
    module(tensor(given["open_x"]))
    return {
        "vectors": sum(one.numel() for one in parameters if one.ndim == 1),
        "matrices": sum(one.numel() for one in parameters if one.ndim != 1),
        "again": module(x[:, : (x.shape[1] + 1) // 2]),
    }


@torch.no_grad()
def _gates_open(answer: Any, given: Inputs) -> Any:
    return _gated(answer, given, "open_gate")(tensor(given["open_x"]))


@torch.no_grad()
def _gates_mixed(answer: Any, given: Inputs) -> Any:
    return _gated(answer, given, "gate")(tensor(given["x"]))


PROBE = Probe(
    _feed_forward_inputs,
    {"open": _gates_open, "mixed": _gates_mixed, "biases": _biases},
    second=_least,
)
