"""What a wrong answer would be right for: other arguments than those that it was called with.

Whoever uses a number that is one too large, takes the first row for all rows or mixes up two
arguments computes the right thing of something else. So the right answer is called again, each time
with one argument changed, and where it then returns exactly what the student's answer returned, in
every case of every draw that went wrong, that is said. Of several results some may be right: then
it is enough that the others are explained.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from course_judges import comparisons, partial
from course_judges.describing import same_value
from course_judges.evidence import Evidence, same_case
from course_judges.wording import results_by_name
from course_tasks.answers import Answers
from course_tasks.probing import Probe, run
from course_tasks.verdict import Finding, Section

# Changes that somebody makes in some rows only; a negative number or a square would be far-fetched.
_PLAUSIBLE = ("-one-more", "-one-less", "-for-all", "-transposed", "-exchanged")

# The names of arguments, and what they are changed to.
_Arguments = dict[str, Any]


@dataclass(frozen=True)
class _Change:
    """Another argument: a name for class reports, what it is in words, and how it is made."""

    name: str
    words: str
    make: Callable[[_Arguments], _Arguments]


class OtherArguments:
    """The right answer of a task, called with other arguments, beside one student's answer.

    Parameters
    ----------
    answer : object
        The right function or class.
    probe : Probe
    section : Section
        Where to look again.
    failing : sequence of Evidence
        The draws in which the student's answer is wrong; one at least.
    good : Evidence, optional
        A draw in which it is right.
    """

    def __init__(
        self,
        answer: Any,
        probe: Probe,
        section: Section,
        failing: Sequence[Evidence],
        good: Evidence | None,
    ) -> None:
        self._answer, self._probe, self._section = answer, probe, section
        self._failing, self._good = failing, good
        self._case = _first_wrong_case(probe, failing[0])
        self._tried: list[tuple[_Change, Any, Answers]] = []
        self._others = self._try_others()

    def explain_all(self) -> Finding | None:
        """The first change of an argument for which the student's answer would be right.

        None as well where the right answer takes too long to be called again and again.
        """
        wrong = _wrong_results(self._failing)
        first, case = self._failing[0], self._case
        if case is None or not wrong or _whole_numbers_wrong(first, case, wrong):
            return None
        for change, variant, found in self._variants():
            if not _same_results(first.answers, found, (case,), wrong):
                continue
            if all(_explains(variant, self._probe, draw, wrong) for draw in self._failing) and (
                self._good is None or _explains(variant, self._probe, self._good, wrong)
            ):
                return _finding(change, case, first, self._section)
        return None

    def explain_where_wrong(self) -> Finding | None:
        """The first change of an argument for which all that is wrong in the student's answer
        would be right, and the rest of it would not: where `k` is large, it is right for k − 1.
        """
        first, case = self._failing[0], self._case
        if case is None:
            return None
        for change, variant, found in self._variants():
            if not change.name.endswith(_PLAUSIBLE):
                continue
            if partial.explained(first, found, (case,)) and all(
                partial.explained(
                    draw,
                    run(self._probe, variant, draw.inputs, watched=False).answers,
                    tuple(self._probe.cases),
                )
                for draw in self._failing
            ):
                return Finding(
                    change.name,
                    f"Where your answer is wrong, it is what is right for {change.words}.",
                    f"That is so for {partial.share_wrong(first, (case,))}.",
                    self._section,
                )
        return None

    def _variants(self) -> Iterator[tuple[_Change, Any, Answers]]:
        """Each change with the answer that it makes and what that gives in the first wrong case;
        none is run twice.
        """
        yield from list(self._tried)
        for one in self._others:
            self._tried.append(one)
            yield one

    def _try_others(self) -> Iterator[tuple[_Change, Any, Answers]]:
        case, inputs = self._case, self._failing[0].inputs
        if case is None:
            return
        alone = replace(self._probe, cases={case: self._probe.cases[case]})
        for method in _methods(self._answer):
            seen: _Arguments = {}
            recording = functools.partial(_recorded, seen)
            run(alone, _with_arguments(self._answer, method, recording), inputs, watched=False)
            for change in _changes(seen):
                variant = _with_arguments(self._answer, method, change.make)
                yield change, variant, run(alone, variant, inputs, watched=False).answers


def _first_wrong_case(probe: Probe, evidence: Evidence) -> str | None:
    """The first case in which the answer is wrong; None where no other arguments are tried."""
    if probe.one_draw or probe.same_sizes:
        return None
    case = next((name for name in probe.cases if not evidence.same(name)), None)
    if case is None or case in evidence.answers.errors or _trivial(evidence, case):
        return None
    return case


def _whole_numbers_wrong(evidence: Evidence, case: str, wrong: frozenset[str]) -> bool:
    """True if whole numbers are wrong beside right results: they may be right for many other
    arguments.
    """
    results = {n: v for n, v in evidence.expected.values.items() if n.split(".")[0] == case}
    bad = [value for name, value in results.items() if name.partition(".")[2] in wrong]
    return len(bad) < len(results) and any(
        isinstance(value, str) or value.dtype.kind != "f" for value in bad
    )


def _wrong_results(failing: Sequence[Evidence]) -> frozenset[str]:
    """The names of the results that are wrong in some draw, without those of their cases."""
    return frozenset(
        name.partition(".")[2]
        for draw in failing
        for name, right in draw.expected.values.items()
        if name not in draw.answers.values or not same_value(draw.answers.values[name], right)
    )


def _trivial(evidence: Evidence, case: str) -> bool:
    """True if one number was returned everywhere, or an input: they may be right for much."""
    mine = [
        value
        for name, value in evidence.answers.values.items()
        if name.split(".")[0] == case and not isinstance(value, str)
    ]
    return any(
        value.size > 1
        and (
            bool((value == value.flat[0]).all())
            or any(same_value(value, given) for given in evidence.inputs.values())
        )
        for value in mine
    )


def _finding(change: _Change, case: str, evidence: Evidence, section: Section) -> Finding:
    difference = ""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if name.split(".")[0] != case or mine is None:
            continue
        if isinstance(mine, str) or isinstance(right, str) or mine.shape != right.shape:
            continue
        if right.dtype.kind in "fiu" and not comparisons.close(mine, right).all():
            difference = comparisons.largest(mine, right)
            break
    effect = (
        f"A right answer that is called like that returns exactly what yours does. {difference}"
    )
    what = "You return"
    right_ones, wrong_ones = evidence.results(case)
    if right_ones and wrong_ones:
        what = f"In {results_by_name(wrong_ones)} you return"
        effect = f"The rest is right. {difference}"
    return Finding(
        change.name,
        f"{what} what is right for {change.words}.",
        f"{effect.strip()} {evidence.called_with(case)}".strip(),
        section,
    )


def _explains(variant: Any, probe: Probe, evidence: Evidence, wrong: frozenset[str]) -> bool:
    """True if the student's answer has all results of these names from this variant."""

    def other(case: str, found: Answers) -> bool:
        return not _same_results(evidence.answers, found, (case,), wrong)

    found = run(probe, variant, evidence.inputs, until=other, watched=False).answers
    return _same_results(evidence.answers, found, tuple(probe.cases), wrong)


