"""What a class answered, from a table into nbgrader's gradebook."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.course import Course
from course_grader.errors import GradebookError, UnreadableSheetError
from course_grader.lms import sheets
from course_judges.defending.contract import Paper, Question

if TYPE_CHECKING:
    from nbgrader.api import Gradebook

CELL = "defend-it"
LETTERS = "abcd"


@dataclass(frozen=True)
class Scored:
    """What was entered.

    Attributes
    ----------
    assignment, cell : str
        Where in the gradebook.
    points : mapping of str to float
    out_of : float
    left : tuple of str
        Students of the class who have a paper and stand in no row with an answer.
    """

    assignment: str
    cell: str
    points: Mapping[str, float]
    out_of: float
    left: tuple[str, ...]


def template(path: Path, papers: Sequence[Paper]) -> None:
    """A table to be filled: a row for each student, a column for each question.

    Parameters
    ----------
    path : Path
    papers : sequence of Paper
    """
    most = max((len(one.questions) for one in papers), default=0)
    header = ["student", *(str(n) for n in range(1, most + 1)), "points"]
    sheets.write(path, header, [[one.student, *[""] * (most + 1)] for one in papers])


def read(path: Path, papers: Sequence[Paper]) -> dict[str, float]:
    """The points of each student in a table that was filled.

    Parameters
    ----------
    path : Path
        CSV with a column `student` and either `points`, or a column for each question with the
        letter that was chosen; of a question without letters, the points that a person gives.
    papers : sequence of Paper

    Raises
    ------
    UnreadableSheetError
        If a student has no paper, or an answer is none.
    """
    table = sheets.Sheet(path)
    who, points = table.column("student", "username"), table.column("points", needed=False)
    known = {one.student: one for one in papers}
    found: dict[str, float] = {}
    for row in range(len(table.rows)):
        student = table.value(row, who)
        # As `sheets.harmless` writes a name that a spreadsheet would take for a formula.
        student = student if student in known else student.removeprefix("'")
        if student not in known:
            raise UnreadableSheetError(
                f"{path}, row {row + 2}: there is no paper of {student!r}; the names are those of "
                "the folders in submitted/"
            )
        if student in found:
            raise UnreadableSheetError(f"{path}, row {row + 2}: {student!r} stands there twice")
        questions = known[student].questions
        where = f"{path}, row {row + 2}"
        if said := table.value(row, points):
            found[student] = _number(said, len(questions), f"{where}, points")
            continue
        answers = [
            table.value(row, table.column(str(n), needed=False))
            for n in range(1, len(questions) + 1)
        ]
        if any(answers):
            found[student] = sum(
                _points(one, answer, f"{where}, question {n}")
                for n, (one, answer) in enumerate(zip(questions, answers, strict=True), start=1)
            )
    return found


def _points(question: Question, said: str, where: str) -> float:
    if not said:
        return 0.0
    if not question.options:
        return _number(said, 1, where)
    letter = said.lower().rstrip(").")
    if letter not in tuple(LETTERS[: len(question.options)]):
        raise UnreadableSheetError(f"{where}: {said!r} is none of the letters a to d")
    return float(LETTERS.index(letter) == question.right)


def _number(said: str, most: float, where: str) -> float:
    text = said.replace(",", ".")
    if re.fullmatch(r"\d+(\.\d+)?", text) is None or float(text) > most:
        raise UnreadableSheetError(f"{where}: {said!r} is no number from 0 to {most:g}")
    return float(text)


def enter(
    course: Course,
    assignment: str,
    table: Path,
    papers: Sequence[Paper],
    *,
    cell: str = "",
    url: str | None = None,
) -> Scored:
    """Put points into the gradebook as a score that a person gave.

    Parameters
    ----------
    course : Course
    assignment : str
    table : Path
        See `read`.
    papers : sequence of Paper
    cell : str
        A question of the assignment that is graded by hand. By default an assignment of its own,
        named after this one, gets the points: what `course grade` compares with the exercises
        stays as it is.
    url : str, optional
        Of the gradebook.

    Raises
    ------
    UnreadableSheetError, GradebookError
        Nothing is entered then.
    """
    from course_grader.gradebook.database import gradebook

    points = read(table, papers)
    out_of = float(max((len(one.questions) for one in papers), default=0))
    with gradebook(course, url) as book:
        name = assignment if cell else f"{assignment}-defense"
        if cell:
            out_of = _most(book, assignment, cell)
            over = [who for who, said in points.items() if said > out_of]
            if over:
                raise GradebookError(
                    f"{cell} of {assignment} gives {out_of:g} points at most, and "
                    f"{', '.join(over)} would get more: give the column `points` its scale"
                )
        else:
            _own_assignment(book, name, out_of)
        _write(book, name, cell or CELL, points)
    left = tuple(sorted({one.student for one in papers} - set(points)))
    return Scored(name, cell or CELL, points, out_of, left)


def _most(book: Gradebook, assignment: str, cell: str) -> float:
    from nbgrader.api import MissingEntry

    try:
        found = book.find_assignment(assignment)
    except MissingEntry as error:
        raise GradebookError(f"{assignment} is not in the gradebook") from error
    cells = {one.name: one for notebook in found.notebooks for one in notebook.grade_cells}
    by_hand = sorted(name for name, one in cells.items() if one.cell_type == "markdown")
    if cell not in by_hand:
        raise GradebookError(
            f"{assignment} has no question {cell!r} that is graded by hand; it has: "
            f"{', '.join(by_hand) or 'none'}"
        )
    return float(cells[cell].max_score)


def _own_assignment(book: Gradebook, name: str, out_of: float) -> None:
    """An assignment with one cell that a person grades, if it is not there yet."""
    book.update_or_create_assignment(name)
    book.update_or_create_notebook(name, name)
    book.update_or_create_grade_cell(CELL, name, name, max_score=out_of, cell_type="markdown")


def _write(book: Gradebook, assignment: str, cell: str, points: Mapping[str, float]) -> None:
    """One transaction, of rows as nbgrader would make them."""
    from nbgrader.api import Grade, GradeCell, Student, SubmittedAssignment, SubmittedNotebook

    from course_grader.gradebook.cell_rows import CellRows

    session, found = book.db, book.find_assignment(assignment)
    with session.no_autoflush:
        students = {one.id: one for one in session.query(Student).all()}
        known = {one.student_id: one for one in found.submissions}
        of_cell: dict[str, SubmittedNotebook] = {}
        for student in points:
            if student not in students:
                students[student] = Student(id=student)
                session.add(students[student])
            submission = known.get(student)
            if submission is None:
                submission = SubmittedAssignment(assignment=found, student=students[student])
                session.add(submission)
            mine = {one.notebook: one for one in submission.notebooks}
            for notebook in found.notebooks:
                if notebook not in mine:
                    mine[notebook] = SubmittedNotebook(notebook=notebook, assignment=submission)
                    session.add(mine[notebook])
                if any(one.name == cell for one in notebook.grade_cells):
                    of_cell[student] = mine[notebook]
    session.flush()
    grades = CellRows(session, Grade, [one.id for one in of_cell.values()])
    for student, said in points.items():
        notebook = of_cell[student]
        (place,) = (
            one.id
            for one in notebook.notebook.grade_cells
            if isinstance(one, GradeCell) and one.name == cell
        )
        grades.set(notebook.id, place, manual_score=said, needs_manual_grade=False)
    grades.write()
    session.commit()
