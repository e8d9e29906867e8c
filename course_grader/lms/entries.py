"""Files and folders in a download, and how they are read: in pieces, up to a limit.

Everything below the first level of a download was chosen by students, so all reading is bounded by
construction: a file by its size, and all that one student sent by a total.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import IO

from course_grader.errors import RefusedDownloadError

MEGABYTE = 2**20

# A notebook of the course has some 100 kB with its outputs.
MOST_NOTEBOOK_BYTES = 64 * MEGABYTE
# What one student may send as an archive; a few pictures beside a notebook fit in.
MOST_ARCHIVE_BYTES = 128 * MEGABYTE
# All that is read of one student, archives and what is in them together.
MOST_READ_BYTES = 256 * MEGABYTE
_CHUNK = 256 * 2**10

_JUNK = ("__MACOSX", "__pycache__")
_SHOWN = 100


class Allowance:
    """How many bytes may still be read of what one student sent."""

    def __init__(self, left: int = MOST_READ_BYTES):
        self.left = left

    def take(self, size: int) -> None:
        """Count what was read.

        Raises
        ------
        RefusedDownloadError
            If it was too much, all in all.
        """
        self.left -= size
        if self.left < 0:
            raise RefusedDownloadError(
                f"more than {MOST_READ_BYTES // MEGABYTE} MB in all: ask for less"
            )


@dataclass(frozen=True)
class Found:
    """A file in a download.

    Attributes
    ----------
    path : PurePosixPath
        Inside the download; below an archive in it, the archive's name is a part of the path.
    open : callable
        Opens it for reading; whatever may go wrong is sorted out by `chunks`.
    refused : str
        Why it may not be read; empty if it may.
    """

    path: PurePosixPath
    open: Callable[[], AbstractContextManager[IO[bytes]]]
    refused: str = ""


@dataclass(frozen=True)
class Part:
    """An entry of a download's first level, and all that lies in it.

    Attributes
    ----------
    name : str
    is_file : bool
    files : callable
        Its files, one by one; their paths begin with its name. Raises `RefusedDownloadError`.
    inner : callable
        What it holds, as parts: for a folder that is the download itself under another name.
    refused : str
        Why it is nobody's; empty if it may be somebody's.
    """

    name: str
    is_file: bool
    files: Callable[[], Iterator[Found]]
    inner: Callable[[], list[Part]]
    refused: str = ""


def chunks(found: Found, allowance: Allowance) -> Iterator[bytes]:
    """A file's bytes, piece by piece.

    Raises
    ------
    RefusedDownloadError
        If it may not or cannot be read, or is longer than is read.
    """
    if found.refused:
        raise RefusedDownloadError(found.refused)
    name = shown(found.path.name)
    most = MOST_ARCHIVE_BYTES if found.path.suffix.lower() == ".zip" else MOST_NOTEBOOK_BYTES
    size = 0
    try:
        with found.open() as file:
            while data := file.read(_CHUNK):
                size += len(data)
                if size > most:
                    raise RefusedDownloadError(f"{name} has more than {most // MEGABYTE} MB")
                allowance.take(len(data))
                yield data
    except RefusedDownloadError:
        raise
    except Exception as error:  # broken archives make zipfile and zlib raise whatever comes
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise RefusedDownloadError(f"{name} cannot be read: {shown(str(why))}") from error


def shown(name: str) -> str:
    """A name of somebody else's, so that a terminal and a file can hold it: short and printable.

    >>> shown("a\\x1b[2Jb")
    'a�[2Jb'
    """
    text = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def is_junk(name: str) -> bool:
    """Whether systems and editors leave such a file or folder behind."""
    if "_assignsubmission_" in name:  # Moodle's folder of somebody whose name begins with a dot
        return False
    return name in _JUNK or (name.startswith(".") and name not in (".", ".."))
