"""When students handed in, as an instructor says: a table with the columns student and submitted.

No archive says it. Canvas shows it beside each submission, Moodle in the column "Last modified
(submission)" of its grading worksheet.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from course_grader.errors import UnreadableSheetError
from course_grader.file_names import composed
from course_grader.lms.entries import MEGABYTE, shown
from course_grader.lms.sheets import no_table


def read(path: Path) -> dict[str, datetime]:
    """When each student handed in, in UTC; rows without a time are left out.

    Raises
    ------
    UnreadableSheetError
        If the file cannot be read, or a time is none or does not say its zone.
    """
    try:
        if path.stat().st_size > MEGABYTE:
            raise UnreadableSheetError(f"{path} has more than 1 MB; a class's times have less")
        with path.open(encoding="utf-8-sig", newline="") as file:
            table = csv.DictReader(file)
            missing = {"student", "submitted"} - set(table.fieldnames or ())
            if missing:
                there = ", ".join(table.fieldnames or ()) or "nothing"
                lacks = " and no column ".join(sorted(missing))
                raise UnreadableSheetError(f"{path} has no column {lacks}; it has {there}")
            return _times(path, table)
    except OSError as error:
        raise UnreadableSheetError(f"{path} cannot be read: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise no_table(path, error) from error


def _times(path: Path, table: csv.DictReader[str]) -> dict[str, datetime]:
    found: dict[str, datetime] = {}
    for row in table:
        student = composed((row["student"] or "").strip())
        said = (row["submitted"] or "").strip()
        if not student or not said:
            continue
        time = moment(f"{path}, line {table.line_num}", said)
        if found.setdefault(student, time) != time:
            raise UnreadableSheetError(f"{path} gives {shown(student)!r} two times: leave one")
    return found


def moment(where: str, said: str) -> datetime:
    """A time that says its zone, in UTC.

    Parameters
    ----------
    where : str
        Where it stands, for the message.
    said : str
        For example "2026-03-01 10:00 +01:00".

    Raises
    ------
    UnreadableSheetError
        If it is no time, or does not say its zone.
    """
    example = "write it as 2026-03-01 10:00 +01:00, or 2026-03-01 09:00 UTC"
    try:
        time = datetime.fromisoformat(re.sub(r"\s+(?=[+-]\d)|\s*UTC$", "", said) + _zone(said))
    except ValueError as error:
        raise UnreadableSheetError(f"{where}: {shown(said)!r} is not a time; {example}") from error
    if time.tzinfo is None:
        raise UnreadableSheetError(
            f"{where}: {shown(said)!r} does not say its time zone; {example}"
        )
    return time.astimezone(UTC).replace(tzinfo=None, microsecond=0)


def _zone(said: str) -> str:
    return "+00:00" if said.endswith("UTC") else ""


def of_student(
    times: Mapping[str, datetime], student: str, platform: str, number: str
) -> datetime | None:
    """A student's time: by the folder's name, or by the platform's number ("Participant 12345")."""
    if student in times:
        return times[student]
    return next((t for key, t in times.items() if names(key, student, platform, number)), None)


def names(said: str, student: str, platform: str, number: str) -> bool:
    """Whether a table means a student: by the folder's name, or by the platform's number."""
    if composed(said) == composed(student):
        return True
    known = platform and number
    return bool(known and re.fullmatch(rf"(?:[^\d_]+ )?{re.escape(number)}", said))
