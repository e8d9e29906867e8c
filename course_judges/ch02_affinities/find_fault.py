"""Judging 02/find-fault: which fault made a matrix of weights what it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from course_judges.ch02_affinities.inspectors import (
    BY_C,
    COLUMNS,
    LABELS,
    LATE,
    NO_MASK,
    NO_SCALE,
    SOUND,
    ZERO_MASK,
    candidates,
    exactly_equal,
    find_fault,
    saying,
)
from course_judges.ch02_affinities.sections import DEPENDS, ROOT
from course_judges.judging import Evidence, Part, Task, mistake
from course_judges.wording import number, unwrapped
from course_tasks.answers import Array, Raised
from course_tasks.ch02_affinities.find_fault import OF_TWO, SUSPECTS
from course_tasks.probing import Inputs
from course_tasks.verdict import Finding


def _named(evidence: Evidence, cases: Sequence[str] = SUSPECTS) -> dict[str, str]:
    """What the student says of each kind of weights, by the kind's right name."""
    said: dict[str, str] = {}
    for case in cases:
        right, mine = evidence.expected.values[case], evidence.answers.values.get(case, "")
        said[str(right)] = mine if isinstance(mine, str) else ""
    return said


def _errors(evidence: Evidence) -> list[Raised]:
    return [evidence.answers.errors[c] for c in SUSPECTS if c in evidence.answers.errors]


def _unnamed(evidence: Evidence) -> list[str]:
    """The kinds of weights for which the student's inspector returns None."""
    errors = evidence.answers.errors
    return [
        str(evidence.expected.values[case])
        for case in SUSPECTS
        if case in errors and errors[case].message.startswith("returned None")
    ]


def _nothing_matches(evidence: Evidence) -> bool:
    """True if no matrix gets a name from the list, because none was found equal."""
    if any(name in LABELS for name in _named(evidence).values()):
        return False
    raised = _errors(evidence)
    if raised:
        return len(raised) == len(SUSPECTS) and all(
            error.kind == "StopIteration" or error.message.startswith("returned None")
            for error in raised
        )
    said = set(_named(evidence).values())
    return len(said) == 1 and "" not in said


def _tells(*labels: str) -> Callable[[Evidence], bool]:
    """True if exactly the matrices of these kinds get these names, each its own, those of two
    vectors as well.
    """

    def holds(evidence: Evidence) -> bool:
        return all(
            mine == right
            for cases in (SUSPECTS, OF_TWO)
            for right, mine in _named(evidence, cases).items()
            if right in labels or mine in labels
        )

    return holds


def _only(
    *wrong: dict[str, Iterable[str]], cases: Sequence[str] = SUSPECTS
) -> Callable[[Evidence], bool]:
    """True if all kinds have their right names except those in one of `wrong`, which have one of
    the names given there.
    """

    def fits(evidence: Evidence) -> bool:
        said = _named(evidence, cases)
        off = {right for right, mine in said.items() if mine != right}
        return any(
            off == set(kinds) and all(said[k] in names for k, names in kinds.items())
            for kinds in wrong
        )

    return fits


def _says_of(evidence: Evidence, kind: str, cases: Sequence[str] = SUSPECTS) -> str:
    return f"You say “{_named(evidence, cases)[kind]}” where “{kind}” is right."


def _misnamed_of(evidence: Evidence, *kinds: str, cases: Sequence[str] = SUSPECTS) -> str:
    """The first of these kinds that has another name."""
    return next(kind for kind in kinds if _named(evidence, cases)[kind] != kind)


def _matrix(evidence: Evidence, kind: str, cases: Sequence[str] = SUSPECTS) -> Any:
    case = next(c for c in cases if evidence.expected.values[c] == kind)
    return evidence.inputs[case]


# How the weights of each kind are computed, from `x @ x.T` on.
_RECIPES = {
    SOUND: "the scores are divided by √C, −∞ replaces those with s > t but none on the diagonal, "
    "and the softmax runs along the rows",
    NO_SCALE: "the scores stay undivided, −∞ replaces those with s > t, and the softmax runs along "
    "the rows",
    BY_C: "the scores are divided by C, −∞ replaces those with s > t, and the softmax runs along "
    "the rows",
    LATE: "the scores stay undivided, −∞ replaces those with s > t, the softmax runs along the "
    "rows, and then its weights are divided by √C",
    NO_MASK: "the scores are divided by √C, nothing is hidden, and the softmax runs along the rows",
    ZERO_MASK: "the scores are divided by √C, 0 replaces those with s > t before the softmax, and "
    "the softmax runs along the rows",
    COLUMNS: "the scores are divided by √C, −∞ replaces those with s > t, and the softmax runs "
    "down the columns, `dim=0`",
}


