"""Judging 01/find-fault: which rows are no average of the past."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch01_averages.sections import FILL, FUTURE, MEANS, SIDES
from course_judges.judging import Evidence, Mistake, Part, Property, Task, any_of, matches
from course_judges.wording import number, row
from course_tasks.answers import Array
from course_tasks.ch01_averages.probes import FIND_FAULT
from course_tasks.verdict import Finding, Section


def faulty_rows(weights: Tensor) -> Tensor:
    """A right answer to 01/find-fault: (T, T) → (T,) bool."""
    ahead = (torch.triu(weights, diagonal=1).abs() > 1e-5).any(dim=1)
    negative = (weights < 0).any(dim=1)
    averages = (weights.sum(dim=1) - 1).abs() < 1e-5  # False where a weight is NaN
    return ahead | negative | ~averages


def _equality(weights: Tensor) -> Tensor:
    return (
        (torch.triu(weights, diagonal=1) != 0).any(dim=1)
        | (weights < 0).any(dim=1)
        | (weights.sum(dim=1) != 1)
    )


def _by_columns(weights: Tensor) -> Tensor:
    return (
        (torch.triu(weights, diagonal=1) > 0).any(dim=1)
        | (weights < 0).any(dim=1)
        | ~torch.isclose(weights.sum(dim=0), torch.ones(len(weights)))
    )


def _without_the_diagonal(weights: Tensor) -> Tensor:
    return faulty_rows(weights) | (torch.triu(weights) != 0).any(dim=1)


def _the_sound_ones(weights: Tensor) -> Tensor:
    return ~faulty_rows(weights)


def _sums_too_large_only(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | (weights.sum(dim=1) > 1 + 1e-5)


def _sums_too_small_only(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | (weights.sum(dim=1) < 1 - 1e-5)


def _future_unasked(weights: Tensor) -> Tensor:
    negative = (weights < 0).any(dim=1)
    return negative | ~torch.isclose(weights.sum(dim=1), torch.ones(len(weights)))


def _sums_unasked(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | weights.isnan().any(dim=1)


def _signs_unasked(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) != 0).any(dim=1)
    return ahead | ~torch.isclose(weights.sum(dim=1), torch.ones(len(weights)))


def _nan_slips_through(weights: Tensor) -> Tensor:
    ahead = (torch.triu(weights, diagonal=1) > 1e-5).any(dim=1)
    return ahead | (weights < 0).any(dim=1) | ((weights.sum(dim=1) - 1).abs() > 1e-5)


def _first_wrong(evidence: Evidence, case: str) -> tuple[int, Array]:
    """The first row that was judged wrongly, and what it holds."""
    mine, right = evidence.yours(case).astype(bool), evidence.right(case).astype(bool)
    t = int(np.flatnonzero(mine != right)[0])
    return t, evidence.inputs[case][t]


def _wrong_row(case: str) -> Callable[[Evidence], str]:
    def say(evidence: Evidence) -> str:
        t, weights = _first_wrong(evidence, case)
        verdict = "faulty" if evidence.yours(case)[t] else "sound"
        return f"You call row {t} {verdict}: {row(weights)}, with sum {number(weights.sum())}."

    return say


def _misses(case: str, name: str, what: str) -> Property:
    """Says of a kind of fault that it was missed, or that a sound row was accused."""

    def ask(evidence: Evidence) -> Finding | None:
        if evidence.same(case):
            return None
        t, _ = _first_wrong(evidence, case)
        effect = _wrong_row(case)(evidence)
        if evidence.yours(case)[t]:
            return Finding("sound-row-accused", "A sound row is called faulty.", effect, MEANS)
        return Finding(name, what, effect, MEANS)

    return ask


def _fault_mistake(
    name: str, answer: Any, what: str, case: str, advice: str, section: Section, *others: Any
) -> Mistake:
    return Mistake(
        name,
        answer,
        what,
        lambda e: f"{_wrong_row(case)(e)} {advice}",
        section,
        recognised=lambda e: not e.same(case) and any_of(FIND_FAULT, (case,), answer, *others)(e),
    )


TASK = Task(
    "Find the fault",
    faulty_rows,
    MEANS,
    (
        Part("Rows that look ahead are found, and no others.", 1, matches("ahead")),
        Part("Rows that do not sum to 1 are found, and no others.", 1, matches("sums")),
        Part("Rows with a negative weight are found, and no others.", 1, matches("signs")),
        Part("Rows with a NaN are found, and no others.", 1, matches("nan")),
    ),
    (
        Mistake(
            "inverted-answer",
            _the_sound_ones,
            "Your answer is the wrong way round: True marks the sound rows.",
            _wrong_row("sums"),
            MEANS,
        ),
        Mistake(
            "exact-comparison",
            _equality,
            "You compare sums with 1 exactly, and rounding makes every row faulty.",
            lambda e: (
                f"Row 0 of a matrix sums to 1 {_signed(float(e.inputs['ahead'].sum(1)[0]) - 1)}, "
                "which is float32's noise and no fault. Allow for it: `torch.isclose`, "
                "or a distance of at most 1e-5."
            ),
            MEANS,
            cases=("ahead", "sums"),
        ),
        _fault_mistake(
            "diagonal-excluded",
            _without_the_diagonal,
            "You count the diagonal as future.",
            "sums",
            "A position may see itself; the future begins at `diagonal=1`.",
            FUTURE,
        ),
        _fault_mistake(
            "divides-columns",
            _by_columns,
            "You ask whether the columns sum to 1.",
            "sums",
            "Row t holds the weights of position t: `sum(dim=1)` adds along a row.",
            SIDES,
        ),
        _fault_mistake(
            "one-sided-sum",
            _sums_too_small_only,
            "You ask for a wrong sum on one side of 1 only.",
            "sums",
            "A row can sum to too little and to too much: take the distance from 1, `.abs()`.",
            MEANS,
            _sums_too_large_only,
        ),
        _fault_mistake(
            "future-unasked",
            _future_unasked,
            "Rows that look ahead pass as sound.",
            "ahead",
            "It sums to 1, but column s of row t is the future for every s > t.",
            FUTURE,
        ),
        _fault_mistake(
            "sums-unasked",
            _sums_unasked,
            "Rows that do not sum to 1 pass as sound.",
            "sums",
            "It looks at the past alone, but it is no average.",
            MEANS,
        ),
        _fault_mistake(
            "signs-unasked",
            _signs_unasked,
            "Rows with a negative weight pass as sound.",
            "signs",
            "It sums to 1, but the mean of some numbers never lies outside them; with a negative "
            "weight it can.",
            MEANS,
        ),
        _fault_mistake(
            "nan-slips-through",
            _nan_slips_through,
            "A row with a NaN passes as sound.",
            "nan",
            "Every comparison with NaN is False, `nan > 1e-5` too. Ask what a sound row fulfils "
            "and negate that, or use `isnan`.",
            FILL,
        ),
    ),
    (
        _misses("ahead", "future-missed", "A row that looks ahead passes as sound."),
        _misses("sums", "sum-missed", "A row that does not sum to 1 passes as sound."),
        _misses("signs", "sign-missed", "A row with a negative weight passes as sound."),
        _misses("nan", "nan-missed", "A row with a NaN passes as sound."),
    ),
)


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {abs(value):.0e}"
