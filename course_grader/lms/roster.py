"""Who is in the class, and whose submissions are there: compared, and never guessed.

What is sure is what `matching` says of a platform's table, too: a number, an account, or a full
name that only one has. What merely looks alike is shown beside, for a person to say so.
"""

from __future__ import annotations

import csv
import difflib
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from course_grader.course import Course
from course_grader.errors import NothingToGradeError, UnreadableSheetError
from course_grader.file_names import composed
from course_grader.gradebook.standing import StudentGrades
from course_grader.lms import records
from course_grader.lms.entries import MEGABYTE, shown
from course_grader.lms.matching import Row, match
from course_grader.lms.owners import Platform
from course_grader.lms.records import Record
from course_grader.lms.sheets import no_table
from course_grader.submissions import submissions

# As `nbgrader db student import` reads them; the last one is the platform's number.
COLUMNS = ("id", "last_name", "first_name", "email", "lms_user_id")

# How much of two names has to agree before anybody is bothered with it.
ALIKE = 0.75
MOST_ALIKE = 3


@dataclass(frozen=True)
class Person:
    """A line of the roster."""

    id: str
    last_name: str = ""
    first_name: str = ""
    email: str = ""
    lms_user_id: str = ""

    @property
    def name(self) -> str:
        """In full, first name first."""
        return f"{self.first_name} {self.last_name}".strip()


@dataclass
class Compared:
    """A roster beside what was handed in.

    Attributes
    ----------
    surely : dict of str to Person
        Whose each folder is.
    by_name : list of str
        Those of them that only a full name says.
    nobodys : dict of str to tuple of (Person, float)
        Folders of which nobody can say whose they are, with who looks alike, nearest first.
    doubts : dict of str to str
        People of whom it is not clear which folder is theirs, and why.
    absent : list of Person
        Of whom nothing was handed in.
    """

    surely: dict[str, Person] = field(default_factory=dict)
    by_name: list[str] = field(default_factory=list)
    nobodys: dict[str, tuple[tuple[Person, float], ...]] = field(default_factory=dict)
    doubts: dict[str, str] = field(default_factory=dict)
    absent: list[Person] = field(default_factory=list)


def read(path: Path) -> list[Person]:
    """The people of a class.

    Parameters
    ----------
    path : Path
        A CSV file in UTF-8 with a column `id`, and as many of the other `COLUMNS` as are known.

    Raises
    ------
    UnreadableSheetError
        If it cannot be read, lacks `id`, has a line without one, or the same one twice.
    """
    try:
        if path.stat().st_size > MEGABYTE:
            raise UnreadableSheetError(f"{path} has more than 1 MB; a class's roster has less")
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            if "id" not in (table.fieldnames or ()):
                there = ", ".join(table.fieldnames or ()) or "nothing"
                raise UnreadableSheetError(
                    f"{path} has no column id; it has {there}. Columns are separated by commas and "
                    f"named {', '.join(COLUMNS)}"
                )
            return _people(path, table)
    except OSError as error:
        raise UnreadableSheetError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise no_table(path, error) from error


def _people(path: Path, table: csv.DictReader[str]) -> list[Person]:
    found: dict[str, Person] = {}
    for row in table:
        said = {name: composed((row.get(name) or "").strip()) for name in COLUMNS}
        if not any(said.values()):
            continue
        where = f"{path}, line {table.line_num}"
        if not said["id"]:
            raise UnreadableSheetError(f"{where}: the id is empty")
        if said["id"] in found:
            raise UnreadableSheetError(
                f"{where}: the id {shown(said['id'])!r} is on another line, too: change one"
            )
        found[said["id"]] = Person(**said)
    if not found:
        raise UnreadableSheetError(f"{path} names nobody: export it again")
    return list(found.values())


