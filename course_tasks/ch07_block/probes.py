"""What the tasks of chapter 07 ask: inputs and calls, no answers."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_tasks.answers import Array
from course_tasks.ch07_block import streams
from course_tasks.ch07_block.draws import drawn, sizes
from course_tasks.ch07_block.suspects import Form, Runs, suspect
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe, drawn_by_the_judge, load_weights

COUNTED = ("embeddings", "attention", "feed_forward", "norms", "output", "total")
"""What a parameter count says, by name."""

CONFIGURATIONS = ("plain", "wide", "tied", "bare")
SIZES = ("vocab_size", "block_size", "n_layer", "n_head", "n_embd", "hidden")

FAULTS = ("future", "batch", "stream")
"""What an inspector says of a block, by name."""

BLOCKS = 8
"""How many blocks an inspector is given."""


# --- layer-norm -----------------------------------------------------------------------------------


def _layer_norm_inputs(rng: Rng) -> Inputs:
    B, T = int(rng.integers(2, 4)), int(rng.integers(6, 8))
    groups = int(rng.integers(2, 4))
    size = int(rng.choice([4, 5]))
    C = groups * size
    # Positions differ in size and in mean, groups within a position too, so that every choice of
    # what is normalised together gives other numbers.
    x = rng.normal(size=(B, T, C)) * rng.uniform(0.6, 1.6, (B, T, 1))
    x += np.repeat(rng.normal(size=(B, T, groups)) * 1.5, size, axis=-1)
    constant = x.copy()
    constant[B - 1, 1] = rng.uniform(2.0, 3.0)
    return {
        "x": x,
        "constant": constant,
        "gain": rng.uniform(0.5, 1.5, C) * rng.choice([-1.0, 1.0], C),
        "shift": rng.uniform(0.5, 1.5, C) * rng.choice([-1.0, 1.0], C),
        # Large enough to be felt: under the root and beside it are then two things.
        "eps": np.asarray(rng.choice([0.1, 0.2, 0.3])),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "groups": whole(groups),
    }


def _normed(answer: Any, given: Inputs, x: str, groups: int) -> Any:
    gain, shift = tensor(given["gain"]), tensor(given["shift"])
    return answer(tensor(given[x]), gain, shift, groups, float(given["eps"]))


def _one_group(answer: Any, given: Inputs) -> Any:
    return _normed(answer, given, "x", 1)


def _several_groups(answer: Any, given: Inputs) -> Any:
    return _normed(answer, given, "x", int(given["groups"]))


def _constant_group(answer: Any, given: Inputs) -> Any:
    return _normed(answer, given, "constant", int(given["groups"]))


# --- feed-forward ---------------------------------------------------------------------------------


def _feed_forward_inputs(rng: Rng) -> Inputs:
    B, T, C = sizes(rng)
    hidden = int(rng.integers(11, 15))
    gate = drawn(rng, hidden, C)
    return {
        # With nothing below 0 in input and gate, every gate is open.
        "open_x": np.abs(rng.normal(size=(B, T, C))).astype(np.float32) + 0.2,
        "open_gate": np.abs(gate),
        "x": rng.normal(size=(B, T, C)).astype(np.float32) * 1.5,
        "gate": gate,
        "up": drawn(rng, hidden, C),
        "down": drawn(rng, C, hidden),
        "B": whole(B),
        "T": whole(T),
        "C": whole(C),
        "hidden": whole(hidden),
    }


def _gated(answer: Any, given: Inputs, x: str, gate: str) -> Any:
    module = answer(int(given["C"]), int(given["hidden"]))
    weights = {"gate": given[gate], "up": given["up"], "down": given["down"]}
    load_weights(module, {f"{name}.weight": value for name, value in weights.items()})
    # The task asks for layers without a bias; one that has it should not fail for its first values.
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            if name.endswith(".bias"):
                parameter.zero_()
        return module(tensor(given[x]))


def _gates_open(answer: Any, given: Inputs) -> Any:
    return _gated(answer, given, "open_x", "open_gate")


def _gates_mixed(answer: Any, given: Inputs) -> Any:
    return _gated(answer, given, "x", "gate")


# --- parameter-count ------------------------------------------------------------------------------


def _count_inputs(rng: Rng) -> Inputs:
    given: dict[str, Array] = {}
    for name in CONFIGURATIONS:
        n_head = int(rng.integers(2, 4))
        n_embd = n_head * int(rng.integers(3, 5))
        # Seven times C is neither the usual width nor a multiple that it could be taken for.
        hidden = 4 * n_embd if name == "plain" else 7 * n_embd + 1
        n_layer = int(rng.integers(2, 4))
        V, T = int(rng.integers(17, 23)), int(rng.integers(13, 16))
        given[name] = np.array([V, T, n_layer, n_head, n_embd, hidden], dtype=np.int64)
    return given


def _count(name: str, answer: Any, given: Inputs) -> Any:
    named = {size: int(n) for size, n in zip(SIZES, given[name], strict=True)}
    result = answer(**named, bias=name != "bare", tied=name == "tied")
    if not isinstance(result, dict):
        raise TypeError(
            f"the function should return a dict with {', '.join(COUNTED)}; "
            f"it returned an object of type {type(result).__name__}"
        )
    missing = [part for part in COUNTED if part not in result]
    if missing:
        raise KeyError(f"the dict that was returned has no entry {missing[0]!r}")
    return {part: int(result[part]) for part in COUNTED}


# --- find-fault -----------------------------------------------------------------------------------


def _inspect(place: int, answer: Any, given: Inputs) -> Any:
    form = Form(*(given[part][place] for part in Form._fields))
    weights, gains, runs = tensor(given["weights"]), tensor(given["gains"]), Runs()
    torch.manual_seed(int(given["seed"]) + place)

    def block(x: Any) -> Tensor:
        x = torch.as_tensor(x)
        y = suspect(form, weights, gains, x.double()).to(x.dtype)  # an inspector may work in single
        runs.keep(x, y)
        return y

    result = answer(block, int(given["B"]), int(given["T"]), int(given["C"]))
    if not isinstance(result, dict) or any(name not in result for name in FAULTS):
        raise TypeError(
            f"the inspector should return a dict with {', '.join(FAULTS)}; it returned "
            + (str(sorted(map(str, result))) if isinstance(result, dict) else repr(result)[:60])
        )
    said = {name: bool(result[name]) for name in FAULTS}
    return said | {"runs": runs.pairs | {"derivatives": runs.derivatives}}


def _each(case: Callable[..., Any], names: tuple[Any, ...], prefix: str = "") -> dict[str, Any]:
    return {f"{prefix}{name}": functools.partial(case, name) for name in names}


PROBES: dict[str, Probe] = {
    "layer-norm": Probe(
        _layer_norm_inputs,
        {"whole": _one_group, "groups": _several_groups, "constant": _constant_group},
    ),
    "feed-forward": Probe(_feed_forward_inputs, {"open": _gates_open, "mixed": _gates_mixed}),
    "residual": Probe(
        streams.residual_inputs,
        {
            "stream": streams.stream,
            "gradient": streams.stream_gradient,
            "parameters": streams.stream_parameters,
        },
    ),
    "pre-norm-block": Probe(
        streams.block_inputs,
        {
            "plain": streams.block_plain,
            "weighted": streams.block_weighted,
            "norms": streams.block_norms,
        },
    ),
    "parameter-count": Probe(_count_inputs, _each(_count, CONFIGURATIONS)),
    "find-fault": Probe(
        drawn_by_the_judge,
        _each(_inspect, tuple(range(BLOCKS)), "block_"),
        kept_back=frozenset({"order"}),
    ),
}
