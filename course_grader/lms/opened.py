"""Files that others can exchange at any moment, each opened once and judged by what was opened.

Between a look at a name and an open of it, whoever owns the folder can put a link there. So a name
is looked up only once, step by step, from a folder that is open already; a link is never followed,
neither at the end of a path nor on the way; and what kind of file it is, and whose, is asked of the
open file.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from course_grader.errors import RefusedDownloadError
from course_grader.lms.entries import shown

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe that nobody writes to would otherwise be waited for.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class TooManyEntriesError(Exception):
    """A folder holds more than whoever asked wants to read."""


@dataclass(frozen=True)
class Entry:
    """What lay in a folder when it was read.

    Attributes
    ----------
    name : str
    is_folder : bool
        A link is none, wherever it leads.
    """

    name: str
    is_folder: bool


@dataclass(frozen=True)
class OpenedFolder:
    """A folder that is open; what lies below is named by parts, never by a path from outside.

    Attributes
    ----------
    number : int
        The open folder's number in this process.
    """

    number: int

    def entries(self, *parts: str, most: int = sys.maxsize) -> list[Entry]:
        """What lies in a folder below, at this moment.

        Raises
        ------
        RefusedDownloadError
            If one of the parts is a link.
        TooManyEntriesError
            If there are more than so many.
        OSError
            If the folder cannot be read.
        """
        found: list[Entry] = []
        with self.folder(*parts) as inner, os.scandir(inner.number) as entries:
            for one in entries:
                if len(found) >= most:
                    raise TooManyEntriesError(f"more than {most}")
                found.append(Entry(one.name, one.is_dir(follow_symlinks=False)))
        return found

    def refusal(self, *parts: str) -> str:
        """Why what lies there at this moment would not be read, in words; empty if it would."""
        *above, name = parts
        with contextlib.suppress(OSError, RefusedDownloadError), self.folder(*above) as folder:
            mode = os.lstat(name, dir_fd=folder.number).st_mode
            if stat.S_ISLNK(mode):
                return f"{shown(name)} is a link"
            if not stat.S_ISREG(mode):
                return f"{shown(name)} is not a regular file"
        return ""

    @contextlib.contextmanager
    def folder(self, *parts: str) -> Iterator[OpenedFolder]:
        """A folder below, open in the block.

        Raises
        ------
        RefusedDownloadError
            If one of the parts is a link.
        OSError
            If there is none.
        """
        number = os.dup(self.number)
        try:
            for name in parts:
                inner = _opened(name, _FOLDER, number)
                os.close(number)
                number = inner
            yield OpenedFolder(number)
        finally:
            os.close(number)

    @contextlib.contextmanager
    def file(self, *parts: str) -> Iterator[IO[bytes]]:
        """A regular file below, open for reading in the block.

        Raises
        ------
        RefusedDownloadError
            If one of the parts is a link, or the last one no regular file.
        OSError
            If there is none, or it cannot be read.
        """
        *above, name = parts
        with self.folder(*above) as folder:
            number = _opened(name, _FILE, folder.number)
        with open(number, "rb") as file:
            if not stat.S_ISREG(os.fstat(number).st_mode):
                raise RefusedDownloadError(f"{shown(name)} is not a regular file")
            yield file

    def status(self) -> os.stat_result:
        """Whose it is, and when it was changed, of the open folder itself."""
        return os.fstat(self.number)


@contextlib.contextmanager
def opened_folder(path: Path) -> Iterator[OpenedFolder]:
    """A folder that a person named, and so may be a link; open in the block.

    Raises
    ------
    OSError
        If there is none, or it cannot be read.
    """
    number = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield OpenedFolder(number)
    finally:
        os.close(number)


def _opened(name: str, flags: int, folder: int) -> int:
    if name in ("", ".", "..") or "/" in name:
        raise RefusedDownloadError(f"{shown(name)!r} is no name of a file")
    try:
        return os.open(name, flags, dir_fd=folder)
    except OSError as error:
        # A link where a folder was expected is no folder, whatever it leads to.
        if error.errno in (errno.ELOOP, errno.ENOTDIR) and _is_link(name, folder):
            raise RefusedDownloadError(f"{shown(name)} is a link") from error
        if error.errno in (errno.ENXIO, errno.ENODEV):  # a socket, or a device without a driver
            raise RefusedDownloadError(f"{shown(name)} is not a regular file") from error
        raise


def _is_link(name: str, folder: int) -> bool:
    """For the words of the error only; nothing is opened because of it."""
    with contextlib.suppress(OSError):
        return stat.S_ISLNK(os.lstat(name, dir_fd=folder).st_mode)
    return False
