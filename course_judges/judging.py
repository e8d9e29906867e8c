"""How an answer is judged: against a right answer, against named wrong ones, and by what is true of
its data.

This half of a task knows the answers, so it never stands beside student code. Everything it reads
is plain data.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from itertools import zip_longest
from typing import Any, TypeAlias, TypeVar

import numpy as np

from course_judges import field_guide
from course_judges.describing import ODD_DATA, describe, same_value
from course_lib.errors import CourseError
from course_tasks.answers import Answers, Array, Raised
from course_tasks.probing import REPEATED, SECOND, Inputs, Probe, passes, run
from course_tasks.verdict import Finding, PartResult, Section, State, Verdict

# Several times as long as the longest sentence of a judge about an ordinary answer.
MOST_CHARACTERS_OF_A_FINDING = 1500

T = TypeVar("T")

# Judges do arithmetic with a student's array and their own, which NumPy stretches to each other's
# shapes: (100000, 1) with (100,) would make ten million numbers of what came as some kilobytes.
# Arrays of this few elements stay small beside anything that judges hold.
_FEW_ELEMENTS = 1024
# An array may be this large, when stretched with the right one, or a few times as large as that.
_MOST_ELEMENTS_TOGETHER = 100_000
_TIMES_THE_RIGHT_ONE = 4


@dataclass(frozen=True)
class Reference:
    """What is right of some inputs.

    Attributes
    ----------
    answers : Answers
    called : mapping of str to str
        For each case with what the function was called.
    """

    answers: Answers
    called: Mapping[str, str]


@dataclass(frozen=True)
class Evidence:
    """All that a judge knows of one answer.

    Attributes
    ----------
    inputs : mapping of str to ndarray
        What the answer was run on, and what its probe kept back for the judge.
    reference : callable () -> Reference
        Makes what is right of them; called when that is first asked for, since a reference may
        train for seconds and some judges need none.
    answers : Answers
        What the student's answer made of them.
    again : Answers, optional
        What it made of the same inputs at the other of two times.
    after_others : bool
        Whether these inputs were asked before, with others between.
    """

    inputs: Inputs
    reference: Callable[[], Reference]
    answers: Answers
    again: Answers | None = None
    after_others: bool = False

    @cached_property
    def _reference(self) -> Reference:
        return self.reference()

    @property
    def expected(self) -> Answers:
        """What the reference makes of the inputs."""
        return self._reference.answers

    def called_with(self, value: str) -> str:
        """A sentence on the call that returned this value: "It was called with x of shape (2, 3).";
        on the whole-number inputs where the answer is a class, and empty where there are none.
        """
        called = self._reference.called.get(value.split(".")[0], "") or self.sizes()
        return f"It was called with {called}." if called else ""

    @property
    def repeatable(self) -> bool:
        """True unless the answer gave other values for the same inputs at another time."""
        again = self.again
        return again is None or all(
            name in again.values and same_value(value, again.values[name])
            for name, value in self.answers.values.items()
            if name in self.expected.values
        )

    @property
    def changed(self) -> Mapping[str, str]:
        """Cases in which the answer changed what it was given and the reference did not, and which
        arguments.
        """
        return {
            case: names
            for case, names in self.answers.changed.items()
            if case not in self.expected.changed
        }

    def number(self, name: str) -> int:
        """An input that is one whole number, such as a size."""
        return int(self.inputs[name])

    def yours(self, name: str) -> Array:
        """The student's array of this name, which may have another shape than the right one.

        Raises
        ------
        KeyError
            If there is none.
        ValueError
            If it is so much larger than the right one that a judge should not calculate with it.
        """
        array = self.answers.array(name)
        if array is None:
            raise KeyError(f"the answer has no array {name!r}")
        if array.size > _FEW_ELEMENTS:
            right = self.right(name)
            together = _stretched(array.shape, right.shape)
            if together > max(_MOST_ELEMENTS_TOGETHER, _TIMES_THE_RIGHT_ONE * right.size):
                raise ValueError(
                    f"the array {name!r} has shape {array.shape}, the right one {right.shape}"
                )
        return array

    def shaped(self, name: str, shape: tuple[int, ...]) -> Array:
        """The student's array of this name and shape, for judges that need no reference.

        Raises
        ------
        KeyError
            If there is none.
        ValueError
            If it has another shape.
        """
        array = self.answers.array(name)
        if array is None:
            raise KeyError(f"the answer has no array {name!r}")
        if array.shape != shape:
            raise ValueError(f"the array {name!r} has shape {array.shape}, expected {shape}")
        return array

    def right(self, name: str) -> Array:
        """The reference's array of this name."""
        array = self.expected.array(name)
        if array is None:
            raise KeyError(f"the reference has no array {name!r}")
        return array

    def comparable(self, name: str) -> bool:
        """True if both sides hold an array of this name and of the same shape."""
        mine, right = self.answers.array(name), self.expected.array(name)
        return mine is not None and right is not None and mine.shape == right.shape

    def same(self, *cases: str) -> bool:
        """True if the answer equals the reference in every one of these cases."""
        return all(_same_case(self.answers, self.expected, case) for case in cases)

    def sizes(self) -> str:
        """The whole-number inputs, as in "T = 7, width = 3"."""
        scalars = {
            k: v
            for k, v in self.inputs.items()
            if v.ndim == 0 and v.dtype.kind in "iu" and k != "seed"
        }
        return ", ".join(f"{name} = {int(value)}" for name, value in scalars.items())


