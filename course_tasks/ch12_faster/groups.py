"""What 12/groups asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe

_HEADS = 6


def _inputs(rng: Rng) -> Inputs:
    B, T, D, C = 2, int(rng.integers(4, 6)), 3, int(rng.integers(7, 10))
    given = {"x": values(rng, B, T, C)}
    for name in ("query", "key", "value"):
        given[name] = (values(rng, _HEADS * D, C) * 3 / np.sqrt(C)).astype(np.float32)
    G = int(rng.choice([2, 3]))
    return given | {"B": whole(B), "T": whole(T), "C": whole(C), "H": whole(_HEADS), "G": whole(G)}


def _with(groups: int | None, answer: Any, given: Inputs) -> Any:
    weights = (tensor(given[name]) for name in ("x", "query", "key", "value"))
    return answer(*weights, _HEADS, int(given["G"]) if groups is None else groups)


def _several(answer: Any, given: Inputs) -> Any:
    return _with(None, answer, given)


def _one_a_head(answer: Any, given: Inputs) -> Any:
    return _with(_HEADS, answer, given)


def _single(answer: Any, given: Inputs) -> Any:
    return _with(1, answer, given)


PROBE = Probe(_inputs, {"several": _several, "one_a_head": _one_a_head, "single": _single})
