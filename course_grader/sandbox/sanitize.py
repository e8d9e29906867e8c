"""What of a submission is run: the released assignment, with the student's cells and nothing else
of theirs.

Which cells are checks, what they award, and what they check comes from the released notebook. The
student's file gives code, text and their order. Its metadata, outputs, kernel and tags are left
behind.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from course_grader.assignment import Assignment, Check, defined_names, is_prose
from course_grader.errors import FaultyAssignmentError, UnreadableNotebookError

if TYPE_CHECKING:
    from nbformat import NotebookNode

Kind = Literal["code", "text", "check", "question"]

# Far more than any notebook of the course has (some 40), and few enough to go through quickly.
MOST_CELLS = 1000

# A long cell of the course has some 2,000; what a program wrote has more, and nobody reads it.
MOST_CHARACTERS_OF_A_CELL = 200_000

# The longest notebook of the course has some 60,000. Code is parsed to find what it defines, which
# takes a second for so many.
MOST_CHARACTERS = 1_000_000


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
class SanitizedSubmission:
    """A submission made safe to run.

    Attributes
    ----------
    steps : tuple of Step
        In the student's order.
    notes : tuple of str
        What was found changed, for the reader of the feedback and of the class report.
    unanswered : frozenset of str
        Questions and answers, by grade id, that are as they were released; no question for which
        the student may have written the answer somewhere else.
    """

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = field(default=())
    unanswered: frozenset[str] = frozenset()

    @property
    def checks(self) -> tuple[Check, ...]:
        """The checks in the order in which they are asked."""
        return tuple(step.check for step in self.steps if step.check)


def sanitize(
    released: NotebookNode, submitted: NotebookNode, assignment: Assignment | None = None
) -> SanitizedSubmission:
    """Rebuild what is run from the released assignment and the student's cells.

    Parameters
    ----------
    released : NotebookNode
        What `course release` made.
    submitted : NotebookNode
        What came back; left as it is.
    assignment : Assignment, optional
        The released notebook's cells that count, where they are known already.

    Returns
    -------
    Work
        Every released check exactly once: where the student's file has it, or else behind the last
        cell that answers it.

    Raises
    ------
    FaultyAssignmentError
        If the released notebook holds no check.
    UnreadableNotebookError
        If there is more code and text than anybody writes.
    """
    reading = _Reading(released, assignment or Assignment.of(released))
    for cell in submitted.cells[:MOST_CELLS]:
        reading.take(cell)
    unread = len(submitted.cells) - MOST_CELLS
    if unread > 0:
        reading.notes.append(
            f"only the first {MOST_CELLS} of {len(submitted.cells)} cells were read"
        )
    reading.compare_assignments()
    reading.place_checks()
    reading.look_for_answers(unread=unread > 0)
    return SanitizedSubmission(tuple(reading.steps), tuple(reading.notes), reading.unanswered)


class _Reading:
    """Cells of a submission as they are taken, and what of the assignment was among them."""

    def __init__(self, released: NotebookNode, assignment: Assignment):
        self.checks = {check.grade_id: check for check in assignment.checks if check.task}
        self.questions = {question.grade_id: question for question in assignment.questions}
        if not self.checks and not self.questions:
            raise FaultyAssignmentError("the released notebook holds nothing that is graded")
        self.given = {each.grade_id: each.source.strip() for each in assignment.answers}
        self.answers = frozenset(self.given)
        self.given |= {name: each.source.strip() for name, each in self.questions.items()}
        self.ours = {cell.source.strip() for cell in released.cells}
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.seen: set[str] = set()
        self.elsewhere: set[str] = set()
        self.definitions = _Definitions()
        self.characters = 0

    @property
    def unanswered(self) -> frozenset[str]:
        """See `Work`."""
        answered = {step.grade_id for step in self.steps if self._changed(step)}
        return frozenset(self.given.keys() - answered - self.elsewhere)

    def take(self, cell: Any) -> None:
        """Make a step of a cell, or leave it out and say so."""
        kind, source, grade_id = cell.cell_type, _encodable(cell.source), _grade_id(cell)
        if len(source) > MOST_CHARACTERS_OF_A_CELL:
            code = kind == "code" and grade_id not in self.questions
            self.notes.append(
                f"a cell of {len(source):,} characters was {'left out' if code else 'cut'}: "
                f"more than {MOST_CHARACTERS_OF_A_CELL:,} are not read"
            )
            if code:
                return
            source = source[:MOST_CHARACTERS_OF_A_CELL]
        self.characters += len(source)
        if self.characters > MOST_CHARACTERS:
            raise UnreadableNotebookError(
                f"its cells hold more than {MOST_CHARACTERS:,} characters, which is far more than "
                "anybody writes: open it by hand"
            )
        if grade_id in self.checks:
            self._take_check(kind, source, self.checks[grade_id])
        elif grade_id in self.questions:
            self._take_question(source, grade_id)
        elif kind == "code":
            known = grade_id if grade_id in self.answers - self.seen else ""
            self.seen.add(grade_id)
            self.steps.append(Step("code", source, known))
        else:
            if grade_id in self.answers:
                self.notes.append(f"the answer `{grade_id}` is text, not code; it was not run")
            self.steps.append(Step("text", source))

    def _take_check(self, kind: str, source: str, check: Check) -> None:
        if check.grade_id in self.seen:
            self.notes.append(f"the check `{check.grade_id}` is there twice; the first one counts")
            return
        self.seen.add(check.grade_id)
        if kind != "code" or source.strip() != check.source.strip():
            self.notes.append(f"the check `{check.grade_id}` was changed; the released one was run")
        self.steps.append(_check_step(check))

    def _take_question(self, source: str, grade_id: str) -> None:
        step = Step("question", source, grade_id)
        if grade_id in self.seen:
            self.notes.append(f"the question `{grade_id}` is there twice; both answers are shown")
            if self._changed(step):
                self.elsewhere.add(grade_id)
            step = Step("text", source)
        self.seen.add(grade_id)
        self.steps.append(step)

    def compare_assignments(self) -> None:
        """Say so if nearly nothing of the assignment is there: another one was handed in."""
        missing = [
            check
            for check in self.checks.values()
            if not self.definitions.places(self.steps, check)
        ]
        count = len(self.checks)
        if not self.seen & self.checks.keys() and 2 * len(missing) > count:
            self.notes.append(
                f"none of its {count} checks is there, and {len(missing)} answers to them are "
                "missing: was another assignment handed in?"
            )

    def place_checks(self) -> None:
        """See that every check is asked once, and none above all that could answer it."""
        for grade_id, check in self.checks.items():
            if grade_id not in self.seen:
                self.notes.append(f"the check `{grade_id}` was missing; the released one was run")
                defining = self.definitions.places(self.steps, check)
                place = defining[-1] + 1 if defining else len(self.steps)
                self.steps.insert(place, _check_step(check))
        for check in self.checks.values():
            _move_behind_its_answer(self.steps, self.definitions, check, self.notes)

    def look_for_answers(self, *, unread: bool) -> None:
        """Find what may answer an empty or missing question: a person has to read it."""
        for grade_id in [name for name in self.questions if name not in self.seen]:
            words = [step.source for step in self.steps if self._own_words(step)]
            self.notes.append(
                f"the question `{grade_id}` was missing"
                + ("; other text of the student's was taken for the answer" if words else "")
            )
            self.steps.append(Step("question", "\n\n".join(words), grade_id))
            if unread:
                self.elsewhere.add(grade_id)
        for grade_id in self.unanswered & self.questions.keys():
            if any(self._own_words(step) for step in self._beside(grade_id)):
                self.elsewhere.add(grade_id)
                self.notes.append(
                    f"the field of the question `{grade_id}` is empty; the text beside it is "
                    "taken for the answer"
                )

    def _beside(self, grade_id: str) -> Iterator[Step]:
        """The student's own cells above and below a question, up to the next released ones."""
        here = next(n for n, step in enumerate(self.steps) if step.grade_id == grade_id)
        for side in (reversed(self.steps[:here]), self.steps[here + 1 :]):
            yield from itertools.takewhile(self._own, side)

    def _own(self, step: Step) -> bool:
        """Whether a cell is none that was released."""
        return not step.grade_id and step.source.strip() not in self.ours

    def _own_words(self, step: Step) -> bool:
        """Whether a cell of the student's own holds words and not code."""
        if not self._own(step) or not step.source.strip():
            return False
        return step.kind == "text" or is_prose(step.source)

    def _changed(self, step: Step) -> bool:
        words = step.source.strip()
        return bool(words) and words != self.given.get(step.grade_id)


