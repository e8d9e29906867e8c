"""Judges 11/copying: what exact copying is worth on a text."""

from __future__ import annotations

from dataclasses import replace

from course_judges import observations
from course_judges.ch11_looking_inside.sections import BUILD
from course_judges.judging import Evidence, mistake
from course_judges.observations import Numbers, lies, measured, measured_otherwise, middle, noted
from course_judges.wording import number
from course_tasks.verdict import Finding

RANGES, SLIPS = measured(__file__)


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


# On the play, what is taken for such a run would reach to what right runs nearly give.
_EVERY_PAIR = {
    **SLIPS["every-pair"],
    "play": {**SLIPS["every-pair"]["play"], "one": (0.124, 0.1275)},
}

_every_pair = measured_otherwise(
    RANGES,
    "You probably counted every pair of a place and an earlier one, not only the last for each t.",
    "At each place t, the head says one thing: what followed the last earlier place. So every "
    "place that counts adds one right or wrong answer, no matter how often its symbol came before.",
    _EVERY_PAIR,
)

_any_place = measured_otherwise(
    RANGES,
    "You probably counted a place as right if what followed any of its earlier places is right.",
    "The head says only what followed the last one.",
    SLIPS["any-place"],
)

_most_frequent = measured_otherwise(
    RANGES,
    "You probably said what followed most of the earlier places instead of the last one.",
    "The head in this experiment looks at a single place, the nearest one before t.",
    SLIPS["most-frequent"],
)

_not_found_counted = measured_otherwise(
    RANGES,
    "You probably averaged over all places, also over those where nothing was found.",
    "`one` and `three` are shares of the places whose symbols came before. If no place agrees, "
    "`argmax` returns 0 all the same, so leave these places out by a mask.",
    SLIPS["not-found-counted"],
)

_compared_with_x = measured_otherwise(
    RANGES,
    "You probably compared what followed the earlier place with `x[n, t]` instead of `y[n, t]`.",
    "The head says what comes after t, and that is `y[n, t]`.",
    SLIPS["compared-with-x"],
)

_one_too_far = measured_otherwise(
    RANGES,
    "You probably took the symbol two places after the earlier one instead of the next one.",
    "`y[n, s]` already is what follows `x[n, s]`, so there is nothing to add to s.",
    SLIPS["one-too-far"],
)

_of_known_places = measured_otherwise(
    RANGES,
    "You probably divided `three` by the places whose last symbol alone came before.",
    "Only places where all three symbols came before count for `three`.",
    SLIPS["of-known-places"],
)

_two_symbols = measured_otherwise(
    RANGES,
    "You probably let two symbols agree instead of three.",
    "The symbol at t counts as one of the three, and there are two before it.",
    SLIPS["two-symbols"],
)

_four_symbols = measured_otherwise(
    RANGES,
    "You probably let four symbols agree instead of three.",
    "The symbol at t is one of the three, so only two before it have to agree as well.",
    SLIPS["four-symbols"],
)

_following_symbols = measured_otherwise(
    RANGES,
    "You probably compared the symbols after the two places instead of those before them.",
    "What follows t isn't known yet, and if it has to agree, copying is always right. Shift the "
    "matrix the other way: entry (t, s) needs what agrees at (t − 1, s − 1) and (t − 2, s − 2).",
    SLIPS["following-symbols"],
)

_any_order = measured_otherwise(
    RANGES,
    "You probably let the three symbols agree in any order.",
    "The symbol at t has to agree with the one at s, that at t − 1 with that at s − 1, and that "
    "at t − 2 with that at s − 2.",
    SLIPS["any-order"],
)

_three_places = measured_otherwise(
    RANGES,
    "You probably looked for the last three places of one symbol instead of one place of three.",
    "For `three`, the symbol at t and the two before it have to come before, and then only the "
    "last such place counts.",
    SLIPS["three-places"],
)

_mean_of_windows = measured_otherwise(
    RANGES,
    "You probably took a share for each window and averaged these shares.",
    "All places that count should count equally, so add them up over all windows before you "
    "divide. In many windows, the three symbols are found only once or twice.",
    SLIPS["mean-of-windows"],
)

_found_of_known = measured_otherwise(
    RANGES,
    "You probably divided `found` by the places whose last symbol came before.",
    "`found` is a share of all places of all windows, from the first one on.",
    SLIPS["found-of-known"],
)

