"""What 10/step asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_tasks.ch10_jax.shared import dimensions
from course_tasks.ch10_jax.sides import Side, grown, side_of
from course_tasks.inputs import Rng, parts_of, values
from course_tasks.probing import Case, Inputs, Probe


def _step_inputs(rng: Rng) -> Inputs:
    N, C, D = dimensions(rng, (11, 3, 6), (11, 4, 5))
    inputs = {"x": values(rng, N, C), "y": 3 * values(rng, N, 2)}
    for set_ in ("parameters", "velocity"):
        gain = 1.0 if set_ == "parameters" else 0.4
        inputs[f"{set_}_weight"] = gain * values(rng, C, D)
        inputs[f"{set_}_bias"] = gain * values(rng, D)
        inputs[f"{set_}_last_0"] = gain * values(rng, D, 2)
        inputs[f"{set_}_last_1"] = gain * values(rng, 2)
    return inputs | {
        "as_tuple": np.asarray(False),
        "solved": np.asarray(False),
        "learning_rate": np.asarray(rng.uniform(0.05, 0.2), dtype=np.float32),
        "momentum": np.asarray(rng.uniform(0.3, 0.7), dtype=np.float32),
        # Below the norm of any single leaf's gradient that these sizes give.
        "largest_norm": np.asarray(rng.uniform(0.1, 0.2), dtype=np.float32),
    }


def _step_inputs_at_the_edge(rng: Rng) -> Inputs:
    """A tree with a tuple in it, and without clipping a loss and a gradient that are 0 already."""
    return {**_step_inputs(rng), "as_tuple": np.asarray(True), "solved": np.asarray(True)}


def squared_loss(parameters: Any, batch: Any) -> Any:
    """A small network's mean squared error, in operations that JAX and torch share."""
    x, y = batch
    hidden = x @ parameters["first"]["weight"] + parameters["first"]["bias"]
    hidden = hidden / (1 + hidden * hidden)
    last, shift = parameters["last"]
    return ((hidden @ last + shift - y) ** 2).mean()


def _step_tree(side: Side, given: Inputs, which: str) -> dict[str, Any]:
    tree = {
        "first": {"weight": given[f"{which}_weight"], "bias": given[f"{which}_bias"]},
        "last": [given[f"{which}_last_0"], given[f"{which}_last_1"]],
    }
    made: dict[str, Any] = grown(side.array, tree)
    return {**made, "last": tuple(made["last"])} if given["as_tuple"] else made


def _step_call(
    side: Side, function: Callable[..., Any], given: Inputs, norm: float | None
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The result of one step, and the trees that were passed in."""
    if norm is not None and given["solved"]:
        zero = ("y", "parameters_last_0", "parameters_last_1")
        given = {**given, **{name: np.zeros_like(given[name]) for name in zero}}
    parameters, velocity = (_step_tree(side, given, w) for w in ("parameters", "velocity"))
    batch = (side.array(given["x"]), side.array(given["y"]))
    largest = given["largest_norm"] if norm is None else np.asarray(norm, dtype=np.float32)
    rest = (given["learning_rate"], given["momentum"], largest)
    numbers = (side.array(number) for number in rest)
    return function(squared_loss, parameters, velocity, batch, *numbers), parameters, velocity


def _step(norm: float | None, *, compiled: bool = False) -> Case:
    def ask(answer: Any, given: Inputs) -> Any:
        side, function = side_of(answer)
        call = function
        if compiled:
            whole = side.compiled(lambda *rest: function(squared_loss, *rest))
            call = lambda _, *rest: whole(*rest)  # noqa: E731
        result, _, _ = _step_call(side, call, given, norm)
        return parts_of(result, "parameters", "velocity", "loss")

    return ask


def _step_kept(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    _, parameters, velocity = _step_call(side, function, given, None)
    return {"parameters": parameters, "velocity": velocity}


PROBE = Probe(
    _step_inputs,
    {
        "plain": _step(1e6),
        "clipped": _step(None),
        "compiled": _step(None, compiled=True),
        "kept": _step_kept,
    },
    same_sizes="JAX compiles every operation again for other sizes, which takes seconds",
    second=_step_inputs_at_the_edge,
)