class _Definitions:
    """What cells define; each is parsed once, and only if the name that is looked for is in it."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, ...]] = {}

    def places(self, steps: list[Step], check: Check) -> list[int]:
        """Places of the cells that define what the check asks for."""
        name = check.answer
        return [place for place, step in enumerate(steps) if name and self._defines(step, name)]

    def _defines(self, step: Step, name: str) -> bool:
        source = step.source
        # Python takes some other letters for those of a name.
        if step.kind != "code" or (name not in source and source.isascii()):
            return False
        if source not in self._known:
            self._known[source] = defined_names(source)
        return name in self._known[source]


def _check_step(check: Check) -> Step:
    return Step("check", check.source, check.grade_id, check)


def _move_behind_its_answer(
    steps: list[Step], definitions: _Definitions, check: Check, notes: list[str]
) -> None:
    """A check that was moved above every cell that answers it could only say "not defined"."""
    here = next(place for place, step in enumerate(steps) if step.check is check)
    defining = definitions.places(steps, check)
    if defining and defining[0] > here:
        step = steps.pop(here)
        steps.insert(defining[-1], step)
        notes.append(f"the check `{check.grade_id}` stood above its answer; it was run below it")


def _encodable(source: Any) -> str:
    """Text without lone surrogates, which JSON can hold and no file can."""
    return str(source).encode("utf-8", "replace").decode("utf-8")


def _grade_id(cell: Any) -> str:
    said = cell.get("metadata", {}).get("nbgrader")
    name = said.get("grade_id") if isinstance(said, dict) else None
    return name if isinstance(name, str) else ""
