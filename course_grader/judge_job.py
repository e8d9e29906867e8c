"""What the grader and the processes that judge tell each other of one submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from course_grader.sandbox.sanitize import SanitizedSubmission
from course_tasks.runner.limits import Limits


@dataclass(frozen=True)
class Job:
    """All that a child needs to know of one submission.

    Attributes
    ----------
    student, assignment : str
    file : Path or None
        The notebook that was handed in; None if it is not to be opened.
    stamp : str
        When it was handed in, as nbgrader's `timestamp.txt` says.
    released : str
        The released notebook as JSON.
    graded, page : Path
        Where the autograded notebook and the page of feedback are written.
    seed : int
        That the inputs of its tasks are drawn from.
    limits : Limits
        Of the run, and of what it sends.
    book : str
        Address of the published book, for the links in feedback; empty: no links.
    sandboxed : bool
    """

    student: str
    assignment: str
    file: Path | None
    stamp: str
    released: str
    graded: Path
    page: Path
    seed: int
    limits: Limits
    book: str
    sandboxed: bool


@dataclass(frozen=True)
class Prepared:
    """What is to be run: the steps that are run and no others, and each task's inputs."""

    work: SanitizedSubmission
    inputs: Mapping[str, bytes]
