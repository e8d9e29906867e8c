"""The weights with which given vectors add up to what an answer found."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array


def weights_on(values: Array, found: Array) -> Array | None:
    """The weights (n,) with which vectors (n, D) add up to what was found (D,); None if there are
    none, or more than one choice of them.
    """
    values, found = values.astype(float), found.astype(float)
    if len(values) > values.shape[1] or not np.isfinite(found).all():
        return None
    weights: Array = np.linalg.lstsq(values.T, found, rcond=None)[0]
    return weights if np.allclose(weights @ values, found, rtol=1e-3, atol=1e-3) else None
