"""What 08/schedule asks."""

from __future__ import annotations

from typing import Any, NamedTuple

from course_tasks.inputs import Rng, number, whole
from course_tasks.probing import Case, Inputs, Probe


class Training(NamedTuple):
    """What a share is asked of, for each of its steps."""

    steps: int
    warm_up: int
    decay: int
    final: float


def _schedule_inputs(rng: Rng) -> Inputs:
    return {
        "steps": whole(int(rng.integers(30, 41))),
        # Shares with so many digits that a rounded one is another one.
        "warm_up": whole(int(rng.integers(6, 8))),
        "decay": whole(int(rng.integers(8, 13))),
        "final": number(int(rng.choice([n for n in range(51, 200) if n % 10])) / 1000),
    }


def trainings(given: Inputs) -> dict[str, Training]:
    """An ordinary training, and all that lack one of the three parts or two, or have one step."""
    steps, warm_up, decay = (int(given[name]) for name in ("steps", "warm_up", "decay"))
    final = float(given["final"])
    return {
        "rates": Training(steps, warm_up, decay, final),
        "no_warm_up": Training(steps, 0, decay, final),
        "no_decay": Training(steps, warm_up, 0, final),
        # The decay begins where the warm-up ends.
        "touching": Training(warm_up + decay, warm_up, decay, 0.0),
        "brief": Training(decay, 1, 1, final),
        "level": Training(warm_up, 0, 0, final),
        "all_rising": Training(warm_up, warm_up, 0, final),
        "all_falling": Training(decay, 0, decay, final),
        "full_to_the_end": Training(4, 2, 2, 1.0),
        "one_step": Training(1, 0, 0, final),
        "one_rising": Training(1, 1, 0, final),
        "one_falling": Training(1, 0, 1, final),
    }


def _shares(case: str) -> Case:
    def ask(answer: Any, given: Inputs) -> list[float]:
        training = trainings(given)[case]
        return [float(answer(step, *training)) for step in range(training.steps)]

    return ask


CASES = (
    "rates", "no_warm_up", "no_decay", "touching", "brief", "level", "all_rising", "all_falling",
    "full_to_the_end", "one_step", "one_rising", "one_falling",
)  # fmt: skip

PROBE = Probe(_schedule_inputs, {case: _shares(case) for case in CASES})
