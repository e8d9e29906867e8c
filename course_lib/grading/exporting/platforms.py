"""A platform's own file with one column filled, and every other byte as it was.

Who has no final score yet, or no row, is left as he was, and named.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from course_lib.errors import SheetUnreadable
from course_lib.grading.collecting.owners import as_folder, origins
from course_lib.grading.course import Course
from course_lib.grading.exporting import sheets
from course_lib.grading.exporting.sheets import Sheet
from course_lib.grading.gradebook.standing import ClassStanding, Standing

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
    sheet: Sheet, found: ClassStanding, whose: Mapping[str, Standing], target: Path, column: str
) -> Exported:
    """Canvas's exported gradebook with one column filled.

    Parameters
    ----------
    sheet : Sheet
        As Canvas exported it.
    found : ClassStanding
    whose : mapping of str to Standing
        From `by_name`.
    target : Path
        What is written.
    column : str
        The column's name; the assignment's where it is empty.

    Raises
    ------
    SheetUnreadable
        If there is no such column, or several.
    """
    place = _canvas_column(sheet, column or found.assignment)
    names = [sheet.column("ID"), *(sheet.column(n, needed=False) for n in _CANVAS_NAMES)]
    out_of = found.out_of
    for row in range(len(sheet.rows)):
        if sheet.value(row, 0).lower() == "points possible":
            out_of = _float(sheet.value(row, place)) or found.out_of
    done = Exported(target)

    def keys(row: int) -> list[str]:
        return [sheet.value(row, name) for name in names if sheet.value(row, name)]

    def skipped(row: int) -> bool:
        first = sheet.value(row, 0).lower()
        return not keys(row) or first in ("points possible", "student, test")

    _fill(sheet, place, found, whose, done, keys, skipped, lambda _: out_of)
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
        raise SheetUnreadable(
            f"{sheet.path}: {kind} named {name!r}; assignments there: {there or 'none'}. "
            "Name the column: --column"
        )
    return fitting[0]


def moodle(
    sheet: Sheet, found: ClassStanding, whose: Mapping[str, Standing], target: Path, _: str
) -> Exported:
    """Moodle's offline grading worksheet with its grades filled; parameters as of `canvas`.

    Raises
    ------
    SheetUnreadable
        If it has no column "Identifier" or "Grade".
    """
    place = sheet.column("Grade")
    most = sheet.column("Maximum Grade", "Maximum grade", needed=False)
    allowed = sheet.column("Grade can be changed", needed=False)
    known = ("ID number", "Email address", "Username", "Full name")
    names = [sheet.column("Identifier"), *(sheet.column(n, needed=False) for n in known)]
    done = Exported(target)

    def keys(row: int) -> list[str]:
        said = [sheet.value(row, name) for name in names if sheet.value(row, name)]
        # "Participant 12345", or the same word in another language
        return [re.sub(r"^\D+(?=\d+$)", "", said[0]), *said[1:]] if said else []

    def skipped(row: int) -> bool:
        return not keys(row)

    def out_of(row: int) -> float:
        if allowed >= 0 and sheet.value(row, allowed).lower() == "no":
            return 0.0
        return _float(sheet.value(row, most)) or found.out_of

    _fill(sheet, place, found, whose, done, keys, skipped, out_of)
    sheet.save(target)
    return done


def _fill(
    sheet: Sheet,
    place: int,
    found: ClassStanding,
    whose: Mapping[str, Standing],
    done: Exported,
    keys: Callable[[int], list[str]],
    skipped: Callable[[int], bool],
    out_of: Callable[[int], float],
) -> None:
    """Put each student's score where it belongs; say what was left, and why."""
    for row in range(len(sheet.rows)):
        if skipped(row):
            continue
        named = next((whose[_plain(key)] for key in keys(row) if _plain(key) in whose), None)
        shown = sheet.value(row, 0) or keys(row)[0]
        if named is None:
            done.left.append((shown, "the gradebook knows nobody of this name or number"))
        elif named.student in done.filled:
            done.left.append((shown, f"a second row of {named.student}: fill it by hand"))
        elif named.unfinished:
            done.left.append((shown, named.unfinished))
        elif not out_of(row):
            done.left.append((shown, "the platform says that this grade cannot be changed"))
        else:
            scale = out_of(row) / found.out_of if found.out_of else 1.0
            if abs(scale - 1.0) > 1e-9 and not done.notes:
                done.notes.append(
                    f"the platform counts out of {out_of(row):g}, the assignment out of "
                    f"{found.out_of:g}: scores are scaled"
                )
            sheet.fill(row, place, sheets.number(named.score * scale))
            done.filled.append(named.student)
    placed = set(done.filled) | {shown for shown, _ in done.left}
    for one in found.handed_in:
        if one.student not in placed and not one.unfinished:
            done.left.append((one.student, "has a score, and no row in the platform's file"))


def by_name(course: Course, found: ClassStanding, platform: str) -> dict[str, Standing]:
    """Students by every name a platform may call them; names of several people name nobody."""
    collected = origins(course, found.assignment)
    names: dict[str, set[str]] = defaultdict(set)
    people = {one.student: one for one in found.students}
    for one in people.values():
        said: Mapping[str, Any] = collected.get(one.student, {})
        own = [one.student, one.lms_user_id, one.email]
        if said.get("platform") == platform:
            own += [str(said.get("number", "")), str(said.get("name", ""))]
        if one.first_name and one.last_name:
            own.append(f"{one.first_name} {one.last_name}")
        for name in filter(None, own):
            names[_plain(name)].add(one.student)
            names[_plain(as_folder(name))].add(one.student)
    return {name: people[next(iter(who))] for name, who in names.items() if len(who) == 1}


def _plain(name: str) -> str:
    return re.sub(r"[\s_]+", " ", name).strip().lower()


def _float(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None
