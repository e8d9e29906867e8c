"""What 12/sink asks."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from torch import Tensor

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    T, E, S = int(rng.integers(3, 5)), int(rng.integers(5, 7)), int(rng.integers(12, 15))
    gentle = values(rng, T, S)
    # The largest score of each row lies in the middle, so that sums grow and shrink.
    steep = (values(rng, T, S) * 60).astype(np.float32)
    steep[:, S // 2] = 150 + 40 * rng.random(T)
    # Rows differ so much that the maximum of one row is none for another.
    below = (-400 - 150 * np.arange(T)).astype(np.float32)
    low = values(rng, T, S) + below[:, None]
    hidden = gentle.copy()
    hidden[:, :3] = -np.inf  # the first chunk shows nothing
    hidden[0] = -np.inf  # and row 0 never sees anything
    hidden[1, 5] = -np.inf  # one score of a chunk in which others are seen
    return {
        "gentle": gentle,
        "steep": steep,
        "low": low,
        "hidden": hidden,
        "values": values(rng, S, E) + 1,
        "sink": values(rng, T),
        "low_sink": values(rng, T) + below,
        "T": whole(T),
        "E": whole(E),
        "S": whole(S),
    }


def _chunks(scores: Array, held: Array) -> Iterator[tuple[Tensor, Tensor]]:
    """Chunks of 3, 1, 4 and the rest, each handed out once."""
    edges = [0, 3, 4, 8, scores.shape[1]]
    for start, end in itertools.pairwise(edges):
        yield tensor(scores[:, start:end].copy()), tensor(held[start:end].copy())


def _of(scores: str, sink: str) -> Any:
    def case(answer: Any, given: Inputs) -> Any:
        return answer(_chunks(given[scores], given["values"]), tensor(given[sink]))

    return case


PROBE = Probe(
    _inputs,
    {
        "gentle": _of("gentle", "sink"),
        "steep": _of("steep", "sink"),
        "low": _of("low", "low_sink"),
        "hidden": _of("hidden", "sink"),
    },
)
