"""Numbers and results that the tasks of chapter 10 share: how they are drawn, and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng


def values(rng: Rng, *shape: int) -> Array:
    """Standard normal numbers, float32."""
    return rng.normal(size=shape).astype(np.float32)


def matrix(rng: Rng, *shape: int, gain: float = 1.0) -> Array:
    """Matrices (…, in, out) that keep the size of what they multiply, times the gain."""
    return (rng.normal(size=shape) * gain / np.sqrt(shape[-2])).astype(np.float32)


def parts_of(result: Any, parts: tuple[str, ...]) -> dict[str, Any]:
    """The parts of a returned tuple by name; anything else is a TypeError that says what came."""
    if not isinstance(result, tuple | list) or len(result) != len(parts):
        raise TypeError(
            f"the function should return {', '.join(parts)}; it returned a {type(result).__name__}"
        )
    return dict(zip(parts, result, strict=True))