Says: TypeAlias = str | Callable[[Evidence], str]


@dataclass(frozen=True)
class Part:
    """A claim about the answer that is worth points.

    Attributes
    ----------
    name : str
        The claim in the student's words: "the right positions are chosen".
    points : float
    holds : callable (Evidence) -> bool
        Compares with the reference. It must not be true of a constant or an empty answer.
    needs : str
        The name of the part that this one builds on: where both fail, this one says so.
    """

    name: str
    points: float
    holds: Callable[[Evidence], bool]
    needs: str = ""


@dataclass(frozen=True)
class Mistake:
    """A wrong answer that people really give, and what a good teacher says to it.

    Attributes
    ----------
    name : str
        As in the course's list of mistakes: "divides-columns".
    answer : object
        The wrong function or class, written as a student would; run through the same probe as the
        student's.
    what : str or callable (Evidence) -> str
        What was done.
    effect : str or callable (Evidence) -> str
        What it does to the data, in numbers of this run.
    section : Section, optional
        Where to look again; the task's own when not given.
    cases : tuple of str
        Cases in which the student's answer must equal this one; the task's when empty.
    recognised : callable (Evidence) -> bool, optional
        Replaces the comparison where answers are random and only their statistics can tell.
    also : tuple of object
        Other answers that make the same mistake; to equal one of them is enough.
    """

    name: str
    answer: Any
    what: Says
    effect: Says
    section: Section | None = None
    cases: tuple[str, ...] = ()
    recognised: Callable[[Evidence], bool] | None = None
    also: tuple[Any, ...] = ()


def mistake(
    what: Says,
    effect: Says,
    section: Section | None = None,
    *,
    cases: tuple[str, ...] = (),
    recognised: Callable[[Evidence], bool] | None = None,
    also: tuple[Any, ...] = (),
    name: str = "",
) -> Callable[[Any], Mistake]:
    """Make a mistake of a wrong answer: decorates a function or class, or is called with any other.

    Its name is that of the variable that holds it in the task's module, so that `_divides_columns`
    and `_DividesColumns` are both "divides-columns"; `name` is for those that no variable can have.
    The parameters are attributes of `Mistake`.
    """
    return lambda answer: Mistake(name, answer, what, effect, section, cases, recognised, also)


Property: TypeAlias = Callable[[Evidence], Finding | None]


