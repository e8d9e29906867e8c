"""Judges 11/copying: what exact copying is worth on a text."""

from __future__ import annotations

from dataclasses import replace

from course_judges import observations
from course_judges.ch11_looking_inside.sections import BUILD
from course_judges.judging import Evidence, mistake
from course_judges.observations import (
    Numbers,
    lies,
    measured_otherwise,
    middle,
    noted,
)
from course_judges.wording import number
from course_tasks.verdict import Finding

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
    "every-pair": {
        "shakespeare": {"one": (0.115, 0.119), "three": (0.443, 0.483), "found": (0.045, 0.05)},
        "play": {"one": (0.124, 0.128), "three": (0.579, 0.597), "found": (0.065, 0.072)},
    },
    "found-of-known": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.442, 0.483), "found": (0.074, 0.083)},
        "play": {"one": (0.132, 0.135), "three": (0.584, 0.603), "found": (0.106, 0.118)},
    },
    "found-of-one": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.442, 0.483), "found": (0.595, 0.609)},
        "play": {"one": (0.132, 0.135), "three": (0.584, 0.603), "found": (0.604, 0.618)},
    },
    "windows-counted": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.442, 0.483), "found": (0.793, 0.832)},
        "play": {"one": (0.132, 0.135), "three": (0.584, 0.603), "found": (0.849, 0.886)},
    },
    "found-if-right": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.442, 0.483), "found": (0.02, 0.024)},
        "play": {"one": (0.132, 0.135), "three": (0.584, 0.603), "found": (0.039, 0.043)},
    },
    "pairs-found": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.442, 0.483), "found": (0.0, 0.002)},
        "play": {"one": (0.132, 0.135), "three": (0.584, 0.603), "found": (0.0, 0.002)},
    },
    "two-symbols": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.277, 0.3), "found": (0.151, 0.156)},
        "play": {"one": (0.132, 0.135), "three": (0.367, 0.402), "found": (0.166, 0.173)},
    },
    "four-symbols": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.494, 0.584), "found": (0.02, 0.024)},
        "play": {"one": (0.132, 0.135), "three": (0.647, 0.669), "found": (0.038, 0.043)},
    },
    "following-symbols": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.99, 1.01), "found": (0.045, 0.05)},
        "play": {"one": (0.132, 0.135), "three": (0.99, 1.01), "found": (0.065, 0.072)},
    },
    "any-order": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.169, 0.191), "found": (0.112, 0.116)},
        "play": {"one": (0.132, 0.135), "three": (0.325, 0.343), "found": (0.119, 0.124)},
    },
    "not-found-counted": {
        "shakespeare": {"one": (0.1, 0.102), "three": (0.085, 0.088), "found": (0.045, 0.05)},
        "play": {"one": (0.103, 0.107), "three": (0.099, 0.107), "found": (0.065, 0.072)},
    },
    "of-known-places": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.033, 0.04), "found": (0.045, 0.05)},
        "play": {"one": (0.132, 0.135), "three": (0.063, 0.07), "found": (0.065, 0.072)},
    },
    "compared-with-x": {
        "shakespeare": {"one": (0.043, 0.046), "three": (0.017, 0.023), "found": (0.045, 0.05)},
        "play": {"one": (0.044, 0.048), "three": (0.023, 0.027), "found": (0.065, 0.072)},
    },
    "one-too-far": {
        "shakespeare": {"one": (0.094, 0.096), "three": (0.04, 0.061), "found": (0.045, 0.05)},
        "play": {"one": (0.098, 0.103), "three": (0.038, 0.043), "found": (0.065, 0.072)},
    },
    "any-place": {
        "shakespeare": {"one": (0.259, 0.267), "three": (0.456, 0.499), "found": (0.045, 0.05)},
        "play": {"one": (0.279, 0.29), "three": (0.597, 0.615), "found": (0.065, 0.072)},
    },
    "most-frequent": {
        "shakespeare": {"one": (0.145, 0.15), "three": (0.444, 0.487), "found": (0.045, 0.05)},
        "play": {"one": (0.157, 0.161), "three": (0.589, 0.605), "found": (0.065, 0.072)},
    },
    "mean-of-windows": {
        "shakespeare": {"one": (0.124, 0.128), "three": (0.295, 0.322), "found": (0.045, 0.05)},
        "play": {"one": (0.13, 0.134), "three": (0.45, 0.467), "found": (0.065, 0.072)},
    },
    "end-of-window": {
        "shakespeare": {"one": (0.139, 0.16), "three": (0.432, 0.528), "found": (0.099, 0.132)},
        "play": {"one": (0.136, 0.162), "three": (0.457, 0.638), "found": (0.129, 0.141)},
    },
    "three-places": {
        "shakespeare": {"one": (0.125, 0.129), "three": (0.222, 0.229), "found": (0.595, 0.609)},
        "play": {"one": (0.132, 0.135), "three": (0.239, 0.251), "found": (0.604, 0.618)},
    },
    "shorter-windows": {
        "shakespeare": {"one": (0.106, 0.112), "three": (0.407, 0.44), "found": (0.016, 0.019)},
        "play": {"one": (0.107, 0.111), "three": (0.576, 0.602), "found": (0.022, 0.027)},
    },
    "longer-windows": {
        "shakespeare": {"one": (0.14, 0.144), "three": (0.475, 0.489), "found": (0.097, 0.101)},
        "play": {"one": (0.144, 0.148), "three": (0.565, 0.578), "found": (0.115, 0.121)},
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


# On the play, what is taken for such a run would reach to what right runs nearly give.
_EVERY_PAIR = SLIPS["every-pair"] | {"play": SLIPS["every-pair"]["play"] | {"one": (0.124, 0.1275)}}

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
