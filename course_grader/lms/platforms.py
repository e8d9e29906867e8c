"""A platform's own file with one column filled, and every other byte as it was.

Students who have no final score yet, or no row, are left as they were, and named; so are rows of
which nobody can say for sure whose they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from course_grader.errors import UnreadableSheetError
from course_grader.gradebook.standing import ClassStanding
from course_grader.lms import sheets
from course_grader.lms.matching import Row, match
from course_grader.lms.owners import Platform
from course_grader.lms.records import Record
from course_grader.lms.sheets import Sheet

# Under these, besides "ID", Canvas knows a student.
_CANVAS_NAMES = ("SIS User ID", "SIS Login ID", "Integration ID")


@dataclass
class Exported:
    """What an export wrote.

    Attributes
    ----------
    path : Path
        The file, or Gradescope's folder.
    filled : list of str
        Students whose score is in it.
    left : list of (str, str)
        Rows and students that were left as they were, and why.
    notes : list of str
    """

    path: Path
    filled: list[str] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def canvas(
    sheet: Sheet, found: ClassStanding, collected: Mapping[str, Record], target: Path, column: str
) -> Exported:
    """Canvas's exported gradebook with one column filled.

    Parameters
    ----------
    sheet : Sheet
        As Canvas exported it.
    found : ClassStanding
    collected : mapping of str to Record
        What `course collect` knows of each student.
    target : Path
        What is written.
    column : str
        The column's name; the assignment's where it is empty.

    Raises
    ------
    UnreadableSheetError
        If there is no such column, or several.
    """
    place = _canvas_column(sheet, column or found.assignment)
    number, *accounts = (sheet.column(n, needed=n == "ID") for n in ("ID", *_CANVAS_NAMES))
    out_of = found.out_of
    for row in range(len(sheet.rows)):
        if sheet.value(row, 0).lower() == "points possible":
            out_of = _float(sheet.value(row, place)) or found.out_of
    done = Exported(target)

    def person(row: int) -> Row | None:
        shown = sheet.value(row, 0)
        known = tuple(sheet.value(row, each) for each in accounts)
        if shown.lower() in ("points possible", "student, test"):
            return None
        last, comma, first = shown.partition(",")
        name = f"{first.strip()} {last.strip()}" if comma else shown
        return Row(sheet.value(row, number), known, name) if sheet.value(row, number) else None

    _fill(sheet, place, found, collected, "canvas", done, person, lambda _: out_of)
    sheet.save(target)
    return done


def _canvas_column(sheet: Sheet, name: str) -> int:
    """The column of an assignment: its name, with Canvas's own number behind it."""
    wanted = _plain(name)
    fitting = [
        place
        for place, title in enumerate(sheet.header)
        if wanted in (_plain(title), _plain(re.sub(r"\s*\(\d+\)\s*$", "", title)))
    ]
    if len(fitting) != 1:
        kind = "several columns are" if fitting else "no column is"
        there = ", ".join(title for title in sheet.header if re.search(r"\(\d+\)$", title.strip()))
        raise UnreadableSheetError(
            f"{sheet.path}: {kind} named {name!r}; assignments there: {there or 'none'}. "
            "Name the column: --column"
        )
    return fitting[0]


def moodle(
    sheet: Sheet, found: ClassStanding, collected: Mapping[str, Record], target: Path, _: str
) -> Exported:
    """Moodle's offline grading worksheet with its grades filled; parameters as of `canvas`.

    Raises
    ------
    UnreadableSheetError
        If it has no column "Identifier" or "Grade".
    """
    place = sheet.column("Grade")
    most = sheet.column("Maximum Grade", "Maximum grade", needed=False)
    allowed = sheet.column("Grade can be changed", needed=False)
    number, full_name = sheet.column("Identifier"), sheet.column("Full name", needed=False)
    known = ("ID number", "Email address", "Username")
    accounts = [sheet.column(name, needed=False) for name in known]
    done = Exported(target)

    def person(row: int) -> Row | None:
        # "Participant 12345", or the same word in another language
        said = re.fullmatch(r"\D*(\d+)", sheet.value(row, number))
        if not said:
            return None
        own = tuple(sheet.value(row, each) for each in accounts)
        return Row(said[1], own, sheet.value(row, full_name))

    def out_of(row: int) -> float:
        if allowed >= 0 and sheet.value(row, allowed).lower() == "no":
            return 0.0
        return _float(sheet.value(row, most)) or found.out_of

    _fill(sheet, place, found, collected, "moodle", done, person, out_of)
    sheet.save(target)
    return done


def _fill(
    sheet: Sheet,
    place: int,
    found: ClassStanding,
    collected: Mapping[str, Record],
    platform: Platform,
    done: Exported,
    person: Callable[[int], Row | None],
    out_of: Callable[[int], float],
) -> None:
    """Put each student's score where it belongs; say what was left, and why."""
    people = {one.student: one for one in found.students}
    rows = {row: said for row in range(len(sheet.rows)) if (said := person(row)) is not None}
    whose = match(rows, found.students, collected, platform)
    for row, said in rows.items():
        shown = sheet.value(row, 0) or said.number
        student = people.get(whose.rows.get(row, ""))
        if student is None:
            nobody = "the gradebook knows nobody of this name or number"
            doubt = whose.unclear.get(row)
            done.left.append((shown, f"{doubt}: fill it by hand" if doubt else nobody))
        elif student.unfinished:
            done.left.append((shown, student.unfinished))
        elif not out_of(row):
            done.left.append((shown, "the platform says that this grade cannot be changed"))
        else:
            scale = out_of(row) / found.out_of if found.out_of else 1.0
            if abs(scale - 1.0) > 1e-9 and not done.notes:
                done.notes.append(
                    f"the platform counts out of {out_of(row):g}, the assignment out of "
                    f"{found.out_of:g}: scores are scaled"
                )
            sheet.fill(row, place, sheets.number(student.score * scale))
            done.filled.append(student.student)
    named = [
        f"{sheet.value(row, 0)} is {student}"
        for row, student in whose.by_name.items()
        if student in done.filled
    ]
    if named:
        done.notes.append(f"found by the full name alone, look at them: {'; '.join(named)}")
    for one in found.handed_in:
        if one.student not in whose.rows.values() and not one.unfinished:
            done.left.append((one.student, "has a score, and no row that is surely theirs"))


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().lower()


def _float(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
