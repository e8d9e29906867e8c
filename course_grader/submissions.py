"""What students handed in: where it lies, which file counts, and a digest of all that a grade
depends on.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from course_grader.assignment import Assignment
from course_grader.course import Course
from course_grader.errors import NothingToGradeError, UnreadableNotebookError
from course_grader.file_names import composed, is_notebook, notebook_stem
from course_grader.staleness import judging_key
from course_tasks.runner.limits import Limits

if TYPE_CHECKING:
    from nbformat import NotebookNode

# A timestamp has some 30 characters; what is longer is something else.
MOST_TIMESTAMP_BYTES = 1000

# The gradebook's own bound on a student's id.
MOST_NAME_CHARACTERS = 128

_STAMP = "timestamp.txt"

# Of more files that are not read, nobody reads the names.
MOST_NAMES = 3

# Where `course collect` keeps what it replaced, and what it knows.
_NOT_STUDENTS = (".replaced", ".collected")


@dataclass(frozen=True)
class Submission:
    """What one student handed in.

    Attributes
    ----------
    student, assignment : str
    folder : Path
        `submitted/<student>/<assignment>`.
    twin : bool
        Whether another folder has the same name, with accents that are stored in another way.
    """

    student: str
    assignment: str
    folder: Path
    twin: bool = False

    @property
    def notebook(self) -> Path:
        """The file that counts: named as released, or the only one.

        Raises
        ------
        UnreadableNotebookError
            If there is none, or several and none of them has the released name; or if the folder
            is a link, which could lead anywhere.
        """
        if self.folder.is_symlink() or self.folder.parent.is_symlink():
            raise UnreadableNotebookError("the folder is a symbolic link, which is not followed")
        named = self.folder / f"{self.assignment}.ipynb"
        if _is_file(named):
            return named
        found = notebooks_in(self.folder)
        fitting = [path for path in found if notebook_stem(path.name) == self.assignment]
        for few in (found, fitting):
            if len(few) == 1:
                return few[0]
        names = ", ".join(path.name for path in found)
        raise UnreadableNotebookError(
            f"{len(found)} notebooks and none is named {named.name}: {names}"
            if found
            else f"no notebook is in the folder; {named.name} was expected"
        )

    @property
    def stamp(self) -> str:
        """What nbgrader's `timestamp.txt` says; empty if there is none."""
        path = self.folder / _STAMP
        try:
            if _is_file(path) and path.stat().st_size <= MOST_TIMESTAMP_BYTES:
                return path.read_text(encoding="utf-8", errors="replace").strip()
        except OSError:  # not to be read: as good as not there
            pass
        return ""

    @property
    def timestamp(self) -> datetime | None:
        """When it was handed in; UTC, or None."""
        from nbgrader.utils import parse_utc

        try:
            return parse_utc(self.stamp) if self.stamp else None
        except (ValueError, OverflowError):
            return None

    @property
    def misnamed(self) -> str:
        """Why no gradebook can hold the student's name; empty if one can."""
        if self.twin:
            return (
                "another folder has the same name, with accents stored in another way: keep one "
                "of the two"
            )
        try:
            self.student.encode("utf-8")
        except UnicodeEncodeError:
            return "the folder's name is not UTF-8: rename it"
        if len(self.student) > MOST_NAME_CHARACTERS:
            return (
                f"the folder's name has {len(self.student)} characters; a gradebook holds "
                f"{MOST_NAME_CHARACTERS}: rename it"
            )
        return ""


def submissions(course: Course, assignment: str, students: Sequence[str] = ()) -> list[Submission]:
    """Every submission of an assignment, by student.

    Raises
    ------
    NothingToGradeError
        If there is none, or none of a named student.
    """
    where = course.submitted
    found = []
    names: set[str] = set()
    # A name as gradebooks and tables have it comes before its twin.
    for folder in sorted(where.glob(f"*/{assignment}"), key=_composed_first):
        if not (folder.is_dir() or folder.is_symlink()) or folder.parent.name in _NOT_STUDENTS:
            continue
        name = composed(folder.parent.name)
        twin = name in names
        found.append(Submission(folder.parent.name if twin else name, assignment, folder, twin))
        names.add(name)
    found.sort(key=lambda one: one.student)
    students = [composed(name) for name in students]
    missing = set(students) - {one.student for one in found}
    if missing or not found:
        who = f" of {', '.join(sorted(missing))}" if missing else ""
        raise NothingToGradeError(
            f"no submission{who} in {where}: expected {where.name}/<student>/{assignment}/. "
            "`course collect` puts downloads there."
        )
    return [one for one in found if not students or one.student in students]


def basis(released: NotebookNode, limits: Limits, book: str = "", *, sandboxed: bool) -> str:
    """A digest of what a whole class's grades and feedback depend on: assignment, the code that
    computes and judges its answers, limits, and the book's address.
    """
    tasks = [check.task for check in Assignment.of(released).checks if check.task]
    digest = hashlib.sha256()
    for part in (judging_key(tasks), str(sorted(limits.as_dict().items())), str(sandboxed), book):
        digest.update(part.encode() + b"\0")
    digest.update(str(released).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def content_key(submission: Submission, class_basis: str, most_bytes: float = math.inf) -> str:
    """A digest of all that one grade depends on: the class's basis, and what was handed in.

    When it was handed in does not count: it changes what is taken off, and nothing has to be run or
    judged for that.

    Parameters
    ----------
    submission : Submission
    class_basis : str
        From `basis`.
    most_bytes : float
        Larger files are not opened, here or to be graded; their size stands for them.
    """
    digest = hashlib.sha256(class_basis.encode())
    for path in sorted(path for path in submission.folder.glob("*") if is_notebook(path.name)):
        digest.update(path.name.encode("utf-8", "surrogateescape") + b"\0")
        try:
            if _is_file(path) and (size := path.stat().st_size) <= most_bytes:
                with path.open("rb") as file:
                    digest.update(hashlib.file_digest(file, "sha256").digest())
            elif _is_file(path):
                digest.update(f"{size} bytes, not opened".encode())
        except OSError as error:  # graded as unreadable, until that changes
            digest.update(str(error.errno).encode())
        digest.update(b"\0")
    return digest.hexdigest()


def notebooks_in(folder: Path) -> list[Path]:
    """Files in a submission that may be notebooks by their names."""
    return [path for path in sorted(folder.glob("*")) if is_notebook(path.name) and _is_file(path)]


def left_unread(file: Path) -> str:
    """Which notebooks beside the one that counts are newer than it, in words; empty if none is."""
    newer = [
        path.name
        for path in notebooks_in(file.parent)
        if path != file and path.stat().st_mtime > file.stat().st_mtime
    ]
    listed = ", ".join(f"`{name}`" for name in newer[:MOST_NAMES])
    return (
        f"{file.name} was read, and not what lies beside it and is newer: {listed}" if newer else ""
    )


def _composed_first(folder: Path) -> tuple[str, bool]:
    return composed(folder.parent.name), folder.parent.name != composed(folder.parent.name)


def _is_file(path: Path) -> bool:
    """True for a file of the submission's own; a link could lead to anybody's."""
    return path.is_file() and not path.is_symlink()
