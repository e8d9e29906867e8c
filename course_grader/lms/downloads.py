"""What lies in a download of a learning platform: its first level, and the files below.

Nothing is unpacked onto the disk under a name of its own. Names decide whose a file is and are
never used as paths. All reading is bounded by construction, because everything below the first
level was chosen by students: files are read in chunks, lists of contents up to a length, and all
that one student sent up to a total; what was packed in a way that cannot be unpacked piece by piece
is refused.

No time is read here, because none can be trusted. Inside what a student sent, times are the
student's choice. Outside of it they do not say when it was sent: Canvas writes the moment at which
it built the archive into each entry, and so does Moodle since its archives are streamed; before
that, Moodle wrote when its store first saw the same bytes, whoever uploaded them. Files in a folder
have the time at which somebody saved or unpacked them.
"""

from __future__ import annotations

import contextlib
import os
import re
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from course_grader.errors import NothingToCollectError

MEGABYTE = 2**20

# A notebook of the course has some 100 kB with its outputs.
MOST_NOTEBOOK_BYTES = 64 * MEGABYTE
# What one student may send as an archive; a few pictures beside a notebook fit in.
MOST_ARCHIVE_BYTES = 128 * MEGABYTE
# All that is read of one student, archives and what is in them together.
MOST_READ_BYTES = 256 * MEGABYTE
MOST_ENTRIES = 2000
# A folder on the disk may hold an environment with all its packages.
MOST_FILES = 20_000
MOST_DEPTH = 64
# A class of a thousand with fifty files each; larger ones are given as a folder.
MOST_ENTRIES_OF_A_DOWNLOAD = 50_000
# Bytes of a list of contents for each entry that is allowed.
_ENTRY_BYTES = 400
_DOWNLOAD_ENTRY_BYTES = 240
# The end of a zip is looked for in so many bytes, its comment included.
_END_BYTES = 70_000
# Notebooks shrink to a tenth, white pictures in them to a hundredth; bombs to a thousandth.
MOST_RATIO = 200
# What is smaller than this cannot explode, however well it was packed.
SMALL = MEGABYTE
# These can be unpacked piece by piece; the others return whatever a piece unfolds to.
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_RARE = {zipfile.ZIP_BZIP2: "bzip2", zipfile.ZIP_LZMA: "LZMA", 9: "Deflate64"}
_CHUNK = 256 * 2**10

_JUNK = ("__MACOSX", "__pycache__")
_SHOWN = 100


class Refused(Exception):
    """An archive, or a part of one, that is not read; the message says why."""


class Allowance:
    """How many bytes may still be read of what one student sent."""

    def __init__(self, left: int = MOST_READ_BYTES):
        self.left = left

    def take(self, size: int) -> None:
        """Count what was read.

        Raises
        ------
        Refused
            If it was too much, all in all.
        """
        self.left -= size
        if self.left < 0:
            raise Refused(f"more than {MOST_READ_BYTES // MEGABYTE} MB in all: ask for less")


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
        Its files, one by one; their paths begin with its name. Raises `Refused`.
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


@contextlib.contextmanager
def parts(source: Path) -> Iterator[list[Part]]:
    """The first level of a folder or a zip; its files can be read inside the block.

    Raises
    ------
    NothingToCollectError
        If the source is not there, or is neither a folder, a zip nor a notebook.
    """
    if source.is_dir():
        yield _of_folder(source)
        return
    if source.suffix == ".ipynb" and source.is_file():
        yield [_alone(_of_disk(source, PurePosixPath(source.name)))]
        return
    with contextlib.ExitStack() as stack:
        remedy = "unpack it, and give the folder"
        try:
            file = stack.enter_context(source.open("rb"))
            most = MOST_ENTRIES_OF_A_DOWNLOAD
            archive = _open_zip(file, source.name, most, most * _DOWNLOAD_ENTRY_BYTES)
        except OSError as error:
            raise NothingToCollectError(f"{source} cannot be read: {error.strerror}") from error
        except Refused as error:
            raise NothingToCollectError(
                f"{source} is not read as a folder, a zip or a notebook ({error}): {remedy}"
            ) from error
        yield _of_archive(archive)


