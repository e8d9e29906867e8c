"""What lies in a download of a learning platform: its first level, and the files below.

Nothing is unpacked onto the disk under a name of its own. Names decide whose a file is and are
never used as paths. All reading is bounded by construction, because everything below the first
level was chosen by students: files are read in chunks, lists of contents up to a length, and all
that one student sent up to a total; what was packed in a way that cannot be unpacked piece by piece
is refused. A folder may be one that students can still write to: see `opened`.

No time is read here, because none can be trusted. Inside what a student sent, times are the
student's choice. Outside of it they do not say when it was sent: Canvas writes the moment at which
it built the archive into each entry, and so does Moodle since its archives are streamed; before
that, Moodle wrote when its store first saw the same bytes, whoever uploaded them. Files in a folder
have the time at which somebody saved or unpacked them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path, PurePosixPath

from course_grader.errors import NothingToCollectError, RefusedDownloadError
from course_grader.lms import archives
from course_grader.lms.entries import Found, Part, is_junk, shown
from course_grader.lms.opened import OpenedFolder, TooManyEntriesError, opened_folder

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
    with contextlib.ExitStack() as stack:
        remedy = "download it again, or unpack it and give the folder"
        try:
            if source.is_dir():
                found = _of_folder(stack.enter_context(opened_folder(source)), ())
            elif source.suffix == ".ipynb" and source.is_file():
                top = stack.enter_context(opened_folder(source.parent))
                found = [_alone(_of_disk(top, (source.name,), PurePosixPath(source.name)))]
            else:
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


def _of_folder(top: OpenedFolder, inner: tuple[str, ...]) -> list[Part]:
    """The entries of a folder inside an opened one, as parts."""
    made = []
    for entry in sorted(top.entries(*inner), key=lambda each: each.name):
        if is_junk(entry.name):
            continue
        below, path = (*inner, entry.name), PurePosixPath(entry.name)
        if entry.is_folder:
            files = partial(_walk, top, below, path)
            made.append(Part(entry.name, False, files, partial(_of_folder, top, below)))
        else:
            made.append(_alone(_of_disk(top, below, path)))
    return made


def _walk(top: OpenedFolder, below: tuple[str, ...], path: PurePosixPath) -> Iterator[Found]:
    """All files below a folder; without recursion, because students choose how deep it goes."""
    waiting = [(below, path)]
    number = 0
    while waiting:
        below, path = waiting.pop()
        if len(path.parts) > MOST_DEPTH:
            raise RefusedDownloadError(f"folders lie more than {MOST_DEPTH} deep")
        try:
            for entry in top.entries(*below, most=MOST_FILES - number):
                number += 1
                if is_junk(entry.name):
                    continue
                one, its = (*below, entry.name), path / entry.name
                if entry.is_folder:
                    waiting.append((one, its))
                else:
                    yield _of_disk(top, one, its)
        except TooManyEntriesError as error:
            raise RefusedDownloadError(
                f"it holds more than {MOST_FILES:,} files and folders"
            ) from error
        except OSError as error:
            raise RefusedDownloadError(
                f"{shown(path.name)} cannot be read: {error.strerror}"
            ) from error


def _of_disk(top: OpenedFolder, below: tuple[str, ...], path: PurePosixPath) -> Found:
    """A file in an opened folder; what it is now is a hint, and is asked again of the open file."""
    return Found(path, partial(top.file, *below), top.refusal(*below))
