"""What 13/longer asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    C, L, shift = int(rng.choice([6, 8])), int(rng.integers(40, 50)), int(rng.integers(3, 6))
    # Apart, so that no two pairs turn alike.
    speeds = np.sort(rng.uniform(0.25, 2.8, C // 2))[::-1] + np.linspace(0.3, 0, C // 2)
    # Fewer pairs of positions than channels, as many, and more.
    return _of(rng, speeds, L, shift, np.array([C - 2, C, C + 3]) + shift)


def _unsorted(rng: Rng) -> Inputs:
    """A shift by one; of the largest numbers two pairs are left to test and one, of the smallest
    one is known.
    """
    C, L, shift = 4, int(rng.integers(20, 30)), 1
    # If an answer leaves out the only pair of an error, nothing is left, whatever the other errors
    # are. And pairs that turn slowly are nearly alike at first, so even slight damping shows.
    slow = np.array([rng.uniform(0.16, 0.2), rng.uniform(0.06, 0.1)])
    return _of(rng, slow, L, shift, np.array([L - 2, 2, L - 1, C + 1]))


def _of(rng: Rng, speeds: Array, L: int, shift: int, trained: Array) -> Inputs:
    C = 2 * len(speeds)
    angles = np.arange(L)[:, None] * speeds
    table = np.stack([np.sin(angles), np.cos(angles)], -1).reshape(L, C)
    drawn = rng.normal(size=(L, C))
    drawn[:, int(rng.integers(0, C))] *= 3e-4  # so small that the weakest regularization hides it
    return {
        "sines": table,
        "drawn": drawn,
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
