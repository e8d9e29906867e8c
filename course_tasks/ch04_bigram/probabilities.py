"""What 04/probabilities asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.answers import Array
from course_tasks.inputs import Rng, number, tensor, whole
from course_tasks.probing import Inputs, Probe


def _followed(tokens: Array, V: int) -> Array:
    """(V,) How often each symbol has a successor in its own row."""
    return np.bincount(tokens[:, :-1].ravel(), minlength=V)


def _probabilities_inputs(rng: Rng) -> Inputs:
    V = int(rng.integers(4, 7))
    return _drawn(rng, V, int(rng.choice([b for b in (3, 4, 5) if b != V])))


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """A single text; and one of a single symbol, in which nothing follows."""
    given = _drawn(rng, 4, 1)
    return {**given, "few": given["few"][:, :1]}


def _drawn(rng: Rng, V: int, B: int) -> Inputs:
    T = int(rng.integers(10, 14))
    while True:
        # Some symbols are more frequent than others, as in any text.
        complete = rng.choice(V, size=(B, T), p=_uneven(rng, V))
        # A pair that comes twice shows whether every occurrence is counted, the ends of the rows
        # whether pairs are taken across them.
        pairs = np.stack([complete[:, :-1].ravel(), complete[:, 1:].ravel()], axis=1)
        repeated = len(np.unique(pairs, axis=0)) < len(pairs)
        # Without the last pair of all, counts that end with the largest number are too few.
        last = bool((pairs == V - 1).all(axis=1).any())
        if _followed(complete, V).all() and repeated and not last:
            break
    # One symbol never stands before another one, though it may end a row.
    unseen = int(rng.integers(V))
    others = np.array([v for v in range(V) if v != unseen])
    sparse = others[rng.integers(V - 1, size=(B, T))]
    sparse[0, -1] = unseen
    return {
        "complete": complete.astype(np.int64),
        "sparse": sparse.astype(np.int64),
        "few": complete.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "V": whole(V),
        "larger": whole(V + int(rng.integers(1, 4))),
        # Not whole, and so large that it differs from what is left of it as a whole number.
        "k": number(rng.choice([1.3, 1.5, 1.7, 2.5])),
        # So small that a row of nothing else sums to less than 1.
        "small_k": number(rng.choice([0.05, 0.1])),
    }


def _uneven(rng: Rng, size: int) -> Array:
    weights = rng.uniform(0.5, 2.0, size)
    return weights / weights.sum()


def _count_without_smoothing(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["complete"]), int(given["V"]), 0.0)


def _count_with_smoothing(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["sparse"]), int(given["V"]), float(given["k"]))


def _count_with_little_smoothing(answer: Any, given: Inputs) -> Any:
    return answer(tensor(given["sparse"]), int(given["V"]), float(given["small_k"]))


def _count_in_a_larger_vocabulary(answer: Any, given: Inputs) -> Any:
    """The last symbols of the vocabulary do not occur at all."""
    return answer(tensor(given["few"]), int(given["larger"]), float(given["k"]))


PROBE = Probe(
    _probabilities_inputs,
    {
        "counted": _count_without_smoothing,
        "smoothed": _count_with_smoothing,
        "little": _count_with_little_smoothing,
        "larger": _count_in_a_larger_vocabulary,
    },
    second=_inputs_at_the_edge,
)
