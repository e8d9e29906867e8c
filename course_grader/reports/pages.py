"""What `course grade` writes for each submission: the autograded notebook and the feedback."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.assignment import Assignment
from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.outcome import Outcome
from course_grader.reports.feedback import feedback, notebook
from course_grader.submissions import Submission

if TYPE_CHECKING:
    from nbformat import NotebookNode


def places(course: Course, one: Submission) -> tuple[Path, Path]:
    """Where a submission's autograded notebook and its page of feedback are."""
    return (
        course.autograded / one.student / one.assignment / f"{one.assignment}.ipynb",
        course.feedback / one.student / one.assignment / f"{one.assignment}.html",
    )


def publish(
    where: tuple[Path, Path],
    stamp: str,
    outcome: Outcome,
    released: NotebookNode,
    assignment: Assignment,
) -> None:
    """Write both, each as a whole or not at all; and the time of handing in, which nbgrader reads.

    Parameters
    ----------
    where : (Path, Path)
        From `places`.
    stamp : str
        When it was handed in; empty if nobody knows.
    outcome : Outcome
    released : NotebookNode
    assignment : Assignment
        The released notebook's cells that count.

    Raises
    ------
    NotWrittenError
        If there is no room, or no right to write there.
    """
    graded, page = where
    title, titles = _titles(released, assignment)
    # Not nbformat's own `writes`: with its indentation, writing takes as long as judging does.
    write_atomically(graded, json.dumps(notebook(outcome, released), ensure_ascii=False))
    if stamp:
        write_atomically(graded.with_name("timestamp.txt"), stamp)
    write_atomically(page, feedback(outcome, titles, title))


def _titles(released: NotebookNode, assignment: Assignment) -> tuple[str, dict[str, str]]:
    """The assignment's heading, and those of its written questions."""
    first = next((cell.source for cell in released.cells if cell.cell_type == "markdown"), "")
    title = first.splitlines()[0].lstrip("# ") if first else "Feedback"
    return title, {question.grade_id: question.title for question in assignment.questions}
