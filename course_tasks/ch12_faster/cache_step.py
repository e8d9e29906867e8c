"""What 12/cache-step asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, parts_of, tensor, values, whole
from course_tasks.probing import Inputs, Probe

_NAMES = ("query", "key", "value", "keys", "values", "lengths")


# Leftover keys are this much larger, so that scores reach hundreds where none should be seen. Among
# such scores float32 would round weights by more than what counts as equal.
_LEFTOVER = 90


def _inputs(rng: Rng) -> Inputs:
    B, H, S = 4, int(rng.integers(2, 4)), int(rng.integers(8, 11))
    D = S + int(rng.integers(1, 3))  # enough numbers to solve for the weights
    first, other = rng.choice(np.arange(2, S - 2), 2, replace=False)
    # The first row is neither the longest nor the shortest, so that using its length differs from
    # using theirs.
    lengths = np.array([first, *rng.permutation([0, S - 1, other])])
    # No row fills its cache here, so even the longest row shouldn't see everything.
    short = np.sort(rng.choice(np.arange(1, S - 2), B, replace=False))
    return _of(rng, (B, H, D, S), lengths, short)


def _smallest(rng: Rng) -> Inputs:
    """One row with one head of one number, whose cache is full with the new token, or empty."""
    return _of(rng, (1, 1, 1, 2), np.array([1]), np.array([0]))


def _of(rng: Rng, shape: tuple[int, int, int, int], lengths: Array, short: Array) -> Inputs:
    B, H, D, S = shape
    given = {
        "query": values(rng, B, H, D),
        "key": values(rng, B, H, D) * 1.5,
        "value": values(rng, B, H, D),
        # The places behind a row's length hold large leftovers of other texts.
        "keys": values(rng, B, H, S, D) * 1.5,
        "values": values(rng, B, H, S, D) * 2 + 1,
        "lengths": lengths.astype(np.int64),
        "short": short.astype(np.int64),
    }
    for keys, seen in zip(given["keys"], np.maximum(lengths, short) + 1, strict=True):
        keys[:, seen:] *= _LEFTOVER
    return given | {"B": whole(B), "H": whole(H), "D": whole(D), "S": whole(S)}


def _step(answer: Any, given: Inputs, lengths: str = "lengths") -> Any:
    handed = {name: tensor(given[name]) for name in _NAMES} | {"lengths": tensor(given[lengths])}
    result = answer(*(handed[name] for name in _NAMES))
    return parts_of(result, "found", "keys", "values") | {"given": [handed[n] for n in _NAMES[3:]]}


def _out(answer: Any, given: Inputs) -> Any:
    return _step(answer, given)["found"]


def _short(answer: Any, given: Inputs) -> Any:
    return _step(answer, given, "short")["found"]


def _kept(answer: Any, given: Inputs, lengths: str = "lengths") -> Any:
    step = _step(answer, given, lengths)
    return {name: step[name] for name in ("keys", "values", "given")}


def _kept_short(answer: Any, given: Inputs) -> Any:
    # There is room behind the longest row, so the place after it isn't the last one.
    return _kept(answer, given, "short")


PROBE = Probe(
    _inputs,
    {"out": _out, "short": _short, "kept": _kept, "kept_short": _kept_short},
    second=_smallest,
)
