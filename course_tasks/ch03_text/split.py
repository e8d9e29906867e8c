"""What 03/split asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import input_text, text_input
from course_tasks.ch03_text.shared import (
    random_names,
    two_values,
)
from course_tasks.probing import Inputs, Probe

_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _split_inputs(rng: np.random.Generator) -> Inputs:
    distinct = random_names(rng, 40, _LETTERS)
    # A quarter of the names stands in the list three times, as the popular ones do.
    names = sorted(distinct + distinct[:10] + distinct[:10])
    first, other = rng.choice(1000, 2, replace=False)
    return {
        "names": text_input("\n".join(names)),
        "fraction": np.array(float(rng.choice([0.1, 0.2, 0.3]))),
        "seed": np.array(int(first)),
        "other": np.array([other]),
    }


def _split(seed: str) -> Any:
    def case(answer: Any, given: Inputs) -> Any:
        names = input_text(given["names"]).split("\n")
        result = answer(names, float(given["fraction"]), int(given[seed].flat[0]))
        train, validation = two_values(result, "training and validation")
        return {"train": "\n".join(train), "validation": "\n".join(validation)}

    return case


PROBE = Probe(
    _split_inputs, {"split": _split("seed"), "again": _split("seed"), "other": _split("other")}
)
