"""What several tasks of chapter 09 share: how inputs are drawn, and answers called."""

from __future__ import annotations

import numpy as np

from course_tasks.answers import Array
from course_tasks.ch09_names.models import Echoes
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs


def random_echoes(rng: Rng, V: int, block_size: int) -> dict[str, Array]:
    """What an `Echoes` is made of."""
    return {
        "table": (1.2 * rng.normal(size=(V, V))).astype(np.float32),
        "fading": number(int(rng.integers(55, 81)) / 100),
        "block_size": whole(block_size),
    }


def echoing_model(given: Inputs) -> Echoes:
    """The model that `random_echoes` drew."""
    return Echoes(tensor(given["table"]), float(given["fading"]), int(given["block_size"]))