def folders(course: Course, assignments: Sequence[str]) -> dict[str, Record]:
    """Every student's folder with a submission, and what `course collect` knows of it.

    Raises
    ------
    NothingToCollectError
        If what it noted was changed.
    """
    found: dict[str, Record] = {}
    for assignment in assignments:
        known = records.read(course, assignment)
        try:
            handed_in = submissions(course, assignment)
        except NothingToGradeError:
            continue
        for one in handed_in:
            record = known.get(one.student, Record())
            if not found.get(one.student, Record()).number:
                found[one.student] = record
    return found


def compare(
    people: Sequence[Person], found: Mapping[str, Record], same: Mapping[str, str]
) -> Compared:
    """Say whose each folder is, as far as that is beyond doubt.

    Parameters
    ----------
    people : sequence of Person
    found : mapping of str to Record
        From `folders`.
    same : mapping of str to str
        Folder to id: what a person has decided.

    Raises
    ------
    UnreadableSheetError
        If `same` names a folder or an id that there is not, or a person twice.
    """
    same = {composed(folder): composed(person) for folder, person in same.items()}
    by_id = {one.id: one for one in people}
    _check_said(same, found, by_id)
    done = Compared({folder: by_id[person] for folder, person in same.items()})
    open_people = [one for one in people if one.id not in same.values()]
    rows = {
        place: Row(one.lms_user_id, (one.id, one.email), one.name)
        for place, one in enumerate(open_people)
    }
    students = [StudentGrades(folder) for folder in found if folder not in same]
    # Without numbers in the list, a number that Canvas gave can contradict nobody.
    platform: Platform = "canvas" if any(one.lms_user_id for one in open_people) else ""
    matches = match(rows, students, found, platform)
    for place, folder in sorted(matches.rows.items()):
        done.surely[folder] = open_people[place]
        if place in matches.by_name:
            done.by_name.append(folder)
    done.doubts = {open_people[place].id: why for place, why in matches.unclear.items()}
    missing = [one for place, one in enumerate(open_people) if place not in matches.rows]
    done.absent = missing
    for folder in found:
        if folder not in done.surely:
            done.nobodys[folder] = _alike(folder, missing)
    return done


def _check_said(
    same: Mapping[str, str], found: Mapping[str, Record], by_id: Mapping[str, Person]
) -> None:
    for folder, person in same.items():
        if folder not in found:
            near = difflib.get_close_matches(folder, found, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UnreadableSheetError(f"nobody handed in as {shown(folder)!r}{hint}")
        if person not in by_id:
            near = difflib.get_close_matches(person, by_id, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UnreadableSheetError(f"the roster has no id {shown(person)!r}{hint}")
    for person in same.values():
        if list(same.values()).count(person) > 1:
            raise UnreadableSheetError(
                f"{shown(person)} is said to be two folders: collect both under one name first"
            )


def _alike(folder: str, people: Sequence[Person]) -> tuple[tuple[Person, float], ...]:
    rated = [
        (one, max(_likeness(folder, said) for said in (one.id, one.name, one.email) if said))
        for one in people
    ]
    near = sorted((r for r in rated if r[1] >= ALIKE), key=lambda r: (-r[1], r[0].id))
    return tuple(near[:MOST_ALIKE])


def _likeness(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1, whatever the order and the signs between their parts.

    >>> _likeness("lovelace_ada_1234", "ada.lovelace"), _likeness("ada", "ben") < 0.5
    (1.0, True)
    """
    first, second = _words(one), _words(other)
    if not first or not second:
        return 0.0
    ordered = difflib.SequenceMatcher(None, " ".join(sorted(first)), " ".join(sorted(second)))
    # Canvas leaves no sign between a first and a last name.
    joined = max(
        difflib.SequenceMatcher(None, "".join(first), "".join(order)).ratio()
        for order in (second, second[::-1])
    )
    return round(max(ordered.ratio(), joined), 3)


def _words(name: str) -> list[str]:
    """The parts of a name in plain small letters, without numbers and an address's domain."""
    plain = unicodedata.normalize("NFKD", name.partition("@")[0]).casefold()
    letters = "".join(each for each in plain if not unicodedata.combining(each))
    return re.findall(r"[^\W\d_]+", letters)
