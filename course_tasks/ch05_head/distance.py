"""What 05/distance asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe

# The large slope is this many times the small one, which makes it about 200: e to the power of what
# it would add at the end of the text overflows.
STEEP = 600


def _distance_inputs(rng: Rng) -> Inputs:
    return _drawn(rng, int(rng.integers(2, 5)), int(rng.integers(7, 11)))


def _drawn(rng: Rng, B: int, T: int) -> Inputs:
    scores = (rng.normal(size=(B, T, T)) * 1.2 + 0.8).astype(np.float32)
    if T > 1:
        # A visible score of 0, on the diagonal, where nothing is subtracted whatever the slope.
        zero = int(rng.integers(1, T))
        scores[int(rng.integers(B)), zero, zero] = 0.0
    return {
        "scores": scores,
        # Only differences matter in a softmax, but among these scores a fill of −20 is high.
        "low": scores - 50.0,
        "slope": number(rng.choice([0.33, 0.36, 0.42, 0.45])),
        "B": whole(B),
        "T": whole(T),
    }


def _penalise(answer: Any, given: Inputs, slope: float, scores: str = "scores") -> Any:
    return answer(tensor(given[scores]), slope)


PROBE = Probe(
    _distance_inputs,
    {
        "level": lambda answer, given: _penalise(answer, given, 0.0),
        "gentle": lambda answer, given: _penalise(answer, given, float(given["slope"])),
        "steep": lambda answer, given: _penalise(answer, given, STEEP * float(given["slope"])),
        "low": lambda answer, given: _penalise(answer, given, float(given["slope"]), "low"),
    },
    # A text of one symbol, which can see only itself.
    second=lambda rng: _drawn(rng, 1, 1),
)