@dataclass(frozen=True)
class Task:
    """One graded task, as the judge knows it.

    Attributes
    ----------
    title : str
        As in the notebook's heading.
    answer : object
        A right answer, written as a student would.
    section : Section
        Where to look again when nothing more precise is known.
    parts : tuple of Part
        Their points add up to the task's.
    mistakes : tuple of Mistake
        Tried in this order; the first that fits speaks. `with_mistakes` finds them in a module.
    properties : tuple of callable (Evidence) -> Finding or None
        Asked in this order when no mistake fits; the first that speaks is heard.
    uncompared : tuple of str
        Names of values, at whatever place in a case, that say how an answer came about. A part may
        ask for them; there is no right one.
    inputs : callable (Generator) -> Inputs, optional
        Draws the inputs where they are made of what is right, which the probe must not know;
        otherwise the probe's own.
    cases : tuple of str
        Cases in which an answer is compared with a mistake that names none; all when empty.
    may_change : bool
        Whether the task leaves open if what is given is changed. What the right answer itself
        changes may be changed anyway.
    examples : tuple of callable (Evidence) -> Finding or None
        Asked last, when nothing general can be said: what is right at one place, worked out.
    """

    title: str
    answer: Any
    section: Section
    parts: tuple[Part, ...]
    mistakes: tuple[Mistake, ...] = ()
    properties: tuple[Property, ...] = ()
    uncompared: tuple[str, ...] = ()
    inputs: Callable[[np.random.Generator], Inputs] | None = None
    cases: tuple[str, ...] = ()
    may_change: bool = False
    examples: tuple[Property, ...] = ()

    @cached_property
    def points(self) -> float:
        """Points that can be earned."""
        return float(sum(part.points for part in self.parts))

    def with_mistakes(self, module: Mapping[str, Any]) -> Task:
        """The same task with the mistakes that stand in its module, in the order in which they do.

        Parameters
        ----------
        module : mapping of str to object
            Variables and their values, as `vars` gives them.

        Raises
        ------
        CourseError
            If two mistakes have one name.
        """
        found: dict[str, Mistake] = {mistake.name: mistake for mistake in self.mistakes}
        for variable, value in module.items():
            if not isinstance(value, Mistake):
                continue
            name = value.name or _mistake_name(variable)
            if name in found:
                raise CourseError(f"{self.title!r} has two mistakes with the name {name!r}")
            found[name] = replace(value, name=name, section=value.section or self.section)
        return replace(self, mistakes=tuple(found.values()))


def _mistake_name(variable: str) -> str:
    words = variable.strip("_")
    if "_" not in words:  # a class's name, or one word
        words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", words).lower()
    return words.replace("_", "-")


