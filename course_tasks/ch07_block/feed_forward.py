"""What 07/feed-forward asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.ch07_block.shared import drawn, sizes
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe, load_weights


def _feed_forward_inputs(rng: Rng) -> Inputs:
    B, T, C = sizes(rng)
    hidden = int(rng.integers(11, 15))
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


def _gated(answer: Any, given: Inputs, x: str, gate: str) -> Any:
    module = answer(int(given["C"]), int(given["hidden"]))
    weights = {"gate": given[gate], "up": given["up"], "down": given["down"]}
    load_weights(module, {f"{name}.weight": value for name, value in weights.items()})
    # A bias costs the points that are for its absence, and no others.
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith(".bias"):
                parameter.zero_()
        return module(tensor(given[x]))


def _biases(answer: Any, given: Inputs) -> Any:
    """How many parameters stand in vectors; a layer without a bias has none."""
    module = answer(int(given["C"]), int(given["hidden"]))
    return sum(parameter.numel() for parameter in module.parameters() if parameter.ndim == 1)


def _gates_open(answer: Any, given: Inputs) -> Any:
    return _gated(answer, given, "open_x", "open_gate")


def _gates_mixed(answer: Any, given: Inputs) -> Any:
    return _gated(answer, given, "x", "gate")


PROBE = Probe(_feed_forward_inputs, {"open": _gates_open, "mixed": _gates_mixed, "biases": _biases})
