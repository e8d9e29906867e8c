"""What 02/variance asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_tasks.inputs import parts_of
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
    return parts_of(answer(queries, keys), "0", "1")


PROBE = Probe(_variance_inputs, {"growth": _variance})
