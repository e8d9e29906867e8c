"""What a student gets back once everything is graded: a page made of the gradebook alone.

`reports.feedback` makes the page of a run, at once and with the notebook in it. This one comes
later, with the points given by hand, what was written about answers, and what being late cost.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from course_grader.gradebook.standing import Cell, ClassStanding, Finding, StudentGrades
from course_grader.reports.rendering import render

# As `Section` is written in a verdict.
_SECTION = re.compile(r"chapter (\d\d), “(.+)”", re.DOTALL)


@dataclass(frozen=True)
class About:
    """What a page says beside the gradebook's numbers, the same for a whole class.

    Attributes
    ----------
    title : str
        The assignment's heading.
    questions : mapping of str to str
        Grade id of each written question to its heading.
    chapters : tuple of str
        Stems of the book's chapters: "05-head".
    book : str
        Where the book is published; empty: no links.
    policy : str
        What being late costs, in words; empty: nothing.
    """

    title: str
    questions: Mapping[str, str]
    chapters: Sequence[str] = ()
    book: str = ""
    policy: str = ""


@dataclass(frozen=True)
class Reading:
    """A section of the book, or an entry of its field guide, and the address where it is known."""

    name: str
    address: str = ""


def page(one: StudentGrades, found: ClassStanding, about: About) -> str:
    """One student's page, complete in itself: no script, no request to anywhere.

    Parameters
    ----------
    one : StudentGrades
    found : ClassStanding
        Of the class, for what all have in common.
    about : About
    """
    findings = {each.grade_id: each for each in one.findings}
    comments: dict[str, str] = dict(one.comments)
    cells = [
        _cell(cell, findings.get(cell.name), comments.get(cell.name, ""), about)
        for cell in sorted(one.cells, key=lambda cell: _place(cell.name, one, about))
    ]
    readings = {
        finding["reading"].name: finding["reading"]
        for cell in cells
        for finding in cell["findings"]
        if finding["reading"]
    }
    return render(
        "student.html",
        title=about.title,
        who=" ".join(filter(None, (one.first_name, one.last_name))),
        score=one.score,
        out_of=found.out_of,
        lateness=lateness(one, about.policy),
        to_read=list(readings.values()),
        cells=cells,
        notes=one.run.remarks if one.run else (),
        graded_at=one.run.graded_at if one.run else None,
        graded_by=one.run.graded_by if one.run else "",
    )


def lateness(one: StudentGrades, policy: str = "") -> str:
    """When it was handed in and was due, and what that cost; empty if nobody knows of a due date.

    Parameters
    ----------
    one : StudentGrades
    policy : str
        What being late costs, in words.
    """
    if one.timestamp is None or one.due is None:
        return ""
    extended = f" (extended by {in_words(one.extension)})" if one.extension else ""
    words = f"Handed in {one.timestamp:%Y-%m-%d %H:%M} UTC, due {one.due:%Y-%m-%d %H:%M} UTC"
    words += extended
    if not one.late:
        return f"{words}: in time."
    words += f": {in_words(one.late)} late."
    if not one.penalty:
        return f"{words} Nothing was taken off for it."
    rule = f" ({policy})" if policy else ""
    return f"{words} {one.penalty:.3g} of {one.points:g} points were taken off for it{rule}."


def in_words(time: timedelta) -> str:
    """A time as people say it.

    >>> in_words(timedelta(days=1, hours=2, minutes=5)), in_words(timedelta(seconds=20))
    ('1 day 2 hours 5 minutes', 'less than a minute')
    """
    minutes = int(time.total_seconds()) // 60
    parts = (("day", minutes // 1440), ("hour", minutes // 60 % 24), ("minute", minutes % 60))
    said = [f"{count} {name}{'' if count == 1 else 's'}" for name, count in parts if count]
    return " ".join(said) or "less than a minute"


def _place(name: str, one: StudentGrades, about: About) -> tuple[int, int]:
    """Tasks in the order in which they were judged, then questions in the notebook's."""
    judged = [each.grade_id for each in one.findings]
    asked = list(about.questions)
    if name in judged:
        return 0, judged.index(name)
    return 1, asked.index(name) if name in asked else len(asked)


def _cell(cell: Cell, found: Finding | None, comment: str, about: About) -> dict[str, Any]:
    verdict: Mapping[str, Any] = found.verdict if found else {}
    said = [
        {
            "what": str(each.get("what", "")),
            "effect": str(each.get("effect", "")),
            "reading": reading_of(str(each.get("section", "")), about),
            "guide": _guide(str(each.get("entry", "")), about),
        }
        for each in verdict.get("findings", ())
    ]
    reason = found.reason if found else ""
    if verdict.get("state") == "not attempted":
        reason = "Not attempted."
    return {
        "title": str(verdict.get("title") or about.questions.get(cell.name) or cell.name),
        "points": cell.points,
        "out_of": cell.out_of,
        "by_hand": cell.by_hand,
        "reason": reason,
        "waits": found.waits if found and cell.waits else "",
        "findings": said,
        "comment": comment,
    }


def reading_of(section: str, about: About) -> Reading | None:
    """A section that a judge named, with its address in the published book."""
    if not section:
        return None
    parts = _SECTION.fullmatch(section)
    stem = next((one for one in about.chapters if parts and one[:2] == parts[1]), None)
    if not about.book or stem is None or parts is None:
        return Reading(section)
    from course_tasks.verdict import Section

    return Reading(section, Section(stem, parts[2]).link(about.book))


def _guide(entry: str, about: About) -> Reading | None:
    """An entry of the field guide, with its address in the published book."""
    if not entry or not about.book:
        return Reading(entry) if entry else None
    from course_tasks.verdict import field_guide_address

    return Reading(entry, field_guide_address(entry, about.book))
