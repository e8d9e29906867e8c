"""From downloads to `submitted/<student>/<assignment>/`, where grading looks.

What was handed in is copied byte for byte and never changed; what it replaces is kept beside; what
is refused is named with the reason. All is decided before anything is written, so that nobody's
work is replaced before a person has seen whose.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from pathlib import Path

from course_grader.atomic import write_atomically
from course_grader.course import Course
from course_grader.errors import (
    NothingToCollectError,
    RefusedDownloadError,
    ReplacementNotConfirmedError,
)
from course_grader.lms import records, times
from course_grader.lms.choosing import Candidate, HandedIn, choose
from course_grader.lms.downloads import parts
from course_grader.lms.entries import Part, shown
from course_grader.lms.exchange import inbound
from course_grader.lms.folders import give_folders
from course_grader.lms.owners import (
    Platform,
    folded,
    of_a_platform,
    owner,
    platform_of,
)
from course_grader.lms.records import Record, as_text

# More than one: a single student's new version is the ordinary case.
MOST_REPLACED_UNASKED = 1

# A folder around a whole download has one of these names, its own, or the assignment's.
_WRAPPERS = ("submissions", "submitted")


class Action(Enum):
    """What became of what a student handed in."""

    NEW = "new"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    KEPT = "older, not taken"
    REFUSED = "refused"
    ABSENT = "handed nothing in"


@dataclass(frozen=True)
class Collected:
    """One student's part of a download.

    Attributes
    ----------
    student : str
        The folder's name; what the platform said where there is no folder.
    action : Action
    notes : tuple of str
        What a person should know: the reason of a refusal first.
    timestamp : datetime or None
        When it was handed in, in UTC; None if nobody said.
    """

    student: str
    action: Action
    notes: tuple[str, ...] = ()
    timestamp: datetime | None = None


@dataclass(frozen=True)
class _Planned:
    """What is to be done for one student."""

    said: Collected
    chosen: Candidate | None = None
    record: Record | None = None


def collect(
    course: Course,
    assignment: str,
    sources: Sequence[Path],
    *,
    submitted: Path | None = None,
    exchange: bool = False,
    dry_run: bool = False,
    confirm: Callable[[Sequence[str]], bool] | None = None,
) -> list[Collected]:
    """Put what was handed in where grading looks for it.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    sources : sequence of Path
        Folders and zips, as Canvas, Moodle or a person made them; see the instructor guide. Of a
        student who is in several, the last one counts.
    submitted : Path, optional
        A table of when each student handed in, see `times`. No archive says it.
    exchange : bool
        Whether the sources are inbound folders of nbgrader's exchange, see `exchange.inbound`; they
        say when each student handed in, unless the table does.
    dry_run : bool
        Only say what would be done.
    confirm : callable, optional
        Gets the students whose work would be replaced, if there are several, and says whether that
        is wanted. Without it, it is not.

    Returns
    -------
    list of Collected
        One for each student, by name.

    Raises
    ------
    NothingToCollectError
        If a source is not there or nothing in it is a submission.
    ReplacementNotConfirmedError
        If the work of several students would be replaced and nobody wants that; nothing is written.
    UnreadableSheetError
        If the table of times cannot be read.
    NotWrittenError
        If a file cannot be written; what stood there before stands there still.
    """
    when = times.read(submitted) if submitted is not None else None
    known = records.read(course, assignment)
    others = {name.lower() for name in course.assignments if name != assignment}
    result: list[Collected] = []
    by_owner: dict[tuple[Platform, str, str], HandedIn] = {}
    with contextlib.ExitStack() as stack:
        for order, source in enumerate(sources):
            if exchange:
                found = stack.enter_context(inbound(source, assignment))
                listed, when = found.parts, {**found.times, **(when or {})}
                if not listed:
                    raise NothingToCollectError(f"{source} holds nothing for {assignment}")
            else:
                listed = _unwrapped(source, stack.enter_context(parts(source)), assignment)
            result += _sorted_by_owner(by_owner, order, source, listed, assignment, others)
        give_folders(list(by_owner.values()), known, {folded(name) for name in course.assignments})
        plan = [
            _planned(course, assignment, work, known, when, others) for work in by_owner.values()
        ]
        replaced = sorted(p.said.student for p in plan if p.said.action is Action.REPLACED)
        if len(replaced) > MOST_REPLACED_UNASKED and not (
            dry_run or (confirm is not None and confirm(replaced))
        ):
            raise ReplacementNotConfirmedError(
                f"the work of {len(replaced)} students would be replaced: {', '.join(replaced)}. "
                "Nothing was written. Look at it with --dry-run; if it is what you want, say "
                f"--yes. What is replaced is kept in {course.submitted.name}/.replaced/"
            )
        result += _absent(course, assignment, when or {}, plan, known)
        if dry_run:
            result += [each.said for each in plan]
        else:
            result += _done(course, assignment, plan, known)
    return sorted(result, key=lambda one: one.student)


def _absent(
    course: Course,
    assignment: str,
    when: Mapping[str, datetime],
    plan: list[_Planned],
    known: Mapping[str, Record],
) -> Iterator[Collected]:
    """Whom the table of times names, and no submission: a name that is written otherwise here?"""
    numbers = {**known, **{each.said.student: each.record for each in plan if each.record}}
    students = {each.said.student for each in plan} | {
        folder.parent.name for folder in course.submitted.glob(f"*/{assignment}")
    }
    for name, time in when.items():
        here = ((one, numbers.get(one, Record())) for one in students)
        if not any(times.names(name, one, kept.platform, kept.number) for one, kept in here):
            words = "only the table of times has this name: is it misspelled?"
            yield Collected(name, Action.ABSENT, (words,), time)


def _sorted_by_owner(
    by_owner: dict[tuple[Platform, str, str], HandedIn],
    order: int,
    source: Path,
    listed: list[Part],
    assignment: str,
    others: Collection[str],
) -> Iterator[Collected]:
    """Add a source's files to the work of those whose they are; yields what is nobody's."""
    if not listed:
        raise NothingToCollectError(f"{source} holds no file of a submission")
    platform = platform_of(listed, str(source))
    for part in listed:
        if platform == "" and not part.is_file and part.name.lower() in others:
            continue
        try:
            who = owner(part, platform, assignment)
        except RefusedDownloadError as error:
            broken = next((each.refused for each in part.files()), "") if part.is_file else ""
            yield Collected(shown(part.name), Action.REFUSED, (broken or str(error),))
            continue
        same = (platform, who.number, "" if who.number else who.said)
        work = by_owner.setdefault(same, HandedIn(who, who.student))
        work.owner = who if who.late or who.upload > work.owner.upload else work.owner
        if len(listed) == 1 and platform == "" and _may_hold_a_class(part):
            work.notes.append(
                f"all of {shown(source.name)} is in the folder {shown(part.name)}, which is taken "
                "for one student; if it holds a class, unpack it and collect that folder"
            )
        try:
            for found in part.files():
                # nbgrader's own layout has a folder for each assignment
                below = found.path.parts[1:-1]
                if platform == "" and below and below[0].lower() in others:
                    continue
                own = who.own_name if part.is_file and who.own_name else found.path.name
                work.add(found, own, (who.upload, order))
        except RefusedDownloadError as error:
            work.refused.append(str(error))
            work.uploads.clear()


def _may_hold_a_class(part: Part) -> bool:
    try:
        return not part.is_file and sum(not inner.is_file for inner in part.inner()) > 1
    except OSError:  # said when its files are read
        return False


def _unwrapped(source: Path, listed: list[Part], assignment: str) -> list[Part]:
    """Without a folder around the whole download, if it has a download's name.

    A folder of any other name is a student's: what lies in it may be named by that student, and
    says nothing about whose it is.
    """
    if len(listed) != 1 or listed[0].is_file or listed[0].refused or of_a_platform(listed[0]):
        return listed
    names = {name.casefold() for name in (*_WRAPPERS, assignment, source.stem)}
    return listed[0].inner() if listed[0].name.casefold() in names else listed


def _planned(
    course: Course,
    assignment: str,
    work: HandedIn,
    known: Mapping[str, Record],
    when: Mapping[str, datetime] | None,
    others: Collection[str],
) -> _Planned:
    student, who = work.student, work.owner
    folder = course.submitted / student / assignment
    for place in (folder.parent, folder, folder / f"{assignment}.ipynb"):
        if place.is_symlink():
            words = f"{place} is a link; nothing is written"
            return _Planned(Collected(student, Action.REFUSED, (words,)))
    clash = not work.uploads and work.refused
    chosen = None if clash else choose(assignment, work, others)
    notes = [*work.refused, *work.notes]
    if chosen is None:
        return _Planned(Collected(student, Action.REFUSED, tuple(notes)))
    if who.late:
        notes.append("Canvas marked it late")
    before = known.get(student, Record())
    time = None
    if when is not None:
        time = times.of_student(when, student, who.platform, who.number)
        if time is None:
            notes.append("the table of times does not say when")
    record = Record(
        who.platform or before.platform,
        who.number or before.number,
        who.said if who.platform or not before.number else before.name,
        who.late,
        str(chosen.path),
        chosen.upload.rank[0],
        chosen.sha256,
        as_text(time),
    )
    target = folder / f"{assignment}.ipynb"
    if not any(folder.glob("*.ipynb")):
        return _Planned(Collected(student, Action.NEW, tuple(notes), time), chosen, record)
    if target.is_file() and _sha256(target) == chosen.sha256:
        record = replace(record, submitted=record.submitted or before.submitted)
        said = Collected(student, Action.UNCHANGED, tuple(notes), record.time)
        return _Planned(said, chosen, record)
    older = ""
    if record.upload and before.upload and who.platform == before.platform:
        if record.upload < before.upload:
            older = "what was collected before was uploaded later"
    elif time is not None and before.time is not None and time < before.time:
        older = f"what was collected before is newer ({before.submitted} UTC)"
    if older:
        return _Planned(Collected(student, Action.KEPT, (older, *notes), before.time))
    return _Planned(Collected(student, Action.REPLACED, tuple(notes), time), chosen, record)


def _done(
    course: Course, assignment: str, plan: Sequence[_Planned], known: Mapping[str, Record]
) -> Iterator[Collected]:
    """Do what was planned; what was done is on record even if the rest fails."""
    now = dict(known)
    try:
        for each in plan:
            said = each.said
            if each.chosen is not None and each.record is not None:
                try:
                    _put(course, assignment, said, each.chosen, each.record)
                    now[said.student] = each.record
                except RefusedDownloadError as error:
                    said = Collected(said.student, Action.REFUSED, (str(error), *said.notes))
            yield said
    finally:
        if now != known:
            records.write(course, assignment, now)


def _put(
    course: Course, assignment: str, said: Collected, chosen: Candidate, record: Record
) -> None:
    folder = course.submitted / said.student / assignment
    if said.action is not Action.UNCHANGED:
        content = chosen.read()
        if folder.exists():
            _keep(course, said.student, assignment, folder)
        write_atomically(folder / f"{assignment}.ipynb", content)
    stamp = folder / "timestamp.txt"
    words = f"{record.submitted} UTC\n"
    if record.submitted and (not stamp.is_file() or stamp.read_bytes() != words.encode()):
        write_atomically(stamp, words)


def _keep(course: Course, student: str, assignment: str, folder: Path) -> None:
    """Move what is replaced to where nobody takes it for a submission."""
    shelf = course.submitted / ".replaced" / student
    number = 1
    while (shelf / f"{assignment}.{number}").exists():
        number += 1
    shelf.mkdir(parents=True, exist_ok=True)
    folder.rename(shelf / f"{assignment}.{number}")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
