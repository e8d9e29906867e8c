"""Which of the notebooks that a student handed in counts: by name, by content, the latest."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import PurePosixPath

from course_lib.grading.collecting.downloads import Found, Refused, inside
from course_lib.grading.collecting.owners import Owner, own_name

# Everything that is looked at to find one student's notebook.
MOST_NOTEBOOKS_OF_A_STUDENT = 50

# Enough to recognise what somebody handed in for a notebook.
MOST_NAMES = 3


@dataclass
class Pile:
    """All that one student handed in.

    Attributes
    ----------
    owner : Owner
    found : list of Found
        What may be a notebook or hold one.
    beside : list of Found
        All the rest, which is named where there is no notebook.
    notes, refused : list of str
        What a person should know, and why something was not read.
    """

    owner: Owner
    found: list[Found] = field(default_factory=list)
    beside: list[Found] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Candidate:
    """A notebook, and its bytes."""

    found: Found
    content: bytes


def choose(assignment: str, pile: Pile) -> Candidate | None:
    """The notebook that counts: by name, by what is in it, then the latest."""
    candidates = list(_candidates(pile))
    if not candidates:
        if not pile.refused:
            pile.refused.append(_without_notebook(assignment, pile))
        return None
    wanted = assignment.lower()
    named = [c for c in candidates if wanted in (_stem(c.found.path), _whole_stem(c.found.path))]
    fitting = named or [c for c in candidates if _grade_ids(c.content)] or candidates
    fitting.sort(key=lambda c: (c.found.modified or datetime.min, len(c.found.path.name)))
    different = {c.content for c in fitting}
    if not named and len(different) > 1:
        names = ", ".join(sorted({own_name(c.found.path) for c in fitting}))
        unlike = {_stem(c.found.path) for c in fitting}
        if len(unlike) > 1:
            pile.refused.append(f"several notebooks, none named {assignment}.ipynb: {names}")
            return None
    chosen = fitting[-1]
    if len(different) > 1:
        when = chosen.found.modified
        pile.notes.append(
            f"{len(different)} versions; the latest counts ({when} UTC)"
            if when
            else f"{len(different)} versions of an unknown time; the last one counts"
        )
    if own_name(chosen.found.path) != f"{assignment}.ipynb":
        pile.notes.append(f"renamed from {own_name(chosen.found.path)[:100]}")
    elif len(chosen.found.path.parts) > 2:
        pile.notes.append(f"found in {str(chosen.found.path.parent)[:100]}")
    return chosen


def _without_notebook(assignment: str, pile: Pile) -> str:
    names = sorted({own_name(found.path)[:100] for found in (*pile.found, *pile.beside)})
    listed = ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else "")
    return f"no notebook in {listed}; ask for {assignment}.ipynb, alone or in a .zip"


def _candidates(pile: Pile) -> Iterator[Candidate]:
    seen = 0
    for found in pile.found:
        try:
            if found.refused:
                raise Refused(found.refused)
            for member in inside(found):
                if member.path.suffix.lower() == ".ipynb":
                    seen += 1
                    if seen > MOST_NOTEBOOKS_OF_A_STUDENT:
                        raise Refused(f"more than {MOST_NOTEBOOKS_OF_A_STUDENT} notebooks")
                    yield Candidate(member, member.read())
        except Refused as error:
            pile.refused.append(str(error))


def _stem(path: PurePosixPath) -> str:
    """A notebook's name without the marks of copies: `01-averages (2)`, `01-averages-1`."""
    return re.sub(r"([ _-]*\(\d+\)|-\d{1,2}|[ _-]copy\d*)$", "", _whole_stem(path))


def _whole_stem(path: PurePosixPath) -> str:
    return PurePosixPath(own_name(path)).stem.lower()


def _grade_ids(content: bytes) -> bool:
    """Whether a notebook holds a cell that nbgrader knows."""
    try:
        cells = json.loads(content)["cells"]
        return any(cell["metadata"].get("nbgrader", {}).get("grade_id") for cell in cells)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return False
