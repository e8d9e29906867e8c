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
    given: dict[str, Array] = {"flags": np.array([[1, 0], [1, 0], [1, 1], [0, 0]], dtype=bool)}
    for name in CONFIGURATIONS:
        n_head, head_size = int(rng.integers(2, 4)), int(rng.integers(3, 5))
        n_embd = n_head * head_size
        # Seven times C is neither the usual width nor a multiple that it could be taken for.
        hidden = 4 * n_embd if name == "plain" else 7 * n_embd + 1
        # Something per block is then nothing per head, nor per channel of one.
        n_layer = int(rng.choice([n for n in (2, 3, 4, 5) if n not in (n_head, head_size)]))
        V, T = int(rng.integers(17, 23)), int(rng.integers(13, 16))
        given[name] = np.array([V, T, n_layer, n_head, n_embd, hidden], dtype=np.int64)
    return given


def _least(rng: Rng) -> Inputs:
    """One block of one head, narrower between than outside; neither biases nor an output layer of
    its own in the last.
    """
    given: dict[str, Array] = {"flags": np.array([[1, 0], [1, 0], [1, 1], [0, 1]], dtype=bool)}
    for name in CONFIGURATIONS:
        n_embd = int(rng.integers(5, 9))
        V, T, hidden = int(rng.integers(17, 23)), int(rng.integers(1, 4)), n_embd - 3
        given[name] = np.array([V, T, 1, 1, n_embd, hidden], dtype=np.int64)
    return given


def flags(name: str, given: Inputs) -> dict[str, bool]:
    """Whether a configuration has biases, and whether its output layer is tied."""
    bias, tied = given["flags"][CONFIGURATIONS.index(name)]
    return {"bias": bool(bias), "tied": bool(tied)}


def _count(name: str, answer: Any, given: Inputs) -> Any:
    named = {size: int(n) for size, n in zip(SIZES, given[name], strict=True)}
    result = entries_of(answer(**named, **flags(name, given)), COUNTED)
    # As they are: a count that is no whole number is not to be rounded to a right one.
    return {part: result[part] for part in COUNTED}


PROBE = Probe(_count_inputs, each(_count, CONFIGURATIONS), second=_least)
