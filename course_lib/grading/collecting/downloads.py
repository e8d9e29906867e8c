"""What a learning platform gave: the notebooks in a folder or a zip, and whose they are.

Nothing is unpacked. Names decide whose a notebook is and are never used as paths; contents are read
into memory, within limits, and written by someone else to a path that no archive has a say in.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import stat
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO

from course_lib.errors import NothingToCollect

MEGABYTE = 2**20

# A notebook of the course has some 100 kB with its outputs.
MOST_NOTEBOOK_BYTES = 64 * MEGABYTE
# What one student may send as an archive; a few pictures beside a notebook fit in.
MOST_ARCHIVE_BYTES = 128 * MEGABYTE
MOST_UNPACKED_BYTES = 512 * MEGABYTE
MOST_ENTRIES = 2000
# Notebooks shrink to a tenth, white pictures in them to a hundredth; bombs to a thousandth.
MOST_RATIO = 200
# What is smaller than this cannot explode, however well it was packed.
SMALL = MEGABYTE

_JUNK = ("__MACOSX", "__pycache__")


class Refused(Exception):
    """An archive, or a part of one, that is not read; the message says why."""


@dataclass(frozen=True)
class Found:
    """A file in a download.

    Attributes
    ----------
    path : PurePosixPath
        Inside the download; below an archive in it, its name is a part of the path.
    modified : datetime or None
        In UTC; None where nobody knows.
    read : callable
        Its bytes; raises `Refused`.
    refused : str
        Why it may not be read; empty if it may.
    """

    path: PurePosixPath
    modified: datetime | None
    read: Callable[[], bytes]
    refused: str = ""


@contextlib.contextmanager
def files(source: Path) -> Iterator[list[Found]]:
    """Every file in a folder or a zip; they can be read inside the block.

    Raises
    ------
    NothingToCollect
        If the source is not there, or is neither a folder, a zip nor a notebook.
    """
    if source.is_dir():
        yield list(_of_folder(source))
        return
    if source.suffix == ".ipynb" and source.is_file():
        yield [_of_disk(source, PurePosixPath(source.name))]
        return
    with contextlib.ExitStack() as stack:
        try:
            archive = stack.enter_context(zipfile.ZipFile(stack.enter_context(source.open("rb"))))
        except OSError as error:
            raise NothingToCollect(f"{source} cannot be read: {error.strerror}") from error
        except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
            raise NothingToCollect(
                f"{source} is neither a folder, a zip nor a notebook ({error}): "
                "unpack it, and give the folder"
            ) from error
        yield list(_of_archive(archive, PurePosixPath()))


def inside(found: Found) -> list[Found]:
    """The files of an archive that a student handed in, or the file itself if it is none.

    Raises
    ------
    Refused
        If the archive climbs out, explodes, is nested, encrypted or broken.
    """
    if found.path.suffix.lower() != ".zip":
        return [found]
    data = found.read()
    _see_directory(data)
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise Refused(f"{found.path.name} is not a whole zip: {error}") from error
    _see_size(archive.infolist(), found.path.name)
    members = list(_of_archive(archive, found.path))
    for member in members:
        if member.refused:
            raise Refused(member.refused)
        if member.path.suffix.lower() == ".zip":
            raise Refused(f"{found.path.name} holds another archive: {member.path.name}")
    return members


def _of_folder(folder: Path) -> Iterator[Found]:
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _junk(name))
        for name in [*folders, *sorted(names)]:
            path = Path(here, name)
            if path.is_symlink() or name in names:
                inner = PurePosixPath(path.relative_to(folder).as_posix())
                if not _junk(name):
                    yield _of_disk(path, inner)


def _of_disk(path: Path, inner: PurePosixPath) -> Found:
    seen = path.lstat()
    modified = datetime.fromtimestamp(seen.st_mtime, UTC).replace(tzinfo=None, microsecond=0)
    refused = ""
    if stat.S_ISLNK(seen.st_mode):
        refused = f"{inner} is a link"
    elif not stat.S_ISREG(seen.st_mode):
        refused = f"{inner} is no plain file"

    def read() -> bytes:
        try:
            with path.open("rb") as file:
                return _capped(file, inner)
        except OSError as error:
            raise Refused(f"{inner} cannot be read: {error.strerror}") from error

    return Found(inner, modified, read, refused)


def _of_archive(archive: zipfile.ZipFile, below: PurePosixPath) -> Iterator[Found]:
    for entry in archive.infolist():
        name = entry.filename.replace("\\", "/")
        path = below / name.lstrip("/")
        if entry.is_dir() or any(_junk(part) for part in PurePosixPath(name).parts):
            continue
        yield Found(path, _time(entry), partial(_unpack, archive, entry), _suspect(entry, name))


def _suspect(entry: zipfile.ZipInfo, name: str) -> str:
    """Why an entry of an archive is not read, or nothing."""
    shown = name[:100]
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return f"{shown} has an absolute path"
    if ".." in PurePosixPath(name).parts:
        return f"{shown} climbs out of the archive"
    if stat.S_ISLNK(entry.external_attr >> 16):
        return f"{shown} is a link"
    if entry.flag_bits & 1:
        return f"{shown} is encrypted"
    if entry.file_size > SMALL and entry.file_size > MOST_RATIO * max(entry.compress_size, 1):
        return (
            f"{shown} would unpack to {entry.file_size / MEGABYTE:,.0f} MB, "
            f"{entry.file_size / max(entry.compress_size, 1):,.0f} times its size"
        )
    return ""


def _see_size(entries: list[zipfile.ZipInfo], name: str) -> None:
    if len(entries) > MOST_ENTRIES:
        raise Refused(f"{name} holds {len(entries):,} entries; more than {MOST_ENTRIES:,}")
    unpacked = sum(entry.file_size for entry in entries)
    if unpacked > MOST_UNPACKED_BYTES:
        raise Refused(f"{name} would unpack to {unpacked / MEGABYTE:,.0f} MB")


def _see_directory(data: bytes) -> None:
    """Refuse a list of contents that would itself fill the memory, before anything reads it."""
    end = data.rfind(b"PK\x05\x06")
    size = int.from_bytes(data[end + 12 : end + 16], "little") if end >= 0 else 0
    if size > MOST_ENTRIES * 500:
        raise Refused(f"its list of contents has {size / MEGABYTE:.0f} MB")


def _unpack(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    name = PurePosixPath(entry.filename)
    try:
        with archive.open(entry) as file:
            return _capped(file, name)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, OSError) as error:
        raise Refused(f"{name.name} cannot be unpacked: {error}") from error
    except Exception as error:  # zlib, lzma and bz2 raise errors of their own
        if isinstance(error, Refused):
            raise
        raise Refused(f"{name.name} cannot be unpacked: {error}") from error


def _capped(file: IO[bytes], path: PurePosixPath) -> bytes:
    most = MOST_ARCHIVE_BYTES if path.suffix.lower() == ".zip" else MOST_NOTEBOOK_BYTES
    data = file.read(most + 1)
    if len(data) > most:
        raise Refused(f"{path.name} has more than {most // MEGABYTE} MB")
    return data


def _time(entry: zipfile.ZipInfo) -> datetime | None:
    """When an entry was last changed, in UTC: from Unix's field, or as a time of this place."""
    extra = entry.extra
    while len(extra) >= 4:
        kind, size = int.from_bytes(extra[:2], "little"), int.from_bytes(extra[2:4], "little")
        if kind == 0x5455 and size >= 5 and extra[4] & 1:
            seconds = int.from_bytes(extra[5:9], "little", signed=True)
            return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
        extra = extra[4 + size :]
    if entry.date_time[0] <= 1980:  # what is written where nobody knew
        return None
    try:
        return datetime(*entry.date_time).astimezone(UTC).replace(tzinfo=None)
    except (ValueError, OverflowError):
        return None


def _junk(name: str) -> bool:
    return name in _JUNK or (name.startswith(".") and name not in (".", ".."))
