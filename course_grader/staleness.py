"""What makes a grade stale: a digest of the code that can change it, and of what computes for it.

A figure, a guide, or the judge of another chapter changes no grade, so they are not in it.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import course_lib
from course_grader import private_tasks
from course_grader.sandbox.bubblewrap import BESIDE_STUDENT_CODE

# Packages that compute answers, a judge's own included; the last three are chapter 10's.
_COMPUTING = ("torch", "numpy", "jax", "flax", "optax")

# The folders of a chapter's tasks and judges, and those of a project.
_CHAPTER = re.compile(r"ch(\d\d)_|project_(\w+)")

_KINDS = ("*.py", "*.txt", "*.json")

# What asks about code that was graded already: no judge and no check looks at it.
_AFTERWARDS = ("defending", "variant_runs.py")

# A release has a new number; by itself that computes nothing, so it makes no grade stale.
_NUMBER_OF_THE_RELEASE = re.compile(rb'^__version__ = "[^"]*"$', re.MULTILINE)


def judging_key(tasks: Iterable[str]) -> str:
    """A digest of all code that can change the points of some tasks.

    Parameters
    ----------
    tasks : iterable of str
        For example "05/scores": of `course_tasks` and `course_judges`, what all chapters share and
        what belongs to the chapters of these. All of `course_lib` counts, because answers are
        written with it.
    """
    chapters = frozenset(task.partition("/")[0] for task in tasks)
    return digest_of((*BESIDE_STUDENT_CODE, "course_judges"), chapters, private_tasks.folder())


def sandbox_key() -> str:
    """A digest of all code that runs inside a sandbox: two machines with the same key ask alike."""
    return digest_of(BESIDE_STUDENT_CODE, None, private_tasks.folder())


def versions() -> dict[str, str]:
    """The release of the course, and the versions of what computes; "not here" for what is not."""
    return {"release": course_lib.__version__, **{name: version_of(name) for name in _COMPUTING}}


@functools.cache
def digest_of(
    packages: tuple[str, ...], chapters: frozenset[str] | None, private: Path | None
) -> str:
    """Hexadecimal digest of code, and of the versions of what computes; kept once it is made.

    Parameters
    ----------
    packages : tuple of str
        Of the course, and folders of the same names among private tasks.
    chapters : frozenset of str, or None
        Of packages that have any, only these; all of them if None.
    private : Path or None
        The folder of private tasks.
    """
    root = Path(course_lib.__file__).resolve().parents[1]
    digest = hashlib.sha256()
    for name in _COMPUTING:
        digest.update(f"{name} {version_of(name)}\0".encode())
    for place in filter(None, (root, private)):
        for package in packages:
            for path in _files(place / package, chapters):
                content = _NUMBER_OF_THE_RELEASE.sub(b"", path.read_bytes())
                digest.update(path.relative_to(place).as_posix().encode() + b"\0" + content)
    return digest.hexdigest()


def _files(package: Path, chapters: frozenset[str] | None) -> Iterator[Path]:
    # Beside code, the play's words and sentences, which tasks draw texts from, and what judges keep
    # beside them: what experiments give, and edits of answers.
    for path in sorted(found for kind in _KINDS for found in package.rglob(kind)):
        own = _CHAPTER.match(path.relative_to(package).parts[0])
        name = "" if own is None else own[1] or own[2].replace("_", "-")
        first = path.relative_to(package).parts[0]
        # Workers have to agree on all that runs inside, and so on this, too.
        if chapters is not None and first in _AFTERWARDS:
            continue
        if not name or chapters is None or name in chapters:
            yield path


def version_of(package: str) -> str:
    """The installed version of a package, in words where there is none."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not here"