def _same_results(
    mine: Answers, found: Answers, cases: tuple[str, ...], wrong: frozenset[str]
) -> bool:
    """True if two answers agree in the results of these names, in every one of these cases that has
    any.
    """

    def of(answers: Answers) -> Answers:
        kept = {n: v for n, v in answers.values.items() if n.partition(".")[2] in wrong}
        return replace(answers, values=kept)

    mine, found = of(mine), of(found)
    asked = {name.split(".")[0] for name in (*mine.values, *mine.errors)}
    return all(same_case(mine, found, case) for case in cases if case in asked)


def _methods(answer: Any) -> Iterator[str]:
    """What can be called with other arguments: "" is the function itself."""
    if not isinstance(answer, type):
        yield ""
        return
    for name, value in vars(answer).items():
        if inspect.isfunction(value) and (name == "__init__" or not name.startswith("_")):
            yield name


def _with_arguments(answer: Any, method: str, make: Callable[[_Arguments], _Arguments]) -> Any:
    """The right answer, called with other arguments."""
    function = getattr(answer, method) if method else answer
    parameters = inspect.signature(function).parameters
    defaults = {
        name: one.default for name, one in parameters.items() if one.default is not one.empty
    }

    @functools.wraps(function)
    def call(*given: Any, **named: Any) -> Any:
        # What `Signature.bind` does as well, at a multiple of the time.
        own = {**defaults, **dict(zip(parameters, given, strict=False)), **named}
        kept = {"self": own.pop("self")} if method else {}
        return function(**kept, **make(own))

    return type(answer.__name__, (answer,), {method: call}) if method else call


def _recorded(seen: _Arguments, given: _Arguments) -> _Arguments:
    for name, value in given.items():
        seen.setdefault(name, value)
    return given


def _changes(seen: _Arguments) -> Iterator[_Change]:
    """What may be changed in arguments like these."""
    for name, value in seen.items():
        for label, words, function in _of_one(value):
            yield _Change(
                f"as-if-{name.replace('_', '-')}-{label}",
                words.format(f"`{name}`"),
                functools.partial(_one_changed, name, function),
            )
    for one in seen:
        for other in seen:
            if one == other or not _alike(seen[one], seen[other]):
                continue
            if one < other:
                yield _Change(
                    f"as-if-{one}-and-{other}-exchanged".replace("_", "-"),
                    f"`{one}` and `{other}` exchanged",
                    functools.partial(_exchanged, one, other),
                )
            yield _Change(
                f"as-if-{one}-were-{other}".replace("_", "-"),
                f"`{other}` in the place of `{one}`",
                functools.partial(_replaced, one, other),
            )


def _one_changed(name: str, function: Callable[[Any], Any], given: _Arguments) -> _Arguments:
    return {**given, name: function(given[name])}


def _exchanged(one: str, other: str, given: _Arguments) -> _Arguments:
    return {**given, one: given[other], other: given[one]}


