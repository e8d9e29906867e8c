"""What 05/capped-scores asks: a private variant of 05/scores."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.ch05_head.shared import different, maps
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe

# Calls that students may see, with what a right answer returns: small, and unlike what is drawn.
EXAMPLES = (
    (
        torch.tensor([[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]),
        torch.tensor([[2.0], [1.0]]),
        torch.tensor([[1.0], [3.0]]),
        4.0,
    ),
    (
        torch.tensor([[[1.0, -1.0, 0.5], [0.5, 2.0, 1.0]]]),
        torch.tensor([[1.0, 0.0], [0.0, 1.0], [2.0, -1.0]]),
        torch.tensor([[0.5, 1.0], [1.0, 0.0], [0.0, 1.0]]),
        1.5,
    ),
)


def _inputs(rng: Rng) -> Inputs:
    (B,) = different(rng, range(2, 5), 1)
    T, D = different(rng, range(5, 9), 2)
    C = int(rng.integers(11, 15))
    w_query, w_key = maps(rng, (C, D), (C, D))
    return {
        "x": rng.normal(size=(B, T, C)).astype(np.float32),
        "one": rng.normal(size=(T, C)).astype(np.float32),
        "w_query": w_query,
        "w_key": w_key,
        "cap": number(rng.uniform(1.0, 3.0)),
        "T": whole(T),
        "C": whole(C),
        "D": whole(D),
    }


def _scores(answer: Any, given: Inputs, x: str) -> Any:
    weights = tensor(given["w_query"]), tensor(given["w_key"])
    return answer(tensor(given[x]), *weights, float(given["cap"]))


PROBE = Probe(
    _inputs,
    {
        "batch": lambda answer, given: _scores(answer, given, "x"),
        "one": lambda answer, given: _scores(answer, given, "one"),
    },
)