_found_of_one = measured_otherwise(
    RANGES,
    "You probably noted for `found` where a single symbol has come before.",
    "`found` is about the three symbols of `three`.",
    SLIPS["found-of-one"],
)

_windows_counted = measured_otherwise(
    RANGES,
    "You probably noted the share of windows in which three symbols come back somewhere.",
    "`found` is a share of places: 2000 windows of 64 have 128000 of them.",
    SLIPS["windows-counted"],
)

_found_if_right = measured_otherwise(
    RANGES,
    "You probably counted in `found` only the places where copying is right as well.",
    "`found` asks where the three symbols have come before, whatever followed them.",
    SLIPS["found-if-right"],
)

_pairs_found = measured_otherwise(
    RANGES,
    "You probably noted the share of all pairs of places instead of the share of places.",
    "A place t counts in `found` if there is at least one s < t, so reduce the matrix with "
    "`any(dim=-1)` before you average.",
    SLIPS["pairs-found"],
)

_shorter_windows = measured_otherwise(
    RANGES,
    "Your windows were probably shorter than 64 symbols.",
    "In a shorter window, there are fewer earlier places. Draw them with "
    "`random_windows(corpus.validation, 2000, 64, generator)`.",
    SLIPS["shorter-windows"],
)

_longer_windows = measured_otherwise(
    RANGES,
    "Your windows were probably longer than 64 symbols.",
    "In a longer window, there are more earlier places. Draw them with "
    "`random_windows(corpus.validation, 2000, 64, generator)`.",
    SLIPS["longer-windows"],
)

_end_of_window = measured_otherwise(
    RANGES,
    "You probably looked only at the last place of each window.",
    "Each of the 64 places of a window counts. Those at its beginning have fewer places before "
    "them, so the three symbols are found less often.",
    SLIPS["end-of-window"],
)


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


# How many places the windows of the experiment have together.
_PLACES = 2000 * 64

_LOOK_AT = {
    ("one",): "For `one`, place s agrees with place t if s < t and `x[n, s] == x[n, t]`. Among the "
    "places t with such an s, `one` is the share at which `y[n, s]` of the last one is `y[n, t]`.",
    (
        "three",
    ): "So three symbols are found at the right places. Among these places, `three` is the "
    "share at which what followed the last earlier one is right. Do you divide by their number?",
    ("found",): "A place counts once in `found` if there is at least one s < t with the same three "
    "symbols, and `found` is a share of all places of all windows.",
    (
        "one",
        "three",
    ): "So three symbols are found at the right places. Look at what you take for right "
    "there: is it `y[n, s]` of the last s < t, compared with `y[n, t]`? And do you divide by the "
    "number of places that count?",
    ("one", "found"): "",
    ("three", "found"): "A single symbol is matched as it should be. Three agree at (t, s) if "
    "single symbols agree at (t, s), (t − 1, s − 1) and (t − 2, s − 2), and only s < t counts.",
}


def _right_in_part(evidence: Evidence) -> Finding | None:
    """Some of the numbers are what runs give, which says where to look for what is wrong."""
    names = ("one", "three", "found")
    values = {name: noted(evidence, name) for name in names}
    wrong = tuple(name for name in names if not lies(RANGES, name, values[name], evidence))
    if not 0 < len(wrong) < len(names) or any(
        lies(RANGES, name, 1 - values[name], evidence) for name in wrong
    ):
        return None
    right = " and ".join(f"`{name}`" for name in names if name not in wrong)
    sides = "".join(
        f"Your `{name}` is {number(values[name])}, which is "
        f"{'smaller' if values[name] < low else 'larger'} than in any run on this text. "
        for name in wrong
        for low, _ in [RANGES[str(evidence.answers.values["observed.text"])][name]]
    )
    places = (
        f" Your number would be {number(values['found'] * _PLACES, 6)} of {_PLACES} places."
        if wrong == ("found",) and 0 <= values["found"] <= 1
        else ""
    )
    return Finding(
        "right-in-part",
        f"{right} {'is' if len(wrong) == 2 else 'are'} what runs give, but not "
        f"{' and '.join(f'`{name}`' for name in wrong)}.",
        f"{sides}{_LOOK_AT[wrong]}{places}".strip(),
        BUILD,
    )


_EXPERIMENT = observations.experiment(
    "What copying is worth", RANGES, BUILD, {"one": 2, "three": 1, "found": 1}
)
TASK = replace(_EXPERIMENT, properties=(_right_in_part, *_EXPERIMENT.properties))
