"""What 02/variance asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_tasks.probing import Inputs, Probe


def _variance_inputs(rng: np.random.Generator) -> Inputs:
    N, D = int(rng.integers(30, 50)), int(rng.integers(5, 10))
    return {
        "N": np.array(N),
        "D": np.array(D),
        "queries": rng.normal(size=(N, D)).astype(np.float32),
        "keys": rng.normal(size=(N, D)).astype(np.float32),
    }


def _variance(answer: Callable[..., Any], given: Inputs) -> Any:
    queries, keys = torch.from_numpy(given["queries"]), torch.from_numpy(given["keys"])
    results = answer(queries, keys)
    try:
        plain, scaled = results
    except (TypeError, ValueError) as error:
        raise TypeError(
            "the answer does not return two results: the variances of the dot products, and those "
            "of the divided ones"
        ) from error
    return {"plain": plain, "scaled": scaled}


PROBE = Probe(_variance_inputs, {"growth": _variance})
