"""What 01/decay asks."""

from __future__ import annotations

import numpy as np

from course_tasks.probing import Inputs, Probe


def _decay_inputs(rng: np.random.Generator) -> Inputs:
    return {
        "T": np.array(int(rng.integers(5, 8))),
        "decay": np.array(round(float(rng.uniform(0.75, 0.97)), 2)),
        "fast": rng.uniform(0.28, 0.32, size=1),
    }


def _fading_fast(rng: np.random.Generator) -> Inputs:
    """So fast that the oldest weights are small, and none is negligible."""
    return {
        "T": np.array(int(rng.integers(8, 10))),
        "decay": np.array(round(float(rng.uniform(0.3, 0.34)), 3)),
        "fast": rng.uniform(0.28, 0.32, size=1),
    }


PROBE = Probe(
    _decay_inputs,
    {
        "weights": lambda answer, given: answer(int(given["T"]), float(given["decay"])),
        # So long that some powers of the decay are 0, and some of one over it infinite.
        "long": lambda answer, given: answer(100, float(given["fast"][0])),
        "alone": lambda answer, given: answer(1, float(given["decay"])),
    },
    second=_fading_fast,
)
