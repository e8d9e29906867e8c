"""What 01/window asks."""

from __future__ import annotations

import numpy as np

from course_tasks.probing import Inputs, Probe


def _window_inputs(rng: np.random.Generator) -> Inputs:
    T = int(rng.integers(6, 8))
    width = int(rng.integers(2, T - 2))
    return {"T": np.array(T), "width": np.array(width), "wider": np.array([T + width])}


def _nearly_everything(rng: np.random.Generator) -> Inputs:
    """A window that leaves out one position in the last row alone, and one that is too wide by one
    position.
    """
    T = int(rng.integers(8, 10))
    return {"T": np.array(T), "width": np.array(T - 1), "wider": np.array([T + 1])}


PROBE = Probe(
    _window_inputs,
    {
        "weights": lambda answer, given: answer(int(given["T"]), int(given["width"])),
        # A window wider than the sequence: every row averages all of its past.
        "wide": lambda answer, given: answer(int(given["T"]), int(given["wider"][0])),
        # The narrowest, which sees the position itself alone, and one that just reaches back to 0.
        "narrow": lambda answer, given: answer(int(given["T"]), 1),
        "full": lambda answer, given: answer(int(given["T"]), int(given["T"])),
        "alone": lambda answer, given: answer(1, int(given["width"])),
    },
    second=_nearly_everything,
)
