"""What 03/batch asks."""

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


def _batch_inputs(rng: np.random.Generator, shortest: int = 3) -> Inputs:
    T = int(rng.integers(6, 9))
    N = int(rng.integers(30, 40))
    B = int(rng.integers(4, 6))
    # One window near the beginning lacks at least two tokens, and is there twice, one lacks one,
    # one begins just where the text does, and one has the last token as a target, in any order.
    early, middle = rng.integers(0, T - 3), rng.integers(T, N - 2, size=B - 3)
    ends = np.array([N - 2, early, T - 1, *middle, early, T - 2])
    text = tokens(rng, N)
    # A text that has hardly begun: all of it is shorter than a row, and so short that a slice with
    # a negative start takes all of it, in every draw.
    young = int(rng.integers(shortest, (T + 1) // 2 + 1)) if shortest > 2 else 2
    return {
        "tokens": text,
        "young": tokens(rng, young),
        "young_ends": rng.permutation(min(B, young) - 1).astype(np.int64),
        "ends": ends.astype(np.int64),
        "block_size": np.array(T),
        "padding": np.array(N + int(rng.integers(1, 4))),
        # Here the number for padding is a symbol of the text as well, and a target.
        "symbol": np.array(text[N - 2]),
        "one": np.array([1]),
    }


def _batch(text: str, ends: str, padding: str = "padding", size: str = "block_size") -> Any:
    return lambda answer, given: pair(
        answer(
            whole_numbers(given, text),
            whole_numbers(given, ends),
            int(given[size].flat[0]),
            int(given[padding]),
        )
    )


PROBE = Probe(
    _batch_inputs,
    {
        "batch": _batch("tokens", "ends"),
        "young": _batch("young", "young_ends"),
        "common": _batch("tokens", "ends", "symbol"),
        # Rows of one token.
        "tiny": _batch("tokens", "ends", size="one"),
    },
    # The shortest text that has a target, and with it a batch of one row.
    second=partial(_batch_inputs, shortest=2),
)
