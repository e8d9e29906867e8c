"""What 12/rotary asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, number, tensor, values, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    B, H, T = 2, 3, int(rng.integers(4, 6))
    R = 2 * int(rng.integers(3, 5))
    # One text begins, the other one continues a cache.
    starts = np.array([0, int(rng.integers(20, 50))])
    positions = starts[:, None] + np.arange(T)
    positions[1, T // 2 :] += int(rng.integers(2, 6))  # a gap, as after symbols that are left out
    return _of(rng, (B, H, T, R + 2 * int(rng.integers(2, 4))), R, positions)


def _one_token(rng: Rng) -> Inputs:
    """One token of one text in one head, of which one pair is turned and one is left."""
    return _of(rng, (1, 1, 1, 4), 2, rng.integers(2, 6, (1, 1)))


def _of(rng: Rng, shape: tuple[int, int, int, int], R: int, positions: Array) -> Inputs:
    B, H, T, D = shape
    return {
        "x": values(rng, B, H, T, D),
        "positions": positions.astype(np.int64),
        "base": number(float(rng.choice([20.0, 50.0, 100.0]))),
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
        "D": whole(D),
        "R": whole(R),
    }


def _turned(answer: Any, given: Inputs, left: int) -> Any:
    """Of vectors that have so many numbers beside those that are turned."""
    where, R = tensor(given["positions"]), int(given["R"])
    return answer(tensor(given["x"][..., : R + left].copy()), where, R, float(given["base"]))


def _part(answer: Any, given: Inputs) -> Any:
    return _turned(answer, given, int(given["D"]) - int(given["R"]))


def _whole(answer: Any, given: Inputs) -> Any:
    return _turned(answer, given, 0)


def _odd(answer: Any, given: Inputs) -> Any:
    """R is even; D need not be."""
    return _turned(answer, given, 1)


PROBE = Probe(_inputs, {"part": _part, "whole": _whole, "odd": _odd}, second=_one_token)