def _stretched(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """How many elements two shapes have at most when NumPy stretches them to each other."""
    return math.prod(max(a, b) for a, b in zip_longest(reversed(one), reversed(other), fillvalue=1))


def matches(*cases: str) -> Callable[[Evidence], bool]:
    """A part's condition: the answer equals the reference in all of these cases."""
    return lambda evidence: evidence.same(*cases)


def any_of(probe: Probe, cases: tuple[str, ...], *variants: Any) -> Callable[[Evidence], bool]:
    """True of an answer that equals one of several ways to make the same mistake."""

    def fits(evidence: Evidence) -> bool:
        outcomes = (run(probe, variant, evidence.inputs).answers for variant in variants)
        return any(
            all(_same_case(evidence.answers, wrong, case) for case in cases) for wrong in outcomes
        )

    return fits


def judge(name: str, task: Task, probe: Probe, inputs: Inputs, answers: Answers) -> Verdict:
    """Judge the answers of a student.

    Parameters
    ----------
    name : str
        The task, for example "01/window".
    task : Task
    probe : Probe
        Of the same task; runs the reference and the mistakes, never the student's code.
    inputs : mapping of str to ndarray
        The very inputs on which the answers were given, with what the probe keeps back.
    answers : Answers

    Returns
    -------
    Verdict
        No evidence means no points.
    """
    if not answers.attempted:
        return not_attempted(name, task)
    draws = _draws(task, probe, inputs, answers)
    held = [[_holds(part, draw) for part in task.parts] for draw in draws]
    earned = [all(of_a_part) for of_a_part in zip(*held, strict=True)]
    if not all(earned):
        finding = _found(task, probe, draws, [all(of_a_draw) for of_a_draw in held])
        state = State.PARTLY if any(earned) else State.WRONG
        finding = replace(finding, entry=field_guide.entry(name, finding.name))
        return Verdict(name, task.title, state, _results(task.parts, earned), (_cut(finding),))
    changed = next((draw for draw in draws if draw.changed), None)
    if changed is None or task.may_change:
        return Verdict(name, task.title, State.RIGHT, _results(task.parts, earned))
    finding = _changes_what_it_is_given(changed, task.section)
    parts = _without_the_cheapest(_results(task.parts, earned))
    state = State.PARTLY if any(part.earned for part in parts) else State.WRONG
    return Verdict(name, task.title, state, parts, (_cut(finding),))


def earns_everything(task: Task, probe: Probe, inputs: Inputs, answers: Answers) -> bool:
    """True if `judge` would give these answers every point; it takes less, as no words are sought.

    The parameters are those of `judge`.
    """
    if not answers.attempted:
        return False
    draws = _draws(task, probe, inputs, answers)
    return all(_holds(part, draw) for draw in draws for part in task.parts) and (
        task.may_change or not any(draw.changed for draw in draws)
    )


def _draws(task: Task, probe: Probe, inputs: Inputs, answers: Answers) -> list[Evidence]:
    """What is known of an answer pass by pass; what is right of the same inputs is found once."""
    made: list[Evidence] = []
    for prefix, drawn in passes(inputs):
        mine = _of_a_pass(answers, prefix)
        if prefix == REPEATED:
            made[0] = replace(made[0], again=mine)
            made.append(replace(made[0], answers=mine, again=made[0].answers, after_others=True))
        else:
            known = cache(partial(_reference, task, probe, drawn))
            made.append(Evidence(drawn, known, mine))
    return made


def _of_a_pass(answers: Answers, prefix: str) -> Answers:
    others = tuple(other for other in (SECOND, REPEATED) if other != prefix)

    def own(named: Mapping[str, T]) -> dict[str, T]:
        return {
            name.removeprefix(prefix): value
            for name, value in named.items()
            if name.startswith(prefix) and not name.startswith(others)
        }

    return Answers(own(answers.values), own(answers.errors), own(answers.changed))


def _results(parts: tuple[Part, ...], earned: Sequence[bool]) -> tuple[PartResult, ...]:
    """Which parts are earned; one that builds on a failed one says so."""
    failed = {part.name for part, got in zip(parts, earned, strict=True) if not got}
    return tuple(
        PartResult(
            part.name,
            part.points,
            got,
            f"builds on “{part.needs}”" if not got and part.needs in failed else "",
        )
        for part, got in zip(parts, earned, strict=True)
    )


def _without_the_cheapest(parts: tuple[PartResult, ...]) -> tuple[PartResult, ...]:
    """All parts but the one with the fewest points: what was computed is right, after all."""
    least = min(parts, key=lambda part: part.points)
    return tuple(
        replace(part, earned=False, because="not counted, since what is given is changed")
        if part is least
        else part
        for part in parts
    )


def _changes_what_it_is_given(evidence: Evidence, section: Section) -> Finding:
    case, names = next(iter(evidence.changed.items()))
    what = ", ".join(f"`{name}`" for name in names.split(", ")) if names else "the tensor"
    return Finding(
        "changes-its-input",
        f"The values are right, but your answer changes {what}, which it was given.",
        "Whoever calls it still needs the old values: work on a copy (`clone()`), or use what "
        "returns something new, such as `masked_fill` for `masked_fill_`, `a = a + b` for "
        f"`a += b`, and `sorted(a)` for `a.sort()`. {evidence.called_with(case)}".strip(),
        section,
    )


def _found(task: Task, probe: Probe, draws: list[Evidence], right: list[bool]) -> Finding:
    """What to say of a wrong answer: a mistake by name, or what is true of its data."""
    failing = [draw for draw, good in zip(draws, right, strict=True) if not good]
    if all(draw.after_others for draw in failing):
        return _another_time(task.section)
    failing = [draw for draw in failing if not draw.after_others]
    good = next((draw for draw, held in zip(draws, right, strict=True) if held), None)
    return (
        _recognise(task, probe, failing, good)
        or _not_repeatable(task, probe, draws)
        or describe(task.section, task.properties, task.examples, failing, good)
    )


def _another_time(section: Section) -> Finding:
    return Finding(
        "keeps-state",
        "Your answer is right at first, and wrong when it is asked the same again.",
        "In between it was called with other inputs. Does it keep something from call to call: "
        "a list as a default argument, a name outside the function, an attribute of the class? "
        "Or does it draw by a chance of its own?",
        section,
    )


def _not_repeatable(task: Task, probe: Probe, draws: list[Evidence]) -> Finding | None:
    """Other values for the same inputs, where the right answer has the same ones."""
    first = draws[0]
    if first.again is None or first.repeatable:
        return None
    once_more = _reference(task, probe, first.inputs).answers
    if not all(same_value(once_more.values[n], v) for n, v in first.expected.values.items()):
        return None
    return Finding(
        "not-repeatable",
        "Your answer gives different results for the same inputs.",
        "It was asked twice, with other inputs in between. Does it keep something from call to "
        "call, or draw by a chance of its own?",
        task.section,
    )


def _cut(finding: Finding) -> Finding:
    """The same at a length that a page can show: a sentence may quote what the student returned."""
    most = MOST_CHARACTERS_OF_A_FINDING
    what, effect = (
        text if len(text) <= most else f"{text[:most]}…" for text in (finding.what, finding.effect)
    )
    return replace(finding, what=what, effect=effect)


def _reference(task: Task, probe: Probe, inputs: Inputs) -> Reference:
    """What is right of the inputs, without what no answer is compared in."""
    made = run(probe, task.answer, inputs)
    right = {
        name: value
        for name, value in made.answers.values.items()
        if not set(name.removeprefix(SECOND).removeprefix(REPEATED).split("."))
        & set(task.uncompared)
    }
    return Reference(Answers(right, made.answers.errors, made.answers.changed), made.called)


def not_attempted(name: str, task: Task) -> Verdict:
    """The verdict on an unfilled scaffold."""
    finding = Finding("not-attempted", "Fill the cell above, run it, then run this one.")
    return Verdict(name, task.title, State.NOT_ATTEMPTED, _nothing(task), (finding,))


def interrupted(name: str, task: Task, seconds: float) -> Verdict:
    """The verdict on an answer that a person stopped."""
    finding = Finding(
        "interrupted",
        f"You stopped your answer after {seconds:.0f} s, before it returned.",
        "A right answer to this task returns at once. "
        "Is there a loop whose condition never becomes false?",
        task.section,
    )
    return Verdict(name, task.title, State.INTERRUPTED, _nothing(task), (finding,))


def _nothing(task: Task) -> tuple[PartResult, ...]:
    return tuple(PartResult(part.name, part.points, earned=False) for part in task.parts)


def _holds(part: Part, evidence: Evidence) -> bool:
    """A part's condition, where data that it cannot work on (missing, other shape or type) is no
    evidence.
    """
    try:
        return bool(part.holds(evidence))
    except ODD_DATA:
        return False


def _recognise(
    task: Task, probe: Probe, failing: Sequence[Evidence], right: Evidence | None
) -> Finding | None:
    """The first mistake that fits in every draw in which the answer is wrong; where it is right,
    the mistake has to be right, too.
    """
    for mistake in task.mistakes:
        if all(_fits(mistake, task, probe, draw) for draw in failing) and (
            right is None or _fits(mistake, task, probe, right, wrong_somewhere=False)
        ):
            return Finding(
                mistake.name,
                _say(mistake.what, failing[0]),
                _say(mistake.effect, failing[0]),
                mistake.section or task.section,
            )
    return None


def _fits(
    mistake: Mistake, task: Task, probe: Probe, evidence: Evidence, *, wrong_somewhere: bool = True
) -> bool:
    if mistake.recognised is not None:
        if not wrong_somewhere:
            return True  # its statistics speak of wrong answers only
        return _holds(Part(mistake.name, 0, mistake.recognised), evidence)
    cases = mistake.cases or task.cases or tuple(probe.cases)
    variants = (mistake.answer, *mistake.also)
    return any(_equals(variant, cases, probe, evidence, wrong_somewhere) for variant in variants)


def _equals(
    variant: Any, cases: tuple[str, ...], probe: Probe, evidence: Evidence, wrong_somewhere: bool
) -> bool:
    """True if the answer is this wrong one in all of these cases, and wrong in one of them."""

    def other(case: str, wrong: Answers) -> bool:
        return case in cases and not _same_case(evidence.answers, wrong, case)

    # Most mistakes differ from the answer in the first case already: the others are not run.
    wrong = run(probe, variant, evidence.inputs, until=other).answers
    return all(_same_case(evidence.answers, wrong, case) for case in cases) and (
        not wrong_somewhere or any(not _same_case(wrong, evidence.expected, case) for case in cases)
    )


def _say(says: Says, evidence: Evidence) -> str:
    """A sentence about this run; without numbers where odd data leaves none to quote."""
    if isinstance(says, str):
        return says
    try:
        return says(evidence)
    except ODD_DATA:
        return ""


def _same_case(a: Answers, b: Answers, case: str) -> bool:
    """True if a case ended alike: the same values, or the same kind of error."""
    if case in a.errors or case in b.errors:
        left, right = a.errors.get(case), b.errors.get(case)
        return left is not None and right is not None and _same_error(left, right)
    names = {n for n in (*a.values, *b.values) if n == case or n.startswith(case + ".")}
    return bool(names) and all(
        n in a.values and n in b.values and same_value(a.values[n], b.values[n]) for n in names
    )


def _same_error(a: Raised, b: Raised) -> bool:
    return a.kind == b.kind
