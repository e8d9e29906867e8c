"""What 01/decay asks."""

from __future__ import annotations

import numpy as np

from course_tasks.probing import Inputs, Probe


def _decay_inputs(rng: np.random.Generator) -> Inputs:
    return {
        "T": np.array(int(rng.integers(5, 8))),
        "decay": np.array(round(float(rng.uniform(0.75, 0.97)), 2)),
        "longer": np.array([12]),
    }


def _fading_fast(rng: np.random.Generator) -> Inputs:
    """So fast that the oldest of a few weights are small, and none is negligible."""
    return {
        "T": np.array(int(rng.integers(8, 10))),
        "decay": np.array(round(float(rng.uniform(0.3, 0.34)), 3)),
        # So long that some powers of the decay are 0 and some of one over it infinite.
        "longer": np.array([100]),
    }


PROBE = Probe(
    _decay_inputs,
    {
        "weights": lambda answer, given: answer(int(given["T"]), float(given["decay"])),
        "long": lambda answer, given: answer(int(given["longer"][0]), float(given["decay"])),
        "alone": lambda answer, given: answer(1, float(given["decay"])),
    },
    second=_fading_fast,
)
