"""What the tasks of chapter 02 ask: small tensors drawn fresh, one call of the answer a case.

Where chance is the subject, the draws themselves are the input, so that two right answers agree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.probing import Case, Inputs, Probe, drawn_by_the_judge


def _on(*names: str) -> Case:
    """The answer called with the inputs of these names."""
    return lambda answer, given: answer(*(torch.from_numpy(given[name]) for name in names))


# cosine


def _vectors(rng: np.random.Generator, B: int, T: int, C: int) -> Array:
    """(B, T, C) float32 whose lengths differ by a factor of up to 8."""
    lengths = rng.uniform(0.5, 4.0, size=(B, T, 1))
    return np.asarray(rng.normal(size=(B, T, C)) * lengths).astype(np.float32)


def _cosine_inputs(rng: np.random.Generator) -> Inputs:
    B = 2
    T, S, C = (int(size) for size in rng.permutation([3, 4, 5, 6, 7])[:3])
    x, y = _vectors(rng, B, T, C), _vectors(rng, B, S, C)
    inputs = {
        "B": np.array(B),
        "T": np.array(T),
        "S": np.array(S),
        "C": np.array(C),
        "x": x,
        "y": y,
        "x0": x.copy(),
        "y0": y.copy(),
    }
    inputs["x0"][0, rng.integers(T)] = 0
    inputs["y0"][1, rng.integers(S)] = 0
    return inputs


COSINE = Probe(_cosine_inputs, {"cosines": _on("x", "y"), "zeros": _on("x0", "y0")})

# safe-softmax


def _hide(rng: np.random.Generator, scores: Array, rows: Array) -> Array:
    """−inf in one to T − 2 places of each of these rows."""
    T = scores.shape[1]
    for t in rows:
        scores[t, rng.choice(T, int(rng.integers(1, T - 1)), replace=False)] = -np.inf
    return scores


def _safe_softmax_inputs(rng: np.random.Generator) -> Inputs:
    T = int(rng.integers(6, 9))
    order = rng.permutation(T)
    ordinary = _hide(rng, rng.normal(0.7, 1.5, size=(T, T)), order[2:])
    # One row near 0, one near 10⁴ and one near −10⁴: an exponential fails in a way of its own in
    # each. One more spans the whole range.
    others = rng.uniform(1.5e3, 9e3, size=T - 3) * rng.choice([-1, 1], size=T - 3)
    centres = np.concatenate([[0, 1e4, -1e4], others])
    large = rng.normal(0, 1.5, size=(T, T))
    large[order] += centres[:, None]
    large[order[3], rng.choice(T, 2, replace=False)] = [1e4, -1e4]
    large = _hide(rng, large, order[4:])
    empty = ordinary.copy()
    empty[rng.choice(T, 2, replace=False)] = -np.inf
    return {
        "T": np.array(T),
        # Float64: beside 10⁴ float32 has three decimals left, too few to tell an honest answer from
        # a wrong one.
        "ordinary": ordinary,
        "large": large,
        "empty": empty,
    }


SAFE_SOFTMAX = Probe(
    _safe_softmax_inputs, {name: _on(name) for name in ("ordinary", "large", "empty")}
)

# variance


def _variance_inputs(rng: np.random.Generator) -> Inputs:
    N, D = int(rng.integers(30, 50)), int(rng.integers(5, 10))
    return {
        "N": np.array(N),
        "D": np.array(D),
        "queries": rng.normal(size=(N, D)).astype(np.float32),
        "keys": rng.normal(size=(N, D)).astype(np.float32),
    }


def _variance(answer: Callable[..., Any], given: Inputs) -> Any:
    queries, keys = torch.from_numpy(given["queries"]), torch.from_numpy(given["keys"])
    results = answer(queries, keys)
    try:
        plain, scaled = results
    except (TypeError, ValueError) as error:
        raise TypeError(
            "the answer does not return two results: the variances of the dot products, and those "
            "of the divided ones"
        ) from error
    return {"plain": plain, "scaled": scaled}


VARIANCE = Probe(_variance_inputs, {"growth": _variance})

# evenness


def _evenness_inputs(rng: np.random.Generator) -> Inputs:
    B, T = int(rng.integers(2, 4)), int(rng.integers(6, 9))
    e = np.tril(np.exp(rng.normal(0, 1.2, size=(B, T, T))))
    for b in range(B):
        for t in range(3, T):
            # Hidden for another reason than the future: what a row may see is more than what it
            # sees.
            e[b, t, rng.integers(t)] = 0
    e[0, T - 2, : T - 2] = 0  # a row that sees one position alone
    return {
        "B": np.array(B),
        "T": np.array(T),
        "weights": (e / e.sum(-1, keepdims=True)).astype(np.float32),
    }


EVENNESS = Probe(_evenness_inputs, {"evenness": _on("weights")})

# smoother


def _smoother_inputs(rng: np.random.Generator) -> Inputs:
    N, M, C = int(rng.integers(4, 7)), int(rng.integers(7, 10)), 3
    near = rng.uniform(0, 4, size=(N, 2))
    angle = rng.uniform(0, 2 * math.pi, size=N)
    # So far that e^score is 0 in every floating-point number there is.
    away = rng.uniform(90, 120, size=N)[:, None] * np.stack([np.cos(angle), np.sin(angle)], 1)
    # Between the widths at which two wrong uses of it come to the same: √½, 1, √2 and others.
    low, high = [(0.73, 0.77), (1.3, 1.38), (1.46, 1.6)][int(rng.integers(3))]
    width = rng.uniform(low, high)
    return {
        "N": np.array(N),
        "M": np.array(M),
        "C": np.array(C),
        "near": near,
        "far": near + away,
        "known": rng.uniform(0, 4, size=(M, 2)),
        "values": rng.normal(3, 2, size=(M, C)),
        "width": np.array(round(float(width), 3)),
    }


def _smoother(at: str) -> Case:
    def case(answer: Callable[..., Any], given: Inputs) -> Any:
        arrays = (torch.from_numpy(given[name]) for name in (at, "known", "values"))
        return answer(*arrays, float(given["width"]))

    return case


SMOOTHER = Probe(_smoother_inputs, {"near": _smoother("near"), "far": _smoother("far")})

# find-fault


SUSPECTS = ("one", "two", "three", "four", "five", "six", "seven")
FIND_FAULT = Probe(drawn_by_the_judge, {name: _on("x", name) for name in SUSPECTS})

PROBES: dict[str, Probe] = {
    "cosine": COSINE,
    "safe-softmax": SAFE_SOFTMAX,
    "variance": VARIANCE,
    "evenness": EVENNESS,
    "smoother": SMOOTHER,
    "find-fault": FIND_FAULT,
}
