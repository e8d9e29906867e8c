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

from course_grader.assignment import Assignment, Check
from course_grader.cell_source import imports_modules, is_prose
from course_grader.errors import FaultyAssignmentError, UnreadableNotebookError
from course_grader.sandbox.placing import Definitions, placed

if TYPE_CHECKING:
    from nbformat import NotebookNode

Kind = Literal["code", "text", "check", "question", "defend"]

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
        "code" is run, "check" asks a task's questions, "text" and "question" are shown. "defend"
        runs variants of an answer, for questions about it; no file has such a step.
    source : str
        The student's, except in a check; of variants, the task.
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
    judged_another : frozenset of str
        Checks, by grade id, that ask another filled definition than the one above them in the
        student's file.
    """

    steps: tuple[Step, ...]
    notes: tuple[str, ...] = field(default=())
    unanswered: frozenset[str] = frozenset()
    judged_another: frozenset[str] = frozenset()

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
        Every released check exactly once: where the student's file has it below the last cell that
        answers it, or else behind that cell. What the assignment imports, first.

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
    reading.import_modules()
    reading.look_for_answers(unread=unread > 0)
    return SanitizedSubmission(
        tuple(reading.steps),
        tuple(reading.notes),
        reading.unanswered,
        frozenset(reading.judged_another),
    )


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
        self.importing = [
            cell.source.strip()
            for cell in released.cells
            if cell.cell_type == "code" and not _grade_id(cell) and imports_modules(cell.source)
        ]
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.seen: set[str] = set()
        self.elsewhere: set[str] = set()
        self.judged_another: set[str] = set()
        # Which answer cell a check asks about.
        self.asks = {
            check.grade_id: answer.grade_id
            for check in assignment.checks
            if (answer := assignment.answer_to(check))
        }
        self.definitions = Definitions([answer.source for answer in assignment.answers])
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
            self._take_code(source, grade_id if grade_id in self.answers else "")
        else:
            if grade_id in self.answers:
                self.notes.append(f"the answer `{grade_id}` is text, not code; it was not run")
            self.steps.append(Step("text", source))

    def _take_code(self, source: str, grade_id: str) -> None:
        """Of cells with one grade id, the first that was written in is the answer."""
        step = Step("code", source, grade_id)
        if grade_id in self.seen:
            self._keep_the_written(step, Step("code", source), "code")
            return
        if grade_id:
            self.seen.add(grade_id)
        self.steps.append(step)

    def _take_check(self, kind: str, source: str, check: Check) -> None:
        self.seen.add(check.grade_id)
        if kind != "code" or source.strip() != check.source.strip():
            self.notes.append(f"the check `{check.grade_id}` was changed; the released one was run")
        self.steps.append(_check_step(check))

    def _take_question(self, source: str, grade_id: str) -> None:
        step = Step("question", source, grade_id)
        if grade_id not in self.seen:
            self.seen.add(grade_id)
            self.steps.append(step)
            return
        self.notes.append(f"the question `{grade_id}` is there twice; both answers are shown")
        if self._changed(step):
            self.elsewhere.add(grade_id)
        self._keep_the_written(step, Step("text", source), "text")

    def _keep_the_written(self, step: Step, nameless: Step, kind: Kind) -> None:
        """Take a second cell of a grade id: in the first one's place if only it was written in."""
        first = next(n for n, each in enumerate(self.steps) if each.grade_id == step.grade_id)
        if self._changed(step) and not self._changed(self.steps[first]):
            self.steps[first] = Step(kind, self.steps[first].source)
            nameless = step
        self.steps.append(nameless)

    def compare_assignments(self) -> None:
        """Say so if nearly nothing of the assignment is there: another one was handed in."""
        missing = [
            check
            for check in self.checks.values()
            if not self.definitions.places(self.steps, check.answer or "").defining
        ]
        count = len(self.checks)
        if not self.seen & self.checks.keys() and 2 * len(missing) > count:
            self.notes.append(
                f"none of its {count} checks is there, and {len(missing)} answers to them are "
                "missing: was another assignment handed in?"
            )

    def place_checks(self) -> None:
        """See that every check is asked once, below the last cell that answers it."""
        own = [self._own(step) and step.kind != "check" for step in self.steps]
        asked: dict[int, list[Step]] = {}
        doubled = []
        for grade_id, check in self.checks.items():
            copies = [n for n, each in enumerate(self.steps) if each.check is check]
            where = self.definitions.places(self.steps, check.answer or "")
            found = placed(check, self.steps, copies, own, where)
            asked.setdefault(found.place, []).append(_check_step(check))
            if where.filled:
                self.elsewhere.add(self.asks.get(grade_id, ""))
            if not copies:
                self.notes.append(f"the check `{grade_id}` was missing; the released one was run")
            elif len(copies) > 1:
                doubled.append(grade_id)
            if found.note:
                self.notes.append(found.note)
            if found.another:
                self.judged_another.add(grade_id)
        if doubled:
            self.notes.append(
                (
                    f"the check `{doubled[0]}` is there twice"
                    if len(doubled) == 1
                    else f"{len(doubled)} checks are there twice"
                )
                + "; what is below the last answer counts"
            )
        steps = []
        for place, step in enumerate([*self.steps, None]):
            steps += asked.get(place, [])
            if step is not None and step.kind != "check":
                steps.append(step)
        self.steps = steps

    def import_modules(self) -> None:
        """Put the assignment's own imports first where the student's file changed them: an error in
        one line of that cell would leave all tasks without them.
        """
        sources = [step.source.strip() for step in self.steps if step.kind == "code"]
        for cell in reversed(self.importing):
            if not any(source.startswith(cell) for source in sources):
                self.steps.insert(0, Step("code", cell))

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


def _check_step(check: Check) -> Step:
    return Step("check", check.source, check.grade_id, check)


def _encodable(source: Any) -> str:
    """Text without lone surrogates, which JSON can hold and no file can."""
    return str(source).encode("utf-8", "replace").decode("utf-8")


def _grade_id(cell: Any) -> str:
    said = cell.get("metadata", {}).get("nbgrader")
    name = said.get("grade_id") if isinstance(said, dict) else None
    return name if isinstance(name, str) else ""
