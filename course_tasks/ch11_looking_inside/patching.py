"""What 11/patching asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.ch11_looking_inside.shared import HEADS, LAYERS, random_model, runner
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

# Below this, what lies between the two runs is too little to be divided by.
_APART = 0.2


def _inputs(rng: Rng) -> Inputs:
    return _of(rng, int(rng.integers(4, 6)), int(rng.integers(7, 9)), (LAYERS, HEADS))


def _smallest(rng: Rng) -> Inputs:
    """One pair of texts of one token, for a model with a single head; the way back leads down."""
    return _of(rng, 1, 1, (1, 1), down=True)


def _of(rng: Rng, B: int, T: int, heads: tuple[int, int], *, down: bool = False) -> Inputs:
    V = int(rng.integers(6, 9))
    while True:
        given = {
            **random_model(rng, V, T, C=10, D=4, heads=heads),
            "clean": rng.integers(V, size=(B, T)).astype(np.int64),
            "corrupted": rng.integers(V, size=(B, T)).astype(np.int64),
            "right": rng.integers(V, size=B).astype(np.int64),
        }
        given["wrong"] = (given["right"] + rng.integers(1, V, size=B)) % V
        run, rows = runner(given), torch.arange(B)
        right, wrong = tensor(given["right"]), tensor(given["wrong"])
        ends = [run(tensor(given[name])).logits[:, -1] for name in ("clean", "corrupted")]
        leads = [end[rows, right] - end[rows, wrong] for end in ends]  # (B,) each
        way = float((leads[0] - leads[1]).mean())
        # Each text's own quotient has to exist too, or the mean of quotients would be no mistake.
        if abs(way) > _APART:
            break
    if down and way > 0:
        given["right"], given["wrong"] = given["wrong"], given["right"]
    return given | {"B": whole(B), "T": whole(T), "V": whole(V)}


def _patched(answer: Any, given: Inputs) -> Any:
    texts = (tensor(given[name]) for name in ("clean", "corrupted", "right", "wrong"))
    return answer(runner(given), *texts)


PROBE = Probe(_inputs, {"shares": _patched}, second=_smallest)
