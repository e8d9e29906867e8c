"""What 10/head asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch10_jax.shared import dimensions, matrix
from course_tasks.ch10_jax.sides import Side, side_of
from course_tasks.inputs import Rng, values, whole
from course_tasks.probing import Case, Inputs, Probe


def _head_inputs(rng: Rng) -> Inputs:
    C, D, E, T = dimensions(rng, (7, 5, 9, 6), (5, 9, 7, 8))
    inputs = {"x": values(rng, T, C), "T": whole(T), "C": whole(C)}
    for set_ in ("first", "second"):
        inputs[f"{set_}_query"] = matrix(rng, C, D, gain=1.5)
        inputs[f"{set_}_key"] = matrix(rng, C, D, gain=1.5)
        inputs[f"{set_}_value"] = matrix(rng, C, E)
        inputs[f"{set_}_sink"] = np.asarray(rng.uniform(0.6, 1.6), dtype=np.float32)
    return inputs | {"D": whole(D), "E": whole(E)}


def _head_inputs_at_the_edge(rng: Rng) -> Inputs:
    """A sink below 0, and one that is 0, which is a score like any other."""
    inputs = _head_inputs(rng)
    below = np.asarray(rng.uniform(-1.6, -0.6), dtype=np.float32)
    return {**inputs, "first_sink": below, "second_sink": np.zeros_like(below)}


def _head_tree(side: Side, given: Inputs, which: str) -> dict[str, Any]:
    names = ("query", "key", "value", "sink")
    return {name: side.array(given[f"{which}_{name}"]) for name in names}


def _head(which: str) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        side, function = side_of(answer)
        return function(_head_tree(side, given, which), side.array(given["x"]))

    return ask


def _head_compiled(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    call, x = side.compiled(function), side.array(given["x"])
    call(_head_tree(side, given, "first"), x)
    return call(_head_tree(side, given, "second"), x)


def _head_kept(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    tree = _head_tree(side, given, "first")
    function(tree, side.array(given["x"]))
    return tree


PROBE = Probe(
    _head_inputs,
    {
        "values": _head("first"),
        "other": _head("second"),
        "compiled": _head_compiled,
        "kept": _head_kept,
    },
    same_sizes="JAX compiles every operation again for other sizes, which takes seconds",
    second=_head_inputs_at_the_edge,
)
