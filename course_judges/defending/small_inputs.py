"""Inputs of a task that fit on paper: a few rows of small numbers.

A task draws inputs that nobody computes by hand, of ten positions and a dozen channels. Which
lengths belong together is found by drawing several times: two axes that always have the same length
are one dimension, and whoever makes it smaller makes it smaller everywhere. Small inputs count only
if the task's right answer takes them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from course_judges import catalogue as judges
from course_judges.defending.contract import MOST_NUMBERS
from course_judges.judging import RightAnswerError, reference_of
from course_judges.rubric import Task
from course_tasks import catalogue
from course_tasks.answers import Answers, Array
from course_tasks.probing import SECOND, Inputs, Probe, passes

# An axis of an input, or an input that is one whole number.
_Place: TypeAlias = tuple[str, int]

_DRAWS = 6
_MOST_DRAWS = 18
# What a dimension may be made: 1 hides what goes wrong along it.
_LENGTHS = (2, 3, 4, 5, 6)
_MOST_COMBINATIONS = 40_000
_MOST_TRIES = 40
_MOST_CASES = 4
_LONGEST = 8
_TIMES_TO_TRY = 50
# So many forms with other lengths, none of them much longer in all than the first.
_FORMS, _MUCH_LONGER = 6, 1.35
# A dimension that always has so few entries keeps them.
_KEPT = 3
# Mostly near 0: a softmax of large differences shows only its largest number.
_NUMBERS = (-1, -1, 0, 0, 1, 1, 2)


class _Bounds(NamedTuple):
    """Of whole numbers: the least and the most, or all of them where each is a length."""

    least: int
    most: int
    each: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Whole:
    """What whole numbers of an input are: below a dimension or up to it, or lengths themselves."""

    least: int
    dimension: int
    inclusive: bool
    each: tuple[int, ...] = ()

    def small(self, lengths: Sequence[int]) -> _Bounds:
        if self.each:
            return _Bounds(0, 0, tuple(lengths[n] for n in self.each))
        return _Bounds(self.least, lengths[self.dimension] - (not self.inclusive))


@dataclass(frozen=True)
class Recipe:
    """How a task's inputs are made small.

    Attributes
    ----------
    task, case : str
        The case that is run on them.
    names : frozenset of str
        The inputs, where there may be more or fewer.
    lengths : mapping of (str, int) to int
        Of each axis of an input, and of each whole number that is the length of one (axis −1).
    bounds : mapping of str to (tuple of int)
        Of whole numbers, the least and the most that they may be; or all of them, where each is a
        length.
    positions : tuple of (str, int)
        The axes whose length is T, wherever there is such a dimension.
    """

    task: str
    case: str
    names: frozenset[str]
    lengths: Mapping[_Place, int]
    bounds: Mapping[str, _Bounds]
    positions: tuple[_Place, ...] = ()

    def inputs(self, rng: np.random.Generator, *, factor: int = 1, exact: bool = True) -> Inputs:
        """One draw.

        Parameters
        ----------
        rng : Generator
        factor : int
            How many times as many positions there are.
        exact : bool
            Whether numbers become some that can be added on paper, or stay as they were drawn.
        """
        probe = catalogue.probe(self.task)
        draw = judges.as_written(self.task).inputs or probe.inputs
        drawn = probe.shown(draw(rng))
        while set(drawn) != self.names:
            drawn = probe.shown(draw(rng))
        return {
            name: _small(
                *(name, array, self.lengths, self.bounds.get(name), rng),
                positions=self.positions,
                factor=factor,
                exact=exact,
            )
            for name, array in drawn.items()
        }


def recipe(task: str, rng: np.random.Generator | None = None) -> Recipe | None:
    """How the inputs of a task are made small.

    Parameters
    ----------
    task : str
        For example "05/scores".
    rng : Generator, optional
        Which of several forms, with other lengths; the smallest by default.

    Returns
    -------
    Recipe or None
        None if the right answer takes none of the small inputs that were tried.
    """
    found = _recipes(task)
    if not found:
        return None
    return found[0 if rng is None else int(rng.integers(len(found)))]


@cache
def _recipes(task: str) -> tuple[Recipe, ...]:
    """The smallest forms, with one case."""
    known, probe = judges.task(task), catalogue.probe(task)
    draw = known.inputs or probe.inputs
    every = [probe.shown(draw(np.random.default_rng(seed))) for seed in range(_MOST_DRAWS)]
    # Where there are as many inputs as heads, the draws with the fewest.
    names = min((frozenset(one) for one in every), key=len)
    draws = [one for one in every if set(one) == names][:_DRAWS]
    if len(draws) < 2 or not names:
        return ()
    groups = _dimensions(draws)
    values = [_values(group, draws) for group in groups]
    whole, at = _whole_numbers(draws, values), _positions(groups, draws)
    # One sample is enough on paper; two positions are not.
    batch = next((n for n, group in enumerate(groups) if ("B", -1) in group), None)
    ahead = groups.index(at) if at in groups else None
    strict = itertools.islice(_combinations(values, batch, ahead), _MOST_TRIES)
    lax = itertools.islice(_combinations(values, batch, ahead, ordered=False), _MOST_TRIES)
    found: list[Recipe] = []
    for small in itertools.chain(strict, lax):
        lengths = {place: small[n] for n, group in enumerate(groups) for place in group}
        bounds = {name: one.small(small) for name, one in whole.items()}
        cases = [found[0].case] if found else itertools.islice(probe.cases, _MOST_CASES)
        for case in cases:
            made = Recipe(task, case, names, lengths, bounds, at)
            size = sum(lengths.values())
            if found and size > sum(found[0].lengths.values()) * _MUCH_LONGER:
                return tuple(found)
            if all(_fits(known, probe, made, seed) for seed in range(2)):
                found.append(made)
                break
        if len(found) == _FORMS:
            break
    return tuple(found)


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


def _whole_numbers(draws: Sequence[Inputs], values: Sequence[tuple[int, ...]]) -> dict[str, _Whole]:
    """For inputs of whole numbers, the dimension that they index, count, or are the length of."""
    found = {}
    for name, array in draws[0].items():
        if array.dtype.kind != "i" or array.ndim == 0:
            continue
        held = [one[name] for one in draws]
        if all(one.shape == array.shape for one in held) and array.size <= _LONGEST:
            columns = list(zip(*(one.ravel().tolist() for one in held), strict=True))
            each = [next((n for n, v in enumerate(values) if v == c), -1) for c in columns]
            if each and min(each) >= 0:
                found[name] = _Whole(0, 0, inclusive=False, each=tuple(each))
                continue
        most = [int(one.max(initial=0)) for one in held]
        least = min([int(one.min()) for one in held if one.size], default=0)
        over = [
            (sum(length) - sum(most), n)
            for n, length in enumerate(values)
            if all(m <= one for m, one in zip(most, length, strict=True))
        ]
        if over and least >= 0:
            dimension = min(over)[1]
            inclusive = any(m == one for m, one in zip(most, values[dimension], strict=True))
            found[name] = _Whole(min(least, 1), dimension, inclusive)
    return found


def _combinations(
    values: Sequence[tuple[int, ...]],
    batch: int | None,
    ahead: int | None,
    *,
    ordered: bool = True,
) -> Iterator[tuple[int, ...]]:
    """Small lengths for all dimensions that stand to each other as they always do, small first;
    if not `ordered`, one that is always longer may be shorter.
    """
    made = {n: how for n in range(len(values)) if (how := _made_of(n, values)) is not None}
    free = [n for n in range(len(values)) if n not in made]
    choices: list[tuple[int, ...]] = []
    for number in free:
        one = values[number]
        if number == batch:
            choices.append((1, 2))
        elif len(set(one)) == 1 and one[0] <= _KEPT:
            choices.append((one[0],))
        elif number == ahead:
            choices.append(tuple(n for n in (3, 4, 5, 6) if n <= max(one)) or (max(one),))
        else:
            choices.append(tuple(n for n in (*_LENGTHS, _LONGEST) if n <= max(one)) or (max(one),))
    while np.prod([float(len(one)) for one in choices]) > _MOST_COMBINATIONS:
        longest = max(range(len(choices)), key=lambda n: len(choices[n]))
        if len(choices[longest]) <= 2:
            break
        choices[longest] = choices[longest][:-1]
    rules = _rules(values, ordered=ordered)
    order = sorted(made, key=lambda n: values[n])
    fitting = []
    for chosen in itertools.islice(itertools.product(*choices), _MOST_COMBINATIONS):
        small = dict(zip(free, chosen, strict=True))
        for n in order:
            small[n] = made[n](small)
        lengths = tuple(small[n] for n in range(len(values)))
        if min(lengths, default=0) >= 0 and all(rule(lengths) for rule in rules):
            # Of equal totals, the one whose dimensions differ: shapes then tell them apart.
            alike = len(lengths) - len(set(lengths))
            fitting.append((sum(lengths) + 2 * alike, lengths))
    fitting.sort(key=lambda one: one[0])
    return (lengths for _, lengths in fitting)


def _made_of(
    number: int, values: Sequence[tuple[int, ...]]
) -> Callable[[Mapping[int, int]], int] | None:
    """How a length follows from smaller ones in every draw; None if it doesn't."""
    own = values[number]
    if len(set(own)) == 1:
        return None
    smaller = [
        n
        for n, one in enumerate(values)
        if n != number and all(x < y for x, y in zip(one, own, strict=True)) and min(one) > 0
    ]
    varied = [n for n in smaller if len(set(values[n])) > 1]
    for n in varied:
        for times in (2, 3, 4):
            if all(x * times == y for x, y in zip(values[n], own, strict=True)):
                return lambda small, n=n, times=times: small[n] * times  # type: ignore[misc]
    for a, b in itertools.combinations_with_replacement(smaller, 2):
        pairs = list(zip(values[a], values[b], own, strict=True))
        if a != b and all(x * y == z for x, y, z in pairs):
            return lambda small, a=a, b=b: small[a] * small[b]  # type: ignore[misc]
    for n in varied:
        if all(x + 1 == y for x, y in zip(values[n], own, strict=True)):
            return lambda small, n=n: small[n] + 1  # type: ignore[misc]
    for a, b in itertools.combinations(varied, 2):
        if all(x + y == z for x, y, z in zip(values[a], values[b], own, strict=True)):
            return lambda small, a=a, b=b: small[a] + small[b]  # type: ignore[misc]
    return None