def _recipe(kind: str) -> str:
    return f"For “{kind}”, {_RECIPES[kind]}."


def _rounding(evidence: Evidence) -> str:
    off = float(_matrix(evidence, SOUND)[0, 0]) - 1
    return unwrapped(f"""If you compare with `==` or `torch.equal`, nothing ever matches, because
    the weights carry float noise: the first weight of row 0 of the sound ones is 1 {_signed(off)}.
    Use `torch.allclose`.""")


def _unknown_name(evidence: Evidence) -> Finding | None:
    said = (*_named(evidence).values(), *_named(evidence, OF_TWO).values())
    other = [mine for mine in said if mine not in LABELS]
    if not other:
        return None
    names = {label.lower(): label for label in LABELS}
    meant = names.get(other[0].lower().replace("_", " ").replace("-", " ").strip())
    kinds = [kind for kind, mine in _named(evidence).items() if mine not in LABELS]
    if meant:
        hint = f"That should be written “{meant}”, with blanks and capitals as in the list."
    elif 0 < len(kinds) < len(LABELS):
        hint = unwrapped(f"""It does so where {" or ".join(f"“{kind}”" for kind in kinds)} is right,
        so none of your own matrices is close enough there. {_recipe(kinds[0])} And the comparison
        has to allow for rounding.""")
    else:
        hint = (
            "(If nothing matched, is your own computation of the seven right, and does your "
            "comparison allow for rounding?)"
        )
    return Finding(
        "unknown-name",
        "Your inspector uses a name that isn't on the list.",
        f"It says “{other[0]}”. The names are {', '.join(f'“{label}”' for label in LABELS)}. "
        f"{hint}",
        ROOT,
    )


def _all_named(evidence: Evidence, cases: Sequence[str]) -> str:
    """Which kinds have their right names, and which name is given to several wrong ones."""
    named = _named(evidence, cases)
    right = [f"“{kind}”" for kind, mine in named.items() if mine == kind]
    wrong = [mine for kind, mine in named.items() if mine != kind]
    words = ""
    if right and len(wrong) > 1:
        words = f" You name {', '.join(right)} right."
    often = max(set(wrong), key=wrong.count)
    if wrong.count(often) > 1:
        words += (
            f" You say “{often}” of {wrong.count(often)} kinds that are something else. Is it what "
            "is left if nothing matches, or what is asked first?"
        )
    return words


def _misnamed(evidence: Evidence) -> Finding | None:
    for x, cases in (("x", SUSPECTS), ("x_of_two", OF_TWO)):
        for right, mine in _named(evidence, cases).items():
            if mine == right or mine not in LABELS:
                continue
            made = candidates(torch.from_numpy(evidence.inputs[x]))
            gap = float((made[right] - made[mine]).abs().max())
            alike = _alike(made[right].numpy(), made[mine].numpy())
            only = (
                " With more than two vectors you name all seven right."
                if cases == OF_TWO
                else _all_named(evidence, cases)
            )
            return Finding(
                "wrong-name",
                "You give some weights the name of another fault.",
                unwrapped(f"""{_says_of(evidence, right, cases)}{only} Computed from `x`, the two
                differ by up to {number(gap, 2)} in an entry, but rounding changes less than a
                millionth. If you compare entries, your tolerance has to lie in between.{alike}
                Compare all entries, and look again at how you compute these two.
                {_recipe(right)}"""),
                ROOT,
            )
    return None


def _alike(one: Array, other: Array) -> str:
    """In what two kinds of weights don't differ, as a sentence after another."""
    same = [
        words
        for words, of in (
            ("the same sums of rows", lambda weights: weights.sum(1)),
            ("the same sums of columns", lambda weights: weights.sum(0)),
            ("the same row 0", lambda weights: weights[0]),
            ("the same last row", lambda weights: weights[-1]),
            ("zeros in the future", lambda weights: np.triu(weights, 1)),
        )
        if np.allclose(of(one), of(other), atol=1e-6)
    ]
    if not same:
        return ""
    listed = " and ".join([", ".join(same[:-1]), same[-1]] if len(same) > 1 else same)
    return f" Both have {listed}, so these don't tell them apart."


# How close the two kinds of weights are that are most alike. Rounding is far less.
_NEAR = 8e-3


def _nearest(x: Array) -> float:
    """By how much the two candidates that are most alike differ at most."""
    made = [one.numpy() for one in candidates(torch.from_numpy(x)).values()]
    return float(min(np.abs(a - b).max() for n, a in enumerate(made) for b in made[:n]))


