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
from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np

from course_lib.errors import CourseError
from course_tasks.answers import Answers, Array, Raised, Value
from course_tasks.probing import Inputs, Probe, run
from course_tasks.verdict import Finding, PartResult, Section, State, Verdict

# Float32 through a few matrix products and a softmax, summed in any order, stays far inside; no
# mistake of the course does.
RELATIVE_TOLERANCE = 1e-4
ABSOLUTE_TOLERANCE = 1e-5

# Several times as long as the longest sentence of a judge about an ordinary answer.
MOST_CHARACTERS_OF_A_FINDING = 1500

# Judges do arithmetic with a student's array and their own, which NumPy stretches to each other's
# shapes: (100000, 1) with (100,) would make ten million numbers of what came as some kilobytes.
# Arrays of this few elements stay small beside anything that judges hold.
_FEW_ELEMENTS = 1024
# An array may be this large, when stretched with the right one, or a few times as large as that.
_MOST_ELEMENTS_TOGETHER = 100_000
_TIMES_THE_RIGHT_ONE = 4

# What asking for a number raises when a student's data is missing, empty or of another shape.
_ODD_DATA = (KeyError, IndexError, ValueError, TypeError, ZeroDivisionError, OverflowError)


@dataclass(frozen=True)
class Evidence:
    """All that a judge knows of one answer.

    Attributes
    ----------
    inputs : mapping of str to ndarray
        What the answer was run on, and what its probe kept back for the judge.
    reference : callable () -> Answers
        Makes what is right of them; called when that is first asked for, since a reference may
        train for seconds and some judges need none.
    answers : Answers
        What the student's answer made of them.
    """

    inputs: Inputs
    reference: Callable[[], Answers]
    answers: Answers

    @cached_property
    def expected(self) -> Answers:
        """What the reference makes of the inputs."""
        return self.reference()

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
    """

    name: str
    points: float
    holds: Callable[[Evidence], bool]


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
    evidence = Evidence(inputs, lambda: _reference(task, probe, inputs), answers)
    parts = tuple(PartResult(part.name, part.points, _holds(part, evidence)) for part in task.parts)
    if all(part.earned for part in parts):
        return Verdict(name, task.title, State.RIGHT, parts)
    state = State.PARTLY if any(part.earned for part in parts) else State.WRONG
    finding = _recognise(task, probe, evidence) or _describe(task, evidence)
    return Verdict(name, task.title, state, parts, (_cut(finding),))


def _cut(finding: Finding) -> Finding:
    """The same at a length that a page can show: a sentence may quote what the student returned."""
    most = MOST_CHARACTERS_OF_A_FINDING
    what, effect = (
        text if len(text) <= most else f"{text[:most]}…" for text in (finding.what, finding.effect)
    )
    return replace(finding, what=what, effect=effect)


def _reference(task: Task, probe: Probe, inputs: Inputs) -> Answers:
    """What is right of the inputs, without what no answer is compared in."""
    answers = run(probe, task.answer, inputs).answers
    right = {
        name: value
        for name, value in answers.values.items()
        if not set(name.split(".")) & set(task.uncompared)
    }
    return Answers(right, answers.errors)


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
    except _ODD_DATA:
        return False


def _recognise(task: Task, probe: Probe, evidence: Evidence) -> Finding | None:
    for mistake in task.mistakes:
        if mistake.recognised is not None:
            fits = _holds(Part(mistake.name, 0, mistake.recognised), evidence)
        else:
            cases = mistake.cases or task.cases or tuple(probe.cases)
            variants = (mistake.answer, *mistake.also)
            fits = any(_equals(variant, cases, probe, evidence) for variant in variants)
        if fits:
            return Finding(
                mistake.name,
                _say(mistake.what, evidence),
                _say(mistake.effect, evidence),
                mistake.section or task.section,
            )
    return None


def _equals(variant: Any, cases: tuple[str, ...], probe: Probe, evidence: Evidence) -> bool:
    """True if the answer is this wrong one in all of these cases, and wrong in one of them."""

    def other(case: str, wrong: Answers) -> bool:
        return case in cases and not _same_case(evidence.answers, wrong, case)

    # Most mistakes differ from the answer in the first case already: the others are not run.
    wrong = run(probe, variant, evidence.inputs, until=other).answers
    return all(_same_case(evidence.answers, wrong, case) for case in cases) and any(
        not _same_case(wrong, evidence.expected, case) for case in cases
    )


def _say(says: Says, evidence: Evidence) -> str:
    """A sentence about this run; without numbers where odd data leaves none to quote."""
    if isinstance(says, str):
        return says
    try:
        return says(evidence)
    except _ODD_DATA:
        return ""


def _describe(task: Task, evidence: Evidence) -> Finding:
    """What is true of the data, when no known mistake fits."""
    for finding in (_error(task, evidence), _shape(task, evidence), _not_a_number(task, evidence)):
        if finding is not None:
            return finding
    for asked in task.properties:
        try:
            found = asked(evidence)
        except _ODD_DATA:
            continue  # the property cannot be asked of data like this; the next one may
        if found is not None:
            return found
    return _difference(task, evidence)


def _error(task: Task, evidence: Evidence) -> Finding | None:
    for case, raised in evidence.answers.errors.items():
        if case in evidence.expected.errors:
            continue  # the reference raises here, too; its kind is the part's business
        sizes = evidence.sizes()
        where = f" at `{raised.line}`" if raised.line else ""
        if raised.not_attempted:
            return Finding(
                "partly-attempted",
                f"A part of the scaffold still raises NotImplementedError{where}.",
                "",
                task.section,
            )
        return Finding(
            "error",
            f"Your answer stopped with {raised.kind}{where}.",
            f"{_sentence(raised.message)}" + (f" It was called with {sizes}." if sizes else ""),
            task.section,
        )
    return None


def _shape(task: Task, evidence: Evidence) -> Finding | None:
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if mine is None:
            case = name.split(".")[0]
            if case in evidence.answers.errors:
                continue
            return Finding(
                "missing",
                "Your answer returns fewer values than asked for.",
                f"Value `{name}` is missing.",
                task.section,
            )
        if isinstance(right, str) != isinstance(mine, str):
            return Finding(
                "type",
                f"Your answer returns {_kind(mine)}; expected {_kind(right)}.",
                "",
                task.section,
            )
        if (
            isinstance(right, np.ndarray)
            and isinstance(mine, np.ndarray)
            and mine.shape != right.shape
        ):
            sizes = evidence.sizes()
            return Finding(
                "shape",
                f"Your answer has shape {mine.shape}; expected {right.shape}.",
                f"It was called with {sizes}." if sizes else "",
                task.section,
            )
    return None


def _not_a_number(task: Task, evidence: Evidence) -> Finding | None:
    for name in evidence.expected.values:
        if not evidence.comparable(name):
            continue
        mine, right = evidence.yours(name), evidence.right(name)
        if mine.dtype.kind == "f" and np.isfinite(right).all() and not np.isfinite(mine).all():
            index = tuple(int(i) for i in np.argwhere(~np.isfinite(mine))[0])
            return Finding(
                "not-finite",
                f"Your answer holds {mine[index]} at index {_index(index)}.",
                "A division by zero, or a softmax over a row that is all −inf, makes NaN; "
                "every later sum keeps it.",
                task.section,
            )
    return None


def _difference(task: Task, evidence: Evidence) -> Finding:
    for name, right in evidence.expected.values.items():
        mine = evidence.answers.values.get(name)
        if mine is None or _same_value(mine, right):
            continue
        if isinstance(right, str) or isinstance(mine, str):
            return Finding(
                "difference",
                "Your answer returns another text.",
                f"Yours: {_start(mine)!r:.120}; expected: {_start(right)!r:.120}.",
                task.section,
            )
        gap = np.abs(mine.astype(float) - right.astype(float))
        index = np.unravel_index(int(np.argmax(np.nan_to_num(gap, nan=np.inf))), gap.shape)
        place = f" at index {_index(tuple(int(i) for i in index))}" if gap.ndim else ""
        sizes = evidence.sizes()
        return Finding(
            "difference",
            "The values differ from the right ones.",
            f"The largest difference is{place}: "
            f"yours {_number(mine[index])}, expected {_number(right[index])}"
            + (f" (with {sizes})." if sizes else "."),
            task.section,
        )
    missing = next(
        (case for case in evidence.expected.errors if case not in evidence.answers.errors), None
    )
    if missing is not None:
        expected = evidence.expected.errors[missing]
        return Finding(
            "no-error",
            f"Your answer accepts what it should refuse with a {expected.kind}.",
            f"A right answer says: {_sentence(expected.message)}",
            task.section,
        )
    return Finding("difference", "Your answer does not do what the task asks.", "", task.section)


def _same_case(a: Answers, b: Answers, case: str) -> bool:
    """True if a case ended alike: the same values, or the same kind of error."""
    if case in a.errors or case in b.errors:
        left, right = a.errors.get(case), b.errors.get(case)
        return left is not None and right is not None and _same_error(left, right)
    names = {n for n in (*a.values, *b.values) if n == case or n.startswith(case + ".")}
    return bool(names) and all(
        n in a.values and n in b.values and _same_value(a.values[n], b.values[n]) for n in names
    )


def _same_error(a: Raised, b: Raised) -> bool:
    return a.kind == b.kind


def _same_value(a: Value, b: Value) -> bool:
    if isinstance(a, str) or isinstance(b, str):
        return isinstance(a, str) and isinstance(b, str) and a == b
    if a.shape != b.shape:
        return False
    return bool(
        np.allclose(
            a.astype(np.float64),
            b.astype(np.float64),
            rtol=RELATIVE_TOLERANCE,
            atol=ABSOLUTE_TOLERANCE,
            equal_nan=True,
        )
    )


def _start(value: Value) -> Value:
    """Of a text what a sentence can quote."""
    return value[:120] if isinstance(value, str) else value


def _kind(value: Value) -> str:
    return "a text" if isinstance(value, str) else f"numbers of shape {value.shape}"


def _index(index: Sequence[int]) -> str:
    return str(index[0]) if len(index) == 1 else f"({', '.join(str(i) for i in index)})"


def _number(value: Any) -> str:
    return f"{float(value):.4g}"


def _sentence(text: str) -> str:
    text = " ".join(text.split()) or "It gave no reason."
    return text if text[-1] in ".!?" else text + "."
