"""What 11/lens asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    layers, T, C, V = (int(rng.integers(*ends)) for ends in ((3, 5), (5, 7), (8, 10), (11, 14)))
    return _of(rng, layers, 2, T, C, V)


def _one_position(rng: Rng) -> Inputs:
    """A model of one block with as many tokens as channels, which has read one token."""
    C = int(rng.integers(8, 10))
    return _of(rng, 2, 2, 1, C, C)


def _of(rng: Rng, layers: int, B: int, T: int, C: int, V: int) -> Inputs:
    # The stream grows from layer to layer and differs in size and mean from position to position.
    streams = rng.normal(size=(layers, B, T, C)) * np.arange(1, layers + 1)[:, None, None, None]
    streams *= rng.uniform(0.5, 2.0, (layers, B, T, 1))
    streams += rng.normal(size=(layers, B, T, 1))
    return {
        "streams": streams.astype(np.float32),
        "gain": rng.uniform(0.5, 2.0, C).astype(np.float32),
        "shift": values(rng, C),
        "eps": np.asarray(rng.choice([0.1, 0.2, 0.3])),
        "unembedding": values(rng, V, C),
        "layers": whole(layers),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "V": whole(V),
    }


def _lens(answer: Any, given: Inputs) -> Any:
    streams, gain, shift, unembedding = (
        tensor(given[name]) for name in ("streams", "gain", "shift", "unembedding")
    )
    return answer(streams, gain, shift, float(given["eps"]), unembedding)


PROBE = Probe(_inputs, {"lens": _lens}, second=_one_position)