def _replaced(one: str, other: str, given: _Arguments) -> _Arguments:
    return {**given, one: given[other]}


def _alike(one: Any, other: Any) -> bool:
    if isinstance(one, torch.Tensor) and isinstance(other, torch.Tensor):
        return one.shape == other.shape and one.dtype == other.dtype
    return type(one) is type(other) and isinstance(one, int | float)


_Ways = tuple[tuple[str, str, Callable[[Any], Any]], ...]

_OF_BOOL: _Ways = (("negated", "{} negated", lambda v: not v),)
_OF_INT: _Ways = (
    ("one-more", "{} + 1", lambda v: v + 1),
    ("one-less", "{} − 1", lambda v: v - 1),
    ("0", "{} = 0", lambda _: 0),
    ("1", "{} = 1", lambda _: 1),
    ("double", "2 · {}", lambda v: 2 * v),
    ("half", "half of {}", lambda v: v // 2),
)
_OF_FLOAT: _Ways = (
    ("inverse", "1 / {}", lambda v: 1 / v),
    ("negative", "−{}", lambda v: -v),
    ("square", "the square of {}", lambda v: v * v),
    ("root", "the root of {}", lambda v: v**0.5),
    ("1-minus", "1 − {}", lambda v: 1 - v),
    ("double", "2 · {}", lambda v: 2 * v),
    ("half", "half of {}", lambda v: v / 2),
    ("0", "{} = 0", lambda _: 0.0),
    ("1", "{} = 1", lambda _: 1.0),
)
_OF_LIST: _Ways = (
    ("reversed", "{} in reverse order", lambda v: v[::-1]),
    ("sorted", "{} sorted", sorted),
    ("without-the-first", "{} without its first item", lambda v: v[1:]),
    ("without-the-last", "{} without its last item", lambda v: v[:-1]),
    ("first-for-all", "the first item of {} in the place of all", lambda v: v[:1] * len(v)),
    ("last-for-all", "the last item of {} in the place of all", lambda v: v[-1:] * len(v)),
    ("largest-for-all", "the largest item of {} in the place of all", lambda v: [max(v)] * len(v)),
    (
        "smallest-for-all",
        "the smallest item of {} in the place of all",
        lambda v: [min(v)] * len(v),
    ),
    ("one-more", "every item of {} + 1", lambda v: [item + 1 for item in v]),
    ("one-less", "every item of {} − 1", lambda v: [item - 1 for item in v]),
)
_OF_TENSOR: _Ways = (
    ("first-for-all", "the first item of {} in the place of all", lambda v: v[:1].expand_as(v)),
    ("last-for-all", "the last item of {} in the place of all", lambda v: v[-1:].expand_as(v)),
)
_OF_WHOLE_NUMBERS: _Ways = (
    ("one-more", "{} + 1", lambda v: v + 1),
    ("one-less", "{} − 1", lambda v: v - 1),
    ("largest-for-all", "the largest item of {} in the place of all", lambda v: v * 0 + v.max()),
    ("smallest-for-all", "the smallest item of {} in the place of all", lambda v: v * 0 + v.min()),
    ("without-the-first", "{} without its first item", lambda v: v[1:]),
    ("without-the-last", "{} without its last item", lambda v: v[:-1]),
)
_OF_FLOATS: _Ways = (
    ("zero", "{} full of zeros", torch.zeros_like),
    ("one", "{} full of ones", torch.ones_like),
    ("negative", "−{}", lambda v: -v),
    ("square", "the square of {}", lambda v: v * v),
    (
        "mean-for-all",
        "the mean of {} over axis 0 in the place of all",
        lambda v: v.mean(0, keepdim=True).expand_as(v),
    ),
)
_OF_BOOLS: _Ways = (
    ("negated", "{} negated", lambda v: ~v),
    ("all-true", "{} all True", torch.ones_like),
)


def _of_one(value: Any) -> _Ways:
    """Each change of such an argument: a label, the words around its name, the function."""
    if isinstance(value, bool):
        return _OF_BOOL
    if isinstance(value, int):
        return _OF_INT
    if isinstance(value, float):
        return _OF_FLOAT
    if isinstance(value, list):
        return _OF_LIST
    if not isinstance(value, torch.Tensor) or not value.ndim:
        return ()
    ways = list(_OF_TENSOR)
    if value.dtype == torch.bool:
        ways += _OF_BOOLS
    else:
        ways += _OF_FLOATS if value.is_floating_point() else _OF_WHOLE_NUMBERS
    if value.ndim > 1 and value.shape[-1] == value.shape[-2]:
        ways.append(("transposed", "{} transposed", lambda v: v.mT))
    for axis in range(value.ndim):
        of = f" along axis {axis}" if value.ndim > 1 else ""
        ways.append(
            (f"flipped-{axis}", f"{{}} in reverse order{of}", functools.partial(_flipped, axis))
        )
    return tuple(ways)


def _flipped(axis: int, value: Any) -> Any:
    return value.flip(axis)
