"""What 09/last asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch09_names.shared import echoing_model, random_echoes
from course_tasks.inputs import Rng, tensor
from course_tasks.probing import Inputs, Probe


def _last_inputs(rng: Rng) -> Inputs:
    V, longest = int(rng.integers(9, 13)), int(rng.integers(6, 9))
    lengths = np.array([2, int(rng.integers(3, 5)), longest])
    return {
        **random_echoes(rng, V, longest),
        "tokens": rng.integers(V, size=int(rng.integers(35, 45))).astype(np.int64),
        "lengths": rng.permutation(lengths).astype(np.int64),
    }


def _last(answer: Any, given: Inputs, repeat: bool = False) -> Any:
    lengths = given["lengths"].tolist()
    lengths += lengths[:1] * repeat  # one length twice
    found = answer(echoing_model(given).eval(), tensor(given["tokens"]), lengths)
    return [float(loss) for loss in found]


PROBE = Probe(
    _last_inputs,
    {"losses": _last, "twice": lambda answer, given: _last(answer, given, repeat=True)},
)
