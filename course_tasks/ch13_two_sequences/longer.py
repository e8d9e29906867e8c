"""What 13/longer asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    C, L = int(rng.choice([6, 8])), int(rng.integers(40, 50))
    speeds = np.sort(rng.uniform(0.25, 2.8, C // 2))[::-1]
    speeds = speeds + np.linspace(0.3, 0, C // 2)  # apart, so that no two pairs turn alike
    angles = np.arange(L)[:, None] * speeds
    table = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(L, C)
    shift = int(rng.integers(2, 5))
    return {
        "sines": table,
        "drawn": rng.normal(size=(L, C)),
        # Fewer pairs of positions than channels, as many, and more.
        "trained": np.array([C - 2, C, C + 3]) + shift,
        "shift": whole(shift),
        "C": whole(C),
        "L": whole(L),
    }


def _on(answer: Any, given: Inputs, table: str) -> Any:
    trained = [int(n) for n in given["trained"]]
    return answer(tensor(given[table]), int(given["shift"]), trained)


PROBE = Probe(
    _inputs,
    {
        "sines": lambda answer, given: _on(answer, given, "sines"),
        "drawn": lambda answer, given: _on(answer, given, "drawn"),
    },
)
