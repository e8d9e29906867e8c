"""What 12/quantize asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe

# The largest absolute value in the group with the smallest weights, and in a group of tiny ones.
# An answer may add a power of ten to a scale or a maximum, or use one as a lower bound. With these
# values, each power changes codes of 8 bits in every draw or in none, so points aren't luck.
_SMALLEST = 2.0**-3
_TINY = 2.0**-33


def _weights(rng: Rng, shape: tuple[int, int, int], bits: int) -> Array:
    """(out, in): numbers well away from halves of their group's scale, so that every style of
    rounding agrees.
    """
    rows, groups, size = shape
    most = 2 ** (bits - 1) - 1
    codes = rng.integers(-most + 1, most, shape).astype(float)
    codes += rng.choice([-0.3, 0.3], shape) * np.where(np.abs(codes) < most - 1, 1, 0)
    # The largest of a group is often negative, that of the first always; its neighbor is smaller.
    largest = int(rng.integers(size))
    codes[..., largest] = rng.choice([-most, -most, most], (rows, groups))
    codes[0, 0, largest] = -most
    codes[1:, 0, (largest + 1) % size] = 0.0  # a group with a weight of 0 isn't a group of zeros
    step = np.exp2(rng.integers(1, 7, (rows, groups, 1)))
    if size > 1:  # a group's only weight has the largest code: whole steps leave it that code
        step *= rng.uniform(0.5, 1, step.shape)
    step[rng.integers(rows), rng.integers(groups)] = 1.0
    step *= _SMALLEST / most if size > 1 else 1.0
    return (codes * step).reshape(rows, groups * size).astype(np.float32)


def _inputs(rng: Rng) -> Inputs:
    shape = int(rng.integers(4, 6)), int(rng.choice([2, 3])), int(rng.integers(6, 9))
    return _of(rng, shape, int(rng.integers(3, 5)))


def _smallest(rng: Rng) -> Inputs:
    """One row, in which each weight is a group, and so few bits that codes are −1, 0 and 1."""
    return _of(rng, (1, 2, 1), 2)


def _of(rng: Rng, shape: tuple[int, int, int], bits: int) -> Inputs:
    rows, groups, size = shape
    hollow = _weights(rng, shape, 8)
    hollow[0, -size:] *= _TINY / np.abs(hollow[0, -size:]).max()  # tiny weights aren't zeros
    hollow[-1, :size] = 0.0
    return {
        "eight": _weights(rng, shape, 8),
        "few": _weights(rng, shape, bits),
        "bits": whole(bits),
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


def _few(answer: Any, given: Inputs) -> Any:
    return _codes(answer, given, "few", int(given["bits"]), int(given["group"]))


def _undivided(answer: Any, given: Inputs) -> Any:
    return _codes(answer, given, "undivided", 5, int(given["columns"]))


def _hollow(answer: Any, given: Inputs) -> Any:
    return _codes(answer, given, "hollow", 8, int(given["group"]))


PROBE = Probe(
    _inputs,
    {"eight": _eight, "few": _few, "undivided": _undivided, "hollow": _hollow},
    second=_smallest,
)
