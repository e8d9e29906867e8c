"""Judges 08/real-words: how many words are real."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch08_gpt.sections import CHOICE
from course_judges.judging import mistake
from course_judges.observations import Numbers, exchanged, in_percent, lies, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"cool": (0.472, 0.786), "hot": (0.056, 0.187)},
    "play": {"cool": (0.404, 0.56), "hot": (0.081, 0.171)},
}

_percent = in_percent(RANGES, "cool", "hot")
_exchanged = exchanged(RANGES, "cool", "hot")


@mistake(
    "You counted the words that aren't real.",
    lambda e: (
        f"Your `cool` is {number(noted(e, 'cool'))}, so the share of real words is 1 minus "
        f"that, {number(1 - noted(e, 'cool'))}."
    ),
    recognized=lambda e: (
        lies(RANGES, "hot", 1 - noted(e, "hot"), e) and not lies(RANGES, "hot", noted(e, "hot"), e)
    ),
)
def _invented() -> Numbers:
    return {
        name: value if isinstance(value, str) else 1 - value
        for name, value in middle(RANGES).items()
    }


TASK = observations.experiment("How many words are real?", RANGES, CHOICE, {"cool": 2, "hot": 2})
