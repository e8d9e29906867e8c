"""What 06/concat asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.ch06_heads.shared import dislikes_itself, matrix
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Case, Inputs, Probe


def _concat_inputs(rng: Rng) -> Inputs:
    B, T, C = int(rng.choice([2, 4])), int(rng.choice([5, 6])), int(rng.integers(9, 12))
    H = int(rng.choice([3, 4]))
    # Equal heads have more channels than there are positions, so that outputs show their weights. D
    # is not 4, whose root is its half as well.
    D, sizes = int(rng.choice([7, 8])), rng.permutation([2, 3, 5, 7])[:H]
    if len(set(np.diff(sizes) > 0)) == 1:
        sizes = np.roll(sizes, 1)  # heads need not be sorted by size
    # Verdicts quote these. The least draw has none, because its two cases differ in T and H.
    numbers = {"B": B, "T": T, "C": C, "H": H, "D": D}
    return {
        **_heads_of(rng, values(rng, B, T, C), [D] * H, sizes),
        **{name: whole(value) for name, value in numbers.items()},
    }


def _least(rng: Rng) -> Inputs:
    """One sample: two heads of one channel at one position, and a single such head at several."""
    x, one = values(rng, 1, int(rng.integers(6, 9)), 9), np.array([1])
    return _heads_of(rng, x, [1, 1], one, shortest=True)


def _heads_of(
    rng: Rng, x: Array, equal: list[int], sizes: Array, *, shortest: bool = False
) -> Inputs:
    C = x.shape[-1]
    inputs = {"equal_x": x[:, :1] if shortest else x, "unequal_x": x}
    for case, widths in (("equal", equal), ("unequal", sizes)):
        inputs[f"{case}_sizes"] = np.array(widths, dtype=np.int64)
        for h, width in enumerate(widths):
            for part in ("query", "key", "value"):
                inputs[f"{case}_{part}_{h}"] = matrix(rng, C, int(width), C, gain=1.5)
    for case in ("equal", "unequal"):
        # Position 0 sees only itself, here with a score lower than any fill but −inf.
        low = inputs[f"{case}_x"].copy()
        low[0, 0] = dislikes_itself(inputs[f"{case}_query_0"], inputs[f"{case}_key_0"])
        inputs[f"low_{case}_x"] = low
    return inputs


def _concat(x: str, sizes: str) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        heads = [
            tuple(tensor(given[f"{sizes}_{part}_{h}"]) for part in ("query", "key", "value"))
            for h in range(sum(name.startswith(f"{sizes}_query_") for name in given))
        ]
        return answer(tensor(given[f"{x}_x"]), heads)

    return ask


PROBE = Probe(
    _concat_inputs,
    {
        "equal": _concat("equal", "equal"),
        "unequal": _concat("unequal", "unequal"),
        "low_equal": _concat("low_equal", "equal"),
        "low_unequal": _concat("low_unequal", "unequal"),
    },
    second=_least,
)
