"""Zeros that a person would perhaps not give: what a student is told of them, and when the grade
waits until somebody has looked.

The grader asks what is defined when it is asked. Where nothing is, although the notebook seems to
hold an answer, a word of the student's may be misspelled, a package missing here, or something
may have happened that nobody foresaw.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from course_grader.assignment import Answer, Assignment, Check
from course_grader.cell_source import defined_names, first_line, hiding_magic, should_define
from course_grader.outcome import Results, TaskOutcome
from course_grader.sandbox.placing import Definitions
from course_grader.sandbox.protocol import StepResult
from course_grader.sandbox.sanitize import SanitizedSubmission, Step
from course_tasks.errors import NOT_DEFINED

# How alike a name must be to be taken for a misspelled one: one letter of seven may be another.
ALIKE = 0.8

# A line of code and an error's words, so much of each is told.
MOST_CHARACTERS = 160

# What ends a cell if something above it did not come about.
_LACKING = frozenset(("NameError", "ImportError", "ModuleNotFoundError"))


@dataclass(frozen=True)
class FailedCell:
    """A cell that an error ended.

    Attributes
    ----------
    place : int
        Among the steps.
    source : str
    error : str
        The name of the error.
    words : str
        What it said; may be empty.
    """

    place: int
    source: str
    error: str
    words: str = ""

    def __str__(self) -> str:
        line, words = _cut(first_line(self.source)), _cut(first_line(self.words))
        if self.error == "interrupted":
            return f"`{line}` ran for too long and was stopped"
        return f"`{line}` stopped with {self.error}{f': {words}' if words else ''}"


def failed_cells(work: SanitizedSubmission, results: Results) -> tuple[FailedCell, ...]:
    """The student's cells that an error ended, in the order in which they ran."""
    return tuple(
        FailedCell(place, step.source, result.problem, _words(result))
        for place, step, result in _ran(work, results)
        if step.check is None and result.problem
    )


def _ran(work: SanitizedSubmission, results: Results) -> Iterator[tuple[int, Step, StepResult]]:
    left = iter(results.steps)
    for place, step in enumerate(work.steps):
        if step.kind in ("code", "check"):
            result = next(left, None)
            if result is None:
                return
            yield place, step, result


def _words(result: StepResult) -> str:
    errors = [each for each in result.outputs if each.get("output_type") == "error"]
    return str(errors[-1].get("evalue", "")) if errors else ""


def _cut(words: str) -> str:
    return words if len(words) <= MOST_CHARACTERS else f"{words[:MOST_CHARACTERS]} …"


def doubted(
    tasks: Sequence[TaskOutcome],
    work: SanitizedSubmission,
    results: Results,
    assignment: Assignment,
) -> tuple[TaskOutcome, ...]:
    """The same outcomes, with why an answer was not found, and what a person should look at.

    Parameters
    ----------
    tasks : sequence of TaskOutcome
        As they were judged.
    work : SanitizedSubmission
    results : Results
    assignment : Assignment
        As it was released.
    """
    reading = _Reading(work, failed_cells(work, results), assignment)
    checks = {check.grade_id: check for check in work.checks}
    return tuple(reading.of(task, checks[task.grade_id]) for task in tasks)


class _Reading:
    def __init__(
        self, work: SanitizedSubmission, failed: tuple[FailedCell, ...], assignment: Assignment
    ):
        self.work, self.failed, self.assignment = work, failed, assignment
        self.definitions = Definitions([answer.source for answer in assignment.answers])
        self.released = {name for answer in assignment.answers for name in answer.defines}

    def of(self, task: TaskOutcome, check: Check) -> TaskOutcome:
        """One outcome, with what is to be said of it."""
        undefined = not task.verdict and NOT_DEFINED in task.reason
        empty = task.verdict.get("state") == "not attempted"
        name = check.answer or ""
        place = next(n for n, step in enumerate(self.work.steps) if step.check == check)
        early = [one for one in self.failed if one.place < place]
        if task.points < task.out_of and check.grade_id in self.work.judged_another:
            return replace(
                task,
                waits=f"the notebook defines `{name}` more than once, and the last one, which was "
                "judged, lacks points; the one above its check may have more",
            )
        if task.points:
            return task
        if early and _lacks_something(task):
            return replace(task, waits=f"an earlier cell had failed: {early[0]}")
        if not (undefined or empty):
            return task
        said, waits = self._why(name, early, self.assignment.answer_to(check))
        if undefined and (said or waits):
            task = replace(task, reason=f"{task.reason}: {said or waits}")
        return replace(task, waits=waits)

    def _why(
        self, name: str, early: Sequence[FailedCell], answer: Answer | None
    ) -> tuple[str, str]:
        """Why there is no answer of this name, and what a person should look at; both may be
        empty.
        """
        code = [(n, step) for n, step in enumerate(self.work.steps) if step.kind == "code"]
        holding = [step for _, step in code if should_define(step.source, name)]
        hidden = [magic for step in holding if (magic := hiding_magic(step.source))]
        if hidden:
            said = f"the cell that defines it begins with `{hidden[-1]}`, so nothing else knows it"
            return said, said
        of_it = [one for one in self.failed if should_define(one.source, name)]
        said = ""
        if of_it:
            said = f"the cell that should define it stopped with {of_it[-1].error}"
            if of_it[-1].error == "interrupted":
                said = "the cell that should define it was interrupted"
        before = [one for one in early if one not in of_it]
        if of_it and of_it[-1].error in _LACKING and before:
            return said, f"{said}, after an earlier cell had failed: {before[0]}"
        filled = self.definitions.places(self.work.steps, name).filled
        own = [step for step in holding if answer is None or step.grade_id != answer.grade_id]
        if filled and not of_it:
            return said, f"a cell defines `{name}`, but it was not there when the check was run"
        if any(step.source not in self._scaffolds for step in own):
            return said, f"another cell seems to define `{name}`"
        near = self._nearest(name, code)
        if near:
            words = f"the notebook defines `{near}`; is one of the two names misspelled?"
            return words, words
        if before and answer is not None and answer.grade_id not in self.work.unanswered:
            return said, f"an earlier cell had failed: {before[0]}"
        return said, ""

    @property
    def _scaffolds(self) -> set[str]:
        return {answer.source for answer in self.assignment.answers}

    def _nearest(self, name: str, code: Sequence[tuple[int, Step]]) -> str:
        """A name of the student's own that may be a misspelling of this one."""
        own = {each for _, step in code for each in defined_names(step.source)} - self.released
        return next(iter(difflib.get_close_matches(name, sorted(own), 1, ALIKE)), "")


def _lacks_something(task: TaskOutcome) -> bool:
    """Whether an answer stopped because something had not been imported or defined."""
    found: Mapping[str, str] = next(iter(task.verdict.get("findings", ())), {})
    return found.get("name") == "error" and any(one in found.get("what", "") for one in _LACKING)
