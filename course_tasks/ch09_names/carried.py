"""What 09/carried asks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import torch

from course_tasks.ch09_names.models import Recurrent
from course_tasks.inputs import Rng, tensor
from course_tasks.probing import Inputs, Probe

# In every parameter before an answer is called.
START_GRADIENT = 0.05


def _carried_inputs(rng: Rng, *, one_row: bool = False) -> Inputs:
    B, T, V = int(rng.integers(3, 5)), int(rng.integers(5, 7)), int(rng.integers(9, 12))
    B = 1 if one_row else B
    C, H, S = 7, 8, 4
    fresh = np.zeros((S, B), dtype=bool)
    # Before the first batch there is nothing to carry, whatever it says of its rows.
    fresh[0] = rng.permutation(np.arange(B) % 2 == 0)
    # One row begins anew, the others go on; of several rows another one in each of two batches, in
    # one of them the first row.
    rows = rng.permutation([0, int(rng.integers(1, B))]) if B > 1 else [0]
    fresh[2 : 2 + len(rows), :][np.arange(len(rows)), rows] = True
    shapes = {"embedding": (V, C), "inward": (C, H), "across": (H, H), "output": (H, V)}
    weights = {
        name: (rng.normal(size=shape) * 0.9 / np.sqrt(shape[0] if shape[0] != V else 1)).astype(
            np.float32
        )
        for name, shape in shapes.items()
    }
    return {
        **weights,
        "x": rng.integers(V, size=(S, B, T)).astype(np.int64),
        "y": rng.integers(V, size=(S, B, T)).astype(np.int64),
        "fresh": fresh,
    }


def _carried(answer: Any, given: Inputs) -> Any:
    names = ("embedding", "inward", "across", "output")
    model = Recurrent(*(tensor(given[name]).clone() for name in names))
    for parameter in model.parameters():  # what is there already is not the answer's to forget
        parameter.grad = torch.full_like(parameter, START_GRADIENT)
    batches = list(zip(tensor(given["x"]), tensor(given["y"]), tensor(given["fresh"]), strict=True))
    losses = answer(model, batches)
    gradients = {
        name: torch.zeros_like(p) if p.grad is None else p.grad
        for name, p in model.named_parameters()
    }
    return {
        "losses": [float(loss) for loss in losses],
        "gradients": gradients,
        "kept": {
            "weights": all(
                p.requires_grad and torch.equal(p, tensor(given[name]))
                for name, p in model.named_parameters()
            ),
            "mode": model.training,
        },
    }


PROBE = Probe(_carried_inputs, {"pieces": _carried}, second=partial(_carried_inputs, one_row=True))
