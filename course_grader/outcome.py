"""What came of one submission: plain data, from the run in the sandbox to the gradebook."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from course_grader.sandbox.protocol import StepResult
from course_grader.sandbox.sanitize import SanitizedSubmission


class Status(Enum):
    """How a submission stands.

    `GRADED` has points, be they few. `SET_ASIDE` waits for a person, who reads the reason.
    `FAILED` is the machine's fault: it gets no points and no zero, and runs again next time.
    `POSTPONED` is not an end: the same command runs it again, after all others.
    """

    GRADED = "graded"
    SET_ASIDE = "set aside"
    FAILED = "failed"
    POSTPONED = "postponed"


@dataclass(frozen=True)
class TaskOutcome:
    """The judge's words on one task.

    Attributes
    ----------
    grade_id, task : str
        The released check's name for nbgrader, and for example "05/scores".
    points, out_of : float
    verdict : mapping
        As `Verdict.to_json` writes it; empty where there was no evidence.
    html : str
        The feedback, made by the judge: nothing in it is the student's but what it escaped.
    reason : str
        Why there is no evidence; empty where there is.
    title : str
        The task's own; where there is evidence, the verdict has it.
    waits : str
        Why a person has to look before these points stand; empty if nobody has to.
    """

    grade_id: str
    task: str
    points: float
    out_of: float
    verdict: Mapping[str, Any] = field(default_factory=dict)
    html: str = ""
    reason: str = ""
    title: str = ""
    waits: str = ""

    @property
    def mistakes(self) -> tuple[str, ...]:
        """Short, stable names of what was found, for the class report."""
        return tuple(str(found["name"]) for found in self.verdict.get("findings", ()))


@dataclass(frozen=True)
class Results:
    """What a run left, parsed; it is the student's and untrusted.

    Attributes
    ----------
    steps : tuple of StepResult
        As many as were reached.
    ended : str
        Empty if all of them were; otherwise what ended the run.
    seconds : float
    """

    steps: tuple[StepResult, ...]
    ended: str
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """What came of one submission.

    Attributes
    ----------
    student, assignment : str
    status : Status
    reason : str
        Why it was set aside, failed or was postponed, or how the run ended early; empty otherwise.
    tasks : tuple of TaskOutcome
        One for each released check, in the assignment's order; empty unless graded.
    unanswered : frozenset of str
        Grade ids of what was left as it was released.
    work : SanitizedSubmission or None
        What was run; only where its pages are written, and None if it could not be read.
    ran : Results or None
        What the run left; only where its pages are written.
    notes : tuple of str
        What was found changed in the submitted file.
    failed_cell : str
        The first cell of the student's that an error ended, and the error; empty if none did.
    seconds : mapping of str to float
        Where the time went: "read", "run", "judge", "pages".
    alone : bool
        If it was postponed: whether nothing else may run beside it the next time.
    """

    student: str
    assignment: str
    status: Status
    reason: str = ""
    tasks: tuple[TaskOutcome, ...] = ()
    unanswered: frozenset[str] = frozenset()
    work: SanitizedSubmission | None = None
    ran: Results | None = None
    notes: tuple[str, ...] = ()
    failed_cell: str = ""
    seconds: Mapping[str, float] = field(default_factory=dict)
    alone: bool = False

    def to_plain(self) -> dict[str, Any]:
        """As JSON can hold it, without what only its pages show."""
        return {
            "student": self.student,
            "assignment": self.assignment,
            "status": self.status.value,
            "reason": self.reason,
            "tasks": [{**vars(task), "html": ""} for task in self.tasks],
            "unanswered": sorted(self.unanswered),
            "notes": list(self.notes),
            "failed_cell": self.failed_cell,
            "seconds": dict(self.seconds),
        }

    @classmethod
    def from_plain(cls, said: Mapping[str, Any]) -> Outcome:
        """What `to_plain` made."""
        return cls(
            said["student"],
            said["assignment"],
            Status(said["status"]),
            reason=said["reason"],
            tasks=tuple(TaskOutcome(**task) for task in said["tasks"]),
            unanswered=frozenset(said["unanswered"]),
            notes=tuple(said["notes"]),
            failed_cell=said["failed_cell"],
            seconds=said["seconds"],
        )

    @property
    def remarks(self) -> tuple[str, ...]:
        """What a reader of its page should know first."""
        return remarks(self.reason, self.failed_cell, self.notes)

    @property
    def points(self) -> float:
        """Points that the judge awarded."""
        return sum(task.points for task in self.tasks)

    @property
    def out_of(self) -> float:
        """Points that the judge could award."""
        return sum(task.out_of for task in self.tasks)


def remarks(reason: str, failed_cell: str, notes: Iterable[str]) -> tuple[str, ...]:
    """How a run ended, which cell failed first, and what was found changed; each where there is
    something to say.
    """
    failed = f"The first cell that failed: {failed_cell}" if failed_cell else ""
    return tuple(words for words in (reason, failed, *notes) if words)
