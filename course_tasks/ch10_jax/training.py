"""How chapter 10 asks for training: a step, keys for a tree, and a mask with its gradient."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_tasks.ch10_jax.drawing import parts_of, values
from course_tasks.ch10_jax.sides import Side, grown, side_of
from course_tasks.inputs import Rng, whole
from course_tasks.probing import Case, Inputs, Probe

# Numbers drawn from the key that comes back: enough to be told from every leaf.
DRAWS = 200

# --- step -----------------------------------------------------------------------------------------


def _step_inputs(rng: Rng) -> Inputs:
    N, C, D = 11, int(rng.choice([3, 4])), int(rng.choice([5, 6]))
    inputs = {"x": values(rng, N, C), "y": 3 * values(rng, N, 2)}
    for set_ in ("parameters", "velocity"):
        gain = 1.0 if set_ == "parameters" else 0.4
        inputs[f"{set_}_weight"] = gain * values(rng, C, D)
        inputs[f"{set_}_bias"] = gain * values(rng, D)
        inputs[f"{set_}_last_0"] = gain * values(rng, D, 2)
        inputs[f"{set_}_last_1"] = gain * values(rng, 2)
    return inputs | {
        "learning_rate": np.asarray(rng.uniform(0.05, 0.2), dtype=np.float32),
        "momentum": np.asarray(rng.uniform(0.3, 0.7), dtype=np.float32),
        # Below the norm of any single leaf's gradient that these sizes give.
        "largest_norm": np.asarray(rng.uniform(0.1, 0.2), dtype=np.float32),
    }


def squared_loss(parameters: Any, batch: Any) -> Any:
    """A small network's mean squared error, in operations that JAX and torch share."""
    x, y = batch
    hidden = x @ parameters["first"]["weight"] + parameters["first"]["bias"]
    hidden = hidden / (1 + hidden * hidden)
    last, shift = parameters["last"]
    return ((hidden @ last + shift - y) ** 2).mean()


def _step_tree(side: Side, given: Inputs, which: str) -> dict[str, Any]:
    return grown(
        side.array,
        {
            "first": {"weight": given[f"{which}_weight"], "bias": given[f"{which}_bias"]},
            "last": [given[f"{which}_last_0"], given[f"{which}_last_1"]],
        },
    )


def _step_call(
    side: Side, function: Callable[..., Any], given: Inputs, norm: float | None
) -> tuple[Any, dict[str, Any], dict[str, Any]]:
    """The result of one step, and the trees that were passed in."""
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
        return parts_of(result, ("parameters", "velocity", "loss"))

    return ask


def _step_kept(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    _, parameters, velocity = _step_call(side, function, given, None)
    return {"parameters": parameters, "velocity": velocity}


# --- keys -----------------------------------------------------------------------------------------


def _keys_inputs(rng: Rng) -> Inputs:
    # Rows and columns differ by a factor of 2 and more, so that their roots are told apart.
    C, D, V = int(rng.choice([40, 44])), int(rng.choice([12, 14, 16])), int(rng.choice([100, 110]))
    return {
        "seed": whole(int(rng.integers(2**31))),
        "C": whole(C),
        "D": whole(D),
        "V": whole(V),
    }


def shapes_of(given: Inputs) -> dict[str, Any]:
    """The tree of shapes that is to be drawn."""
    C, D, V = (int(given[name]) for name in ("C", "D", "V"))
    head = {"query": (C, D), "key": (C, D), "value": (C, D)}
    return {"tokens": (V, C), "head": head, "output": (C, V)}


def _drawn(answer: Any, given: Inputs, shift: int) -> dict[str, Any]:
    side, function = side_of(answer)
    result = function(side.key(int(given["seed"]) + shift), shapes_of(given))
    parts = parts_of(result, ("tree", "key"))
    return {"tree": parts["tree"], "next": side.normal(parts["key"], DRAWS)}


def _keys(shift: int) -> Case:
    return lambda answer, given: _drawn(answer, given, shift)


def _keys_given(answer: Any, given: Inputs) -> Any:
    """What the given key itself draws; the answer is only asked whether it runs at all."""
    side, function = side_of(answer)
    function(side.key(int(given["seed"])), shapes_of(given))
    return side.normal(side.key(int(given["seed"])), DRAWS)


def _keys_watched(answer: Any, given: Inputs) -> Any:
    side, function = side_of(answer)
    with side.watching_keys():
        parts = parts_of(function(side.key(int(given["seed"])), shapes_of(given)), ("tree", "key"))
        side.normal(parts["key"], 1)
    return 1


# --- mask -----------------------------------------------------------------------------------------


def _mask_inputs(rng: Rng) -> Inputs:
    T = int(rng.choice([6, 7]))
    real = np.ones(T, dtype=bool)
    real[0] = False
    real[int(rng.integers(2, T - 2))] = False
    scores = values(rng, T, T)
    hidden = ~(np.tril(np.ones((T, T), dtype=bool)) & real & real[:, None])
    wild = scores.copy()
    wild[hidden] = rng.uniform(95, 130, size=int(hidden.sum()))
    return {
        "scores": scores,
        "large": (scores * 300).astype(np.float32),
        "wild": wild,
        "goal": values(rng, T, T),
        "real": real,
        "T": whole(T),
    }


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


STEP = Probe(
    _step_inputs,
    {
        "plain": _step(1e6),
        "clipped": _step(None),
        "compiled": _step(None, compiled=True),
        "kept": _step_kept,
    },
)


KEYS = Probe(
    _keys_inputs,
    {
        "first": _keys(0),
        "again": _keys(0),
        "other": _keys(1),
        "given": _keys_given,
        "watched": _keys_watched,
    },
)


MASK = Probe(
    _mask_inputs,
    {
        "whole": _mask("scores", padded=False),
        "values": _mask("scores"),
        "large": _mask("large"),
        "gradient": _mask_gradient("scores"),
        "wild": _mask_gradient("wild"),
    },
)
