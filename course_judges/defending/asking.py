"""What is run to make questions, and what that found.

`plan` needs no student code to run: it changes the text of an answer and draws inputs. Whoever has
the student's code in a safe place runs the plan there (`course_tasks.variant_runs`), and `found`
reads what came of it, which may be anything.
"""

from __future__ import annotations

import ast
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np

from course_judges.defending import small_inputs
from course_judges.defending.changes import Edit, edits
from course_judges.defending.contract import MOST_NUMBERS
from course_judges.defending.own_words import shows_answer
from course_judges.defending.program import Program, traced
from course_judges.defending.values import OddValueError, Value, read_value
from course_judges.equality import close, same_value
from course_tasks import catalogue
from course_tasks.answers import Answers, Array
from course_tasks.observing import nothing
from course_tasks.probing import Inputs
from course_tasks.variant_runs import ERROR, OUTSIDE, TOO_LONG, TOO_MUCH, UNSTEADY, packed

# Their answers train a model, which no run on small inputs does in time.
_TRAIN = ("08/train", "my-gpt/train", "my-gpt/write")
UNREADABLE = "left what cannot be read"
# Variants of one answer that may be run; each takes some milliseconds.
MOST_EDITS = 72
# On so many draws options are told apart; the small numbers of paper would often agree by chance.
# The first are as checks make them, and with some edges of what a task allows, every case is asked
# of them. The others are as short as on paper, because an answer in loops takes its time.
DRAWS = 40
_WHOLE, _EDGES = 10, 3
# Small inputs, each with two others that differ in one position.
_PAIRS = 4
_MOST_BYTES_OF_RESULTS = 48 * 2**20
_ARGUMENT_VARIATIONS = (
    ("every number of `{name}` is 0", lambda a: np.zeros_like(a)),
    ("every number of `{name}` is 2", lambda a: np.full_like(a, 2)),
    ("the numbers of `{name}` are 1000 times as large", lambda a: a * 1000),
    ("the numbers of `{name}` have the opposite sign", lambda a: -a),
    ("{first} is 0", lambda a: _with_first(a, 0)),
    ("{first} is −∞", lambda a: _with_first(a, -np.inf)),
)


def _with_first(array: Array, number: float) -> Array:
    made = array.copy()
    made[(0,) * max(1, array.ndim - 1)] = number
    return made


@dataclass(frozen=True)
class Plan:
    """What is run for one student and one task.

    Attributes
    ----------
    task, case : str
    program : Program
    edits : tuple of Edit
    sets : tuple of (mapping of str to ndarray)
        The first is the one that the paper shows.
    roles : mapping of str to (tuple of int)
        See `course_tasks.variant_runs.run_variants`.
    pairs : tuple of (int, int, str)
        Two sets that differ only in the "last" or the "first" position.
    special : tuple of (int, str, str)
        A set, the input that is special in it, and how, with "{name}" for it.
    small : bool
        Whether the shown inputs are small enough for paper.
    positions : tuple of (str, int)
        See `small_inputs.Recipe`.
    """

    task: str
    case: str
    program: Program
    edits: tuple[Edit, ...]
    sets: tuple[Inputs, ...]
    roles: Mapping[str, tuple[int, ...]]
    pairs: tuple[tuple[int, int, str], ...] = ()
    special: tuple[tuple[int, str, str], ...] = ()
    small: bool = True
    positions: tuple[tuple[str, int], ...] = ()

    @property
    def numbers_of_positions(self) -> tuple[str, ...]:
        """The inputs that are a number of positions themselves."""
        return tuple(name for name, axis in self.positions if axis < 0)

    @cached_property
    def programs(self) -> list[dict[str, str]]:
        """All programs that are run, the student's own first."""
        own = {"plain": self.program.source, "traced": self.program.traced}
        return [own, *({"traced": traced(edit.source)} for edit in self.edits)]

    def message(self) -> bytes:
        """The same as what `run_variants_on_bytes` takes."""
        asked = {
            "answer": self.program.name,
            "case": self.case,
            "programs": self.programs,
            "roles": {name: list(numbers) for name, numbers in self.roles.items()},
        }
        return packed(json.dumps(asked), self.sets)


