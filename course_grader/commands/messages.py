"""What every command shows in the same way: an error with its remedy, and a path."""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

import typer
from rich import markup
from rich.console import Console

from course_lib.errors import CourseError

COULD_NOT = 2
"""Exit code when the question could not even be asked; 1 is an answer: no."""

# What the system refuses to any command, and what helps.
_REMEDIES = {
    errno.ENOSPC: "make room in the course's folder and in the system's folder for temporary files",
    errno.EDQUOT: "make room, or ask for a larger quota",
    errno.EROFS: "put the course's folder where it can be written",
    errno.EACCES: "give yourself the right to read and write it",
    errno.EPERM: "give yourself the right to read and write it",
    errno.EMFILE: "allow more open files (ulimit -n), or lower --jobs",
}


# Of names that others chose: what moves a terminal's cursor, colors it or asks it something.
_CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def escape(words: str) -> str:
    """Somebody's words for a terminal: no markup of ours, and no command to the terminal."""
    return markup.escape(_CONTROL.sub("\N{REPLACEMENT CHARACTER}", words))


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Show an error that the course raises on purpose, or a disk that is full or not to be written,
    as a message without a traceback.
    """
    try:
        yield
        return
    except CourseError as error:
        raised: Exception = error
        said = str(error)
    except OSError as error:
        raised = error
        remedy = next((words for number, words in _REMEDIES.items() if _is(number, error)), None)
        if remedy is None:
            raise
        said = f"{error}: {remedy}, then run the command again"
    Console(stderr=True).print(f"[red]✗[/] {escape(said)}", soft_wrap=True)
    raise typer.Exit(COULD_NOT) from raised


def _is(number: int, error: OSError) -> bool:
    """`shutil` gathers errors of several files, and keeps only their words."""
    return error.errno == number or (error.errno is None and os.strerror(number) in str(error))


def within(root: Path, path: Path) -> str:
    """A path as somebody in the course's folder writes it."""
    return escape(str(path.relative_to(root) if path.is_relative_to(root) else path))
