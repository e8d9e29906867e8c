"""Judges 10/traces: how often a jitted function is traced."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch10_jax.sections import TRACED
from course_judges.judging import mistake
from course_judges.observations import Numbers, exchanged, in_percent, lies, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"as_they_are": (47.52, 48.48), "padded": (3.96, 4.04), "waste": (0.167, 0.17)},
    "play": {"as_they_are": (87.12, 88.88), "padded": (8.91, 9.09), "waste": (0.161, 0.165)},
}

_percent = in_percent(RANGES, "waste")
_exchanged = exchanged(RANGES, "as_they_are", "padded")


@mistake(
    "You counted 300 traces, which is the number of calls.",
    "The body of a jitted function runs only once for each new shape. Did you count outside of it, "
    "or jit a new function for every line?",
    recognized=lambda e: noted(e, "as_they_are") == 300,
)
def _calls() -> Numbers:
    return middle(RANGES, as_they_are=300.0, padded=300.0)


@mistake(
    "You seem to have divided the padding by the number of symbols instead of all positions.",
    lambda e: (
        f"A share of {number(noted(e, 'waste'))} of the symbols is "
        f"{number(noted(e, 'waste') / (1 + noted(e, 'waste')))} of all positions."
    ),
    recognized=lambda e: (
        not lies(RANGES, "waste", noted(e, "waste"), e)
        and lies(RANGES, "waste", noted(e, "waste") / (1 + noted(e, "waste")), e)
    ),
)
def _of_symbols() -> Numbers:
    waste = float(middle(RANGES)["waste"])
    return middle(RANGES, waste=waste / (1 - waste))


TASK = observations.experiment(
    "How often is it traced?", RANGES, TRACED, {"as_they_are": 1, "padded": 1, "waste": 2}
)
