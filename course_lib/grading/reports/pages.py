"""What `course grade` writes for each submission: the autograded notebook and the feedback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from course_lib.grading.assignment import Assignment
from course_lib.grading.course import Course
from course_lib.grading.outcome import Outcome
from course_lib.grading.reports.shown import feedback, notebook, write_atomically
from course_lib.grading.submissions import Submission

if TYPE_CHECKING:
    from nbformat import NotebookNode


def publish(course: Course, one: Submission, outcome: Outcome, released: NotebookNode) -> None:
    """Write both, each as a whole or not at all; and the time of handing in, which nbgrader reads.

    Raises
    ------
    NotWritten
        If there is no room, or no right to write there.
    """
    import nbformat

    title, titles = _titles(released)
    folder = course.autograded / one.student / one.assignment
    made = nbformat.writes(notebook(outcome, released))
    write_atomically(folder / f"{one.assignment}.ipynb", made)
    if one.stamp:
        write_atomically(folder / "timestamp.txt", one.stamp)
    page = course.feedback / one.student / one.assignment / f"{one.assignment}.html"
    write_atomically(page, feedback(outcome, titles, title))


def _titles(released: NotebookNode) -> tuple[str, dict[str, str]]:
    """The assignment's heading, and those of its written questions."""
    first = next((cell.source for cell in released.cells if cell.cell_type == "markdown"), "")
    title = first.splitlines()[0].lstrip("# ") if first else "Feedback"
    questions = Assignment.of(released).questions
    return title, {question.grade_id: question.title for question in questions}
