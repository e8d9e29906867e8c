"""What the tasks of chapter 01 ask: small tensors drawn fresh, one call of the answer a case.

An answer that takes a sequence and averages it is also given the identity: where channel c is 1 at
position c and 0 elsewhere, what comes out are the weights themselves, however the answer works.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.probing import Case, Inputs, Probe


def _sizes(rng: np.random.Generator) -> tuple[int, int, int]:
    """B, T and C, all different."""
    B, C = (int(size) for size in rng.permutation([2, 3, 4])[:2])
    return B, int(rng.integers(5, 10)), C


def _values(rng: np.random.Generator, *shape: int) -> Array:
    """Float32, because PyTorch multiplies no float32 by a float64 and `torch.ones` is float32."""
    return rng.normal(size=shape).astype(np.float32)


def _on(name: str) -> Case:
    """The answer called with the input of this name."""
    return lambda answer, given: answer(torch.from_numpy(given[name]))


# running-sum


def _running_sum_inputs(rng: np.random.Generator) -> Inputs:
    B, T, C = _sizes(rng)
    return {
        "B": np.array(B),
        "C": np.array(C),
        "T": np.array(T),
        "x": _values(rng, B, C, T),
        # As many channels as positions: here a product from the wrong side raises no error.
        "square": _values(rng, B, T, T),
        "identity": np.eye(T, dtype=np.float32)[None],
    }


RUNNING_SUM = Probe(
    _running_sum_inputs,
    {"sums": _on("x"), "square": _on("square"), "weights": _on("identity")},
)

# past-mean


def _past_mean_inputs(rng: np.random.Generator) -> Inputs:
    B, T, C = _sizes(rng)
    return {
        "B": np.array(B),
        "T": np.array(T),
        "C": np.array(C),
        "x": _values(rng, B, T, C),
        "identity": np.eye(T, dtype=np.float32)[None],
    }


PAST_MEAN = Probe(_past_mean_inputs, {"means": _on("x"), "weights": _on("identity")})

# window


def _window_inputs(rng: np.random.Generator) -> Inputs:
    T = int(rng.integers(6, 10))
    width = int(rng.integers(2, T - 2))
    return {"T": np.array(T), "width": np.array(width)}


WINDOW = Probe(
    _window_inputs,
    {
        "weights": lambda answer, given: answer(int(given["T"]), int(given["width"])),
        # A window wider than the sequence: every row averages all of its past.
        "wide": lambda answer, given: answer(
            int(given["T"]), int(given["T"]) + int(given["width"])
        ),
    },
)

# decay


def _decay_inputs(rng: np.random.Generator) -> Inputs:
    return {
        "T": np.array(int(rng.integers(5, 10))),
        "decay": np.array(round(float(rng.uniform(0.55, 0.9)), 2)),
    }


DECAY = Probe(
    _decay_inputs,
    {"weights": lambda answer, given: answer(int(given["T"]), float(given["decay"]))},
)

# masked-softmax


def _masked_softmax_inputs(rng: np.random.Generator) -> Inputs:
    B, T = int(rng.integers(2, 5)), int(rng.integers(5, 8))
    visible = rng.random((B, T, T)) < 0.5
    rows = np.arange(T)
    for b in range(B):
        # Something to see and something to hide in every row and in every column.
        order = rng.permutation(T)
        visible[b, rows, order] = True
        visible[b, rows, np.roll(order, 1)] = False
    return {
        "B": np.array(B),
        "T": np.array(T),
        # Far enough from 0 that a fill of 0 shows, and not all on one side of it.
        "scores": rng.normal(0.5, 1.5, size=(B, T, T)),
        "visible": visible,
    }


def _masked_softmax(dtype: torch.dtype) -> Case:
    def case(answer: Callable[..., Any], given: Inputs) -> Any:
        scores = torch.from_numpy(given["scores"]).to(dtype)
        return answer(scores, torch.from_numpy(given["visible"]))

    return case


MASKED_SOFTMAX = Probe(
    _masked_softmax_inputs,
    {
        "weights": _masked_softmax(torch.float32),
        # Sixteen digits, in which even a fill of −1e-9 can be read off the weights.
        "precise": _masked_softmax(torch.float64),
    },
)

# find-fault


def _sound_rows(rng: np.random.Generator, T: int) -> Array:
    """(T, T) weights of the past whose rows sum to 1, up to the noise that float32 leaves."""
    weights = np.tril(rng.uniform(0.2, 1.0, size=(T, T)))
    # A weight of 0 on the past is no fault. Column 0 stays, so that no row becomes empty.
    weights[:, 1:] *= rng.random((T, T - 1)) > 0.15
    np.fill_diagonal(weights, rng.uniform(0.2, 1.0, size=T))
    # Three rows that do not see themselves, and a last one that sees nothing else: in them an
    # answer that forbids the diagonal, or adds up columns, differs from one that accuses all.
    unaware = rng.choice(np.arange(1, T - 1), 3, replace=False)
    weights[unaware, unaware] = 0
    weights[-1, :-1] = 0
    weights /= weights.sum(1, keepdims=True)
    noise = rng.uniform(4e-7, 6e-7, size=(T, 1)) * rng.choice([-1, 1], size=(T, 1))
    return np.asarray(weights * (1 + noise))


def _ahead(rng: np.random.Generator, weights: Array) -> Array:
    T = len(weights)
    for t in rng.choice(T - 1, 2, replace=False):
        leak = rng.uniform(0.1, 0.4)
        weights[t] *= 1 - leak
        weights[t, rng.integers(t + 1, T)] += leak
    return weights


def _off_sum(rng: np.random.Generator, weights: Array) -> Array:
    low, high = rng.choice(len(weights) - 1, 2, replace=False)
    weights[low] *= rng.uniform(0.4, 0.8)
    weights[high] *= rng.uniform(1.25, 2.0)
    return weights


def _signs(rng: np.random.Generator, weights: Array) -> Array:
    for t in rng.choice(np.arange(2, len(weights) - 1), 2, replace=False):
        down, up = rng.choice(t + 1, 2, replace=False)
        step = weights[t, down] + rng.uniform(0.15, 0.4)
        weights[t, down] -= step
        weights[t, up] += step
    return weights


def _not_numbers(rng: np.random.Generator, weights: Array) -> Array:
    for t in rng.choice(len(weights) - 1, 2, replace=False):
        weights[t, rng.integers(t + 1)] = np.nan
    return weights


_FAULTS = {"ahead": _ahead, "sums": _off_sum, "signs": _signs, "nan": _not_numbers}


def _find_fault_inputs(rng: np.random.Generator) -> Inputs:
    T = int(rng.integers(6, 10))
    inputs: dict[str, Array] = {"T": np.array(T)}
    for name, put_in in _FAULTS.items():
        inputs[name] = put_in(rng, _sound_rows(rng, T)).astype(np.float32)
    return inputs


FIND_FAULT = Probe(_find_fault_inputs, {name: _on(name) for name in _FAULTS})

PROBES: dict[str, Probe] = {
    "running-sum": RUNNING_SUM,
    "past-mean": PAST_MEAN,
    "window": WINDOW,
    "decay": DECAY,
    "masked-softmax": MASKED_SOFTMAX,
    "find-fault": FIND_FAULT,
}
