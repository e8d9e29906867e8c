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
import stat
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from course_grader.errors import NothingToCollectError, RefusedDownloadError
from course_grader.lms import archives
from course_grader.lms.entries import Found, Part, is_junk, shown

# A folder on the disk may hold an environment with all its packages.
MOST_FILES = 20_000
MOST_DEPTH = 64


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
        remedy = "download it again, or unpack it and give the folder"
        try:
            file = stack.enter_context(source.open("rb"))
            found = archives.of_download(file, source.name)
        except OSError as error:
            raise NothingToCollectError(f"{source} cannot be read: {error.strerror}") from error
        except RefusedDownloadError as error:
            raise NothingToCollectError(
                f"{source} is not read as a folder, a zip or a notebook ({error}): {remedy}"
            ) from error
        yield found


def _alone(found: Found) -> Part:
    return Part(found.path.name, True, lambda: iter([found]), list)


def _of_folder(folder: Path) -> list[Part]:
    made = []
    with os.scandir(folder) as entries:
        for entry in sorted(entries, key=lambda each: each.name):
            if is_junk(entry.name):
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
            raise RefusedDownloadError(f"folders lie more than {MOST_DEPTH} deep")
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    number += 1
                    if number > MOST_FILES:
                        raise RefusedDownloadError(
                            f"it holds more than {MOST_FILES:,} files and folders"
                        )
                    if is_junk(entry.name):
                        continue
                    if entry.is_dir(follow_symlinks=False):
                        waiting.append((folder / entry.name, inner / entry.name))
                    else:
                        yield _of_disk(folder / entry.name, inner / entry.name)
        except OSError as error:
            raise RefusedDownloadError(
                f"{shown(inner.name)} cannot be read: {error.strerror}"
            ) from error


def _of_disk(path: Path, inner: PurePosixPath) -> Found:
    mode = path.lstat().st_mode
    refused = ""
    if stat.S_ISLNK(mode):
        refused = f"{shown(inner.name)} is a link"
    elif not stat.S_ISREG(mode):
        refused = f"{shown(inner.name)} is not a regular file"
    return Found(inner, lambda: path.open("rb"), refused)
