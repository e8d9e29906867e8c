"""Which folder of `submitted/` is whose, so that no two students ever share one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from course_grader.lms.choosing import HandedIn
from course_grader.lms.entries import shown
from course_grader.lms.owners import folded
from course_grader.lms.records import Record

# The gradebook's bound on a student's id.
_MOST_NAME = 128


def give_folders(
    works: list[HandedIn], known: Mapping[str, Record], reserved: Collection[str]
) -> None:
    """Decide on each student's folder, so that no two students ever share one.

    Whom the platform's number is known of keeps the folder, whatever the name is now. Others get
    their name, with the platform's number behind it where the name is another one's. Who cannot be
    told apart from somebody else is refused.

    Parameters
    ----------
    works : list of HandedIn
        Their `student` is changed, and what a person should know is added to their notes.
    known : mapping of str to Record
        Of those whose work was collected before, by folder.
    reserved : collection of str
        Names that no student's folder may have, as `owners.folded` writes them.
    """
    numbered = {(r.platform, r.number): name for name, r in known.items() if r.number}
    taken = {folded(name): name for name in known}
    free: list[HandedIn] = []
    present = set()
    for work in works:
        settled = numbered.get((work.owner.platform, work.owner.number))
        if settled is None:
            free.append(work)
        else:
            work.student = settled
            present.add(folded(settled))
    fixed = {folded(name) for name in numbered.values()}
    while free:
        groups = defaultdict(list)
        for work in free:
            groups[folded(work.student)].append(work)
        settled_now = {
            name
            for name, same in groups.items()
            if len(same) == 1
            and name not in present
            and not _anothers(same[0], name, taken, fixed, reserved)
        }
        clashing = [work for work in free if folded(work.student) not in settled_now]
        present |= settled_now
        free = []
        for work in clashing:
            longer = f"{work.student}_{work.owner.number}"
            if work.owner.number and len(longer) <= _MOST_NAME:
                work.student = longer
                words = (
                    f"another one is named {shown(work.owner.said)!r}, or nearly so: "
                    "the platform's number tells them apart"
                )
                if words not in work.notes:
                    work.notes.append(words)
                free.append(work)
            else:
                whose = "an assignment" if folded(work.student) in reserved else "another one"
                work.refused.append(
                    f"{shown(work.owner.said)!r} would share the folder {work.student} with "
                    f"{whose}: give each a name of its own, or collect one after the other"
                )
                work.uploads.clear()


def _anothers(
    work: HandedIn,
    name: str,
    taken: Mapping[str, str],
    fixed: Collection[str],
    reserved: Collection[str],
) -> bool:
    """Whether a folder's name belongs to somebody else, or to an assignment."""
    if name in reserved:
        return True
    if work.owner.number:
        return name in fixed
    # A person who writes a student's name into a folder's name means that student.
    return name in taken and taken[name] != work.student
