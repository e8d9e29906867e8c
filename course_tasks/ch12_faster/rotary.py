"""What 12/rotary asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, number, tensor, values, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    B, H, T = 2, 3, int(rng.integers(4, 6))
    R = 2 * int(rng.integers(3, 5))
    D = R + 2 * int(rng.integers(2, 4))
    starts = rng.choice(np.arange(3, 40), B, replace=False)
    positions = starts[:, None] + np.arange(T)
    positions[1, T // 2 :] += int(rng.integers(2, 6))  # a gap, as after symbols that are left out
    return {
        "x": values(rng, B, H, T, D),
        "positions": positions.astype(np.int64),
        "base": number(float(rng.choice([20.0, 50.0, 100.0]))),
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
        "D": whole(D),
        "R": whole(R),
    }


def _part(answer: Any, given: Inputs) -> Any:
    where = tensor(given["positions"])
    return answer(tensor(given["x"]), where, int(given["R"]), float(given["base"]))


def _whole(answer: Any, given: Inputs) -> Any:
    where, R = tensor(given["positions"]), int(given["R"])
    return answer(tensor(given["x"][..., :R].copy()), where, R, float(given["base"]))


PROBE = Probe(_inputs, {"part": _part, "whole": _whole})
