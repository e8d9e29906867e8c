"""What 08/schedule asks."""

from __future__ import annotations

from typing import Any

from course_tasks.inputs import Rng, number, whole
from course_tasks.probing import Inputs, Probe


def _schedule_inputs(rng: Rng) -> Inputs:
    return {
        "steps": whole(int(rng.integers(30, 41))),
        "warm_up": whole(int(rng.integers(4, 7))),
        "decay": whole(int(rng.integers(8, 13))),
        "final": number(int(rng.integers(5, 21)) / 100),
    }


def _rates(answer: Any, given: Inputs, warm_up: int, decay: int) -> list[float]:
    steps, final = int(given["steps"]), float(given["final"])
    return [float(answer(step, steps, warm_up, decay, final)) for step in range(steps)]


def _every_step(answer: Any, given: Inputs) -> Any:
    return _rates(answer, given, int(given["warm_up"]), int(given["decay"]))


def _without_warm_up(answer: Any, given: Inputs) -> Any:
    return _rates(answer, given, 0, int(given["decay"]))


def _touching(answer: Any, given: Inputs) -> Any:
    """A decay that begins where the warm-up ends, and falls to 0."""
    warm_up, decay = int(given["warm_up"]), int(given["decay"])
    steps = warm_up + decay
    return [float(answer(step, steps, warm_up, decay, 0.0)) for step in range(steps)]


def _without_decay(answer: Any, given: Inputs) -> Any:
    return _rates(answer, given, int(given["warm_up"]), 0)


PROBE = Probe(
    _schedule_inputs,
    {"rates": _every_step, "no_warm_up": _without_warm_up, "no_decay": _without_decay}
    | {
        "touching": _touching,
        "brief": lambda answer, given: _rates(answer, given, 1, 1),
        "level": lambda answer, given: _rates(answer, given, 0, 0),
    },
)
