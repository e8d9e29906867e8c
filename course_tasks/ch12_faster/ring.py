"""What 12/ring asks."""

from __future__ import annotations

from typing import Any

from course_tasks.inputs import Rng, number, parts_of, tensor, values, whole
from course_tasks.probing import Inputs, Probe

_TENSORS = ("query", "key", "value", "keys", "values")


def _inputs(rng: Rng) -> Inputs:
    W = int(rng.integers(6, 9))
    counts = {
        "few": int(rng.integers(2, W - 2)),
        "many": W * int(rng.integers(2, 5)) + int(rng.integers(2, W - 2)),
        "round": W * int(rng.integers(1, 4)),
    }
    # Vectors have more numbers than there are places, so that weights can be solved for.
    return _of(rng, 2, W + int(rng.integers(1, 3)), W, counts)


def _smallest(rng: Rng) -> Inputs:
    """A ring of three places, with vectors of one number."""
    return _of(rng, 4, 1, 3, {"few": 1, "many": 3 * int(rng.integers(2, 9)) + 1, "round": 3})


def _of(rng: Rng, B: int, D: int, W: int, counts: dict[str, int]) -> Inputs:
    given = {name: values(rng, B, D) for name in _TENSORS[:3]}
    # Places that no token has taken yet hold what was there before.
    given |= {name: values(rng, B, W, D) * 1.5 + 0.5 for name in _TENSORS[3:]}
    return given | {
        "slope": number(float(rng.choice([0.2, 0.3, 0.4]))),
        **{name: whole(count) for name, count in counts.items()},
        "B": whole(B),
        "D": whole(D),
        "W": whole(W),
    }


def _step(answer: Any, given: Inputs, count: int) -> Any:
    handed = [tensor(given[name]) for name in _TENSORS]
    result = answer(*handed, count, float(given["slope"]))
    return parts_of(result, "found", "keys", "values") | {"given": handed[3:]}


def _first(answer: Any, given: Inputs) -> Any:
    return _step(answer, given, 0)


def _filling(answer: Any, given: Inputs) -> Any:
    return _step(answer, given, int(given["few"]))


def _last_place(answer: Any, given: Inputs) -> Any:
    return _step(answer, given, int(given["W"]) - 1)


def _full(answer: Any, given: Inputs) -> Any:
    return _step(answer, given, int(given["many"]))


def _round(answer: Any, given: Inputs) -> Any:
    return _step(answer, given, int(given["round"]))


def _alone(answer: Any, given: Inputs) -> Any:
    one_row = {name: given[name][:1].copy() for name in _TENSORS}
    return _step(answer, {**given, **one_row}, int(given["many"]))


PROBE = Probe(
    _inputs,
    {
        "filling": _filling,
        "full": _full,
        "first": _first,
        "last_place": _last_place,
        "round": _round,
        "alone": _alone,
    },
    second=_smallest,
)
