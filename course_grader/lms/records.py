"""What `course collect` knows of each submission: in a place of its own, never among submissions.

One file for each assignment, `submitted/.collected/<assignment>.json`. No student's folder begins
with a dot, so nothing that is handed in can be taken for it. Files named `collected.json` beside
notebooks, as earlier versions wrote them, are not read: anybody can hand one in.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from pathlib import Path

from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.errors import NothingToCollectError

_VERSION = 1
_TIME = "%Y-%m-%d %H:%M:%S"


@dataclass(frozen=True)
class Record:
    """Where one student's submission came from.

    Attributes
    ----------
    platform, number, name : str
        Which platform, and under which number and name it knows the student.
    late : bool
        Whether the platform marked it so.
    file : str
        Where the notebook lay in the download.
    upload : int
        Canvas's number of the file; 0 where there is none.
    sha256 : str
        Of the notebook's bytes.
    submitted : str
        When it was handed in, in UTC; empty if nobody said.
    """

    platform: str = ""
    number: str = ""
    name: str = ""
    late: bool = False
    file: str = ""
    upload: int = 0
    sha256: str = ""
    submitted: str = ""

    @property
    def time(self) -> datetime | None:
        """When it was handed in, in UTC; None if nobody said."""
        return datetime.strptime(self.submitted, _TIME) if self.submitted else None


def as_text(time: datetime | None) -> str:
    """A time as a record holds it."""
    return f"{time:{_TIME}}" if time is not None else ""


def place(course: Course, assignment: str) -> Path:
    """The file of an assignment's records."""
    return course.submitted / ".collected" / f"{assignment}.json"


def read(course: Course, assignment: str) -> dict[str, Record]:
    """Every student's record; empty if nothing was collected.

    Raises
    ------
    NothingToCollectError
        If the file is not as `write` leaves it.
    """
    path = place(course, assignment)
    known = {each.name: type(each.default) for each in fields(Record)}
    try:
        said = json.loads(path.read_text(encoding="utf-8"))
        if said["version"] != _VERSION:
            raise ValueError(f"version {said['version']!r}, not {_VERSION}")
        found = {}
        for student, values in said["students"].items():
            if {name: type(value) for name, value in values.items()} != known:
                raise ValueError(f"the record of {student!r}")
            found[student] = Record(**values)
            _ = found[student].time
        return found
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise NothingToCollectError(
            f"{path} is not as `course collect` wrote it ({error}): move it away, and collect the "
            "same downloads again"
        ) from error


def write(course: Course, assignment: str, records: Mapping[str, Record]) -> None:
    """Keep every student's record.

    Raises
    ------
    NotWrittenError
        If it cannot be written.
    """
    students = {name: asdict(records[name]) for name in sorted(records)}
    text = json.dumps({"version": _VERSION, "students": students}, indent=1)
    write_atomically(place(course, assignment), text + "\n")
