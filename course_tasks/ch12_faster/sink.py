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
    S = int(rng.integers(12, 15))
    # Values have more numbers than there are scores, so that weights can be solved for.
    return _of(rng, int(rng.integers(3, 5)), S + int(rng.integers(1, 4)), S)


def _smallest(rng: Rng) -> Inputs:
    """One chunk of one score for one row."""
    return _of(rng, 1, 2, 1)


def _of(rng: Rng, T: int, E: int, S: int) -> Inputs:
    gentle = values(rng, T, S)
    # The largest score of each row lies in the middle, so that sums grow and shrink.
    steep = (values(rng, T, S) * 60).astype(np.float32)
    steep[-1, 0] = 140  # in one row, the first chunk's largest score works for all
    steep[:, S // 2] = 150 + 40 * rng.random(T)
    # Rows differ so much that the maximum of one row doesn't work for another.
    below = (-400 - 350 * np.arange(T)).astype(np.float32)
    low = values(rng, T, S) + below[:, None]
    hidden = gentle.copy()
    hidden[:, :3] = -np.inf  # the first chunk shows nothing
    hidden[0] = -np.inf  # and row 0 never sees anything
    hidden[1:, 5:6] = -np.inf  # one score of a chunk in which others are seen
    hidden[2:, 3:4] = -np.inf  # the second chunk shows nothing either
    sink = values(rng, T)
    sink[0] = min(sink[0], gentle[0].max() - 1)  # where the maximum rises, all before it shrinks
    return {
        "gentle": gentle,
        "steep": steep,
        "low": low,
        "hidden": hidden,
        "values": values(rng, S, E) + 1,
        "sink": sink,
        "low_sink": values(rng, T) + below,
        # The first row's sink is above all scores, the last one's below all that e can be taken of.
        "steep_sink": np.linspace(260, -600, T).astype(np.float32),
        "T": whole(T),
        "E": whole(E),
        "S": whole(S),
    }


def edges(S: int) -> list[tuple[int, int]]:
    """Where chunks begin and end: chunks of 3, 1, 4 and the rest, or one of all if there are
    fewer scores.
    """
    return list(itertools.pairwise([0, *(edge for edge in (3, 4, 8) if edge < S), S]))


def _chunks(scores: Array, held: Array) -> Iterator[tuple[Tensor, Tensor]]:
    """The chunks, handed out once."""
    for start, end in edges(scores.shape[1]):
        yield tensor(scores[:, start:end].copy()), tensor(held[start:end].copy())


def _case(scores: str, sink: str) -> Any:
    def case(answer: Any, given: Inputs) -> Any:
        return answer(_chunks(given[scores], given["values"]), tensor(given[sink]))

    return case


PROBE = Probe(
    _inputs,
    {
        "gentle": _case("gentle", "sink"),
        "steep": _case("steep", "steep_sink"),
        "low": _case("low", "low_sink"),
        "hidden": _case("hidden", "sink"),
    },
    second=_smallest,
)