def unasked(task: str) -> str:
    """Why nobody is asked about a task; empty if they are.

    Parameters
    ----------
    task : str
    """
    if catalogue.requires(task):
        return "its answer is compiled, which takes too long to do dozens of times"
    if catalogue.probe(task).inputs is nothing:
        return "it is an experiment, whose answer is no code"
    if task in _TRAIN:
        return "its answer trains a model, which takes too long to run dozens of times"
    return ""


def rehearse(task: str) -> int | None:
    """Draw now what plans of a whole class are made of.

    Parameters
    ----------
    task : str

    Returns
    -------
    int or None
        See `small_inputs.numbers_of`; None if nobody is asked about the task.
    """
    if unasked(task):
        return None
    _drawn(task, DRAWS)
    return small_inputs.numbers_of(task)


def plan(
    task: str,
    program: Program,
    seed: int,
    *,
    counts: bool = True,
    most: int = MOST_EDITS,
    draws: int = DRAWS,
) -> Plan:
    """What is to be run for one student and one task.

    Parameters
    ----------
    task : str
    program : Program
        The student's own code.
    seed : int
        See `course_judges.defending.choosing.seed_of`.
    counts : bool
        Whether operations are counted, which needs PyTorch itself.
    most : int
        How many variants are run.
    draws : int
        On how many draws.
    """
    rng = np.random.default_rng(seed)
    recipe = small_inputs.recipe(task, rng)
    chosen = tuple(
        one
        for one in edits(program, most, rng)
        if not shows_answer(task, program.source, one.after)
    )
    # If time runs out, what has not been run is about any line.
    chosen = tuple(chosen[n] for n in rng.permutation(len(chosen)))
    ordinary, edges = _drawn(task, draws)
    if recipe is None:
        sets = [*ordinary, *edges]
        case = small_inputs.first_case(task)
        every = tuple(range(len(sets)))
        roles = {
            "shown": every[:1],
            "counted": (),
            "own": (),
            "drawn": every[1:],
            "told": every[1 : len(ordinary)],
            "whole": (*every[1 : _WHOLE + 1], *every[len(ordinary) :]),
            "edges": every[len(ordinary) :],
        }
        return Plan(task, case, program, chosen, tuple(sets), roles, small=False)
    sets = [small_inputs.sound_inputs(recipe, rng), *ordinary, *edges]
    first_edge, end = len(ordinary) + 1, len(sets)
    pairs: list[tuple[int, int, str]] = []
    for _ in range(_PAIRS) if recipe.positions else ():
        base = len(sets)
        sets.append(recipe.inputs(rng))
        for which in ("last", "first"):
            sets.append(_moved(sets[base], recipe.positions, which, rng))
            pairs.append((base, len(sets) - 1, which))
    moved = tuple(
        sorted({n for base, other, which in pairs if which == "last" for n in (base, other)})
    )
    begun = tuple(other for _, other, which in pairs if which == "first")
    counted: tuple[int, ...] = ()
    if counts and recipe.positions:
        times = int(rng.integers(2, 6))
        for factor in (times, 2 * times):
            sets.append(recipe.inputs(np.random.default_rng(seed), factor=factor))
        counted = (len(sets) - 2, len(sets) - 1)
    special = []
    for name, array in sets[0].items():
        if array.dtype.kind != "f" or array.ndim == 0 or array.size > MOST_NUMBERS:
            continue
        for words, change in _ARGUMENT_VARIATIONS:
            row = f"every number of `{{name}}[{', '.join('0' * (array.ndim - 1))}]`"
            first = row if array.ndim > 1 else "`{name}[0]`"
            special.append((len(sets), name, words.replace("{first}", first)))
            sets.append({**sets[0], name: change(array).astype(array.dtype)})
    roles = {
        "shown": (0,),
        "drawn": (*range(1, end), *moved),
        "told": tuple(range(1, first_edge)),
        "whole": (*range(1, min(_WHOLE, len(ordinary)) + 1), *range(first_edge, end)),
        "edges": tuple(range(first_edge, end)),
        "own": (*begun, *(n for n, _, _ in special)),
        "counted": counted,
    }
    return Plan(
        *(task, recipe.case, program, chosen, tuple(sets), roles, tuple(pairs), tuple(special)),
        positions=recipe.positions,
    )


