"""What 10/mask asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch10_jax.sides import side_of
from course_tasks.inputs import Rng, values, whole
from course_tasks.probing import Case, Inputs, Probe


def _mask_inputs(rng: Rng) -> Inputs:
    T = int(rng.choice([6, 7]))
    real = np.ones(T, dtype=bool)
    real[0] = False
    # Two real symbols before it: padding that looks at one alone has weights without a gradient.
    real[int(rng.integers(3, T - 2))] = False
    scores = values(rng, T, T)
    scores[-2, 1] = 0.0  # a visible score that counts as false where truth is asked
    hidden = ~(np.tril(np.ones((T, T), dtype=bool)) & real & real[:, None])
    large = scores * 300
    # Whatever number stands for what is hidden, a row of scores lies far below it.
    large[T - 1] = -300 - np.abs(large[T - 1])
    wild = scores.copy()
    wild[hidden] = rng.uniform(95, 130, size=int(hidden.sum()))
    return {
        "scores": scores,
        "large": large.astype(np.float32),
        "wild": wild,
        "goal": values(rng, T, T),
        "real": real,
        "ends": real[::-1].copy(),  # real symbols first, padding last
        "T": whole(T),
    }


def _mask_inputs_at_the_edge(rng: Rng) -> Inputs:
    """A text that is all padding, in one of the cases."""
    inputs = _mask_inputs(rng)
    return {**inputs, "ends": np.zeros_like(inputs["real"])}


def _mask_elsewhere(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    return function(side.array(given["scores"]), side.array(given["ends"]))


def _mask(scores: str, *, padded: bool = True) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        side, function = side_of(answer)
        real = given["real"] if padded else np.ones_like(given["real"])
        return function(side.array(given[scores]), side.array(real))

    return ask


def _mask_gradient(scores: str) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        side, function = side_of(answer)
        real, goal = side.array(given["real"]), side.array(given["goal"])
        return side.gradient(lambda s: (function(s, real) * goal).sum(), side.array(given[scores]))

    return ask


PROBE = Probe(
    _mask_inputs,
    {
        "whole": _mask("scores", padded=False),
        "values": _mask("scores"),
        "large": _mask("large"),
        "ends": _mask_elsewhere,
        "gradient": _mask_gradient("scores"),
        "wild": _mask_gradient("wild"),
    },
    same_sizes="JAX compiles every operation again for other sizes, which takes seconds",
    second=_mask_inputs_at_the_edge,
)
