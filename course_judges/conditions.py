"""What the arguments have in common where an answer is wrong: a large `k` in these rows, or `real`
that is False at these places.

This is said of an answer that is right only at some places, if one argument tells those places from
the wrong ones in every draw.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from course_judges.equality import close
from course_judges.evidence import Evidence
from course_judges.wording import listed, number
from course_tasks.answers import Array

# Among fewer entries, any number may separate the wrong ones from the right ones by chance.
_FEW = 4
# At most so many different values are quoted.
_QUOTED = 6


class Condition(NamedTuple):
    """What is true where an answer is wrong, and nowhere else.

    Attributes
    ----------
    kind : str
        The argument and how it separates the places; the same in other draws.
    sentence : str
        With numbers of this draw.
    """

    kind: str
    sentence: str


def common(failing: Sequence[Evidence]) -> str:
    """The first sentence on the arguments that holds in all draws in which an answer is wrong, with
    the numbers of the first; empty if there is none.
    """
    held = [list(_of_a_draw(draw)) for draw in failing]
    for condition in held[0]:
        if all(any(one.kind == condition.kind for one in others) for others in held[1:]):
            return condition.sentence
    return ""


def _of_a_draw(evidence: Evidence) -> Iterator[Condition]:
    for name in evidence.wrong_values:
        mine, right = evidence.answers.values.get(name), evidence.expected.values[name]
        if isinstance(right, str) or isinstance(mine, str) or mine is None:
            continue
        if mine.shape == right.shape:
            wrong = ~close(evidence.yours(name), right)
            for argument, given in evidence.arguments(name).items():
                yield from _of_an_argument(argument, given, wrong)
        return


def _of_an_argument(name: str, given: Array, wrong: Array) -> Iterator[Condition]:
    if given.ndim > wrong.ndim or given.size < _FEW or given.dtype.kind not in "biuf":
        return
    for axes in combinations(range(wrong.ndim), given.ndim):
        if tuple(wrong.shape[axis] for axis in axes) != given.shape:
            continue
        others = tuple(axis for axis in range(wrong.ndim) if axis not in axes)
        at = np.asarray(wrong.any(axis=others))
        if at.any() and not at.all():
            yield from _parted(name, given, at)


def _parted(name: str, given: Array, wrong: Array) -> Iterator[Condition]:
    """How one argument separates the wrong places from the right ones, if it does."""
    if given.dtype.kind == "b":
        for value in (True, False):
            if np.array_equal(wrong, given == value):
                said = f"These are exactly the places where `{name}` is {value}."
                yield Condition(f"{name} is {value}", said)
        return
    bad, good = given[wrong], given[~wrong]
    if not np.isfinite(given).all():
        if np.array_equal(wrong, np.isneginf(given)):
            said = f"These are exactly the places where `{name}` is −∞."
            yield Condition(f"{name} is hidden", said)
        return
    if len(np.unique(bad)) == 1 and not (good == bad[0]).any() and given.size > 2 * _FEW:
        said = f"These are exactly the places where `{name}` is {number(float(bad[0]))}."
        yield Condition(f"{name} is {bad[0]}", said)
    for side, apart in (("above", bad.min() > good.max()), ("below", bad.max() < good.min())):
        if apart:
            said = (
                f"Where it is wrong, `{name}` is {_values(bad)}, and where it is right, "
                f"`{name}` is {_values(good)}."
            )
            yield Condition(f"{name} is {side}", said)


def _values(held: Array) -> str:
    """A few numbers as a list, as in "4, 7", and more of them as a range, as in "0 to 12"."""
    values = np.unique(held)
    if len(values) <= _QUOTED:
        return listed(values) if held.dtype.kind in "iu" else ", ".join(map(number, values))
    return f"{number(float(values[0]))} to {number(float(values[-1]))}"
