"""What 12/groups asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe


def _inputs(rng: Rng) -> Inputs:
    # D is larger than T, so that weights can be solved for, and differs from all that somebody may
    # divide scores by. Neither D nor its root is a number of members, which would hide a mistake.
    return _of(rng, 2, 4, 6, int(rng.choice([2, 3])), int(rng.choice([5, 7])))


def _smallest(rng: Rng) -> Inputs:
    """One token of one text, and one head."""
    return _of(rng, 1, 1, 1, 1, 2)


def _of(rng: Rng, B: int, T: int, H: int, G: int, D: int) -> Inputs:
    C = int(rng.integers(8, 11))
    given = {"x": values(rng, B, T, C)}
    for name in ("query", "key", "value"):
        given[name] = (values(rng, H * D, C) * 3 / np.sqrt(C)).astype(np.float32)
    return given | {"B": whole(B), "T": whole(T), "C": whole(C), "H": whole(H), "G": whole(G)}


def _with(groups: int, answer: Any, given: Inputs) -> Any:
    weights = (tensor(given[name]) for name in ("x", "query", "key", "value"))
    return answer(*weights, int(given["H"]), groups)


def _several(answer: Any, given: Inputs) -> Any:
    return _with(int(given["G"]), answer, given)


def _one_a_head(answer: Any, given: Inputs) -> Any:
    return _with(int(given["H"]), answer, given)


def _single(answer: Any, given: Inputs) -> Any:
    return _with(1, answer, given)


PROBE = Probe(
    _inputs,
    {"several": _several, "one_a_head": _one_a_head, "single": _single},
    second=_smallest,
)
