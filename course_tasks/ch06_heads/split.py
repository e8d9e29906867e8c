"""What 06/split asks."""

from __future__ import annotations

from typing import Any

from course_tasks.ch06_heads.shared import labels
from course_tasks.inputs import Rng, parts_of, tensor, whole
from course_tasks.probing import Inputs, Probe


def _split_inputs(rng: Rng) -> Inputs:
    B, H = 3, int(rng.choice([2, 4]))
    D, T = (int(n) for n in rng.choice([5, 6, 7, 8], size=2, replace=False))
    return _labelled(rng, B, T, H, D)


def _least(rng: Rng) -> Inputs:
    """One of each: sample, position, head, channel."""
    return _labelled(rng, 1, 1, 1, 1)


def _labelled(rng: Rng, B: int, T: int, H: int, D: int) -> Inputs:
    return {
        "x": labels(rng, B, T, 3 * H * D),
        "B": whole(B),
        "T": whole(T),
        "H": whole(H),
        "D": whole(D),
    }


def _split(answer: Any, given: Inputs) -> Any:
    result = answer(tensor(given["x"]), int(given["H"]))
    return parts_of(result, "query", "key", "value")


PROBE = Probe(_split_inputs, {"heads": _split}, second=_least)
