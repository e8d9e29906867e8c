"""What 01/running-sum asks."""

from __future__ import annotations

from functools import partial

import numpy as np

from course_tasks.ch01_averages.shared import sizes
from course_tasks.inputs import on, values
from course_tasks.probing import Inputs, Probe


def _running_sum_inputs(rng: np.random.Generator, *, second: bool = False) -> Inputs:
    B, T, C = sizes(rng, longer=second)
    return {
        "B": np.array(B),
        "C": np.array(C),
        "T": np.array(T),
        "x": values(rng, B, C, T),
        # As many channels as positions: here a product from the wrong side raises no error.
        "square": values(rng, B, T, T),
        # A single channel of a single sample, as a recording with one microphone has; in the second
        # draw it lasts one moment only.
        "mono": values(rng, 1, 1, 1 if second else T),
        "identity": np.eye(T, dtype=np.float32)[None],
    }


PROBE = Probe(
    _running_sum_inputs,
    {"sums": on("x"), "square": on("square"), "weights": on("identity"), "mono": on("mono")},
    second=partial(_running_sum_inputs, second=True),
)
