"""What 11/patching asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.ch11_looking_inside.shared import (
    HEADS,
    LAYERS,
    Pass,
    Runner,
    Watched,
    random_model,
)
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

# Below this, what lies between the two runs is too little to be divided by.
_APART = 0.2

# By how much more than all of it some head brings back, and another one less than nothing.
_BEYOND = 0.1


def _inputs(rng: Rng) -> Inputs:
    return _of(rng, int(rng.integers(4, 6)), int(rng.integers(7, 9)), (LAYERS, HEADS), beyond=True)


def _smallest(rng: Rng) -> Inputs:
    """One pair of texts of one token, for a model with a single head; the way back leads down."""
    return _of(rng, 1, 1, (1, 1), down=True)


def _of(
    rng: Rng,
    B: int,
    T: int,
    heads: tuple[int, int],
    *,
    beyond: bool = False,
    down: bool = False,
) -> Inputs:
    V = int(rng.integers(6, 9))
    while True:
        given = {
            **random_model(rng, V, T, C=10, D=4, heads=heads),
            "clean": rng.integers(V, size=(B, T)).astype(np.int64),
            "corrupted": rng.integers(V, size=(B, T)).astype(np.int64),
            "right": rng.integers(V, size=B).astype(np.int64),
        }
        if T > 1:  # in text 0, both runs end with one token, but what comes before it differs
            given["corrupted"][0, -1] = given["clean"][0, -1]
            given["corrupted"][0, -2] = (given["clean"][0, -2] + 1) % V
        given["wrong"] = (given["right"] + rng.integers(1, V, size=B)) % V
        run, rows = Runner(given), torch.arange(B)
        right, wrong = tensor(given["right"]), tensor(given["wrong"])
        ends = [run(tensor(given[name])) for name in ("clean", "corrupted")]
        said = [end.logits[:, -1] for end in ends]
        leads = [each[rows, right] - each[rows, wrong] for each in said]  # (B,) each
        way = float((leads[0] - leads[1]).mean())
        # Each text's own quotient has to exist too, or the mean of quotients would be no mistake.
        if abs(way) > _APART and (not beyond or _beyond(given, ends, way)):
            break
    if down and way > 0:
        given["right"], given["wrong"] = given["wrong"], given["right"]
    return given | {"B": whole(B), "T": whole(T), "V": whole(V)}


def _beyond(given: Inputs, ends: list[Pass], way: float) -> bool:
    """Whether heads of the last layer, which write straight into the logits, do harm, and bring
    back more than was lost: then shares that are cut off at 0 or at 1 always show it.
    """
    found = (ends[0].found - ends[1].found)[-1, :, :, -1]  # (B, H, D)
    output, unembedding = tensor(given["model.output"])[-1], tensor(given["model.unembedding"])
    lead = unembedding[given["right"]] - unembedding[given["wrong"]]  # (B, C)
    shares = torch.einsum("bhd,hcd,bc->bh", found, output, lead).mean(0) / way
    return bool(shares.min() < -_BEYOND and shares.max() > 1 + _BEYOND)


def _patched(answer: Any, given: Inputs) -> Any:
    texts = (tensor(given[name]) for name in ("clean", "corrupted", "right", "wrong"))
    return answer(Runner(given), *texts)


def _calls(answer: Any, given: Inputs) -> Any:
    run = Watched(given)
    clean, corrupted, right, wrong = (
        tensor(given[name]) for name in ("clean", "corrupted", "right", "wrong")
    )
    answer(run, clean, corrupted, right, wrong)
    return run.seen(corrupted)


PROBE = Probe(_inputs, {"shares": _patched, "calls": _calls}, second=_smallest)
