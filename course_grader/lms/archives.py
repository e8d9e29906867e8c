"""Zip archives, of a platform or of a student: what is in them, and why it may not be read.

Nothing is unpacked onto the disk under a name of its own. The list of contents is read up to a
length; an entry that climbs out, is a link, is encrypted, or would explode is refused, and so is
one that is packed in a way that cannot be unpacked piece by piece.
"""

from __future__ import annotations

import contextlib
import re
import stat
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import PurePosixPath
from typing import IO, Any, cast

from course_grader.errors import RefusedDownloadError
from course_grader.lms.entries import MEGABYTE, Allowance, Found, Part, chunks, is_junk, shown

MOST_ENTRIES = 2000
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


def of_download(file: IO[bytes], name: str) -> list[Part]:
    """The first level of a platform's archive.

    Raises
    ------
    RefusedDownloadError
        If it is no whole zip, or lists more than is read.
    """
    most = MOST_ENTRIES_OF_A_DOWNLOAD
    archive = _open_zip(file, name, most, most * _DOWNLOAD_ENTRY_BYTES)
    wanted = list(_wanted(archive.infolist()))
    strays = [info for info in wanted if _climbs(_plain(info))]
    lying = [info for info in wanted if not _climbs(_plain(info))]
    return [*map(_stray, strays), *_grouped(archive, lying, 0)]


@contextlib.contextmanager
def members(found: Found, allowance: Allowance) -> Iterator[list[Found]]:
    """The files of an archive that a student handed in, or the file itself if it is none.

    Raises
    ------
    RefusedDownloadError
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
                raise RefusedDownloadError(member.refused)
            if member.path.suffix.lower() == ".zip":
                raise RefusedDownloadError(
                    f"{shown(found.path.name)} holds another archive: {shown(member.path.name)}"
                )
        yield inside


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
            raise RefusedDownloadError(
                f"its list of contents has more than {self._most / MEGABYTE:.1f} MB"
            )
        return data


def _open_zip(file: IO[bytes], name: str, most: int, directory: int) -> zipfile.ZipFile:
    try:
        archive = zipfile.ZipFile(cast(Any, _Guarded(file, directory)))
    except RefusedDownloadError:
        raise
    except Exception as error:  # broken archives make zipfile raise whatever comes
        raise RefusedDownloadError(
            f"{shown(name)} is not a whole zip: {shown(str(error))}"
        ) from error
    if len(archive.infolist()) > most:
        raise RefusedDownloadError(
            f"{shown(name)} holds {len(archive.infolist()):,} entries; more than {most:,}"
        )
    return archive


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
        junk = any(is_junk(part) for part in PurePosixPath(_plain(info)).parts)
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
            f"{info.file_size / max(info.compress_size, 1):,.0f} times its size: "
            "ask for the notebook without outputs"
        )
    return ""
