"""What 12/quantize asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe


def _weights(rng: Rng, shape: tuple[int, int, int], bits: int) -> Array:
    """(out, in): numbers well away from halves of their group's scale, so that every style of
    rounding agrees.
    """
    rows, groups, size = shape
    most = 2 ** (bits - 1) - 1
    codes = rng.integers(-most + 1, most, shape).astype(float)
    codes += rng.choice([-0.3, 0.3], shape) * np.where(np.abs(codes) < most - 1, 1, 0)
    # The largest of a group is often negative, and its neighbor is smaller.
    largest = int(rng.integers(size))
    codes[..., largest] = rng.choice([-most, -most, most], (rows, groups))
    codes[1:, 0, (largest + 1) % size] = 0.0  # a weight of 0 is no group of zeros
    scale = rng.uniform(0.5, 1.5, (rows, groups, 1)) * 2.0 ** rng.integers(-4, 3, (rows, groups, 1))
    return (codes * scale / most).reshape(rows, groups * size).astype(np.float32)


def _inputs(rng: Rng) -> Inputs:
    rows, groups, size = int(rng.integers(4, 6)), int(rng.choice([2, 3])), int(rng.integers(6, 9))
    shape = rows, groups, size
    hollow = _weights(rng, shape, 8)
    hollow[1, :size] = 0.0
    return {
        "eight": _weights(rng, shape, 8),
        "four": _weights(rng, shape, 4),
        "hollow": hollow,
        "undivided": _weights(rng, (rows, 1, groups * size), 5),
        "rows": whole(rows),
        "columns": whole(groups * size),
        "group": whole(size),
    }


def _codes(answer: Any, given: Inputs, name: str, bits: int, group: int) -> Any:
    return parts_of(answer(tensor(given[name]), bits, group), "codes", "scales")


def _eight(answer: Any, given: Inputs) -> Any:
    found = _codes(answer, given, "eight", 8, int(given["group"]))
    return found | {"type": str(getattr(found["codes"], "dtype", type(found["codes"]).__name__))}


def _four(answer: Any, given: Inputs) -> Any:
    return _codes(answer, given, "four", 4, int(given["group"]))


def _undivided(answer: Any, given: Inputs) -> Any:
    return _codes(answer, given, "undivided", 5, int(given["columns"]))


def _hollow(answer: Any, given: Inputs) -> Any:
    return _codes(answer, given, "hollow", 8, int(given["group"]))


PROBE = Probe(_inputs, {"eight": _eight, "four": _four, "undivided": _undivided, "hollow": _hollow})
