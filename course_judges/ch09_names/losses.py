"""What losses of chapter 09 may be written in: bits, perplexities, or with a few digits."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from course_judges.judging import Evidence, Property
from course_judges.wording import numbers_apart
from course_tasks.answers import Array
from course_tasks.verdict import Finding, Section

_UNITS: tuple[tuple[str, str, Callable[[Array], Array]], ...] = (
    (
        "in-bits",
        "Your losses are in bits instead of nats. Take the natural logarithm, as `F.cross_entropy`"
        " does.",
        lambda loss: loss / math.log(2),
    ),
    (
        "perplexities",
        "You return perplexities, e to the power of the loss, instead of losses.",
        np.exp,
    ),
    ("sign", "Your losses have the wrong sign: a loss is minus the logarithm.", np.negative),
)


def in_another_unit(value: str, section: Section) -> Property:
    """Losses that are right except for their unit, or for being rounded."""

    def ask(evidence: Evidence) -> Finding | None:
        if not evidence.comparable(value) or evidence.same(value):
            return None
        mine, right = evidence.yours(value).astype(float), evidence.right(value).astype(float)
        one, other = numbers_apart(float(mine.flat[0]), float(right.flat[0]))
        first = f"Your first number is {one} instead of {other}."
        for name, what, change in _UNITS:
            if np.allclose(mine, change(right), rtol=1e-4):
                return Finding(name, what, f"This is so for all of them. {first}", section)
        for digits in range(5):
            if np.array_equal(np.round(mine, digits), mine) and np.allclose(
                mine, right, rtol=0, atol=0.51 * 10**-digits
            ):
                return Finding(
                    "rounded",
                    f"You rounded your losses to {digits} decimal places.",
                    f"Round where you print them, not where you return them. {first}",
                    section,
                )
        return None

    return ask