@lru_cache(maxsize=128)
def _drawn(task: str, draws: int) -> tuple[tuple[Inputs, ...], tuple[Inputs, ...]]:
    """Inputs as checks draw them and shorter ones, and some at the edges of what a task allows,
    where many programs give the same; all are the same for a class.
    """
    short = small_inputs.short_draws(task, max(0, draws - _WHOLE))
    ordinary = (
        *(small_inputs.drawn_once(task, seed) for seed in range(draws - len(short))),
        *short,
    )
    edges = [one for seed in range(_EDGES) for one in small_inputs.drawn(task, seed)[1:]]
    return ordinary, tuple(edges)


def _moved(
    given: Inputs, positions: Sequence[tuple[str, int]], which: str, rng: np.random.Generator
) -> Inputs:
    """The same with other numbers at the last or the first position of each input."""
    made = {name: array.copy() for name, array in given.items()}
    for name, axis in positions:
        array = made.get(name)
        if axis < 0 or array is None or array.dtype.kind not in "fi" or array.shape[axis] < 2:
            continue
        place: list[Any] = [slice(None)] * array.ndim
        place[axis] = -1 if which == "last" else 0
        old = array[tuple(place)]
        if array.dtype.kind == "f":
            array[tuple(place)] = old + rng.integers(1, 4, old.shape)
        else:
            array[tuple(place)] = np.where(old == array.min(), array.max(), array.min())
    return made


@dataclass(frozen=True)
class Run:
    """What one program did.

    Attributes
    ----------
    results : mapping of int to (mapping of str to Value)
        Of each set, what the task's case gave; `{"error": Value}` if it stopped.
    saw : mapping of (int, str) to (int, Value)
        After each line, a name's first value, and how often the line ran.
    given : mapping of str to (mapping of str to Value)
        What each function was given at its first call.
    counts : mapping of int to (mapping of int to int)
        Of each counted set, the operations of each line.
    error : str
        Why it did not run at all.
    mixed : bool
        Whether it gave the same as the student's own program in some draws, and not in others.
    random : bool
        Whether what came out was drawn at random, so that nobody can compute it.
    """

    results: Mapping[int, Mapping[str, Value]] = field(default_factory=dict)
    saw: Mapping[tuple[int, str], tuple[int, Value]] = field(default_factory=dict)
    given: Mapping[str, Mapping[str, Value]] = field(default_factory=dict)
    counts: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    error: str = ""
    mixed: bool = False
    random: bool = False

    def stopped(self, number: int) -> str:
        """The error with which a set ended, or nothing."""
        said = self.results.get(number, {}).get(ERROR)
        return said.text if said is not None else ""

    @property
    def odd(self) -> bool:
        """Whether nothing can be said of it: it returned something for the shown input that no task
        can take apart, or something else each time, or came to no end.
        """
        unclear = (UNSTEADY, UNREADABLE, TOO_LONG, TOO_MUCH)
        return self.stopped(0) == OUTSIDE or self.error in unclear

    def same(self, other: Run, number: int) -> bool:
        """True if two programs gave the same on one set."""
        return bool(self.alike(other, (number,))[0])

    def alike(self, other: Run, numbers: tuple[int, ...]) -> Array:
        """For each of some sets, whether two programs gave the same.

        Parameters
        ----------
        other : Run
        numbers : tuple of int

        Returns
        -------
        (len(numbers),) bool
        """
        mine, theirs = self._flat(numbers), other._flat(numbers)
        if mine.forms == theirs.forms:
            near = close(mine.numbers, theirs.numbers)
            return np.array([bool(near[a:b].all()) for a, b in itertools.pairwise(mine.ends)])
        return np.array(
            [
                one == two and bool(close(mine.of(n), theirs.of(n)).all())
                for n, (one, two) in enumerate(zip(mine.forms, theirs.forms, strict=True))
            ]
        )

    def _flat(self, numbers: tuple[int, ...]) -> _Flat:
        """All that some sets gave in one array, so that two runs are compared at once."""
        if numbers not in self._flattened:
            forms, parts, ends = [], [np.empty(0)], [0]
            for number in numbers:
                outcome = sorted(self.results.get(number, {}).items())
                forms.append(tuple((name, value.form) for name, value in outcome))
                parts += [value.numbers for _, value in outcome]
                ends.append(ends[-1] + sum(len(value.numbers) for _, value in outcome))
            self._flattened[numbers] = _Flat(tuple(forms), np.concatenate(parts), tuple(ends))
        return self._flattened[numbers]

    @cached_property
    def _flattened(self) -> dict[tuple[int, ...], _Flat]:
        return {}


