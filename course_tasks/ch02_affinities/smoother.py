"""What 02/smoother asks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_tasks.probing import Case, Inputs, Probe


def _smoother_inputs(rng: np.random.Generator) -> Inputs:
    N, M, C = int(rng.integers(4, 7)), int(rng.integers(7, 10)), 3
    near = rng.uniform(0, 4, size=(N, 2))
    angle = rng.uniform(0, 2 * math.pi, size=N)
    # So far that e^score is 0 in every floating-point number there is.
    away = rng.uniform(90, 120, size=N)[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    # Between the widths at which two wrong uses of it come to the same: √½, 1, √2 and others.
    low, high = [(0.73, 0.77), (1.3, 1.38), (1.46, 1.6)][int(rng.integers(3))]
    width = rng.uniform(low, high)
    return {
        "N": np.array(N),
        "M": np.array(M),
        "C": np.array(C),
        "near": near,
        "far": near + away,
        "known": rng.uniform(0, 4, size=(M, 2)),
        "values": rng.normal(3, 2, size=(M, C)),
        "width": np.array(round(float(width), 3)),
    }


def _smoother(at: str) -> Case:
    def case(answer: Callable[..., Any], given: Inputs) -> Any:
        arrays = (torch.from_numpy(given[name]) for name in (at, "known", "values"))
        return answer(*arrays, float(given["width"]))

    return case


PROBE = Probe(_smoother_inputs, {"near": _smoother("near"), "far": _smoother("far")})