@contextlib.contextmanager
def members(found: Found, allowance: Allowance) -> Iterator[list[Found]]:
    """The files of an archive that a student handed in, or the file itself if it is none.

    Raises
    ------
    Refused
        If the archive climbs out, explodes, is nested, encrypted or broken.
    """
    if found.path.suffix.lower() != ".zip":
        yield [found]
        return
    with tempfile.TemporaryFile() as copy:
        for data in chunks(found, allowance):
            copy.write(data)
        limit = max(MOST_ENTRIES * _ENTRY_BYTES, _END_BYTES)
        archive = _open_zip(copy, found.path.name, MOST_ENTRIES, limit)
        inside = [_entry(archive, info, found.path) for info in _wanted(archive.infolist())]
        for member in inside:
            if member.refused:
                raise Refused(member.refused)
            if member.path.suffix.lower() == ".zip":
                raise Refused(
                    f"{shown(found.path.name)} holds another archive: {shown(member.path.name)}"
                )
        yield inside


def chunks(found: Found, allowance: Allowance) -> Iterator[bytes]:
    """A file's bytes, piece by piece.

    Raises
    ------
    Refused
        If it may not or cannot be read, or is longer than is read.
    """
    if found.refused:
        raise Refused(found.refused)
    name = shown(found.path.name)
    most = MOST_ARCHIVE_BYTES if found.path.suffix.lower() == ".zip" else MOST_NOTEBOOK_BYTES
    size = 0
    try:
        with found.open() as file:
            while data := file.read(_CHUNK):
                size += len(data)
                if size > most:
                    raise Refused(f"{name} has more than {most // MEGABYTE} MB")
                allowance.take(len(data))
                yield data
    except Refused:
        raise
    except Exception as error:  # broken archives make zipfile and zlib raise whatever comes
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise Refused(f"{name} cannot be read: {shown(str(why))}") from error


def shown(name: str) -> str:
    """A name of somebody else's, so that a terminal and a file can hold it: short and printable.

    >>> shown("a\\x1b[2Jb")
    'a�[2Jb'
    """
    text = "".join(each if each.isprintable() else "\N{REPLACEMENT CHARACTER}" for each in name)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


class _Guarded:
    """A file of which no long piece is read at once.

    `zipfile` reads a list of contents whole, however long the archive says that it is.
    """

    def __init__(self, file: IO[bytes], most: int):
        self._file, self._most = file, most
        self.seek, self.tell, self.seekable = file.seek, file.tell, file.seekable

    def read(self, size: int | None = -1) -> bytes:
        whole = size is None or size < 0
        data = self._file.read(self._most + 1 if size is None or whole else min(size, self._most))
        if len(data) > self._most or (size is not None and size > self._most):
            raise Refused(f"its list of contents has more than {self._most / MEGABYTE:.1f} MB")
        return data


def _open_zip(file: IO[bytes], name: str, most: int, directory: int) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(cast(Any, _Guarded(file, directory)))
    except Refused:
        raise
    except Exception as error:  # broken archives make zipfile raise whatever comes
        raise Refused(f"{shown(name)} is not a whole zip: {shown(str(error))}") from error
    if len(archive.infolist()) > most:
        raise Refused(
            f"{shown(name)} holds {len(archive.infolist()):,} entries; more than {most:,}"
        )
    return archive


def _alone(found: Found) -> Part:
    return Part(found.path.name, True, lambda: iter([found]), list)


def _of_folder(folder: Path) -> list[Part]:
    made = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if _junk(entry.name):
                continue
            path = Path(entry.path)
            if entry.is_dir(follow_symlinks=False):
                files = partial(_walk, path, PurePosixPath(entry.name))
                made.append(Part(entry.name, False, files, partial(_of_folder, path)))
            else:
                made.append(_alone(_of_disk(path, PurePosixPath(entry.name))))
    return made


