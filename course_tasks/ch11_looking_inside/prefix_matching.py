"""What 11/prefix-matching asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, tensor, whole
from course_tasks.probing import Inputs, Probe

SINGLE = (0, 1, 0, 0, 2, 1, 1)
"""A text, up to the names of its symbols, for which each weight is asked for alone."""


def _attention(rng: Rng, *shape: int) -> Array:
    """Causal weights (B, H, T, T) of heads that look somewhere else in every row, each of them more
    at position 0 than the one before, so that their scores differ.
    """
    H, _, T = shape[1:]
    raw = np.tril(rng.exponential(size=shape) ** 2)
    raw[..., 0] += 6 * np.arange(H)[:, None]
    return (raw / raw.sum(-1, keepdims=True)).reshape(*shape[:-1], T).astype(np.float32)


def _inputs(rng: Rng) -> Inputs:
    B, H = int(rng.integers(3, 5)), 2
    T, V = int(rng.integers(10, 13)), int(rng.integers(5, 8))
    tokens = rng.integers(V, size=(B, T))
    # A text in which next to nothing comes back: texts count by their positions, not one each.
    tokens[0] = np.arange(T) + V
    tokens[0, -1] = tokens[0, 1]
    tokens[1, 3:5] = tokens[1, 2]  # a symbol three times in a row
    given = _of(rng, tokens, H, T)
    # The position in the first text that counts, and its only weight that does, which is 0.
    row = given["weights"][0, :, -1]  # (H, T)
    row[:, 2] = 0
    row /= row.sum(-1, keepdims=True)
    return given


def _alike(rng: Rng) -> Inputs:
    """One head and one text, of one symbol over and over."""
    return _of(rng, np.zeros((1, int(rng.integers(4, 7)))), 1, 2)


def _each_alone(T: int) -> Array:
    """(1, T (T + 1) / 2, T, T): a head for each pair t ≥ s, which holds the weight 1 there and
    nothing else, so that the scores say which weights an answer counts.
    """
    places = np.argwhere(np.tri(T))
    weights = np.zeros((1, len(places), T, T), dtype=np.float32)
    weights[0, np.arange(len(places)), places[:, 0], places[:, 1]] = 1
    return weights


def _of(rng: Rng, tokens: Array, H: int, short: int) -> Inputs:
    B, T = tokens.shape
    fresh = np.arange(short)[None] + 3  # nothing comes back at all
    inputs = {
        "tokens": tokens.astype(np.int64),
        "weights": _attention(rng, B, H, T, T),
        "fresh": fresh.astype(np.int64),
        "fresh_weights": _attention(rng, 1, H, short, short),
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
    }
    # Two symbols three times, twice in a row in the middle and at the end, and one that stays new.
    single = rng.permutation(len(set(SINGLE)))[list(SINGLE)][None]
    return inputs | {
        "single": single.astype(np.int64),
        "single_weights": _each_alone(len(SINGLE)),
    }


def _scored(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["weights"]), tensor(given["tokens"]))


def _nothing_comes_back(answer: Any, given: Inputs) -> Any:
    """A text in which nothing comes back, and the same with its first token as its last, too."""
    once = given["fresh"].copy()
    once[0, -1] = once[0, 0]
    return {
        "none": answer(tensor(given["fresh_weights"]), tensor(given["fresh"])),
        "once": answer(tensor(given["fresh_weights"]), tensor(once)),
    }


def _single(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["single_weights"]), tensor(given["single"]))


PROBE = Probe(
    _inputs,
    {"scores": _scored, "fresh": _nothing_comes_back, "single": _single},
    second=_alike,
)
