"""What 03/sequential asks."""

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


def _sequential_inputs(rng: np.random.Generator, *, empty_rows: bool = False) -> Inputs:
    B = int(rng.choice([3, 5]))  # 2 rows as equal as possible are right; 4 is the number of steps
    T = int(rng.choice([size for size in (5, 6, 7) if size != B]))
    # Four steps, the last of them not full; the last row shorter than the others. In the second
    # draw it ends before that step: whatever stands there is not what continues it.
    less = int(rng.integers(B - 1))
    length = 3 * T + int(rng.integers(1, less + 2 if empty_rows else T))
    N = B * length - less
    text = tokens(rng, N)
    return {
        "tokens": text,
        # Here nothing is left over: every row fills its steps.
        "exact": tokens(rng, 2 * B * T + 1),
        # And here one input is too many for that.
        "over": tokens(rng, 2 * B * T + 2),
        # So few that a row is shorter than a step, and the last one shorter still; in the second
        # draw, nothing is left for it.
        "few": tokens(rng, B + 2 if empty_rows else 2 * B),
        # One row, read one token at a time.
        "tiny": tokens(rng, int(rng.integers(4, 7))),
        "one": np.array([1]),
        "batch_size": np.array(B),
        "block_size": np.array(T),
        "padding": np.array(N + int(rng.integers(1, 4))),
        # Here the number for padding is a symbol of the text as well.
        "symbol": np.array(text[N // 2]),
    }


def _sequential(name: str, padding: str = "padding", *, tiny: bool = False) -> Any:
    sizes = ("one", "one") if tiny else ("batch_size", "block_size")
    return lambda answer, given: pair(
        answer(
            whole_numbers(given, name),
            *(int(given[size].flat[0]) for size in sizes),
            int(given[padding]),
        )
    )


PROBE = Probe(
    _sequential_inputs,
    {
        "steps": _sequential("tokens"),
        "exact": _sequential("exact"),
        "over": _sequential("over"),
        "few": _sequential("few"),
        "common": _sequential("tokens", "symbol"),
        "tiny": _sequential("tiny", tiny=True),
    },
    second=partial(_sequential_inputs, empty_rows=True),
)
