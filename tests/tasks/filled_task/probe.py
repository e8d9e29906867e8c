"""What 14/last-seen asks."""

from __future__ import annotations

import numpy as np

from course_tasks.inputs import Rng, on, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    B, V = int(rng.integers(2, 4)), int(rng.integers(4, 6))
    T = int(rng.integers(9, 12))
    # Every symbol but one comes several times; symbol 0 stands at the start and nowhere else.
    tokens = rng.integers(1, V, size=(B, T))
    tokens[:, 0] = 0
    return {"tokens": tokens.astype(np.int64), "B": whole(B), "T": whole(T), "V": whole(V)}


PROBE = Probe(_inputs, {"places": on("tokens")})
