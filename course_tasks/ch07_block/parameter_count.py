"""What 07/parameter-count asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.ch07_block.shared import each
from course_tasks.inputs import Rng, entries_of
from course_tasks.probing import Inputs, Probe

COUNTED = ("embeddings", "attention", "feed_forward", "norms", "output", "total")
"""What a parameter count says, by name."""


CONFIGURATIONS = ("plain", "wide", "tied", "bare")


SIZES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd", "hidden")


def _count_inputs(rng: Rng) -> Inputs:
    given: dict[str, Array] = {}
    for name in CONFIGURATIONS:
        n_head = int(rng.integers(2, 4))
        n_embd = n_head * int(rng.integers(3, 5))
        # Seven times C is neither the usual width nor a multiple that it could be taken for.
        hidden = 4 * n_embd if name == "plain" else 7 * n_embd + 1
        n_layer = int(rng.choice([n for n in (2, 3, 4) if n != n_head]))
        V, T = int(rng.integers(17, 23)), int(rng.integers(13, 16))
        given[name] = np.array([V, T, n_layer, n_head, n_embd, hidden], dtype=np.int64)
    return given


def _count(name: str, answer: Any, given: Inputs) -> Any:
    named = {size: int(n) for size, n in zip(SIZES, given[name], strict=True)}
    result = entries_of(answer(**named, bias=name != "bare", tied=name == "tied"), COUNTED)
    # As they are: a count that is no whole number is not to be rounded to a right one.
    return {part: result[part] for part in COUNTED}


PROBE = Probe(_count_inputs, each(_count, CONFIGURATIONS))
