"""The variants of a task's answer, kept beside its judge as `<task>.json`; `making` makes them."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from course_judges.edits.operators import changed
from course_judges.equality import same_value
from course_judges.evidence import Evidence, same_case
from course_judges.rubric import Like, Mistake, Task
from course_lib.errors import CourseError
from course_tasks.answers import Answers
from course_tasks.probing import Probe


@dataclass(frozen=True)
class Variant:
    """An answer with one edit.

    Attributes
    ----------
    name : str
        What class reports call it: "left-out-the-division-by-root-of-D-in-your-scores".
    says : str
        What was done, in the past tense, to follow "you" and "as if you had".
    step : str
        In which step; empty if the step itself is right, and something was done to its value.
    lines : dict of int to str
        The lines of the answer that are different.
    ends : tuple of str
        How each case ends, in the first draw of a check and in the second; see `ending`.
    alike : tuple of str
        The other edits with the same results, by what they say.
    teaches : str
        What holds of every edit of its kind; may be empty.
    module, source : str
        Where the answer stands, and its source.
    """

    name: str
    says: str
    step: str
    lines: dict[int, str]
    ends: tuple[str, ...]
    alike: tuple[str, ...]
    teaches: str
    module: str
    source: str

    @cached_property
    def answer(self) -> Any:
        """The changed function or class, to be called like the answer."""
        return made(changed(self.source, self.lines), self.module)


def made(program: str, module: str) -> Any:
    """The function or class that a program defines, with what its module knows."""
    space: dict[str, Any] = {}
    exec(compile(program, f"<variant in {module}>", "exec"), vars(sys.modules[module]), space)
    return next(iter(space.values()))


def path_of(task: Task) -> Path:
    """Where the table of a task is kept, beside the module of its answer."""
    return Path(str(sys.modules[task.answer.__module__].__file__)).with_suffix(".json")


def variants(task: Task) -> tuple[Variant, ...]:
    """The variants of a task's answer, most plausible first; none if it is not written in steps.

    Raises
    ------
    CourseError
        If the answer is in steps, and its table was not made yet.
    """
    if not task.steps:
        return ()
    path = path_of(task)
    if not path.exists():
        raise CourseError(
            f"{task.title!r} has steps but no table {path.name}. Make it with "
            "`python -m course_judges.edits.making`, followed by the task's name."
        )
    return _read(path, task.answer.__module__)


def with_variants(task: Task) -> Task:
    """The same task, whose mistakes that are like a variant have it as their answer.

    Raises
    ------
    CourseError
        If a mistake is like a variant that the table doesn't have.
    """
    if not any(isinstance(a, Like) for one in task.mistakes for a in (one.answer, *one.also)):
        return task
    known = {variant.name: variant for variant in variants(task)}

    def answer(held: Any, mistake: Mistake) -> Any:
        if not isinstance(held, Like):
            return held
        if held.variant not in known:
            raise CourseError(
                f"{mistake.name!r} of {task.title!r} is like {held.variant!r}, but the "
                f"table {path_of(task).name} has no such variant. Take one of its names."
            )
        return known[held.variant].answer

    found = (
        replace(one, answer=answer(one.answer, one), also=tuple(answer(a, one) for a in one.also))
        for one in task.mistakes
    )
    return replace(task, mistakes=tuple(found))


@cache
def _read(path: Path, module: str) -> tuple[Variant, ...]:
    held = json.loads(path.read_text(encoding="utf-8"))
    return tuple(
        Variant(
            one["name"],
            one["says"],
            one["step"],
            {int(n): text for n, text in one["lines"].items()},
            tuple(one["ends"]),
            tuple(one.get("alike", ())),
            one.get("teaches", ""),
            module,
            held["source"],
        )
        for one in held["variants"]
    )


def ending(answers: Answers, evidence: Evidence, case: str) -> str:
    """How a case ends beside the right answer: "=", "~" with other numbers, "s" with other shapes,
    or the kind of error. One of which nothing is compared ends as it should.
    """
    if case in answers.errors:
        return answers.errors[case].kind
    if case in evidence.expected.errors:
        return "~"
    right = {n: v for n, v in evidence.expected.values.items() if n.split(".")[0] == case}
    mine = {n: answers.values[n] for n in right if n in answers.values}
    if any(n not in mine or np.shape(mine[n]) != np.shape(right[n]) for n in right):
        return "s"
    return "=" if all(same_value(mine[n], right[n]) for n in right) else "~"


def same_compared(a: Answers, b: Answers, right: Answers, case: str) -> bool:
    """True if a case ended in the same way in all that is compared with the right answer."""
    names = [name for name in right.values if name.split(".")[0] == case]
    stopped = case in a.errors or case in b.errors or case in right.errors
    if stopped or (names and not any(name in a.values for name in names)):
        return same_case(a, b, case)  # of one that returned something of another form, all of it
    return all(
        name in a.values and name in b.values and same_value(a.values[name], b.values[name])
        for name in names
    )


def tells(answers: Answers, draw: Evidence, probe: Probe) -> bool:
    """True if some case is wrong in numbers, and not only by an error or by NaN everywhere."""
    return any(
        ending(answers, draw, case) in "~s" and _has_numbers(answers, case) for case in probe.cases
    )


def _has_numbers(answers: Answers, case: str) -> bool:
    return any(
        isinstance(value, str) or value.dtype.kind != "f" or bool(np.isfinite(value).any())
        for name, value in answers.values.items()
        if name.split(".")[0] == case
    )
