"""What 03/evaluation asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch03_text.shared import (
    pair,
    tokens,
    whole_numbers,
)
from course_tasks.probing import Inputs, Probe


def _evaluation_inputs(rng: np.random.Generator) -> Inputs:
    stride = int(rng.integers(2, 4))
    T = 2 * stride + int(rng.integers(1, 3))
    N = T + 1 + 2 * stride + int(rng.integers(1, stride))  # four windows, the last not full
    return {
        "tokens": tokens(rng, N),
        "short": tokens(rng, stride + 2),
        # Here the last window is full.
        "exact": tokens(rng, T + 1 + 2 * stride),
        # Here 0 is a symbol of the text as well.
        "zeros": np.where(tokens(rng, N) % 3 == 0, 0, tokens(rng, N)),
        # One window, full to the last target.
        "single": tokens(rng, T + 1),
        "block_size": np.array(T),
        "stride": np.array(stride),
        # The smallest stride that there is, and the largest.
        "one": np.array([1]),
        "most": np.array([T - 1]),
    }


def _evaluation(name: str, stride: str = "stride") -> Any:
    return lambda answer, given: pair(
        answer(whole_numbers(given, name), int(given["block_size"]), int(given[stride].flat[0]))
    )


PROBE = Probe(
    _evaluation_inputs,
    {
        "long": _evaluation("tokens"),
        "short": _evaluation("short"),
        "exact": _evaluation("exact"),
        "zeros": _evaluation("zeros"),
        "single": _evaluation("single"),
        "dense": _evaluation("tokens", "one"),
        "sparse": _evaluation("tokens", "most"),
    },
)
