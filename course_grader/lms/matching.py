"""Which row of a platform's table is whose: by number, by account, by a name that only one has.

Nobody is guessed. A number comes from what the platform wrote around a submission; an account (an
e-mail address, a user name) from the gradebook. Full names are chosen by students on some
platforms, so they count last, only if a single row and a single student have them, and the export
says so. A student whose number is known is found by it or not at all.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from course_grader.gradebook.standing import StudentGrades
from course_grader.lms.owners import Platform, as_folder, folded
from course_grader.lms.records import Record

_STAGES = ("number", "account", "name")


@dataclass(frozen=True)
class Row:
    """What a platform's table says about one person.

    Attributes
    ----------
    number : str
        The platform's own.
    accounts : tuple of str
        E-mail address, user name, and what else the institution knows the person by.
    name : str
        In full, first name first.
    """

    number: str
    accounts: tuple[str, ...] = ()
    name: str = ""

    def keys(self, stage: str) -> set[str]:
        """What it can be found by."""
        said = {"number": (self.number,), "account": self.accounts, "name": (self.name,)}[stage]
        return {_plain(each) for each in said if _plain(each)}


@dataclass
class Matches:
    """Whose the rows are.

    Attributes
    ----------
    rows : dict of int to str
        The student of a row.
    unclear : dict of int to str
        Why nobody can say whose a row is.
    by_name : dict of int to str
        Those of `rows` that only a full name says.
    """

    rows: dict[int, str] = field(default_factory=dict)
    unclear: dict[int, str] = field(default_factory=dict)
    by_name: dict[int, str] = field(default_factory=dict)


def match(
    rows: Mapping[int, Row],
    students: Sequence[StudentGrades],
    collected: Mapping[str, Record],
    platform: Platform,
) -> Matches:
    """Say whose the rows are, as far as that is beyond doubt.

    Parameters
    ----------
    rows : mapping of int to Row
        By their place in the table.
    students : sequence of StudentGrades
    collected : mapping of str to Record
        By student, from `course collect`.
    platform : str
        Whose table it is.
    """
    found = Matches()
    for stage in _STAGES:
        whose, which = defaultdict(set), defaultdict(set)
        for one in students:
            for key in _keys(one, collected.get(one.student, Record()), platform, stage):
                whose[key].add(one.student)
        for place, row in rows.items():
            for key in row.keys(stage):
                which[key].add(place)
        reached = {
            place: set().union(*(whose.get(key, set()) for key in row.keys(stage)))
            for place, row in rows.items()
        }
        claims = defaultdict(set)
        for place, names in reached.items():
            for name in names:
                claims[name].add(place)
        done = dict(found.rows)
        for place, names in sorted(reached.items()):
            if place in done or place in found.unclear or not names:
                continue
            name = min(names)
            doubt = _doubt(stage, place, names, claims[name], done)
            record = collected.get(name, Record())
            if not doubt and stage != "number" and record.platform == platform and record.number:
                doubt = (
                    f"it fits {name}, who was collected under the number {record.number}, and this "
                    "row has another number"
                )
            if doubt:
                found.unclear[place] = doubt
                continue
            found.rows[place] = name
            if stage == "name":
                found.by_name[place] = name
    return found


def _doubt(stage: str, place: int, names: set[str], rows: set[int], done: Mapping[int, str]) -> str:
    words = {"number": "number", "account": "e-mail address or user name", "name": "full name"}
    if len(names) > 1:
        return f"its {words[stage]} fits {' and '.join(sorted(names))}"
    (name,) = names
    if name in done.values():
        return f"its {words[stage]} fits {name}, whose row is another one"
    if rows - {place}:
        return f"{len(rows)} rows have the {words[stage]} of {name}"
    return ""


def _keys(one: StudentGrades, record: Record, platform: Platform, stage: str) -> set[str]:
    """What a student can be found by."""
    if stage == "number":
        known = [record.number] if record.platform == platform else []
        # Canvas has one number for a person; Moodle's are new in each assignment.
        known += [one.lms_user_id] if platform == "canvas" else []
        said = known
    elif stage == "account":
        said = [one.email, one.lms_user_id]
        if not record.platform:  # the folder's name is the instructor's, not a display name
            said.append(one.student)
    else:
        said = [one.student]
        if one.first_name and one.last_name:
            said += [f"{one.first_name} {one.last_name}"]
        if record.platform:
            said += [record.name]
        said += [as_folder(each) for each in said if each]
    return {_plain(each) for each in said if _plain(each)}


def _plain(name: str) -> str:
    return folded(re.sub(r"[\s_]+", " ", name).strip())
