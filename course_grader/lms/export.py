"""Grades for other programs: nbgrader's table, Canvas, Moodle, Gradescope."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.gradebook.standing import ClassStanding, StudentGrades, standing
from course_grader.lms import platforms, records, sheets
from course_grader.lms.platforms import Exported
from course_grader.lms.sheets import Sheet
from course_lib.errors import ConfigError

FORMATS = ("nbgrader", "canvas", "moodle", "gradescope")

_NBGRADERS_COLUMNS = (
    *("assignment", "duedate", "timestamp", "student_id", "last_name", "first_name", "email"),
    *("raw_score", "late_submission_penalty", "score", "max_score"),
)


def export(
    course: Course,
    assignment: str,
    to: str,
    *,
    into: Path | None = None,
    out: Path | None = None,
    column: str = "",
    url: str | None = None,
) -> Exported:
    """Write the scores of an assignment for another program.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    to : str
        One of `FORMATS`.
    into : Path, optional
        For Canvas the exported gradebook, for Moodle the offline grading worksheet; never changed.
    out : Path, optional
        What is written; in `exports/` by default.
    column : str
        For Canvas, the column's name where the assignment is called otherwise there.
    url : str, optional
        Of the gradebook.

    Raises
    ------
    ConfigError
        If there is no such format, or a platform's file is needed and not given.
    UnreadableSheetError
        If that file cannot be read or lacks a column.
    NothingToCollectError
        If what `course collect` noted was changed.
    GradebookError, NotWrittenError
    """
    if to not in FORMATS:
        raise ConfigError(f"there is no format {to!r}; there are {', '.join(FORMATS)}")
    if to in ("canvas", "moodle") and into is None:
        what = "gradebook as it exports it" if to == "canvas" else "offline grading worksheet"
        raise ConfigError(f"give {to.capitalize()}'s {what}: --into FILE.csv")
    found = standing(course, assignment, url)
    default = course.root / "exports" / f"{assignment}-{to}"
    if to == "gradescope":
        return _gradescope(found, out or default)
    target = out or default.with_name(f"{default.name}.csv")
    if into is None:
        return _nbgrader(found, target)
    if target.exists() and target.samefile(into):
        raise ConfigError(f"{into} would be overwritten: give --out another name")
    collected = records.read(course, assignment)
    fill = platforms.canvas if to == "canvas" else platforms.moodle
    return fill(Sheet(into), found, collected, target, column)


def _nbgrader(found: ClassStanding, target: Path) -> Exported:
    """The columns of `nbgrader export`, with harmless cells."""
    done = Exported(target)
    rows = []
    for one in found.students:
        if one.unfinished:
            done.left.append((one.student, one.unfinished))
        else:
            done.filled.append(one.student)
        rows.append(
            [
                *(found.assignment, found.due or "", one.timestamp or "", one.student),
                *(one.last_name, one.first_name, one.email),
                *(one.points, one.penalty, one.score, found.out_of),
            ]
        )
    if done.left:
        done.notes.append("rows without a final score are in the table with the points so far")
    sheets.write(target, _NBGRADERS_COLUMNS, rows)
    return done


def _gradescope(found: ClassStanding, folder: Path) -> Exported:
    """One `results.json` a student, as Gradescope's autograder reads it."""
    done = Exported(folder)
    for one in found.handed_in:
        if one.unfinished:
            done.left.append((one.student, one.unfinished))
            continue
        text = json.dumps(results(one), indent=1, ensure_ascii=False)
        write_atomically(folder / one.student / "results.json", text + "\n")
        done.filled.append(one.student)
    return done


def results(one: StudentGrades) -> dict[str, Any]:
    """One student's `results.json`: a test a graded cell, with what was found as its output."""
    findings = {found.grade_id: found for found in one.findings}
    tests = []
    for cell in one.cells:
        found = findings.get(cell.name)
        verdict = found.verdict if found else {}
        lines = [found.reason] if found and found.reason else []
        for each in verdict.get("findings", ()):
            lines += [each["what"], each["effect"]]
            if each.get("section"):
                lines.append(f"See {each['section']}.")
        tests.append(
            {
                "name": str(verdict.get("title") or cell.name),
                "score": cell.points,
                "max_score": cell.out_of,
                "status": "passed" if cell.points >= cell.out_of else "failed",
                "output": "\n".join(filter(None, lines)),
                "output_format": "text",
                "visibility": "visible",
            }
        )
    late = f"Late: {one.penalty:g} points less." if one.penalty else ""
    return {"score": one.score, "output": late, "stdout_visibility": "hidden", "tests": tests}
