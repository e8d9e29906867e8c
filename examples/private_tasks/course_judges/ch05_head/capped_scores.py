"""Judges 05/capped-scores; this file stays on the grader's machine."""

from __future__ import annotations

import math

import numpy as np
from torch import Tensor

from course_judges.ch05_head.sections import SCALE, SCORES
from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import number


def _plain(x: Tensor, w_query: Tensor, w_key: Tensor) -> Tensor:
    return (x @ w_query) @ (x @ w_key).transpose(-2, -1) / math.sqrt(w_key.shape[1])


def capped_scores(x: Tensor, w_query: Tensor, w_key: Tensor, cap: float) -> Tensor:
    """A right answer to 05/capped-scores: (…, T, C), (C, D), (C, D), number → (…, T, T)."""
    return cap * (_plain(x, w_query, w_key) / cap).tanh()


def _same_order(evidence: Evidence) -> bool:
    """Whether every query ranks the keys as the right scores do, up to rounding."""
    mine, right = evidence.yours("batch"), evidence.right("batch")
    if mine.shape != right.shape or np.ptp(mine) == 0:
        return False
    ranked = np.take_along_axis(mine, right.argsort(-1), -1)
    return bool((np.diff(ranked) > -1e-5).all())


def _largest(evidence: Evidence) -> str:
    mine, right = (
        np.abs(each).max() for each in (evidence.yours("batch"), evidence.right("batch"))
    )
    cap = float(evidence.inputs["cap"])
    return (
        f"The cap is {number(cap)}. Your largest score is {number(mine)}, {number(right)} is right."
    )


@mistake("The scores are not capped.", _largest)
def _no_cap(x: Tensor, w_query: Tensor, w_key: Tensor, cap: float) -> Tensor:  # noqa: ARG001
    return _plain(x, w_query, w_key)


@mistake(
    "You cut scores off at the cap; a smooth cap lets larger ones stay larger.",
    lambda e: f"{_largest(e)} Scores beyond the cap are all equal now, and so are their weights.",
)
def _clamped(x: Tensor, w_query: Tensor, w_key: Tensor, cap: float) -> Tensor:
    return _plain(x, w_query, w_key).clamp(-cap, cap)


@mistake("The tanh is not multiplied by the cap again.", _largest)
def _between_minus_one_and_one(x: Tensor, w_query: Tensor, w_key: Tensor, cap: float) -> Tensor:
    return (_plain(x, w_query, w_key) / cap).tanh()


@mistake("Scores are not divided by the cap before the tanh.", _largest)
def _not_divided(x: Tensor, w_query: Tensor, w_key: Tensor, cap: float) -> Tensor:
    return cap * _plain(x, w_query, w_key).tanh()


@mistake("The scale of the scores is missing.", _largest, SCALE)
def _no_scale(x: Tensor, w_query: Tensor, w_key: Tensor, cap: float) -> Tensor:
    return cap * ((x @ w_query) @ (x @ w_key).transpose(-2, -1) / cap).tanh()


TASK = Task(
    "Capped scores",
    capped_scores,
    SCORES,
    (
        Part("Larger scores stay larger.", 1, _same_order),
        Part("No score passes the cap, and small ones hardly change.", 2, matches("batch")),
        Part("It works for any number of leading dimensions.", 1, matches("batch", "one")),
    ),
)