def _walk(top: Path, inner: PurePosixPath) -> Iterator[Found]:
    """All files below a folder; without recursion, because students choose how deep it goes."""
    waiting = [(top, inner)]
    number = 0
    while waiting:
        folder, inner = waiting.pop()
        if len(inner.parts) > MOST_DEPTH:
            raise Refused(f"folders lie more than {MOST_DEPTH} deep")
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    number += 1
                    if number > MOST_FILES:
                        raise Refused(f"it holds more than {MOST_FILES:,} files and folders")
                    if _junk(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((folder / entry.name, inner / entry.name))
                    else:
                        yield _of_disk(folder / entry.name, inner / entry.name)
        except OSError as error:
            raise Refused(f"{shown(inner.name)} cannot be read: {error.strerror}") from error


def _of_disk(path: Path, inner: PurePosixPath) -> Found:
    mode = path.lstat().st_mode
    refused = ""
    if stat.S_ISLNK(mode):
        refused = f"{shown(inner.name)} is a link"
    elif not stat.S_ISREG(mode):
        refused = f"{shown(inner.name)} is no plain file"
    return Found(inner, lambda: path.open("rb"), refused)


def _of_archive(archive: zipfile.ZipFile) -> list[Part]:
    wanted = list(_wanted(archive.infolist()))
    strays = [info for info in wanted if _climbs(_plain(info))]
    lying = [info for info in wanted if not _climbs(_plain(info))]
    return [*map(_stray, strays), *_grouped(archive, lying, 0)]


def _stray(info: zipfile.ZipInfo) -> Part:
    name = _plain(info)
    return Part(shown(name), True, lambda: iter([]), list, _climbs(name))


def _grouped(archive: zipfile.ZipFile, infos: Sequence[zipfile.ZipInfo], depth: int) -> list[Part]:
    """Entries by what stands at a depth of their names."""
    groups: dict[str, list[zipfile.ZipInfo]] = {}
    folders = set()
    for info in infos:
        path = PurePosixPath(_plain(info)).parts
        if len(path) > depth:
            groups.setdefault(path[depth], []).append(info)
            if len(path) > depth + 1:
                folders.add(path[depth])

    def files(group: Sequence[zipfile.ZipInfo]) -> Iterator[Found]:
        for info in group:
            path = PurePosixPath(*PurePosixPath(_plain(info)).parts[depth:])
            yield _entry(archive, info, path=path)

    return [
        Part(
            name,
            name not in folders,
            partial(files, group),
            partial(_grouped, archive, group, depth + 1),
        )
        for name, group in sorted(groups.items())
    ]


def _wanted(infos: Sequence[zipfile.ZipInfo]) -> Iterator[zipfile.ZipInfo]:
    for info in infos:
        junk = any(_junk(part) for part in PurePosixPath(_plain(info)).parts)
        if _plain(info).strip("/") and not info.is_dir() and not junk:
            yield info


def _entry(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    below: PurePosixPath | None = None,
    path: PurePosixPath | None = None,
) -> Found:
    name = _plain(info)
    where = path or (below or PurePosixPath()) / name.lstrip("/")
    return Found(where, partial(archive.open, info), _suspect(info, name))


def _plain(info: zipfile.ZipInfo) -> str:
    return info.filename.replace("\\", "/")


def _climbs(name: str) -> str:
    if name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return f"{shown(name)} has an absolute path"
    if ".." in PurePosixPath(name).parts:
        return f"{shown(name)} climbs out of the archive"
    return ""


def _suspect(info: zipfile.ZipInfo, name: str) -> str:
    """Why an entry of an archive is not read, or nothing."""
    if words := _climbs(name):
        return words
    if stat.S_ISLNK(info.external_attr >> 16):
        return f"{shown(name)} is a link"
    if info.flag_bits & 1:
        return f"{shown(name)} is encrypted"
    if info.compress_type not in _METHODS:
        method = _RARE.get(info.compress_type, f"number {info.compress_type}")
        return f"{shown(name)} is packed by the method {method}: ask for an ordinary .zip"
    if info.file_size > SMALL and info.file_size > MOST_RATIO * max(info.compress_size, 1):
        return (
            f"{shown(name)} would unpack to {info.file_size / MEGABYTE:,.0f} MB, "
            f"{info.file_size / max(info.compress_size, 1):,.0f} times its size"
        )
    return ""


def _junk(name: str) -> bool:
    if "_assignsubmission_" in name:  # Moodle's folder of somebody whose name begins with a dot
        return False
    return name in _JUNK or (name.startswith(".") and name not in (".", ".."))
