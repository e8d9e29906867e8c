"""Judges 11/copying: what exact copying is worth on a text."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch11_looking_inside.sections import BUILD
from course_judges.judging import Evidence, mistake
from course_judges.observations import Numbers, exchanged, in_percent, lies, middle, noted
from course_judges.wording import number

RANGES = {
    "shakespeare": {"one": (0.124, 0.131), "three": (0.428, 0.5), "found": (0.043, 0.051)},
    "play": {"one": (0.129, 0.136), "three": (0.584, 0.604), "found": (0.065, 0.072)},
}

_percent = in_percent(RANGES, "one", "three", "found")
_exchanged = exchanged(RANGES, "one", "three")


def _is_share_of_all_places(evidence: Evidence) -> bool:
    three, found = noted(evidence, "three"), noted(evidence, "found")
    return (
        lies(RANGES, "found", found, evidence)
        and not lies(RANGES, "three", three, evidence)
        and lies(RANGES, "three", three / found, evidence)
    )


@mistake(
    "You seem to have divided by all places, but only those count whose symbols came before.",
    lambda e: (
        f"Your `three` is {number(noted(e, 'three'))}. The three symbols came before at a share of "
        f"{number(noted(e, 'found'))} of the places, and of these places the share is "
        f"{number(noted(e, 'three') / noted(e, 'found'))}."
    ),
    recognized=_is_share_of_all_places,
)
def _of_all_places() -> Numbers:
    numbers = middle(RANGES)
    one, three, found = (float(numbers[name]) for name in ("one", "three", "found"))
    return middle(RANGES, one=0.6 * one, three=three * found)


TASK = observations.experiment(
    "What copying is worth", RANGES, BUILD, {"one": 2, "three": 1, "found": 1}
)