def _inputs(rng: np.random.Generator) -> Inputs:
    """A sound matrix and faulty ones, in any order; the probe must not know how they are made."""
    T, C = (int(size) for size in rng.permutation([5, 6, 7, 8])[:2])
    x = rng.normal(size=(T, C))
    # Two vectors make few weights, so some faults may be alike by chance.
    of_two = rng.normal(size=(2, C))
    while _nearest(of_two) < _NEAR:
        of_two = rng.normal(size=(2, C))
    drawn = {"T": np.array(T), "C": np.array(C)}
    return drawn | _seven(rng, "x", x, SUSPECTS) | _seven(rng, "x_of_two", of_two, OF_TWO)


def _seven(rng: np.random.Generator, name: str, x: Array, cases: Sequence[str]) -> dict[str, Array]:
    """Vectors by their name, and in some order what each fault makes of them."""
    # Short vectors make small differences: an inspector that compares roughly cannot tell them.
    while _nearest(x) > _NEAR:
        x = x * 0.97
    # float32, because `torch.allclose` doesn't compare float64 with `torch.ones(T)`.
    drawn = {name: x.astype(np.float32)}
    suspects = list(candidates(torch.from_numpy(drawn[name]).double()).values())
    for case, i in zip(cases, rng.permutation(len(suspects)), strict=True):
        # As much rounding as another order of the same operations leaves.
        size = suspects[i].shape
        noise = 1 + rng.uniform(2e-7, 5e-7, size=size) * rng.choice([-1, 1], size=size)
        drawn[case] = (suspects[i].numpy() * noise).astype(np.float32)
    return drawn


def _signed(value: float) -> str:
    return f"{'−' if value < 0 else '+'} {number(abs(value), 1)}"


_exact_comparison = mistake(
    "Your inspector recognizes none of the seven.",
    lambda e: f"{_rounding(e)} (Or is the `return` missing?)",
    recognized=_nothing_matches,
)(exactly_equal)

_nothing_for_some = mistake(
    "Your inspector says nothing about some matrices, because it ends without a `return`.",
    lambda e: unwrapped(f"""It returns None where it should say
    {" or ".join(f"“{kind}”" for kind in _unnamed(e))}, because none of your conditions is true
    there. If you add up differences over all entries, you also add up their rounding. If not,
    compute these weights again. {_recipe(_unnamed(e)[0])}"""),
    recognized=lambda e: (
        0 < len(_unnamed(e)) == len(_errors(e))
        and all(mine in ("", right) for right, mine in _named(e).items())
    ),
)(lambda x, weights: None if find_fault(x, weights) == NO_MASK else find_fault(x, weights))


# The scores before the mask and the softmax.
_OTHER_SCALES = {NO_SCALE: "`x @ x.T`", BY_C: "`x @ x.T / C`"}


def _passing(evidence: Evidence) -> list[str]:
    """The kinds of weights with another scale that are called sound."""
    said = _named(evidence)
    return [kind for kind in _OTHER_SCALES if said[kind] == SOUND]


def _says_what_passes(evidence: Evidence) -> str:
    kinds = " or ".join(f"“{kind}”" for kind in _passing(evidence))
    return f"You call weights sound whose fault is {kinds}."


def _tells_the_scale(evidence: Evidence) -> str:
    """Where weights with another scale differ most from sound ones, and what may have hidden it."""
    kind = _passing(evidence)[0]
    sound, other = _matrix(evidence, SOUND), _matrix(evidence, kind)
    t, s = (int(i) for i in np.unravel_index(int(np.abs(sound - other).argmax()), sound.shape))
    return unwrapped(f"""Their rows sum to 1 and hide the future like those of sound ones, but
    weight ({t}, {s}) is {number(sound[t, s])} if sound and {number(other[t, s])} with “{kind}”. If
    you compare with matrices of your own, that one is the softmax of {_OTHER_SCALES[kind]} with the
    future masked, and “sound” must not be what is left where nothing matches. If you look only at
    row 0, it is [1, 0, …] with any scale.""")


_scale_unasked = mistake(
    _says_what_passes,
    _tells_the_scale,
    recognized=_only({NO_SCALE: [SOUND], BY_C: [SOUND]}, {NO_SCALE: [SOUND]}, {BY_C: [SOUND]}),
)(saying(no_scale=SOUND, divided_by_C=SOUND))

_scale_by_channels = mistake(
    "You take division by C for sound, but the scale is √C.",
    lambda e: unwrapped(f"""Here C is {e.number("C")}, and √C is {number(math.sqrt(e.number("C")))}.
    {_says_of(e, BY_C)} {_says_of(e, SOUND)}"""),
    recognized=_only({SOUND: LABELS, BY_C: [SOUND]}),
)(saying(sound=BY_C, divided_by_C=SOUND))


