"""What 11/patching asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.ch11_looking_inside.shared import random_model, runner
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

# Below this, what lies between the two runs is too little to be divided by.
_APART = 0.2


def _inputs(rng: Rng) -> Inputs:
    V, T = int(rng.integers(6, 9)), int(rng.integers(7, 9))
    B = int(rng.integers(4, 6))
    while True:
        given = {
            **random_model(rng, V, T, C=10, D=4),
            "clean": rng.integers(V, size=(B, T)).astype(np.int64),
            "corrupted": rng.integers(V, size=(B, T)).astype(np.int64),
            "right": rng.integers(V, size=B).astype(np.int64),
        }
        given["wrong"] = (given["right"] + rng.integers(1, V, size=B)) % V
        run, rows = runner(given), torch.arange(B)
        right, wrong = tensor(given["right"]), tensor(given["wrong"])
        ends = [run(tensor(given[name])).logits[:, -1] for name in ("clean", "corrupted")]
        leads = [end[rows, right] - end[rows, wrong] for end in ends]  # (B,) each
        # Each text's own quotient has to exist too, or the mean of quotients would be no mistake.
        if float((leads[0] - leads[1]).mean().abs()) > _APART:
            break
    return given | {"B": whole(B), "T": whole(T), "V": whole(V)}


def _patched(answer: Any, given: Inputs) -> Any:
    texts = (tensor(given[name]) for name in ("clean", "corrupted", "right", "wrong"))
    return answer(runner(given), *texts)


PROBE = Probe(_inputs, {"shares": _patched})
