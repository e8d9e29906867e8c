"""What 05/scores asks."""

from __future__ import annotations

from typing import Any

from course_tasks.ch05_head.shared import different, maps
from course_tasks.inputs import Rng, tensor, values, whole
from course_tasks.probing import Inputs, Probe


def _scores_inputs(rng: Rng) -> Inputs:
    B, H = different(rng, range(2, 5), 2)
    T, D = different(rng, (5, 6, 7, 10), 2)  # not 8, as in the chapter; no square
    C = int(rng.integers(11, 15))
    w_query, w_key = maps(rng, (C, D), (C, D))
    return {
        "x": values(rng, B, T, C),
        "one": values(rng, T, C),
        "stack": values(rng, B, H, T, C),
        "w_query": w_query,
        "w_key": w_key,
        "B": whole(B),
        "H": whole(H),
        "T": whole(T),
        "C": whole(C),
        "D": whole(D),
    }


def _inputs_at_the_edge(rng: Rng) -> Inputs:
    """A batch of one sample, a text of one symbol, and three leading dimensions, one of them 1."""
    given = _scores_inputs(rng)
    B, T, C = given["x"].shape
    return {
        **given,
        "x": given["x"][:1],
        "one": given["one"][:1],
        "stack": values(rng, B, 1, 2, T, C),
        "B": whole(1),
    }


def _score(answer: Any, given: Inputs, x: str) -> Any:
    return answer(tensor(given[x]), tensor(given["w_query"]), tensor(given["w_key"]))


PROBE = Probe(
    _scores_inputs,
    {
        "batch": lambda answer, given: _score(answer, given, "x"),
        "one": lambda answer, given: _score(answer, given, "one"),
        "stack": lambda answer, given: _score(answer, given, "stack"),
    },
    second=_inputs_at_the_edge,
)
