"""What a person who marks by hand sees below an answer: model answer and marking scheme."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.assignment import Assignment, read
from course_grader.course import Course
from course_grader.errors import UnreadableNotebookError
from course_grader.options import CourseGrade

if TYPE_CHECKING:
    from nbformat import NotebookNode

_FOR_YOU = "**Only you see this: the model answer and its marking scheme**"


def schemes(course: Course, assignment: str) -> dict[str, str]:
    """The model answer to each written question, with its marking scheme, by grade id.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name. Questions of private tasks are looked for in their folder.
    """
    places = [course.solutions]
    if private := CourseGrade.of(course).private_tasks:
        places.append(course.root / private / "solutions")
    found: dict[str, str] = {}
    for place in places:
        path = Path(place, assignment, f"{assignment}.ipynb")
        try:
            questions = Assignment.of(read(path)).questions
        except UnreadableNotebookError:  # marking goes on without it
            continue
        found |= {one.grade_id: one.source for one in questions}
    return found


def with_schemes(notebook: NotebookNode, found: Mapping[str, str]) -> NotebookNode:
    """A graded notebook with the scheme of each question below its answer.

    Parameters
    ----------
    notebook : NotebookNode
        Is changed. Nothing of it is saved: students' feedback is made of the file.
    found : mapping of str to str
        From `schemes`.
    """
    from nbformat.v4 import new_markdown_cell

    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        said = cell.metadata.get("nbgrader", {})
        scheme = found.get(str(said.get("grade_id", "")))
        if scheme and said.get("grade") and said.get("solution"):
            quoted = "\n".join(f"> {line}".rstrip() for line in scheme.splitlines())
            cells.append(new_markdown_cell(f"> {_FOR_YOU}\n>\n{quoted}"))
    notebook.cells = cells
    return notebook