def _rules(values: Sequence[tuple[int, ...]], *, ordered: bool) -> list[Any]:
    """What else is true of the lengths in every draw, as conditions on small ones."""
    rules: list[Any] = []
    numbers = [n for n, one in enumerate(values) if len(set(one)) > 1]
    for a, b in itertools.permutations(range(len(values)), 2):
        columns = list(zip(values[a], values[b], strict=True))
        if ordered and all(x < y for x, y in columns):
            rules.append(lambda s, a=a, b=b: s[a] < s[b] or (s[a] <= s[b] and s[a] > 2))
        if all(x and y % x == 0 for x, y in columns) and (a in numbers or b in numbers):
            rules.append(lambda s, a=a, b=b: s[a] and s[b] % s[a] == 0)
    even = [n for n in numbers if all(x % 2 == 0 for x in values[n])]
    rules += [lambda s, n=n: s[n] % 2 == 0 for n in even]
    return rules


def _small(
    name: str,
    array: Array,
    lengths: Mapping[_Place, int],
    bounds: _Bounds | None,
    rng: np.random.Generator,
    *,
    positions: Sequence[_Place],
    factor: int,
    exact: bool,
) -> Array:
    """One input, cut to its small lengths, perhaps with numbers that can be added on paper."""
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
    if cut.dtype.kind == "i" and bounds is not None:
        if bounds.each:
            return np.resize(np.asarray(bounds.each, dtype=cut.dtype), cut.shape)
        permuted = bounds.least == 0 and cut.ndim == 1 and len(set(cut.tolist())) == cut.size > 2
        if permuted and cut.size == bounds.most + 1:
            return np.argsort(np.argsort(cut)).astype(cut.dtype)
        return bounds.least + (cut - bounds.least) % max(1, bounds.most + 1 - bounds.least)
    if cut.dtype.kind == "f":
        return _exact(cut, rng) if exact else _still_shares(array, cut)
    return cut


