"""What 11/circuits asks."""

from __future__ import annotations

from typing import Any

from course_tasks.inputs import Rng, parts_of, tensor, values, whole
from course_tasks.probing import Inputs, Probe

GIVEN = ("embedding", "query", "key", "value", "output", "unembedding")


def _inputs(rng: Rng) -> Inputs:
    return _of(rng, int(rng.integers(5, 7)), int(rng.integers(8, 11)), int(rng.integers(3, 5)))


def _one_token(rng: Rng) -> Inputs:
    """A vocabulary of one token, and a head that is as wide as the stream."""
    return _of(rng, 1, 5, 5)


def _of(rng: Rng, V: int, C: int, D: int) -> Inputs:
    return {
        "embedding": values(rng, V, C),
        "query": values(rng, D, C),
        "key": values(rng, D, C),
        "value": values(rng, D, C),
        "output": values(rng, C, D),
        "unembedding": values(rng, V, C),
        "V": whole(V),
        "C": whole(C),
        "D": whole(D),
    }


def _circuits(answer: Any, given: Inputs) -> Any:
    return parts_of(answer(*(tensor(given[name]) for name in GIVEN)), "qk", "ov")


PROBE = Probe(_inputs, {"circuits": _circuits}, second=_one_token)
