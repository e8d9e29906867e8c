"""Whose a part of a download is: what the platform's own part of its name says, and nothing else.

Each platform names the first level of its archives itself, and only that:

- Moodle: a folder `FULL NAME_NUMBER_assignsubmission_file_` for each student, or, where it was told
  not to make folders, files that begin so. The full name holds no underscore, because Moodle makes
  spaces of them; so what a student called a file cannot be taken for it. The number is the
  participant's in this one assignment, as in the grading worksheet.
- Canvas: files `NAME_[LATE_]USER_FILE_own name`, with two numbers. The name may hold underscores
  and numbers, and so may the file's own name: what can be read in two ways is refused.
- People: whatever they like.

What lies below belongs to the same student, whatever it is called.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from course_grader.errors import NothingToCollectError, RefusedDownloadError
from course_grader.lms.entries import Part, shown

Platform = Literal["canvas", "moodle", ""]

_MOODLE = re.compile(
    r"(?P<name>[^_]+)(?:_(?P<number>\d+))?_assignsubmission_[a-z]+(?:_(?P<rest>.*))?", re.DOTALL
)
# With a lookahead, so that readings that overlap are all found. Canvas's numbers begin with no 0.
_CANVAS = re.compile(
    r"(?=_(?P<late>LATE_)?(?P<number>[1-9]\d*)_(?:(?P<file>[1-9]\d*)_(?P<rest>.+)"
    r"|(?P<page>(?:text|link)\.html)$))",
    re.DOTALL,
)
_TITLES = {"canvas": "Canvas", "moodle": "Moodle", "": "a person"}


@dataclass(frozen=True)
class Owner:
    """Whose a part of a download is.

    Attributes
    ----------
    student : str
        Safe as a folder's name.
    said : str
        As the platform wrote it.
    platform : str
        "canvas", "moodle", or empty.
    number : str
        Under which the platform knows the student; empty where it does not say.
    late : bool
        Whether the platform marked it so.
    upload : int
        Canvas's number of the file, which is higher for what was uploaded later; else 0.
    own_name : str
        What the student called the file; empty for a folder.
    """

    student: str
    said: str
    platform: Platform = ""
    number: str = ""
    late: bool = False
    upload: int = 0
    own_name: str = ""


def platform_of(parts: Sequence[Part], source: str) -> Platform:
    """Which platform made a download: decided once, from its first level.

    Raises
    ------
    NothingToCollectError
        If it is a mixture of which nobody can say what it is.
    """
    kinds = {part.name: _kind(part) for part in parts if not part.refused}
    votes = Counter(kind for kind in kinds.values() if kind is not None)
    if not votes:
        return ""
    (first, most), *others = votes.most_common()
    if most < 2 * sum(number for _, number in others):
        examples = []
        for kind, _ in votes.most_common():
            name = next(name for name, each in kinds.items() if each == kind)
            examples.append(f"{shown(name)!r} as {_TITLES[kind]} does")
        raise NothingToCollectError(
            f"{source} is a mixture: it names {' and '.join(examples)}. "
            "Put each kind into a folder of its own and collect them one after the other"
        )
    return first


def owner(part: Part, platform: Platform, assignment: str) -> Owner:
    """Whose a part of a download is.

    Raises
    ------
    RefusedDownloadError
        If nothing says so, or it can be read in two ways.
    """
    if part.refused:
        raise RefusedDownloadError(part.refused)
    if platform == "":
        if _kind(part) not in ("", None):
            raise RefusedDownloadError(_unlike(part, platform))
        return _by_a_person(part, assignment)
    if platform == "moodle":
        found = _MOODLE.fullmatch(part.name)
        if not found:
            raise RefusedDownloadError(_unlike(part, platform))
        said, own = found["name"], found["rest"] or ""
        own = own if part.is_file else ""
        return Owner(as_folder(said), said, platform, found["number"] or "", own_name=own)
    readings = list(_canvas(part.name)) if part.is_file else []
    if len(readings) > 1:
        who = " or ".join(f"user {each.number}'s" for each in readings)
        raise RefusedDownloadError(
            f"by its name it can be {who}: look it up in Canvas, and collect it separately, in a "
            "folder with the student's name"
        )
    if not readings:
        raise RefusedDownloadError(_unlike(part, platform))
    return readings[0]


def _unlike(part: Part, platform: Platform) -> str:
    rest = f"the rest, which {_TITLES[platform]} named" if platform else "the rest"
    return (
        f"{shown(part.name)} is not named as {rest}: collect it separately, in a folder with the "
        "student's name"
    )


def _kind(part: Part) -> Platform | None:
    """Who names a part so; None for what says nothing, as a table beside the submissions."""
    if _MOODLE.fullmatch(part.name):
        return "moodle"
    if part.is_file and any(_canvas(part.name)):
        return "canvas"
    if part.is_file and PurePosixPath(part.name).suffix.lower() not in (".ipynb", ".zip"):
        return None
    return ""


def of_a_platform(part: Part) -> bool:
    """Whether a part is named as Canvas or Moodle names what students handed in."""
    return _kind(part) in ("canvas", "moodle")


def _canvas(name: str) -> Iterator[Owner]:
    """Every way in which a name can be one of Canvas's."""
    for found in _CANVAS.finditer(name):
        said, number = name[: found.start()], found["number"]
        # Canvas leaves letters, digits and underscores of a name, and writes them small
        if said and all(map(_of_a_word, said)) and not said.endswith("_LATE"):
            yield Owner(
                as_folder(f"{said}_{number}"),
                said,
                "canvas",
                number,
                found["late"] is not None,
                int((found["file"] or "0")[:18]),
                found["rest"] or found["page"],
            )


def _by_a_person(part: Part, assignment: str) -> Owner:
    if not part.is_file:
        return Owner(as_folder(part.name), part.name)
    stem = PurePosixPath(part.name).stem
    name = re.sub(rf"^{re.escape(assignment)}[-_ ]+|[-_ ]+{re.escape(assignment)}$", "", stem)
    if not name or name == assignment:
        raise RefusedDownloadError(
            "nothing says whose it is: put it into a folder with the student's name"
        )
    return Owner(as_folder(name), name, own_name=part.name)


def as_folder(name: str) -> str:
    """A name that is safe as a folder, in a URL and in a spreadsheet.

    >>> as_folder("Ada  Lovelace"), as_folder("../=1+1"), as_folder("Zoë")
    ('Ada_Lovelace', '1_1', 'Zoë')
    """
    words = unicodedata.normalize("NFC", name)
    kept = "".join(each if _of_a_word(each) or each in ".@-" else " " for each in words)
    return "_".join(kept.split()).strip("._-@")[:100] or "nameless"


def _of_a_word(character: str) -> bool:
    """Whether it is a letter, a digit, an underscore, or a mark, by which scripts write vowels."""
    return bool(re.match(r"\w", character)) or unicodedata.category(character).startswith("M")


def folded(name: str) -> str:
    """The same for names that some file systems cannot tell apart: capitals, composed letters."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