def _still_shares(array: Array, cut: Array) -> Array:
    """Rows that sum to 1 still do so when they are shorter."""
    sums = cut.sum(-1, keepdims=True)
    if array.size and np.allclose(array.sum(-1), 1, atol=1e-3) and bool((sums > 0).all()):
        return np.asarray(cut / sums, dtype=cut.dtype)
    return cut


def _exact(values: Array, rng: np.random.Generator) -> Array:
    """Numbers of the same kind that are exact on paper: parts of one in quarters, or whole."""
    held = values[np.isfinite(values)]
    if held.size == 0 or bool((held == np.round(held * 4) / 4).all()):
        return values
    for _ in range(_TIMES_TO_TRY):
        made = np.where(np.isfinite(values), _drawn_like(values, held, rng), values)
        # Of a row of equal numbers, too many programs make the same.
        if made.shape[-1] < 2 or bool(np.all(np.ptp(made, axis=-1) > 0)):
            break
    return made.astype(values.dtype)


def _drawn_like(values: Array, held: Array, rng: np.random.Generator) -> Array:
    if held.min() < 0:
        return np.asarray(rng.choice(_NUMBERS, values.shape))
    if held.max() > 1:
        return np.asarray(rng.integers(1, 5, values.shape))
    if np.allclose(values.sum(-1), 1, atol=1e-3):
        return _shares(values.shape, rng)
    return np.asarray(rng.integers(1, 4, values.shape)) / 4


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


