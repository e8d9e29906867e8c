"""What 01/decay asks."""

from __future__ import annotations

import numpy as np

from course_tasks.probing import Inputs, Probe


def _decay_inputs(rng: np.random.Generator) -> Inputs:
    return {
        "T": np.array(int(rng.integers(5, 10))),
        "decay": np.array(round(float(rng.uniform(0.55, 0.9)), 2)),
    }


PROBE = Probe(
    _decay_inputs,
    {"weights": lambda answer, given: answer(int(given["T"]), float(given["decay"]))},
)
