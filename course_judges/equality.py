"""When two values are the same: the tolerance that every comparison of a judge uses."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import ABSOLUTE_TOLERANCE, RELATIVE_TOLERANCE, Array, Value


def close(one: Array, other: Array) -> Array:
    """Elementwise, whether two arrays of one shape hold the same numbers."""
    # The same as `np.isclose` in half the time, because a check compares hundreds of small arrays.
    x, y = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # ∞ − ∞
        near = np.abs(x - y) <= ABSOLUTE_TOLERANCE + RELATIVE_TOLERANCE * np.abs(y)
    alike = (near & np.isfinite(y)) | (x == y)
    return alike if alike.all() else alike | (np.isnan(x) & np.isnan(y))


def same_value(one: Value, other: Value) -> bool:
    """True if two values are the same text, or arrays of one shape with the same numbers."""
    if isinstance(one, str) or isinstance(other, str):
        return isinstance(one, str) and isinstance(other, str) and one == other
    if one.shape != other.shape:
        return False
    # Most right answers are right to the last bit, and seeing that takes a tenth of the time.
    return np.array_equal(one, other) or bool(close(one, other).all())