def short_draws(task: str, count: int) -> tuple[Inputs, ...]:
    """So many inputs as short as those for paper, with numbers as the task draws them; none if the
    task has no small inputs, or some of whole numbers, of which short ones are often alike.

    Parameters
    ----------
    task : str
    count : int
    """
    forms = _recipes(task)
    rng = np.random.default_rng(0)
    if not forms or any(a.ndim and a.dtype.kind != "f" for a in drawn_once(task, 0).values()):
        return ()
    return tuple(forms[n % len(forms)].inputs(rng, exact=False) for n in range(count))


def drawn_once(task: str, seed: int) -> Inputs:
    """The inputs of the first pass of a check with this seed."""
    probe = catalogue.probe(task)
    draw = judges.as_written(task).inputs or probe.inputs
    return probe.shown(draw(np.random.default_rng(seed)))


def first_case(task: str) -> str:
    """The case that is run where nothing is small."""
    return next(iter(catalogue.probe(task).cases))


@cache
def numbers_of(task: str) -> int:
    """How many numbers a function that answers a task is given; many if nothing is small, and 0 of
    a class, which takes only some of them.

    Parameters
    ----------
    task : str
    """
    made = recipe(task)
    if made is None:
        return 10 * MOST_NUMBERS
    given = made.inputs(np.random.default_rng(0))
    known, probe = judges.task(task), catalogue.probe(task)
    one = Probe(probe.inputs, {made.case: probe.cases[made.case]}, probe.kept_back)
    called = reference_of(known, one, given, watched=True).arguments.get(made.case, {})
    return sum(math.prod(value.shape) for value in called.values() if hasattr(value, "shape"))