def _largest_above_sound(evidence: Evidence) -> str:
    """The largest difference from sound weights with its sign, if it is 0 but for rounding."""
    late, sound = _matrix(evidence, LATE), _matrix(evidence, SOUND)
    if (late - sound).max() > 1e-6:
        return ""
    return unwrapped(f"""No weight here is larger than in the sound ones, so the largest difference
    with its sign is 0, but without it {number(np.abs(late - sound).max())}. If you take the largest
    difference, use `(weights - sound).abs().max()`.""")


_late_for_sound = mistake(
    "You call weights sound that were scaled too late.",
    lambda e: unwrapped(f"""Row 0 sums to {number(_matrix(e, LATE)[0].sum())}, which is
    1/√{e.number("C")}. {_largest_above_sound(e)} If “sound” is what is left where nothing matches,
    compute these weights again. {_recipe(LATE)}"""),
    recognized=_only({LATE: [SOUND]}),
)(saying(scaled_too_late=SOUND))

_columns_unasked = mistake(
    "You give the wrong name to weights whose softmax ran down the columns.",
    lambda e: unwrapped(f"""{_says_of(e, COLUMNS)} There, column 0 sums to
    {number(_matrix(e, COLUMNS)[:, 0].sum())} and row 0 to {number(_matrix(e, COLUMNS)[0].sum())}.
    The future is hidden before the softmax, as in the sound ones, and the scores are divided by √C.
    If you compare with a matrix of your own, compute it in this order, with `softmax(dim=0)`."""),
    DEPENDS,
    recognized=_only({COLUMNS: LABELS}),
)(saying(columns=NO_SCALE))

_SWAPPED_MASKS: tuple[dict[str, Iterable[str]], ...] = (
    {ZERO_MASK: [NO_MASK]},
    {NO_MASK: [ZERO_MASK]},
    {ZERO_MASK: [NO_MASK], NO_MASK: [ZERO_MASK]},
)

_masks_confused = mistake(
    "You confuse “zero mask” with “no mask”.",
    lambda e: unwrapped(f"""Both give weight to the future. With a mask of 0, all future weights of
    a row are equal: row 0 holds {number(_matrix(e, ZERO_MASK)[0, 1])} and
    {number(_matrix(e, ZERO_MASK)[0, 2])} at positions 1 and 2. Without a mask it holds
    {number(_matrix(e, NO_MASK)[0, 1])} and {number(_matrix(e, NO_MASK)[0, 2])}. The last row is the
    same in both, and with a tolerance of 0.01 other rows can be, too."""),
    DEPENDS,
    recognized=_only(*_SWAPPED_MASKS),
)(saying(zero_mask=NO_MASK))


@mistake(
    "With T = 2 you confuse “zero mask” with “no mask”.",
    lambda e: unwrapped(f"""{_says_of(e, _misnamed_of(e, ZERO_MASK, NO_MASK, cases=OF_TWO), OF_TWO)}
    With more vectors you tell them apart. Two vectors have a single weight on the future: it is
    {number(_matrix(e, ZERO_MASK, OF_TWO)[0, 1])} with a mask of 0 and
    {number(_matrix(e, NO_MASK, OF_TWO)[0, 1])} without a mask. If you ask whether all future
    weights of a row are equal, a single one always is."""),
    DEPENDS,
    recognized=lambda e: _only({})(e) and _only(*_SWAPPED_MASKS, cases=OF_TWO)(e),
)
def _one_future_weight(x: Tensor, weights: Tensor) -> str:
    label = find_fault(x, weights)
    return ZERO_MASK if label == NO_MASK and len(x) == 2 else label


_future_unasked = mistake(
    "You call weights sound that look ahead.",
    lambda e: unwrapped(f"""{_says_of(e, _misnamed_of(e, NO_MASK, ZERO_MASK))} There, row 0 gives
    {number(_matrix(e, _misnamed_of(e, NO_MASK, ZERO_MASK))[0, 1:].sum())} of its weight to
    positions after it. If you look only at the last row, it has no future. If you compare with
    matrices of your own, the scores of both are divided by √C, the 0 replaces the future's scores
    before the softmax, and “sound” must not be what is left where nothing matches."""),
    DEPENDS,
    recognized=_only(
        {ZERO_MASK: [SOUND], NO_MASK: [SOUND]}, {ZERO_MASK: [SOUND]}, {NO_MASK: [SOUND]}
    ),
)(saying(zero_mask=SOUND, no_mask=SOUND))

TASK = Task(
    "Find the fault",
    find_fault,
    ROOT,
    (
        Part(
            "Faults of the scale are told apart.",
            2,
            _tells(SOUND, NO_SCALE, BY_C),
        ),
        Part(
            "Late scales and columns are found.",
            2,
            _tells(LATE, COLUMNS),
        ),
        Part("Both faults of the mask are found, and no others.", 2, _tells(NO_MASK, ZERO_MASK)),
    ),
    properties=(_unknown_name, _misnamed),
    inputs=_inputs,
)
