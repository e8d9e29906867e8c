"""What 03/windows asks."""

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


def _windows_inputs(rng: np.random.Generator, *, apart: bool = True) -> Inputs:
    T = int(rng.integers(5, 8))
    stride = int(rng.integers(2, T - 1))
    M = int(rng.integers(8, 11))
    # The last window ends one token before the text does in the first, which is just enough for
    # its last target, and with the text in the second, which is one too late.
    exact = T + 1 + (M - 1) * stride
    return {
        "tokens": tokens(rng, exact),
        "longer": tokens(rng, exact - 1 + stride),
        # Windows so far apart that tokens between them are in none; after the last come some more.
        # In the second draw they stand end to end.
        "apart": tokens(rng, T + 1 + 2 * (T + 3) + int(rng.integers(1, 4))),
        # Just enough for one window.
        "single": tokens(rng, T + 1),
        "block_size": np.array(T),
        "stride": np.array(stride),
        "large_stride": np.array([T + (3 if apart else 0)]),
        # Windows of one token, one after the other.
        "tiny": tokens(rng, int(rng.integers(4, 7))),
        "one": np.array([1]),
    }


def _windows(name: str, stride: str = "stride", size: str = "block_size") -> Any:
    return lambda answer, given: pair(
        answer(whole_numbers(given, name), int(given[size].flat[0]), int(given[stride].flat[0]))
    )


PROBE = Probe(
    _windows_inputs,
    {
        "exact": _windows("tokens"),
        "longer": _windows("longer"),
        "apart": _windows("apart", "large_stride"),
        "single": _windows("single"),
        "tiny": _windows("tiny", "one", "one"),
    },
    second=partial(_windows_inputs, apart=False),
)
