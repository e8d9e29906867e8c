"""What 01/past-mean asks."""

from __future__ import annotations

from functools import partial

import numpy as np

from course_tasks.ch01_averages.shared import sizes
from course_tasks.inputs import on, values
from course_tasks.probing import Inputs, Probe


def _past_mean_inputs(rng: np.random.Generator, *, longer: bool = False) -> Inputs:
    B, T, C = sizes(rng, longer=longer)
    return {
        "B": np.array(B),
        "T": np.array(T),
        "C": np.array(C),
        "x": values(rng, B, T, C),
        "identity": np.eye(T, dtype=np.float32)[None],
        # Nothing but a position 0, with one channel.
        "alone": values(rng, B, 1, 1),
    }


PROBE = Probe(
    _past_mean_inputs,
    {"means": on("x"), "weights": on("identity"), "alone": on("alone")},
    second=partial(_past_mean_inputs, longer=True),
)
