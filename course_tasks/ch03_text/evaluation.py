"""What 03/evaluation asks."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from course_tasks.ch03_text.shared import (
    pair,
    tokens,
    whole_numbers,
)
from course_tasks.probing import Inputs, Probe


def _evaluation_inputs(rng: np.random.Generator, *, least: bool = False) -> Inputs:
    stride = int(rng.integers(2, 4))
    T = 2 * stride + int(rng.integers(1, 3))
    N = T + 1 + 2 * stride + int(rng.integers(1, stride))  # four windows, the last not full
    return {
        "tokens": tokens(rng, N),
        # In the second draw, there is one target.
        "short": tokens(rng, 2 if least else stride + 2),
        # Here the last window is full.
        "exact": tokens(rng, T + 1 + 2 * stride),
        # Here 0 is a symbol of the text as well.
        "zeros": np.where(tokens(rng, N) % 3 == 0, 0, tokens(rng, N)),
        # One window, full to the last target.
        "single": tokens(rng, T + 1),
        "block_size": np.array(T),
        "stride": np.array(stride),
        # The smallest stride that there is, in the second draw with the smallest windows, and the
        # largest.
        "one": np.array([1]),
        "narrow": np.array([2 if least else T]),
        "most": np.array([T - 1]),
    }


def _evaluation(name: str, stride: str = "stride", size: str = "block_size") -> Any:
    return lambda answer, given: pair(
        answer(whole_numbers(given, name), int(given[size].flat[0]), int(given[stride].flat[0]))
    )


PROBE = Probe(
    _evaluation_inputs,
    {
        "long": _evaluation("tokens"),
        "short": _evaluation("short"),
        "exact": _evaluation("exact"),
        "zeros": _evaluation("zeros"),
        "single": _evaluation("single"),
        "dense": _evaluation("tokens", "one", "narrow"),
        "sparse": _evaluation("tokens", "most"),
    },
    second=partial(_evaluation_inputs, least=True),
)
