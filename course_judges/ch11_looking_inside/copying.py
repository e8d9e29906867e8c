"""Judges 11/copying: what exact copying is worth on a text."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch11_looking_inside.sections import BUILD
from course_judges.judging import Evidence, mistake
from course_judges.observations import (
    Numbers,
    exchanged,
    in_percent,
    lies,
    measured_otherwise,
    middle,
    noted,
)
from course_judges.wording import number

RANGES = {
    "shakespeare": {"one": (0.124, 0.131), "three": (0.428, 0.5), "found": (0.043, 0.051)},
    "play": {"one": (0.129, 0.136), "three": (0.584, 0.604), "found": (0.065, 0.072)},
}

SLIPS = {
    "first-place": {
        "shakespeare": {"one": (0.139, 0.145), "three": (0.447, 0.487), "found": (0.045, 0.05)},
        "play": {"one": (0.151, 0.158), "three": (0.586, 0.603), "found": (0.065, 0.072)},
    },
    "finds-itself": {
        "shakespeare": {"one": (0.99, 1.01), "three": (0.99, 1.01), "found": (0.959, 0.978)},
        "play": {"one": (0.99, 1.01), "three": (0.99, 1.01), "found": (0.959, 0.978)},
    },
    "later-places": {
        "shakespeare": {"one": (0.143, 0.15), "three": (0.444, 0.488), "found": (0.086, 0.094)},
        "play": {"one": (0.157, 0.164), "three": (0.591, 0.609), "found": (0.124, 0.137)},
    },
    "symbol-itself": {
        "shakespeare": {"one": (0.023, 0.026), "three": (0.013, 0.023), "found": (0.045, 0.05)},
        "play": {"one": (0.024, 0.027), "three": (0.023, 0.027), "found": (0.065, 0.072)},
    },
}

_first_place = measured_otherwise(
    RANGES,
    "You probably took the first earlier place instead of the last.",
    "The task asks for the earlier place that is nearest to t, so look at which of several "
    "places your search returns.",
    SLIPS["first-place"],
)

_finds_itself = measured_otherwise(
    RANGES,
    "You probably counted t among its own earlier places.",
    "A symbol always agrees with itself, and what follows it is the right answer. Only places "
    "s < t count.",
    SLIPS["finds-itself"],
)

_later_places = measured_otherwise(
    RANGES,
    "You probably looked at places after t, too.",
    "Later places lie in the future, which a head can't see. Only places s < t count.",
    SLIPS["later-places"],
)

_symbol_itself = measured_otherwise(
    RANGES,
    "You probably took the symbol at the earlier place and not the one that followed it.",
    "The symbol at that place is the same as at t, so it is right only where a symbol comes "
    "twice in a row. What followed place s is `y[n, s]`.",
    SLIPS["symbol-itself"],
)


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
