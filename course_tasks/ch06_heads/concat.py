"""What 06/concat asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch06_heads.shared import matrix
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Case, Inputs, Probe


def _concat_inputs(rng: Rng) -> Inputs:
    B, T, C = int(rng.choice([2, 4])), int(rng.integers(6, 9)), int(rng.integers(9, 12))
    H = int(rng.choice([3, 4]))
    D, sizes = int(rng.choice([4, 5])), rng.permutation([2, 3, 5, 7])[:H]
    inputs = {
        "x": values(rng, B, T, C),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "H": whole(H),
        "D": whole(D),
        "sizes": sizes.astype(np.int64),
    }
    for case, widths in (("equal", [D] * H), ("unequal", sizes)):
        for h, width in enumerate(widths):
            for part in ("query", "key", "value"):
                inputs[f"{case}_{part}_{h}"] = matrix(rng, C, int(width), C, gain=1.5)
    return inputs


def _concat(case: str) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        heads = [
            tuple(tensor(given[f"{case}_{part}_{h}"]) for part in ("query", "key", "value"))
            for h in range(int(given["H"]))
        ]
        return answer(tensor(given["x"]), heads)

    return ask


PROBE = Probe(_concat_inputs, {"equal": _concat("equal"), "unequal": _concat("unequal")})
