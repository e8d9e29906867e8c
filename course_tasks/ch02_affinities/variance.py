"""What 02/variance asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_tasks.inputs import parts_of
from course_tasks.probing import Inputs, Probe


def _variance_inputs(rng: np.random.Generator) -> Inputs:
    """Fewer pairs than entries: neither of the two sizes is known by being the larger one."""
    D = int(rng.integers(6, 10))
    return _of_sizes(rng, int(rng.integers(4, D)), D)


def _two_pairs_of_numbers(rng: np.random.Generator) -> Inputs:
    """The smallest that there is: two pairs, with one entry each."""
    return _of_sizes(rng, 2, 1)


def _of_sizes(rng: np.random.Generator, N: int, D: int) -> Inputs:
    return {
        "N": np.array(N),
        "D": np.array(D),
        "queries": rng.normal(size=(N, D)).astype(np.float32),
        "keys": rng.normal(size=(N, D)).astype(np.float32),
    }


def _variance(answer: Callable[..., Any], given: Inputs) -> Any:
    queries, keys = torch.from_numpy(given["queries"]), torch.from_numpy(given["keys"])
    return parts_of(answer(queries, keys), "0", "1")


PROBE = Probe(_variance_inputs, {"growth": _variance}, second=_two_pairs_of_numbers)
