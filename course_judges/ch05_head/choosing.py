"""Judges 05/choosing: what choosing is worth."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch05_head.sections import PASSED
from course_judges.judging import mistake
from course_judges.observations import (
    Numbers,
    as_perplexity,
    exchanged,
    in_bits,
    lies,
    middle,
    noted,
)

RANGES = {
    "shakespeare": {"chosen": (2.403, 2.463), "equal": (2.81, 2.877)},
    "play": {"chosen": (2.33, 2.39), "equal": (2.758, 2.822)},
}

_bits = in_bits(RANGES, "chosen", "equal")
_perplexity = as_perplexity(RANGES, "chosen", "equal")
_exchanged = exchanged(RANGES, "chosen", "equal")


@mistake(
    "Both of your numbers fit the head that chooses.",
    "The query weights were probably never set to zero, or training moved them again. "
    "`requires_grad_(False)` keeps them where they are.",
    recognized=lambda e: all(
        lies(RANGES, "chosen", noted(e, name), e) for name in ("chosen", "equal")
    ),
)
def _queries_trained() -> Numbers:
    return middle(RANGES, equal=float(middle(RANGES)["chosen"]))


TASK = observations.experiment("What choosing is worth", RANGES, PASSED, {"chosen": 2, "equal": 2})
