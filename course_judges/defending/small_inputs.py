"""Inputs of a task that fit on paper: a few rows of small numbers.

A task draws inputs that nobody computes by hand, of ten positions and a dozen channels. Which
lengths belong together is found by drawing several times: two axes that always have the same length
are one dimension, and whoever makes it smaller makes it smaller everywhere. Small inputs count only
if the task's right answer takes them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from course_judges import catalogue as judges
from course_judges.judging import RightAnswerError, reference_of
from course_judges.rubric import Task
from course_tasks import catalogue
from course_tasks.answers import Answers, Array
from course_tasks.probing import SECOND, Inputs, Probe, passes

# An axis of an input, or an input that is one whole number.
_Place: TypeAlias = tuple[str, int]

_DRAWS = 6
# What a dimension may be made: 1 hides what goes wrong along it.
_LENGTHS = (2, 3, 4, 5, 6)
_MOST_COMBINATIONS = 4000
_MOST_TRIES = 24
_LONGEST = 8
# Mostly near 0: a softmax of large differences shows only its largest number.
_NUMBERS = (-1, -1, 0, 0, 1, 1, 2)
# So many numbers can be read on half a page.
MOST_NUMBERS = 64


@dataclass(frozen=True)
class Recipe:
    """How a task's inputs are made small.

    Attributes
    ----------
    task, case : str
        The case that is run on them.
    lengths : mapping of (str, int) to int
        Of each axis of an input, and of each whole number that is the length of one (axis −1).
    bounds : mapping of str to int
        Of whole numbers, the small number that they stay below.
    positions : tuple of (str, int)
        The axes whose length is T, wherever there is such a dimension.
    """

    task: str
    case: str
    lengths: Mapping[_Place, int]
    bounds: Mapping[str, int]
    positions: tuple[_Place, ...] = ()

    def inputs(self, rng: np.random.Generator, *, factor: int = 1) -> Inputs:
        """One draw.

        Parameters
        ----------
        rng : Generator
        factor : int
            How many times as many positions there are.
        """
        probe = catalogue.probe(self.task)
        draw = judges.as_written(self.task).inputs or probe.inputs
        return self._smaller(probe.shown(draw(rng)), rng, factor)

    def _smaller(self, drawn: Inputs, rng: np.random.Generator, factor: int) -> Inputs:
        return {
            name: _small(
                *(name, array, self.lengths, self.bounds.get(name), rng),
                positions=self.positions,
                factor=factor,
            )
            for name, array in drawn.items()
        }


@cache
def recipe(task: str) -> Recipe | None:
    """How the inputs of a task are made small.

    Parameters
    ----------
    task : str
        For example "05/scores".

    Returns
    -------
    Recipe or None
        None if the right answer takes none of the small inputs that were tried.
    """
    known, probe = judges.task(task), catalogue.probe(task)
    draw = known.inputs or probe.inputs
    draws = [probe.shown(draw(np.random.default_rng(seed))) for seed in range(_DRAWS)]
    if any(set(one) != set(draws[0]) for one in draws) or not draws[0]:
        return None
    groups = _dimensions(draws)
    values = [_values(group, draws) for group in groups]
    bounded, at = _bounded(draws, values), _positions(groups, draws)
    # One sample is enough on paper; two positions are not.
    batch = next((n for n, group in enumerate(groups) if ("B", -1) in group), None)
    ahead = groups.index(at) if at in groups else None
    for tried, small in enumerate(_combinations(values, batch, ahead)):
        if tried >= _MOST_TRIES:
            return None
        lengths = {place: small[n] for n, group in enumerate(groups) for place in group}
        bounds = {name: small[n] for name, n in bounded.items()}
        for case in probe.cases:
            made = Recipe(task, case, lengths, bounds, at)
            if all(_fits(known, probe, made, seed) for seed in range(2)):
                return made
    return None


def expected(task: str, case: str, given: Inputs) -> Answers | None:
    """What the right answer gives in one case; None if it stops, or gives no number."""
    known, probe = judges.task(task), catalogue.probe(task)
    one = Probe(probe.inputs, {case: probe.cases[case]}, probe.kept_back)
    try:
        answers = reference_of(known, one, given).answers
    except RightAnswerError:
        return None
    except Exception:  # a probe may stumble over inputs that it would never draw
        return None
    return answers if answers.values else None


def _fits(task: Task, probe: Probe, made: Recipe, seed: int) -> bool:
    rng = np.random.default_rng(seed)
    try:
        given = made.inputs(rng)
    except Exception:  # what no task draws may have no small form
        return False
    one = Probe(probe.inputs, {made.case: probe.cases[made.case]}, probe.kept_back)
    try:
        answers = reference_of(task, one, given).answers
    except Exception:
        return False
    return any(_says_something(value) for value in answers.values.values())


def _says_something(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value)
    if value.size == 0 or value.size > MOST_NUMBERS:
        return False
    return value.dtype.kind != "f" or bool(np.isfinite(value).any())


def _dimensions(draws: Sequence[Inputs]) -> list[tuple[_Place, ...]]:
    """Places that have one length in every draw, together."""
    found: dict[tuple[int, ...], list[_Place]] = {}
    for name, array in draws[0].items():
        if "seed" in name:
            continue
        if array.ndim == 0 and array.dtype.kind == "i":
            found.setdefault(tuple(int(one[name]) for one in draws), []).append((name, -1))
        for axis in range(array.ndim):
            if all(one[name].ndim == array.ndim for one in draws):
                lengths = tuple(one[name].shape[axis] for one in draws)
                found.setdefault(lengths, []).append((name, axis))
    return [tuple(places) for places in found.values()]


def _values(group: Sequence[_Place], draws: Sequence[Inputs]) -> tuple[int, ...]:
    name, axis = group[0]
    return tuple(int(one[name]) if axis < 0 else one[name].shape[axis] for one in draws)


def _positions(groups: Sequence[tuple[_Place, ...]], draws: Sequence[Inputs]) -> tuple[_Place, ...]:
    """The dimension that the task calls T, or else none."""
    for group in groups:
        if any(name in ("T", "S") and axis < 0 for name, axis in group):
            return group
    # Mostly rows of features, (…, T, C), where nothing says so.
    for name, array in draws[0].items():
        if name in ("x", "scores", "queries", "q") and array.ndim >= 2:
            place = (name, array.ndim - 2)
            return next((group for group in groups if place in group), ())
    return ()


def _bounded(draws: Sequence[Inputs], values: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """For inputs of whole numbers, the dimension that they index."""
    found = {}
    for name, array in draws[0].items():
        if array.dtype.kind != "i" or array.ndim == 0:
            continue
        most = [int(one[name].max(initial=0)) for one in draws]
        if min(int(one[name].min(initial=0)) for one in draws) < 0:
            continue
        over = [
            (sum(length) - sum(most), n)
            for n, length in enumerate(values)
            if all(m < one for m, one in zip(most, length, strict=True))
        ]
        if over:
            found[name] = min(over)[1]
    return found


def _combinations(
    values: Sequence[tuple[int, ...]], batch: int | None, ahead: int | None
) -> Iterator[tuple[int, ...]]:
    """Small lengths for all dimensions that stand to each other as they always do, small first."""
    rules = _rules(values)
    choices: list[tuple[int, ...]] = []
    for number, one in enumerate(values):
        constant = len(set(one)) == 1
        if number == batch:
            choices.append((1, 2))
        elif number == ahead and not constant:
            choices.append(tuple(n for n in (3, 4, 5, 6) if n <= max(one)) or (max(one),))
        elif constant and one[0] <= 2:
            choices.append((one[0],))
        elif constant:
            choices.append(tuple(dict.fromkeys((*_LENGTHS, min(one[0], _LONGEST)))))
        else:
            choices.append(tuple(n for n in (*_LENGTHS, _LONGEST) if n <= max(one)) or (max(one),))
    while np.prod([float(len(one)) for one in choices]) > 40_000:
        longest = max(range(len(choices)), key=lambda n: len(choices[n]))
        if len(choices[longest]) <= 2:
            break
        choices[longest] = choices[longest][:-1]
    fitting = []
    for small in itertools.islice(itertools.product(*choices), 40_000):
        if all(rule(small) for rule in rules):
            # Of equal totals, the one whose dimensions differ: shapes then tell them apart.
            fitting.append((sum(small) + 2 * (len(small) - len(set(small))), small))
    fitting.sort(key=lambda one: one[0])
    return (small for _, small in fitting[:_MOST_COMBINATIONS])


def _rules(values: Sequence[tuple[int, ...]]) -> list[Any]:
    """What is true of the lengths in every draw, as conditions on small ones."""
    rules: list[Any] = []
    numbers = [n for n, one in enumerate(values) if len(set(one)) > 1]
    for a in range(len(values)):
        for b in range(len(values)):
            if a == b:
                continue
            if all(x < y for x, y in zip(values[a], values[b], strict=True)):
                rules.append(lambda s, a=a, b=b: s[a] < s[b] or (s[a] <= s[b] and s[a] > 2))
            for step in (1, -1):
                if all(x + step == y for x, y in zip(values[a], values[b], strict=True)):
                    rules.append(lambda s, a=a, b=b, step=step: s[a] + step == s[b])
            for times in (2, 3, 4):
                if a in numbers and all(
                    x * times == y for x, y in zip(values[a], values[b], strict=True)
                ):
                    rules.append(lambda s, a=a, b=b, times=times: s[a] * times == s[b])
            divides = all(x and y % x == 0 for x, y in zip(values[a], values[b], strict=True))
            if divides and (a in numbers or b in numbers):
                rules.append(lambda s, a=a, b=b: s[b] % s[a] == 0)
    for a, b, c in itertools.product(range(len(values)), repeat=3):
        if a <= b and c not in (a, b) and (a in numbers or b in numbers):
            columns = list(zip(values[a], values[b], values[c], strict=True))
            if all(x * y == z for x, y, z in columns):
                rules.append(lambda s, a=a, b=b, c=c: s[a] * s[b] == s[c])
            if all(x + y == z for x, y, z in columns):
                rules.append(lambda s, a=a, b=b, c=c: s[a] + s[b] == s[c])
    even = [n for n in numbers if all(x % 2 == 0 for x in values[n])]
    rules += [lambda s, n=n: s[n] % 2 == 0 for n in even]
    return rules


def _small(
    name: str,
    array: Array,
    lengths: Mapping[_Place, int],
    below: int | None,
    rng: np.random.Generator,
    *,
    positions: Sequence[_Place],
    factor: int,
) -> Array:
    """One input, cut to its small lengths, with numbers that can be added on paper."""
    if array.ndim == 0:
        if (name, -1) in lengths and array.dtype.kind == "i":
            times = factor if (name, -1) in positions else 1
            return np.asarray(lengths[name, -1] * times, dtype=array.dtype)
        return array
    shape = tuple(
        lengths.get((name, axis), length) * (factor if (name, axis) in positions else 1)
        for axis, length in enumerate(array.shape)
    )
    # Longer than what was drawn: it is repeated.
    for axis, length in enumerate(shape):
        times = -(-length // max(1, array.shape[axis]))
        if times > 1:
            array = np.concatenate([array] * times, axis=axis)
    cut = array[tuple(slice(0, length) for length in shape)].copy()
    if cut.dtype.kind == "i" and below is not None:
        permuted = cut.ndim == 1 and len(set(cut.tolist())) == cut.size
        return np.argsort(np.argsort(cut)).astype(cut.dtype) if permuted else cut % below
    if cut.dtype.kind == "f":
        return _exact(cut, rng)
    return cut


def _exact(values: Array, rng: np.random.Generator) -> Array:
    """Numbers of the same kind that are exact on paper: parts of one in quarters, or whole."""
    held = values[np.isfinite(values)]
    if held.size == 0 or bool((held == np.round(held * 4) / 4).all()):
        return values
    made = np.where(np.isfinite(values), rng.choice(_NUMBERS, values.shape), values)
    if held.min() >= 0 and held.max() <= 1:
        if values.ndim and np.allclose(values.sum(-1), 1, atol=1e-3):
            made = _shares(values.shape, rng)
        else:
            made = np.where(np.isfinite(values), rng.integers(1, 4, values.shape) / 4, values)
    elif held.min() >= 0:
        made = np.where(np.isfinite(values), rng.integers(1, 5, values.shape), values)
    return made.astype(values.dtype)


def _shares(shape: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Rows of quarters (or eighths, if there are more) that sum to 1."""
    parts = 4 if shape[-1] <= 4 else 8
    flat = np.zeros((int(np.prod(shape[:-1])), shape[-1]))
    for row in flat:
        for place in rng.integers(0, shape[-1], parts):
            row[place] += 1 / parts
    return flat.reshape(shape)


def drawn(task: str, seed: int) -> list[Inputs]:
    """The inputs of a check with this seed, pass by pass, as a case gets them."""
    probe = catalogue.probe(task)
    inputs = judges.inputs(task, np.random.default_rng(seed))
    return [given for prefix, given in passes(probe.shown(inputs)) if prefix in ("", SECOND)]


def first_case(task: str) -> str:
    """The case that is run where nothing is small."""
    return next(iter(catalogue.probe(task).cases))
