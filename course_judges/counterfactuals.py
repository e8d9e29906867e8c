"""With which other arguments a wrong answer would be right.

A student who uses a number that is too large by 1, takes the first row for all rows or mixes up two
arguments computes the right thing from the wrong arguments. So the right answer is called again,
each time with one argument changed. If it then returns exactly what the student's answer returned,
in every case of every draw that went wrong, the student is told. If some of several results are
right, it is enough that the others are explained.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from course_judges import partial
from course_judges.argument_changes import Arguments, Change, changes
from course_judges.equality import close, same_value
from course_judges.evidence import Evidence, same_case
from course_judges.wording import first_upper, results_by_name
from course_judges.wrong_arrays.differences import largest
from course_tasks.answers import Answers
from course_tasks.probing import Probe, run
from course_tasks.verdict import Finding, Section, Tells

# Changes that a student may make in some rows only; a negative number or a square is unlikely.
_PLAUSIBLE = ("-one-more", "-one-less", "-for-all", "-transposed", "-exchanged")


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
        self._tried: list[tuple[Change, Any, Answers]] = []
        self._others = self._try_others()

    def explain_all(self) -> Finding | None:
        """The first change of an argument with which the student's answer would be right.

        It is None, too, if the right answer takes too long to be called again and again.
        """
        wrong = _results_wrong_somewhere(self._failing)
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
        """The first change of an argument with which all that is wrong in the student's answer
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
                    f"Where your answer is wrong, it would be right with {change.words}.",
                    f"This is the case for {partial.share_wrong(first, (case,))}.",
                    self._section,
                    tells=Tells.CAUSE,
                )
        return None

    def _variants(self) -> Iterator[tuple[Change, Any, Answers]]:
        """Each change with the answer that it makes and what that gives in the first wrong case;
        none is run twice.
        """
        yield from list(self._tried)
        for one in self._others:
            self._tried.append(one)
            yield one

    def _try_others(self) -> Iterator[tuple[Change, Any, Answers]]:
        case, inputs = self._case, self._failing[0].inputs
        if case is None:
            return
        alone = replace(self._probe, cases={case: self._probe.cases[case]})
        for method in _methods(self._answer):
            seen: Arguments = {}
            recording = functools.partial(_recorded, seen)
            run(alone, _with_arguments(self._answer, method, recording), inputs, watched=False)
            for change in changes(seen):
                variant = _with_arguments(self._answer, method, change.make)
                yield change, variant, run(alone, variant, inputs, watched=False).answers


def _first_wrong_case(probe: Probe, evidence: Evidence) -> str | None:
    """The first case in which the answer is wrong; None where no other arguments are tried."""
    if probe.one_draw or probe.same_sizes:
        return None
    case = next((name for name in probe.cases if not evidence.same(name)), None)
    if case is None or case in evidence.answers.errors or trivial(evidence, case):
        return None
    return case


def _whole_numbers_wrong(evidence: Evidence, case: str, wrong: frozenset[str]) -> bool:
    """True if whole numbers are wrong beside right results, since they may be right for many other
    arguments.
    """
    results = {n: v for n, v in evidence.expected.values.items() if n.split(".")[0] == case}
    bad = [value for name, value in results.items() if name.partition(".")[2] in wrong]
    return len(bad) < len(results) and any(
        isinstance(value, str) or value.dtype.kind != "f" for value in bad
    )


def _results_wrong_somewhere(failing: Sequence[Evidence]) -> frozenset[str]:
    """The results that are wrong in some draw, by their names without those of their cases."""
    return frozenset(name.partition(".")[2] for draw in failing for name in draw.wrong_values)


def trivial(evidence: Evidence, case: str) -> bool:
    """True if what is wrong is one number everywhere, or an input, which many arguments may
    explain.
    """
    wrong = (name for name in evidence.wrong_values if name.split(".")[0] == case)
    mine = [value for name in wrong if (value := evidence.answers.array(name)) is not None]
    return any(
        value.size > 1
        and (
            bool((value == value.flat[0]).all())
            or any(same_value(value, given) for given in evidence.inputs.values())
        )
        for value in mine
    )


def _finding(change: Change, case: str, evidence: Evidence, section: Section) -> Finding | None:
    difference = ""
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if name.split(".")[0] != case or mine is None:
            continue
        if isinstance(mine, str) or isinstance(right, str) or mine.shape != right.shape:
            continue
        if right.dtype.kind in "fiu" and not close(mine, right).all():
            if not right.ndim:
                return None  # the task's own words say more about a single number
            difference = largest(mine, right)
            break
    effect = f"Called like that, a right answer returns exactly what yours does. {difference}"
    subject = "Your answer"
    right_ones, wrong_ones = evidence.results(case)
    if right_ones and wrong_ones:
        subject = first_upper(results_by_name(wrong_ones))
        effect = f"The rest is right. {difference}"
    return Finding(
        change.name,
        f"{subject} would be right with {change.words}.",
        f"{effect.strip()} {evidence.called_with(case)}".strip(),
        section,
        tells=Tells.CAUSE,
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


def _with_arguments(answer: Any, method: str, make: Callable[[Arguments], Arguments]) -> Any:
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


def _recorded(seen: Arguments, given: Arguments) -> Arguments:
    for name, value in given.items():
        seen.setdefault(name, value)
    return given
