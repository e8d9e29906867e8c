"""What 09/spell asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch09_names.shared import echoing_model, random_echoes
from course_tasks.inputs import Rng, integer, number, whole
from course_tasks.probing import Case, Inputs, Probe
from course_tasks.stand_ins import in_mode

NAMES_A_CASE = 16

# What an answer leaves behind, in the last column.
KEPT, OTHER_MODE, PREFIX_CHANGED = -2, -3, -4


def _spell_inputs(rng: Rng) -> Inputs:
    return _inputs_at(float(rng.choice([0.4, 0.5, 0.6])), rng)


def _warm_inputs(rng: Rng) -> Inputs:
    """At a temperature above 1."""
    return _inputs_at(float(rng.choice([1.6, 1.8])), rng)


def _inputs_at(temperature: float, rng: Rng) -> Inputs:
    V, block_size = int(rng.integers(9, 12)), 4
    longest = int(rng.integers(8, 10))
    inputs = random_echoes(rng, V, block_size)
    # Letters are unlikelier than a logit of 0, names end soon, and hardly ever before they begin.
    inputs["table"] = 0.5 * inputs["table"] - 1.0
    inputs["table"][:, 0] = -0.4
    inputs["table"][0, 0] = -4.0
    uniform = rng.uniform(0.02, 0.98, size=(NAMES_A_CASE, 12))
    uniform[int(rng.integers(NAMES_A_CASE)), 0] = 0.0  # no probability of 0 is larger than that
    return {
        **inputs,
        "V": whole(V),
        "prefixes": rng.integers(1, V, size=(NAMES_A_CASE, 3)).astype(np.int64),
        "uniform": uniform,
        "temperature": number(temperature),
        "shortest": whole(5),
        "longest": whole(longest),
    }


def _spell(prefix: int, shortest: bool, whole_names: bool = False) -> Case:
    """With `whole_names`, a prefix is as long as a name may be, so nothing is to be written. Where
    names have a shortest length, it is that of the longest, too, for one in three.
    """

    def ask(answer: Any, given: Inputs) -> Any:
        least = int(given["shortest"]) if shortest else 0
        rows = np.full((NAMES_A_CASE, 16), -1)
        told = zip(rows, given["prefixes"], given["uniform"], strict=True)
        model = echoing_model(given)
        for number_, (row, start, uniform) in enumerate(told):
            training = number_ % 2 == 0
            model.train(training)
            letters_given = start[:prefix].tolist()
            longest = len(letters_given) if whole_names else int(given["longest"])
            longest = least if shortest and number_ % 3 == 0 else longest
            found = answer(
                model,
                letters_given,
                least,
                longest,
                float(given["temperature"]),
                uniform.tolist(),
            )
            letters = [integer(token, "letters") for token in found][:16]
            row[: len(letters)] = letters
            # What it left behind is an answer, too: the mode of the model, and the prefix.
            row[15] = KEPT if in_mode(model, training=training) else OTHER_MODE
            if letters_given != start[:prefix].tolist():
                row[15] = PREFIX_CHANGED
        return rows

    return ask


PROBE = Probe(
    _spell_inputs,
    {
        "empty": _spell(0, shortest=False),
        "prefix": _spell(3, shortest=False),
        "shortest": _spell(2, shortest=True),
        "complete": _spell(3, shortest=False, whole_names=True),
    },
    second=_warm_inputs,
)
