"""The course as one file, for readers of a site that names no repository.

It lies beside the site's first page, and holds what `make book` and `make lab` take: packages,
chapters, exercises and set-up. Solutions are in it only where the site shows them.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from course_lib import __version__

HELD = (
    *("course_lib", "course_tasks", "course_judges", "course_figures", "course_page"),
    *("course_grader", "book", "exercises", "examples", "setup", "Makefile", "pyproject.toml"),
    *("requirements.txt", "requirements-lock.txt", "requirements-test.txt", "_config.yml"),
    *("_toc.yml", "README.md", "CHANGELOG.md", "CITATION.cff", "LICENSE", "LICENSE-text"),
)
"""What is in it, by name in the course's folder."""

LEFT_OUT = (
    *("solutions", "tests", "benchmarks", "CONTRIBUTING.md", "Dockerfile", "compose.yaml"),
    *("nbgrader_config.py", "biome.json", "package.json", "package-lock.json"),
)
"""What is not, though git has it: solutions, and what those need who change or grade the course."""

_DATE = (2020, 1, 1, 0, 0, 0)  # the same files give the same bytes


def name() -> str:
    """The file's name: "course-1.0.zip" of release 1.0.3."""
    return f"course-{'.'.join(__version__.split('.')[:2])}.zip"


def write(root: Path, site: Path, *, solutions: bool = False) -> Path:
    """Put the archive into a site; one that is there is replaced.

    Parameters
    ----------
    root : Path
        The course's folder.
    site : Path
        The folder that holds `index.html`.
    solutions : bool
        Whether the site shows solutions.

    Returns
    -------
    Path
        The archive, all of whose files are in one folder, "course-1.0".
    """
    to = site / name()
    unfinished = to.with_suffix(".part")
    folder = to.stem
    with zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in _files(root, (*HELD, "solutions") if solutions else HELD):
            about = zipfile.ZipInfo(f"{folder}/{file.relative_to(root).as_posix()}", _DATE)
            about.compress_type = zipfile.ZIP_DEFLATED
            about.external_attr = (0o755 if file.stat().st_mode & 0o100 else 0o644) << 16
            archive.writestr(about, file.read_bytes())
    unfinished.replace(to)
    return to


def _files(root: Path, names: tuple[str, ...]) -> Iterator[Path]:
    """The files below some names, without what running the course leaves behind."""
    for top in sorted(root / one for one in names):
        for file in sorted(top.rglob("*")) if top.is_dir() else [top]:
            parts = file.relative_to(root).parts
            left = any(part.startswith((".", "__pycache__")) for part in parts)
            left = left or ("solutions" in parts and "solutions" not in names)
            if file.is_file() and not left and not file.is_symlink():
                yield file
