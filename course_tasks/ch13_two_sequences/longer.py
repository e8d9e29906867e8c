"""What 13/longer asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    C, L, shift = int(rng.choice([6, 8])), int(rng.integers(40, 50)), int(rng.integers(3, 6))
    # Fewer pairs of positions than channels, as many, and more.
    return _of(rng, C, L, shift, np.array([C - 2, C, C + 3]) + shift)


def _unsorted(rng: Rng) -> Inputs:
    """A shift by one; of the largest number two pairs are left to test, of the smallest one is
    known.
    """
    C, L, shift = 4, int(rng.integers(20, 30)), 1
    return _of(rng, C, L, shift, np.array([L - 2, 2, C + 1]))


def _of(rng: Rng, C: int, L: int, shift: int, trained: Array) -> Inputs:
    speeds = np.sort(rng.uniform(0.25, 2.8, C // 2))[::-1]
    speeds = speeds + np.linspace(0.3, 0, C // 2)  # apart, so that no two pairs turn alike
    angles = np.arange(L)[:, None] * speeds
    table = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(L, C)
    return {
        "sines": table,
        "drawn": rng.normal(size=(L, C)),
        "trained": trained,
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
    second=_unsorted,
)
