"""What 09/spell asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch09_names.shared import echoing_model, random_echoes
from course_tasks.inputs import Rng, number, whole
from course_tasks.probing import Case, Inputs, Probe

NAMES_A_CASE = 16


def _spell_inputs(rng: Rng) -> Inputs:
    V, block_size = int(rng.integers(9, 12)), 4
    longest = int(rng.integers(8, 10))
    inputs = random_echoes(rng, V, block_size)
    # Letters are unlikelier than a logit of 0, names end soon, and hardly ever before they begin.
    inputs["table"] = 0.5 * inputs["table"] - 1.0
    inputs["table"][:, 0] = -0.4
    inputs["table"][0, 0] = -4.0
    return {
        **inputs,
        "V": whole(V),
        "prefixes": rng.integers(1, V, size=(NAMES_A_CASE, 3)).astype(np.int64),
        "uniform": rng.uniform(0.02, 0.98, size=(NAMES_A_CASE, 12)),
        "temperature": number(float(rng.choice([0.4, 0.5, 0.6]))),
        "shortest": whole(5),
        "longest": whole(longest),
    }


def _spell(prefix: int, shortest: bool) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        least = int(given["shortest"]) if shortest else 0
        rows = np.full((NAMES_A_CASE, 16), -1)
        for row, start, uniform in zip(rows, given["prefixes"], given["uniform"], strict=True):
            model = echoing_model(given).train()
            found = answer(
                model,
                start[:prefix].tolist(),
                least,
                int(given["longest"]),
                float(given["temperature"]),
                uniform.tolist(),
            )
            letters = [int(token) for token in found][:16]
            row[: len(letters)] = letters
            row[15] = -2 if model.training else -3  # the mode it was left in is an answer, too
        return rows

    return ask


PROBE = Probe(
    _spell_inputs,
    {
        "empty": _spell(0, shortest=False),
        "prefix": _spell(3, shortest=False),
        "shortest": _spell(2, shortest=True),
    },
)
