"""What 09/by-letter asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

# Rows of their own kind.
OF_ONE_LETTER, WITHOUT_A_BOUNDARY, WITHOUT_A_TARGET = 2, 3, 4


def _by_letter_inputs(rng: Rng) -> Inputs:
    B, T, V = 11, int(rng.integers(20, 24)), int(rng.integers(8, 12))
    longest = 5
    # Any symbol may be the boundary, and no other number that is given stands for it.
    boundary = int(rng.choice([v for v in range(1, V) if v != longest]))
    letters = rng.choice([v for v in range(V) if v != boundary], size=(B, T + 1))
    for b, row in enumerate(letters):
        if b == WITHOUT_A_BOUNDARY:
            continue
        # The first row begins within a name, and the next with a boundary.
        place = (int(rng.integers(1, 4)), 0)[b] if b < 2 else int(rng.integers(4))
        while place <= T:
            row[place] = boundary
            # Some names end before the last place that is asked for, and some go on beyond it.
            place += int(rng.integers(longest - 1, longest + 4))
    # Some names have one letter.
    short = letters[OF_ONE_LETTER]
    # A boundary before them would end a name that has none.
    short[3:11] = rng.choice([v for v in range(V) if v != boundary], size=8)
    short[[4, 6, 8]] = boundary
    y = letters[:, 1:].copy()
    y[-1, -int(rng.integers(3, 6)) :] = -100
    # Some targets within a name do not count either, and the letters after them keep their places.
    y[2:-1, :][rng.permuted(np.arange(y[2:-1].size).reshape(y[2:-1].shape) % 9, axis=1) == 0] = -100
    y[WITHOUT_A_TARGET] = -100
    return {
        "logits": (1.5 * rng.normal(size=(B, T, V))).astype(np.float32),
        "x": letters[:, :-1].astype(np.int64),
        "y": y.astype(np.int64),
        "boundary": whole(boundary),
        "longest": whole(longest),
    }


def _asked(answer: Any, given: Inputs, x: Array, y: Array) -> Any:
    tensors = (tensor(array) for array in (given["logits"], x, y))
    return answer(*tensors, int(given["boundary"]), int(given["longest"]))


def beginning_with_names(given: Inputs) -> Array:
    """(B, T): the inputs with a boundary at the beginning of every row."""
    x = given["x"].copy()
    x[:, 0] = given["boundary"]
    return x


def all_counting(given: Inputs) -> Array:
    """(B, T): the targets without any that is ignored."""
    next_ones = np.pad(given["x"][:, 1:], ((0, 0), (0, 1)))
    return np.where(given["y"] < 0, next_ones, given["y"])


def _by_letter(answer: Any, given: Inputs) -> Any:
    return _asked(answer, given, given["x"], given["y"])


def _first_letter(answer: Any, given: Inputs) -> Any:
    """Of one row, at one place."""
    x, y, logits = (tensor(given[name][:1]) for name in ("x", "y", "logits"))
    return answer(logits, x, y, int(given["boundary"]), 1)


def _apart(answer: Any, given: Inputs) -> Any:
    """Windows of one position each, which is on the boundary: the mean is that of all losses."""
    logits = tensor(given["logits"]).flatten(0, 1)[:, None]  # (B · T, 1, V)
    y = tensor(all_counting(given)).reshape(-1, 1)
    return answer(logits, torch.full_like(y, int(given["boundary"])), y, int(given["boundary"]), 1)


# The last four are worth no points: they say which rule goes wrong.
PROBE = Probe(
    _by_letter_inputs,
    {
        "losses": _by_letter,
        "first": _first_letter,
        "plain": lambda answer, given: _asked(
            answer, given, beginning_with_names(given), all_counting(given)
        ),
        "ignoring": lambda answer, given: _asked(
            answer, given, beginning_with_names(given), given["y"]
        ),
        "unknown": lambda answer, given: _asked(answer, given, given["x"], all_counting(given)),
        "apart": _apart,
    },
)
