"""Whose a file of a download is: what names say, on Canvas, on Moodle, and among people."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any, Literal

from course_lib.errors import NothingToCollect
from course_lib.grading.course import Course

Platform = Literal["canvas", "moodle", ""]

ORIGIN = "collected.json"
"""Beside each notebook: where it came from, and under which number the platform knows it."""

_CANVAS = re.compile(r"(?P<name>.+?)_(?:(?P<late>late)_)?(?P<number>\d+)_\d+_(?P<rest>.+)", re.I)
_MOODLE = re.compile(r"(?P<name>.+)_(?P<number>\d+)_assignsubmission_[a-z]+_?(?P<rest>.*)")


@dataclass(frozen=True)
class Owner:
    """Whose a file is.

    Attributes
    ----------
    student : str
        Safe as a folder's name.
    said : str
        As the platform wrote it.
    platform : str
        "canvas", "moodle", or empty.
    number : str
        Under which the platform knows the student, or the submission; empty where it does not say.
    late : bool
        Whether the platform marked it so.
    """

    student: str
    said: str
    platform: Platform = ""
    number: str = ""
    late: bool = False


def owner(path: PurePosixPath, assignment: str) -> Owner | None:
    """Whose a file is, by where it lies; None if nothing says so."""
    first = path.parts[0]
    canvas, moodle = _CANVAS.fullmatch(path.name), _MOODLE.fullmatch(first)
    if moodle:
        said = moodle["name"]
        return Owner(as_folder(said), said, "moodle", moodle["number"])
    if canvas and len(path.parts) == 1:
        said, number = canvas["name"], canvas["number"]
        student = as_folder(f"{said}_{number}")
        return Owner(student, said, "canvas", number, canvas["late"] is not None)
    if len(path.parts) > 1:
        return Owner(as_folder(first), first)
    name = re.sub(rf"^{re.escape(assignment)}[-_ ]+|[-_ ]+{re.escape(assignment)}$", "", path.stem)
    if not name or name == assignment:
        return None
    return Owner(as_folder(name), name)


def own_name(path: PurePosixPath) -> str:
    """A file's name without what the platform put before it."""
    found = _CANVAS.fullmatch(path.name) or _MOODLE.fullmatch(path.name)
    return (found["rest"] or path.name) if found else path.name


def of_a_platform(name: str) -> bool:
    """Whether a folder or file is named as Canvas or Moodle names what students handed in."""
    return bool(_CANVAS.fullmatch(name) or _MOODLE.fullmatch(name))


def as_folder(name: str) -> str:
    """A name that is safe as a folder, in a URL and in a spreadsheet.

    >>> as_folder("Ada  Lovelace"), as_folder("../=1+1"), as_folder("Zoë")
    ('Ada_Lovelace', '1_1', 'Zoë')
    """
    words = unicodedata.normalize("NFC", name).strip()
    kept = re.sub(r"[^\w.@-]+", "_", words)
    return kept.strip("._-@")[:100] or "nameless"


def origins(course: Course, assignment: str) -> dict[str, dict[str, Any]]:
    """Where each student's submission came from, as far as `collect` noted it."""
    found = {}
    for path in sorted(course.submitted.glob(f"[!.]*/{assignment}/{ORIGIN}")):
        try:
            said = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise NothingToCollect(
                f"{path} is not as `course collect` wrote it ({error}): collect again"
            ) from error
        if isinstance(said, dict):
            found[path.parent.parent.name] = said
    return found