class _Flat(NamedTuple):
    """What some sets gave: of each what a value is, and all numbers in a row."""

    forms: tuple[object, ...]
    numbers: Array
    ends: tuple[int, ...]

    def of(self, number: int) -> Array:
        """The numbers of one set."""
        return self.numbers[self.ends[number] : self.ends[number + 1]]


@dataclass(frozen=True)
class Found:
    """A plan, and what running it found."""

    plan: Plan
    own: Run
    variants: tuple[Run, ...]

    @property
    def program(self) -> Program:
        """The student's own code."""
        return self.plan.program

    @property
    def draws(self) -> tuple[int, ...]:
        """The sets on which options are told apart: neither small ones, nor the edges of what a
        task allows.
        """
        return self.plan.roles["told"]

    @cached_property
    def right(self) -> bool:
        """Whether the student's own code is right on the shown inputs."""
        shown = {k: v for k, v in self.own.results.get(0, {}).items() if v.array is not None}
        known = small_inputs.expected(self.plan.task, self.plan.case, self.plan.sets[0])
        return known is not None and _equal(known, shown)


def _equal(known: Answers, shown: Mapping[str, Value]) -> bool:
    compared = [
        (value, shown[name].array)
        for name, value in known.values.items()
        if name in shown and not isinstance(value, str)
    ]
    return all(mine is not None and same_value(mine, right) for right, mine in compared)


def found(made: Plan, plain: Any) -> Found:
    """Read what running a plan found, which student code may have made.

    Parameters
    ----------
    made : Plan
    plain : bytes or list
        JSON, or the same read.

    Raises
    ------
    OddValueError
        If it is not what a run of the plan writes.
    """
    if isinstance(plain, bytes):
        if len(plain) > _MOST_BYTES_OF_RESULTS:
            raise OddValueError(f"the results have {len(plain)} bytes")
        try:
            plain = json.loads(plain)
        except (ValueError, RecursionError) as error:
            raise OddValueError("the results are no JSON") from error
    if not isinstance(plain, list) or not 1 <= len(plain) <= len(made.programs):
        raise OddValueError("there are results of other programs than those of the plan")
    runs = [_run(plain[0]), *(_run_of_variant(one) for one in plain[1:])]
    runs += [Run(error="not run")] * (len(made.programs) - len(runs))
    return Found(made, runs[0], tuple(runs[1:]))


def _run_of_variant(plain: Any) -> Run:
    """A variant may leave anything, such as numbers that no paper shows; it is then passed over."""
    try:
        return _run(plain)
    except OddValueError:
        return Run(error=UNREADABLE)


def _run(plain: Any) -> Run:
    if not isinstance(plain, Mapping):
        raise OddValueError("a run is no object")
    if "error" in plain:
        return Run(error=str(plain["error"])[:200])
    try:
        results = {
            int(number): {
                str(name): Value("text", text=str(value)[:200])
                if str(name).partition(".")[0] == ERROR
                else read_value(value)
                for name, value in outcome.items()
            }
            for number, outcome in plain["results"].items()
        }
        saw = {
            (int(line), str(name)): (int(count), read_value(value))
            for line, name, count, value in plain["saw"]
        }
        given = {
            str(function): {str(name): read_value(value) for name, value in values.items()}
            for function, values in plain["given"].items()
        }
        counts = {
            int(number): {int(line): int(count) for line, count in lines.items()}
            for number, lines in plain["counts"].items()
        }
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise OddValueError(f"a run cannot be read: {type(error).__name__}") from error
    mixed, random = (plain.get(mark) is True for mark in ("mixed", "random"))
    return Run(results, saw, given, counts, mixed=mixed, random=random)


def returns_of(source: str, function: str) -> list[int]:
    """The lines in which a function of a program returns something.

    Parameters
    ----------
    source : str
    function : str
        "scores", or "Head.forward".
    """
    body: Any = ast.parse(source)
    for name in function.split("."):
        body = next(
            (
                node
                for node in ast.walk(body)
                if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name
            ),
            None,
        )
        if body is None:
            return []
    inner = [
        node
        for nested in ast.walk(body)
        if isinstance(nested, ast.FunctionDef | ast.Lambda) and nested is not body
        for node in ast.walk(nested)
    ]
    return [
        node.lineno for node in ast.walk(body) if isinstance(node, ast.Return) and node not in inner
    ]
