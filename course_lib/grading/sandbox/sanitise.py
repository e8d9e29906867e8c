"""What of a submission is run: the released assignment, with the student's cells and nothing else
of theirs.

Which cells are checks, what they award, and what they check comes from the released notebook. The
student's file gives code, text and their order. Its metadata, outputs, kernel and tags are left
behind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from course_lib.errors import AssignmentFaulty
from course_lib.grading.assignment import Assignment, Check, defined_names

if TYPE_CHECKING:
    from nbformat import NotebookNode

Kind = Literal["code", "text", "check", "question"]

# Far more than any notebook of the course has (some 40), and few enough to go through quickly.
MOST_CELLS = 1000
MOST_CHARACTERS_OF_A_CELL = 200_000


@dataclass(frozen=True)
class Step:
    """One cell of what is run and shown.

    Attributes
    ----------
    kind : str
        "code" is run, "check" asks a task's questions, "text" and "question" are shown.
    source : str
        The student's, except in a check.
    grade_id : str
        As released; empty for cells that the student added.
    check : Check or None
        For a check: the released one.
    """

    kind: Kind
    source: str
    grade_id: str = ""
    check: Check | None = None


@dataclass(frozen=True)
class Work:
    """A submission made safe to run.

    Attributes
    ----------
    steps : tuple of Step
        In the student's order.
    notes : tuple of str
        What was found changed, for the reader of the feedback and of the class report.
    unanswered : frozenset of str
        Questions and answers, by grade id, that are as they were released.
    """

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = field(default=())
    unanswered: frozenset[str] = frozenset()

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks in the order in which they are asked."""
        return tuple(step.check for step in self.steps if step.check)


def sanitise(released: NotebookNode, submitted: NotebookNode) -> Work:
    """Rebuild what is run from the released assignment and the student's cells.

    Parameters
    ----------
    released : NotebookNode
        What `course release` made.
    submitted : NotebookNode
        What came back; left as it is.

    Returns
    -------
    Work
        Every released check exactly once: where the student's file has it, or else behind the last
        cell that answers it.

    Raises
    ------
    AssignmentFaulty
        If the released notebook holds no check.
    """
    assignment = Assignment.of(released)
    checks = {check.grade_id: check for check in assignment.checks if check.task}
    questions = {question.grade_id: question for question in assignment.questions}
    answers = {answer.grade_id for answer in assignment.answers}
    if not checks and not questions:
        raise AssignmentFaulty("the released notebook holds nothing that is graded")
    steps: list[Step] = []
    notes: list[str] = []
    seen: set[str] = set()
    for cell in submitted.cells[:MOST_CELLS]:
        kind, source, grade_id = cell.cell_type, _encodable(cell.source), _grade_id(cell)
        if len(source) > MOST_CHARACTERS_OF_A_CELL:
            notes.append(
                f"a cell of {len(source):,} characters was left out: more than "
                f"{MOST_CHARACTERS_OF_A_CELL:,} are not read"
            )
            continue
        if grade_id in checks:
            if grade_id in seen:
                notes.append(f"the check `{grade_id}` is there twice; the first one counts")
                continue
            seen.add(grade_id)
            if kind != "code" or source.strip() != checks[grade_id].source.strip():
                notes.append(f"the check `{grade_id}` was changed; the released one was run")
            steps.append(_check_step(checks[grade_id]))
        elif grade_id in questions:
            if grade_id in seen:
                notes.append(f"the question `{grade_id}` is there twice; both answers are shown")
                steps.append(Step("text", source))
                continue
            seen.add(grade_id)
            steps.append(Step("question", source, grade_id))
        elif kind == "code":
            known = grade_id if grade_id in answers and grade_id not in seen else ""
            seen.add(grade_id)
            steps.append(Step("code", source, known))
        else:
            if grade_id in answers:
                notes.append(f"the answer `{grade_id}` is text, not code; it was not run")
            steps.append(Step("text", source))
    if len(submitted.cells) > MOST_CELLS:
        notes.append(f"only the first {MOST_CELLS} of {len(submitted.cells)} cells were read")
    defines = {step: defined_names(step.source) for step in steps if step.kind == "code"}
    for grade_id, check in checks.items():
        if grade_id not in seen:
            notes.append(f"the check `{grade_id}` was missing; the released one was run")
            defining = _defining(steps, defines, check)
            steps.insert(defining[-1] + 1 if defining else len(steps), _check_step(check))
    for check in checks.values():
        _move_behind_its_answer(steps, defines, check, notes)
    for grade_id in questions.keys() - seen:
        notes.append(f"the question `{grade_id}` was missing")
        steps.append(Step("question", "", grade_id))
    given = {each.grade_id: each.source.strip() for each in assignment.answers}
    given |= {each.grade_id: each.source.strip() for each in assignment.questions}
    unanswered = given.keys() - {
        step.grade_id
        for step in steps
        if step.source.strip() and step.source.strip() != given.get(step.grade_id)
    }
    return Work(tuple(steps), tuple(notes), frozenset(unanswered))


def _check_step(check: Check) -> Step:
    return Step("check", check.source, check.grade_id, check)


def _move_behind_its_answer(
    steps: list[Step], defines: Mapping[Step, tuple[str, ...]], check: Check, notes: list[str]
) -> None:
    """A check that was moved above every cell that answers it could only say "not defined"."""
    here = next(place for place, step in enumerate(steps) if step.check is check)
    defining = _defining(steps, defines, check)
    if defining and defining[0] > here:
        step = steps.pop(here)
        steps.insert(defining[-1], step)
        notes.append(f"the check `{check.grade_id}` stood above its answer; it was run below it")


def _defining(
    steps: list[Step], defines: Mapping[Step, tuple[str, ...]], check: Check
) -> list[int]:
    """Places of the cells that define what the check asks for."""
    return [place for place, step in enumerate(steps) if check.answer in defines.get(step, ())]


def _encodable(source: Any) -> str:
    """Text without lone surrogates, which JSON can hold and no file can."""
    return str(source).encode("utf-8", "replace").decode("utf-8")


def _grade_id(cell: Any) -> str:
    said = cell.get("metadata", {}).get("nbgrader")
    name = said.get("grade_id") if isinstance(said, dict) else None
    return name if isinstance(name, str) else ""
