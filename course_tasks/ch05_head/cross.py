"""What 05/cross asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.ch05_head.shared import different, maps
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe

# A score of −60 is lower than fills that some use to hide, such as −20; e⁻⁶⁰ is still positive.
_FAR_BELOW = 60.0


def _cross_inputs(rng: Rng) -> Inputs:
    B = int(rng.integers(2, 4))
    # Not 8, as in the chapter; no square. S is the smallest and E the largest: outputs then show
    # their weights, and an answer that cuts `x` by the lengths empties rows even without padding.
    # (In the draw with a single position it doesn't.)
    S, *others, E = sorted(different(rng, (5, 6, 7, 10, 11), 4))
    T, D = (int(n) for n in rng.permutation(others))
    C = int(rng.integers(12, 15))
    w_query, w_key, w_value = maps(rng, (C, D), (C, D), (C, E))
    # All memories are padded, some down to a single symbol; with `full`, none are.
    lengths = rng.choice(np.arange(1, S), size=B, replace=False)
    return {
        "x": values(rng, B, T, C),
        "memory": values(rng, B, S, C),
        "w_query": w_query,
        "w_key": w_key,
        "w_value": w_value,
        "full": np.full(B, S, dtype=np.int64),
        "lengths": lengths.astype(np.int64),
        "B": whole(B),
        "T": whole(T),
        "S": whole(S),
        "C": whole(C),
        "D": whole(D),
        "E": whole(E),
    }


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """One sample, one query, and one symbol before the padding, which is all that there is to see,
    however low its score.
    """
    given = dict(_cross_inputs(rng))
    given["x"], given["memory"] = given["x"][:1, :1], given["memory"][:1]
    query = given["x"][0, 0] @ given["w_query"]  # (D,)
    key = -_FAR_BELOW * np.sqrt(len(query)) * query / (query @ query)
    given["memory"][0, 0] = np.linalg.pinv(given["w_key"].T) @ key
    given["full"], given["lengths"] = given["full"][:1], np.ones(1, dtype=np.int64)
    return {**given, "B": whole(1), "T": whole(1)}


def _ask(answer: Any, given: Inputs, lengths: str) -> Any:
    names = ("x", "memory", "w_query", "w_key", "w_value", lengths)
    return answer(*(tensor(given[name]) for name in names))


PROBE = Probe(
    _cross_inputs,
    {
        "full": lambda answer, given: _ask(answer, given, "full"),
        "padded": lambda answer, given: _ask(answer, given, "lengths"),
    },
    second=_inputs_at_the_edge,
)
