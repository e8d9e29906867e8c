"""Temporary folders that no killed grader leaves behind for good.

A folder belongs to a living process as long as that holds a lock on a file in it. The kernel gives
the lock back however the process ends, so whoever comes next can tell what is left over.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Self

from course_tasks.runner.limits import MEGABYTE

_LOCK = ".held"

# A folder in memory, on Linux. Deleting some hundred files takes a second on a disk that is told of
# each freed block, and a hundredth of one here; a container may have little room in it, or none.
_IN_MEMORY = Path("/dev/shm")
_ROOM_THAT_IS_LEFT = 16 * MEGABYTE


class ScratchFolder:
    """A new temporary folder of this process; a context manager.

    Others of the same prefix that killed processes of this user left behind are deleted first.

    Parameters
    ----------
    prefix : str
        For example "course-sandbox-".
    small : bool
        Whether what it will hold, a few megabytes, may stand in memory; it does where that has
        room.

    Attributes
    ----------
    path : Path
    """

    def __init__(self, prefix: str, *, small: bool = False):
        sweep(prefix)
        self.path = Path(tempfile.mkdtemp(prefix=prefix, dir=_in_memory() if small else None))
        # Under another name until it is locked: a lock file that nobody holds means a dead owner.
        draft = self.path / f"{_LOCK}.draft"
        self._lock = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        draft.rename(self.path / _LOCK)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.remove()

    def remove(self) -> None:
        """Delete the folder; a second time does nothing."""
        if self._lock >= 0:
            _delete(self.path)
            os.close(self._lock)
            self._lock = -1


def _places() -> tuple[Path, ...]:
    return tuple({Path(tempfile.gettempdir()), _IN_MEMORY})


def _in_memory() -> Path | None:
    """The folder in memory, if this process can write there and it has room."""
    with contextlib.suppress(OSError):
        held = os.statvfs(_IN_MEMORY)
        if held.f_bavail * held.f_frsize > _ROOM_THAT_IS_LEFT and os.access(_IN_MEMORY, os.W_OK):
            return _IN_MEMORY
    return None


def sweep(prefix: str) -> None:
    """Delete what killed processes of this user left behind; never what a living one holds."""
    for path in (one for place in _places() for one in place.glob(f"{prefix}*")):
        with contextlib.suppress(OSError):
            if path.is_symlink() or path.stat().st_uid != os.geteuid():
                continue
            lock = os.open(path / _LOCK, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                _delete(path)
            finally:
                os.close(lock)


def _delete(path: Path) -> None:
    """Delete a folder; one that a dying process still writes to is left to the next sweep."""
    with contextlib.suppress(OSError):
        for entry in path.iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            elif entry.name != _LOCK:
                entry.unlink()
        (path / _LOCK).unlink()
        try:
            path.rmdir()
        except OSError:
            (path / _LOCK).touch(mode=0o600)
