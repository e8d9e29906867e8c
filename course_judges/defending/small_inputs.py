"""Inputs of a task that fit on paper: a few rows of small numbers.

A task draws inputs that nobody computes by hand, of ten positions and a dozen channels. Which
lengths belong together is found by drawing several times: two axes that always have the same length
are one dimension, and whoever makes it smaller makes it smaller everywhere. Small inputs count only
if the task's right answer takes them.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import FrameType
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from course_judges import catalogue as judges
from course_judges.defending.contract import MOST_NUMBERS
from course_judges.judging import RightAnswerError, reference_of
from course_judges.rubric import Task
from course_tasks import catalogue
from course_tasks.answers import Answers, Array
from course_tasks.probing import SECOND, Inputs, Probe, Run, passes

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
_TIMES_TO_TRY, _TIMES_TO_DRAW = 50, 5
# So many forms with other lengths, none of them much longer in all than the first.
_FORMS, _MUCH_LONGER = 6, 1.35
# So many numbers of a draw take long, whatever is done with them.
_MANY = 5000
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
    # Of words that are cut, letters that others are asked about may be gone.
    words = any(one.dtype.kind == "u" for one in every[0].values())
    if len(draws) < 2 or not names or words:
        return ()
    groups = _dimensions(draws)
    values = [_values(group, draws) for group in groups]
    whole, at = _whole_numbers(draws, values), _positions(groups, draws)
    # One sample is enough on paper; two positions are not.
    batch = next((n for n, group in enumerate(groups) if ("B", -1) in group), None)
    ahead = groups.index(at) if at in groups else None
    strict, lax = (
        itertools.islice(_combinations(values, batch, ahead, ordered=ordered), _MOST_TRIES)
        for ordered in (True, False)
    )
    found: list[Recipe] = []
    for small in itertools.chain(strict, lax):
        lengths = {place: small[n] for n, group in enumerate(groups) for place in group}
        bounds = {name: one.small(small) for name, one in whole.items()}
        if found and sum(lengths.values()) > sum(found[0].lengths.values()) * _MUCH_LONGER:
            return tuple(found)
        cases = [found[0].case] if found else itertools.islice(probe.cases, _MOST_CASES)
        made = [Recipe(task, case, names, lengths, bounds, at) for case in cases]
        worth = [min(_worth(known, probe, one, seed) for seed in range(2)) for one in made]
        if max(worth) > _NOTHING:
            found.append(made[worth.index(max(worth))])
        if len(found) == _FORMS:
            break
    return tuple(found)


def sound_inputs(made: Recipe, rng: np.random.Generator) -> Inputs:
    """One draw for paper that the right answer takes; the last of several if it takes none.

    Parameters
    ----------
    made : Recipe
    rng : Generator
    """
    known, probe = judges.task(made.task), catalogue.probe(made.task)
    given: Inputs = {}
    for _ in range(_TIMES_TO_DRAW):
        given = made.inputs(rng)
        ran = _ran(known, probe, made.case, given)
        if ran and _sound(list(ran.answers.values.values())):
            break
    return given


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


# Whether what is given fits on paper, whether numbers come out, how many lines of the answer run.
_Worth: TypeAlias = tuple[bool, bool, int]
_NOTHING: _Worth = (False, False, 0)


def _worth(task: Task, probe: Probe, made: Recipe, seed: int) -> _Worth:
    """How much can be asked about a case for small inputs; nothing if no answer takes them."""
    try:
        given = made.inputs(np.random.default_rng(seed))
    except Exception:  # what no task draws may have no small form
        return _NOTHING
    code = getattr(task.answer, "__code__", None)
    file = code.co_filename if code else getattr(inspect.getmodule(task.answer), "__file__", "")
    with _lines_of(file) as lines:
        ran = _ran(task, probe, made.case, given)
    values = list(ran.answers.values.values()) if ran else []
    if not _sound(values):
        return _NOTHING
    once = inspect.isclass(task.answer) or bool(ran and ran.arguments.get(made.case))
    fits = once and numbers_given(ran, made.case) <= MOST_NUMBERS
    return fits, any(not isinstance(one, str) for one in values), len(lines)


def _ran(task: Task, probe: Probe, case: str, given: Inputs) -> Run | None:
    """The right answer in one case; None if it stops."""
    one = Probe(probe.inputs, {case: probe.cases[case]}, probe.kept_back)
    try:
        return reference_of(task, one, given, watched=True)
    except Exception:
        return None


def numbers_given(ran: Run | None, case: str) -> int:
    """How many numbers a function was given at its only call; many if it was called again, and 0
    for a class, which takes only some of them.
    """
    if ran is None:
        return _MANY
    called = ran.arguments.get(case, {})
    return sum(math.prod(value.shape) for value in called.values() if hasattr(value, "shape"))


@contextlib.contextmanager
def _lines_of(file: str) -> Iterator[set[int]]:
    """The lines of a file that run inside the block."""
    lines: set[int] = set()

    def look(frame: FrameType, _event: str, _argument: Any) -> Any:
        if frame.f_code.co_filename != file:
            return None
        lines.add(frame.f_lineno)
        return look

    before = sys.gettrace()
    sys.settrace(look)
    try:
        yield lines
    finally:
        sys.settrace(before)


def _sound(values: Sequence[Any]) -> bool:
    """Whether answers hold something that a paper can ask about."""
    return any(map(_says_something, values)) and not any(map(_holds_nan, values))


def _says_something(value: Any) -> bool:
    if isinstance(value, str):
        return bool(value)
    if value.size == 0 or value.size > MOST_NUMBERS:
        return False
    return value.dtype.kind != "f" or bool(np.isfinite(value).any())


def _holds_nan(value: Any) -> bool:
    """As a count of 0 that is divided by 0: loops stop there, and tensors don't."""
    return not isinstance(value, str) and value.dtype.kind == "f" and bool(np.isnan(value).any())


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
    ordered: bool,
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
    task has no small inputs, or few numbers and some of them whole, of which short ones are often
    alike.

    Parameters
    ----------
    task : str
    count : int
    """
    forms = _recipes(task)
    rng = np.random.default_rng(0)
    drawn = drawn_once(task, 0).values()
    whole = any(one.ndim and one.dtype.kind != "f" for one in drawn)
    if not forms or (whole and sum(one.size for one in drawn) < _MANY):
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
    return numbers_given(_ran(known, probe, made.case, given), made.case)
