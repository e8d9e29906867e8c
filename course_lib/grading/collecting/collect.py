"""From downloads to `submitted/<student>/<assignment>/`, where grading looks.

What was handed in is copied byte for byte and never changed; of several, the latest counts; what it
replaces is kept beside; what is refused is named with the reason.
"""

from __future__ import annotations

import contextlib
import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from pathlib import Path, PurePosixPath

from course_lib.errors import NothingToCollect
from course_lib.grading.collecting.choosing import Candidate, Pile, choose
from course_lib.grading.collecting.downloads import Found, files
from course_lib.grading.collecting.owners import ORIGIN, Owner, of_a_platform, owner
from course_lib.grading.course import Course
from course_lib.grading.reports.shown import write_atomically


class Action(Enum):
    """What became of what a student handed in."""

    NEW = "new"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    KEPT = "older, not taken"
    REFUSED = "refused"


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
        Of what counts, in UTC.
    """

    student: str
    action: Action
    notes: tuple[str, ...] = ()
    timestamp: datetime | None = None


def collect(
    course: Course, assignment: str, sources: Sequence[Path], *, dry_run: bool = False
) -> list[Collected]:
    """Put what was handed in where grading looks for it.

    Parameters
    ----------
    course : Course
    assignment : str
        Its full name.
    sources : sequence of Path
        Folders and zips, as Canvas, Moodle or a person made them; see the instructor guide.
    dry_run : bool
        Only say what would be done.

    Returns
    -------
    list of Collected
        One for each student, by name.

    Raises
    ------
    NothingToCollect
        If a source is not there or nothing in it is a submission.
    NotWritten
        If a file cannot be written; what stood there before stands there still.
    """
    result: list[Collected] = []
    piles: dict[tuple[str, str], Pile] = {}
    with contextlib.ExitStack() as stack:
        for source in sources:
            found = list(_owned(course, assignment, source, stack.enter_context(files(source))))
            if not found:
                raise NothingToCollect(f"{source} holds no file of a submission")
            for who, file in found:
                if who is None:
                    words = file.refused or "nothing says whose it is: put it into a folder"
                    result.append(Collected(str(file.path)[:100], Action.REFUSED, (words,)))
                    continue
                number = who.number if who.platform else who.said
                pile = piles.setdefault((who.student, number), Pile(who))
                pile.owner = who if who.late else pile.owner
                (pile.found if _may_hold_one(file) else pile.beside).append(file)
        for pile in _told_apart(piles):
            result.append(_collect_one(course, assignment, pile, dry_run))
    return sorted(result, key=lambda one: one.student)


def _owned(
    course: Course, assignment: str, source: Path, listed: Sequence[Found]
) -> Iterator[tuple[Owner | None, Found]]:
    """The files of a source, and whose they are: whoever handed in the wrong one is named, too."""
    others = {name for name in course.assignments if name != assignment}
    wrapper = _wrapper([found.path for found in listed], {assignment, source.stem}, others)
    for found in listed:
        path = found.path.relative_to(wrapper) if wrapper else found.path
        if others & set(path.parts[:-1]):
            continue
        who = None if ".." in path.parts else owner(path, assignment)
        yield who, replace(found, path=path)


def _may_hold_one(file: Found) -> bool:
    """Whether a file may be a notebook or hold one; one that may not be read says why itself."""
    return bool(file.refused) or file.path.suffix.lower() in (".ipynb", ".zip")


def _wrapper(paths: Sequence[PurePosixPath], names: set[str], others: set[str]) -> str:
    """A folder around everything that names no student, or nothing."""
    tops = {path.parts[0] for path in paths}
    if len(tops) != 1 or any(len(path.parts) < 2 for path in paths):
        return ""
    top = tops.pop()
    below = {path.parts[1] for path in paths} - others - names
    each_in_a_folder = all(len(path.parts) > 2 for path in paths) and len(below) > 1
    around = top in {"submissions", "submitted", *names}
    return top if around or each_in_a_folder or (all(map(of_a_platform, below)) and below) else ""


def _told_apart(piles: dict[tuple[str, str], Pile]) -> Iterator[Pile]:
    """Two people of one name get their platform's number behind it."""
    by_name = defaultdict(list)
    for pile in piles.values():
        by_name[pile.owner.student].append(pile)
    for student, same in sorted(by_name.items()):
        for pile in same:
            if len(same) > 1:
                if pile.owner.number:
                    pile.owner = replace(pile.owner, student=f"{student}_{pile.owner.number}")
                    pile.notes.append(f"another one is named {pile.owner.said!r}: told apart")
                else:
                    names = " and ".join(repr(other.owner.said) for other in same)
                    pile.refused.append(f"{names} would share the folder {student}: rename one")
                    pile.found, pile.beside = [], []
            yield pile


def _collect_one(course: Course, assignment: str, pile: Pile, dry_run: bool) -> Collected:
    student = pile.owner.student
    folder = course.submitted / student / assignment
    for place in (folder.parent, folder):
        if place.is_symlink():
            return Collected(student, Action.REFUSED, (f"{place} is a link; nothing is written",))
    chosen = choose(assignment, pile)
    if chosen is None:
        return Collected(student, Action.REFUSED, (*pile.refused, *pile.notes))
    notes = (*pile.refused, *pile.notes)
    modified = chosen.found.modified
    if pile.owner.late:
        notes = (*notes, "Canvas marked it late")
    target = folder / f"{assignment}.ipynb"
    action = Action.NEW
    if target.is_file():
        known = _timestamp(folder)
        if target.read_bytes() == chosen.content:
            if pile.owner.platform and not dry_run:
                _note_origin(folder, chosen, pile.owner)
            return Collected(student, Action.UNCHANGED, notes, known)
        if known is not None and modified is not None and modified < known:
            words = f"what was collected before is newer ({known} UTC)"
            return Collected(student, Action.KEPT, (words, *notes), known)
        action = Action.REPLACED
    if not dry_run:
        if action is Action.REPLACED:
            _keep(course, student, assignment, folder)
        _write(folder, target, chosen, pile.owner)
    return Collected(student, action, notes, modified)


def _timestamp(folder: Path) -> datetime | None:
    from nbgrader.utils import parse_utc

    try:
        return parse_utc((folder / "timestamp.txt").read_text(encoding="utf-8").strip())
    except (OSError, ValueError, OverflowError):
        return None


def _keep(course: Course, student: str, assignment: str, folder: Path) -> None:
    """Move what is replaced to where nobody takes it for a submission."""
    shelf = course.submitted / ".replaced" / student
    number = 1
    while (shelf / f"{assignment}.{number}").exists():
        number += 1
    shelf.mkdir(parents=True, exist_ok=True)
    folder.rename(shelf / f"{assignment}.{number}")


def _write(folder: Path, target: Path, chosen: Candidate, who: Owner) -> None:
    modified = chosen.found.modified
    if modified is not None:
        write_atomically(folder / "timestamp.txt", f"{modified:%Y-%m-%d %H:%M:%S} UTC\n")
    _note_origin(folder, chosen, who)
    write_atomically(target, chosen.content)


def _note_origin(folder: Path, chosen: Candidate, who: Owner) -> None:
    origin = {
        "platform": who.platform,
        "name": who.said,
        "number": who.number,
        "late": who.late,
        "file": str(chosen.found.path),
    }
    write_atomically(folder / ORIGIN, json.dumps(origin, indent=1, ensure_ascii=False) + "\n")
