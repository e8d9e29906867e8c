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
    measured_otherwise,
    middle,
    noted,
)

RANGES = {
    "shakespeare": {"chosen": (2.403, 2.463), "equal": (2.81, 2.877)},
    "play": {"chosen": (2.33, 2.39), "equal": (2.758, 2.822)},
}

SLIPS = {
    "first-evaluation": {
        "shakespeare": {"chosen": (2.68, 2.787), "equal": (2.945, 3.037)},
        "play": {"chosen": (2.664, 2.749), "equal": (2.971, 3.047)},
    },
    "zeroed-afterwards": {
        "shakespeare": {"chosen": (2.409, 2.461), "equal": (3.021, 3.108)},
        "play": {"chosen": (2.333, 2.39), "equal": (3.06, 3.184)},
    },
    "nothing-passed-on": {
        "shakespeare": {"chosen": (2.409, 2.461), "equal": (3.322, 3.392)},
        "play": {"chosen": (2.333, 2.39), "equal": (3.288, 3.355)},
    },
}

_first_evaluation = measured_otherwise(
    RANGES,
    "You probably took the first evaluation instead of the last.",
    "`fit` evaluates ten times, for the first time after only 40 of the 400 steps. The task "
    "asks for the last one, `history.evaluations[-1].loss`.",
    SLIPS["first-evaluation"],
)

_zeroed_afterwards = measured_otherwise(
    RANGES,
    "You probably set the queries to zero after the training.",
    "The rest of the model was then trained with queries that choose, so it can do little "
    "with equal weights. Set them to zero before the training, and keep them there.",
    SLIPS["zeroed-afterwards"],
)

_nothing_passed_on = measured_otherwise(
    RANGES,
    "You probably set the value weights to zero instead of the query weights.",
    "A head whose values are zero passes nothing on, so its logits can't depend on what it "
    "reads. The query weights are `model.head.query.weight`.",
    SLIPS["nothing-passed-on"],
)


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
