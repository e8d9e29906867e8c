"""What 07/layer-norm asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe


def _layer_norm_inputs(rng: Rng) -> Inputs:
    B, T = int(rng.integers(2, 4)), int(rng.integers(6, 8))
    groups = int(rng.integers(2, 4))
    return _positions(rng, B, T, groups, int(rng.choice([4, 5])))


def _least(rng: Rng) -> Inputs:
    """One sample whose groups are single channels, of which none differs from its mean; and one
    position whose only group is constant.
    """
    inputs = _positions(rng, 1, 2, int(rng.integers(3, 7)), 1)
    constant = np.full_like(inputs["x"][:, :1], _level(rng))
    return {**inputs, "constant": constant, "constant_groups": np.array([1])}


def _positions(rng: Rng, B: int, T: int, groups: int, size: int) -> Inputs:
    C = groups * size
    # Positions differ in size and in mean, groups within a position too, so that every choice of
    # what is normalised together gives other numbers.
    x = rng.normal(size=(B, T, C)) * rng.uniform(0.6, 1.6, (B, T, 1))
    x += np.repeat(rng.normal(size=(B, T, groups)) * 1.5, size, axis=-1)
    x = x.astype(np.float32)
    constant = x.copy()
    constant[B - 1, T - 1, :size] = _level(rng)
    return {
        "x": x,
        "constant": constant,
        "gain": _signed(rng, C),
        "shift": _signed(rng, C),
        # Large enough to be felt: under the root and beside it are then two things.
        "eps": np.asarray(rng.choice([0.1, 0.2, 0.3])),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "groups": whole(groups),
        "constant_groups": np.array([groups]),
    }


def _level(rng: Rng) -> float:
    """A number of few bits: the mean of any number of them is the number itself."""
    return int(rng.integers(17, 24)) / 8


def _signed(rng: Rng, C: int) -> Array:
    return (rng.uniform(0.5, 1.5, C) * rng.choice([-1.0, 1.0], C)).astype(np.float32)


def _normed(answer: Any, given: Inputs, x: str, groups: int) -> Any:
    gain, shift = tensor(given["gain"]), tensor(given["shift"])
    return answer(tensor(given[x]), gain, shift, groups, float(given["eps"]))


def _one_group(answer: Any, given: Inputs) -> Any:
    return _normed(answer, given, "x", 1)


def _several_groups(answer: Any, given: Inputs) -> Any:
    return _normed(answer, given, "x", int(given["groups"]))


def _constant_group(answer: Any, given: Inputs) -> Any:
    return _normed(answer, given, "constant", int(given["constant_groups"][0]))


PROBE = Probe(
    _layer_norm_inputs,
    {"whole": _one_group, "groups": _several_groups, "constant": _constant_group},
    second=_least,
)
