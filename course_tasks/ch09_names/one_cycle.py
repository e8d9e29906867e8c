"""What 09/one-cycle asks."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_tasks.inputs import Rng, number, parts_of, whole
from course_tasks.probing import Case, Inputs, Probe

# Steps, and after how many of them comes the peak: the share of the two, times the steps, is a
# whole number that floating point misses, from below or from above.
FROM_BELOW = [(n, k) for n in range(40, 72) for k in range(8, n // 2) if k / n * n < k]
FROM_ABOVE = [(n, k) for n in range(40, 90) for k in range(7, n // 2) if k / n * n > k]


def _one_cycle_inputs(rng: Rng) -> Inputs:
    steps, until_peak = FROM_BELOW[int(rng.integers(len(FROM_BELOW)))]
    more, until_later = FROM_ABOVE[int(rng.integers(len(FROM_ABOVE)))]
    return {
        "steps": whole(steps),
        "rise": number(until_peak / steps),
        "steps_above": whole(more),
        "rise_above": number(until_later / more),
        "peak": number(int(rng.integers(2, 10)) / 100),
        "start_factor": number(int(rng.integers(5, 30))),
        "final_factor": number(int(rng.integers(40, 90))),
        "low": number(int(rng.integers(75, 86)) / 100),
        "high": number(int(rng.integers(92, 99)) / 100),
    }


def _one_cycle(answer: Any, given: Inputs, steps: int, rise: float) -> Any:
    names = ("peak", "start_factor", "final_factor", "low", "high")
    settings = {"rise": rise} | {n: float(given[n]) for n in names}
    both = [parts_of(answer(step, steps, **settings), "rate", "momentum") for step in range(steps)]
    # In units in which both are of the size of 1: a final rate of 1e-5 would drown in a tolerance.
    return {
        "rate": [float(b["rate"]) / settings["peak"] for b in both],
        "momentum": [float(b["momentum"]) for b in both],
        "end": float(np.log(max(float(both[-1]["rate"]), 1e-300))),
    }


def _drawn_cycle(kind: str) -> Case:
    return lambda answer, given: _one_cycle(
        answer, given, int(given[f"steps{kind}"]), float(given[f"rise{kind}"])
    )


# A rise, or a fall, of a single step.
SHORT = {"early": (5, 0.4), "late": (4, 0.75)}

PROBE = Probe(
    _one_cycle_inputs,
    {
        "cycle": _drawn_cycle(""),
        "above": _drawn_cycle("_above"),
        "early": lambda answer, given: _one_cycle(answer, given, *SHORT["early"]),
        "late": lambda answer, given: _one_cycle(answer, given, *SHORT["late"]),
    },
)
