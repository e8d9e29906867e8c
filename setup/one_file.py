"""The whole book in one file: what making it for paper and for e-readers have in common."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from course_lib.errors import CourseError
from setup import book_site


def make(root: str | Path, name: str, builder: str, write: Callable[[Path, Path], object]) -> Path:
    """Build the pages in a folder that is gone afterwards, and make one file of them.

    Parameters
    ----------
    root : path
        The course's folder, with `_config.yml` and `_toc.yml`.
    name : str
        The file's name; its ending names the folder as well.
    builder : str
        Sphinx's name of the pages' form.
    write : callable
        Makes the file: is given the folder of the pages, and the file's path.

    Returns
    -------
    Path
        The file, in `_build`.

    Raises
    ------
    BuildError
        If Jupyter Book reports an error or a warning.
    """
    made = Path(root).resolve() / "_build" / name
    workshop = made.parent / f"making-{made.suffix[1:]}"
    shutil.rmtree(workshop, ignore_errors=True)
    workshop.mkdir(parents=True)
    try:
        pages = book_site.run_jupyter_book(Path(root).resolve(), workshop, builder=builder)
        write(pages, made)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return made


def report(make_it: Callable[[], Path]) -> int:
    """Make a file and say where it is, or what was wrong; returns the exit code."""
    start = time.perf_counter()
    try:
        made = make_it()
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    size, seconds = made.stat().st_size / 1e6, time.perf_counter() - start
    print(f"Made {made} in {seconds:.0f} s ({size:.1f} MB).")
    return 0
