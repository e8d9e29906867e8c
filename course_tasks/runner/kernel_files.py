"""The kernel's own files, as in /proc, read and written in single calls.

The usual layers between a program and a file (paths as objects, buffers, text) would make a process
that was just forked copy a hundred pages.
"""

from __future__ import annotations

import os

_PART = 2**16


def read_from_kernel(path: str) -> str:
    """All of such a file.

    Raises
    ------
    OSError
        If it cannot be read, for example because its process has ended.
    """
    parts = []
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        while part := os.read(file, _PART):
            parts.append(part)
    finally:
        os.close(file)
    return b"".join(parts).decode("ascii", "replace")


def write_to_kernel(path: str | os.PathLike[str], words: str) -> None:
    """Write words to such a file in one call.

    Raises
    ------
    OSError
        If the kernel refuses them.
    """
    file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(file, words.encode("ascii"))
    finally:
        os.close(file)
