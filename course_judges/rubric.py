"""What makes a task: the parts that are worth points, and wrong answers with a name and words.

If a part's condition or a mistake's words need to look at an answer, they are given what is known
of it (`course_judges.evidence`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from course_judges.evidence import ODD_DATA, Evidence
from course_lib.errors import CourseError
from course_tasks.probing import Inputs
from course_tasks.verdict import Finding, Section

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

    def earned_by(self, evidence: Evidence) -> bool:
        """True if the claim holds. Data that the condition can't work with, because it is missing
        or has another shape or type, is no evidence.
        """
        try:
            return bool(self.holds(evidence))
        except ODD_DATA:
            return False


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
    recognized : callable (Evidence) -> bool, optional
        Replaces the comparison if answers are random, so that only their statistics can tell.
    also : tuple of object
        Other answers that make the same mistake; to equal one of them is enough.
    inferred : bool
        Whether it is inferred from ranges of numbers, which may fit more than one mistake.
    """

    name: str
    answer: Any
    what: Says
    effect: Says
    section: Section | None = None
    cases: tuple[str, ...] = ()
    recognized: Callable[[Evidence], bool] | None = None
    also: tuple[Any, ...] = ()
    inferred: bool = False


def mistake(
    what: Says,
    effect: Says,
    section: Section | None = None,
    *,
    cases: tuple[str, ...] = (),
    recognized: Callable[[Evidence], bool] | None = None,
    also: tuple[Any, ...] = (),
    name: str = "",
) -> Callable[[Any], Mistake]:
    """Make a mistake of a wrong answer: decorates a function or class, or is called with any other.

    Its name is that of the variable that holds it in the task's module, so that `_divides_columns`
    and `_DividesColumns` are both "divides-columns"; `name` is for names that no variable can have.
    The parameters are attributes of `Mistake`.
    """
    return lambda answer: Mistake(name, answer, what, effect, section, cases, recognized, also)


@dataclass(frozen=True)
class Like:
    """Stands for a variant of the task's answer, by its name in the task's table: what `mistake` is
    called with where the wrong answer is one that the table has, and deserves words of its own.
    Among what a mistake has `also`, it stands for another variant of which the same is said.
    """

    variant: str


Property: TypeAlias = Callable[[Evidence], Finding | None]


class Step(NamedTuple):
    """What is said of an edit in one step of the answer: why the step is as it is, and where to
    look again; the task's own section when not given.
    """

    why: str
    section: Section | None = None


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
        Asked in this order when no mistake fits; the first that returns a finding is heard.
    uncompared : tuple of str
        Names of values, anywhere in a case, that say how an answer came about. A part may ask for
        them, but there is no right value.
    inputs : callable (Generator) -> Inputs, optional
        Draws the inputs if they depend on the right answer, which the probe must not know;
        otherwise the probe draws them.
    cases : tuple of str
        Cases in which an answer is compared with a mistake that names none; all when empty.
    may_change : bool
        Whether an answer may change its arguments. What the right answer itself changes may be
        changed anyway.
    examples : tuple of callable (Evidence) -> Finding or None
        Asked last, when nothing general can be said: each works out what is right at one place.
    explained : tuple of callable (Evidence) -> Finding or None
        Of a task whose answers are not compared with a right one, because each may compute what it
        pleases: a whole program. Asked in this order, and the last one always finds something.
    steps : mapping of str to Step
        Of an answer that is written in steps (`course_judges.edits`), by their names. Their
        variants are tried when no mistake fits.
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
    explained: tuple[Property, ...] = ()
    steps: Mapping[str, Step] = field(default_factory=dict)

    @cached_property
    def points(self) -> float:
        """Points that can be earned."""
        return float(sum(part.points for part in self.parts))

    def step(self, name: str) -> Step:
        """A step, or of two with " and " between their names the first."""
        return self.steps[name if name in self.steps else name.partition(" and ")[0]]

    def with_mistakes(self, module: Mapping[str, Any]) -> Task:
        """The same task with the mistakes of its module, in the order in which they are defined.

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


def matches(*cases: str) -> Callable[[Evidence], bool]:
    """A part's condition: the answer equals the reference in all of these cases."""
    return lambda evidence: evidence.same(*cases)


def say(says: Says, evidence: Evidence) -> str:
    """A sentence about this run; empty if the data is so odd that there is no number to quote."""
    if isinstance(says, str):
        return says
    try:
        return says(evidence).strip()
    except ODD_DATA:
        return ""
