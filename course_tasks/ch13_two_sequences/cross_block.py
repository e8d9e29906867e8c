"""What 13/cross-block asks."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe, load_weights

_BELOW_SMALL_FILLS, _ABOVE = -115.0, 2.0
_MOST_ROUNDING = 25.0


def _drawn(rng: Rng, *shape: int) -> Array:
    """Weights of a layer whose output is somewhat larger than its input."""
    return (1.5 * rng.normal(size=shape) / np.sqrt(shape[-1])).astype(np.float32)


def _inputs(rng: Rng) -> Inputs:
    B, S = 3, int(rng.integers(6, 8))
    real = np.ones((B, S), dtype=bool)
    real[0, S - 2 :] = False
    real[2, : S - 1] = False  # one word only, behind its padding
    T, H = int(rng.integers(4, 6)), int(rng.choice([2, 4]))
    while True:
        # A head has more channels than the memory has words, so that its weights can be solved for.
        given = _of(rng, real, T, H, S + 1)
        scores = _scores(given, 0)
        words, padding = (scores[..., s].max(axis=-1) for s in (real[0], ~real[0]))
        # At some position, words have scores so low that even a fill of −100 is above them, and at
        # some, most weight would be on padding.
        if (
            words.min() < _BELOW_SMALL_FILLS
            and (padding - words).max() > _ABOVE
            and max(map(_rounding, (scores, scores[..., real[0]]))) < _MOST_ROUNDING
        ):
            return given


def _smallest(rng: Rng) -> Inputs:
    """One sample and one head; the memory is shorter than what looks at it, and as wide."""
    return _of(rng, np.array([[False, True]]), 3, 1, 4, M=4)


def _scores(given: Inputs, b: int) -> Array:
    """(H, T, S) of one sample."""
    x, H = given["x"][b], int(given["H"])
    x = (x - x.mean(axis=-1, keepdims=True)) / np.sqrt(x.var(axis=-1, keepdims=True) + 1e-5)
    q = (x * given["gain"] + given["shift"]) @ given["query"].T
    q, k = (side.reshape(len(side), H, -1) for side in (q, given["memory"][b] @ given["key"].T))
    return np.einsum("thd,shd->hts", q, k) / np.sqrt(q.shape[-1])


def _rounding(scores: Array) -> float:
    """By how much weights differ for scores (H, T, S) in single precision, in multiples of its
    precision: the more, the larger the scores and the less of the weight one place has alone.
    """
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return float((np.abs(scores).max(axis=-1) * (1 - weights.max(axis=-1))).max())


def _of(rng: Rng, real: Array, T: int, H: int, D: int, M: int | None = None) -> Inputs:
    B, S = real.shape
    C = H * D
    M = M or int(rng.integers(13, 16))
    memory, query, key, value = values(rng, B, S, M), *(_drawn(rng, C, n) for n in (C, M, M))
    shift = values(rng, C)
    # In the first sample, which has padding, the scores are so large that nearly all the weight
    # goes to one place. What makes them so lies along a direction that only keys read: values as
    # large would turn rounding errors of a score into visible differences. And it is opposite to
    # the queries that the norm's shift gives, so that for most queries all scores are far below 0.
    # Then a sum of e^s is so small that anything added to it shows.
    direction = rng.normal(size=M).astype(np.float32)
    direction /= np.linalg.norm(direction)
    asked = (query @ shift).reshape(H, D)
    against = -asked / np.linalg.norm(asked, axis=1, keepdims=True) / 1.5
    key += np.outer(against.reshape(C) - key @ direction, direction)
    value -= np.outer(value @ direction, direction)
    memory[0] += 40 * np.outer(rng.uniform(1, 2.5, S), direction)
    # The last sample has no word, so that large scores and the small numbers below stay visible.
    empty = real.copy()
    empty[-1] = False
    x = values(rng, B, T, C) * 2 + 0.5
    x[min(1, B - 1), 0] *= 0.03  # with numbers as small as these, the norm's eps shows
    return {
        "x": x,
        "memory": memory,
        "all": np.ones((B, S), dtype=bool),
        "real": real,
        "empty": empty,
        "query": query,
        "key": key,
        "value": value,
        "projection": _drawn(rng, C, C),
        "gain": rng.uniform(0.5, 1.8, C).astype(np.float32),
        "shift": shift,
        "T": whole(T),
        "S": whole(S),
        "C": whole(C),
        "M": whole(M),
        "H": whole(H),
    }


def _on(answer: Any, given: Inputs, real: str) -> Any:
    module = answer(int(given["C"]), int(given["M"]), int(given["H"]))
    linear = ("query", "key", "value", "projection")
    load_weights(
        module,
        {f"{name}.weight": given[name] for name in linear}
        | {"norm.weight": given["gain"], "norm.bias": given["shift"]},
    )
    with torch.no_grad():
        # A bias costs only the point that is for having none.
        for name, parameter in module.named_parameters():
            if name.endswith(".bias") and name != "norm.bias":
                parameter.zero_()
        return module(tensor(given["x"]), tensor(given["memory"]), tensor(given[real]))


def _biases(answer: Any, given: Inputs) -> Any:
    """How many parameters are in vectors, besides the norm's. Layers without a bias have none."""
    module = answer(int(given["C"]), int(given["M"]), int(given["H"]))
    return sum(
        parameter.numel()
        for name, parameter in module.named_parameters()
        if parameter.ndim == 1 and not name.startswith("norm.")
    )


PROBE = Probe(
    _inputs,
    {
        "whole": lambda answer, given: _on(answer, given, "all"),
        "padded": lambda answer, given: _on(answer, given, "real"),
        "empty": lambda answer, given: _on(answer, given, "empty"),
        "biases": _biases,
    },
    second=_smallest,
)
