"""Builds the book as a site that needs no other machine.

`python -m setup.book_site` is what `make book` calls. A build that fails leaves the
last good site where it was; a build of sources that did not change is not made again.
"""

from __future__ import annotations

import argparse
import hashlib
import html
import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import yaml
from filelock import FileLock

from course_lib import __version__
from course_lib.errors import CourseError
from course_page import archive, editor, runtime
from course_page import site as page_site
from course_page.errors import RuntimeMissingError
from setup import course_archive
from setup.site_server import serve

ROOT = Path(__file__).resolve().parents[1]
"""The checkout that this file belongs to."""

_SOURCES = (
    "_config.yml",
    "_toc.yml",
    "book",
    "exercises",
    "course_figures",
    "course_page",
)


class BuildError(CourseError):
    """The book could not be built, or not without warnings."""


_TOOLS = (
    "jupyter-book",
    "myst-nb",
    "sphinx",
    "sphinx-book-theme",
    "sphinxcontrib-bibtex",
    "math-core",
    "ziamath",
    "fonttools",
)

# Not the `jupyter-book` script: its first line names an interpreter, wrong once a folder has moved.
# Extensions of the book import this package, which is installed nowhere: a book whose sources lie
# in another folder finds it, too.
_IMPORTS_THIS = {
    "PYTHONPATH": os.pathsep.join(
        filter(None, [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH")])
    )
}

_JUPYTER_BOOK = "from jupyter_book.cli.main import main; main()"

_STAMP = ".built-from"
_WARNING = re.compile(r"(WARNING|ERROR|CRITICAL|Error|Exception)\b")
_COLOR = re.compile(r"\x1b\[[0-9;]*m")


def build(
    root: str | Path = ROOT,
    *,
    solutions: bool = False,
    force: bool = False,
    python: bool = True,
) -> Path:
    """Build the book, with warnings as errors.

    Parameters
    ----------
    root : path
        The course's folder, with `_config.yml` and `_toc.yml`.
    solutions : bool
        Build the self-study edition, whose exercise pages are followed by their solutions, into
        `_build/self-study`; otherwise the book goes to `_build/html`.
    force : bool
        Build even if nothing changed.
    python : bool
        Let pages check answers. Where what that needs cannot be fetched, the site is built
        without it, and a line on the standard error says so.

    Returns
    -------
    Path
        The folder that holds `index.html`.

    Raises
    ------
    BuildError
        If Jupyter Book reports an error or a warning, with all of them in the message. The site
        of the last good build stays.
    """
    root = Path(root).resolve()
    site = root / "_build" / ("self-study" if solutions else "html")
    site.parent.mkdir(exist_ok=True)
    with FileLock(f"{site}.lock"):  # `make book` beside `make test`: the second waits, then reuses
        parts = _page_parts() if python else ()
        stamp = _digest(root, solutions, parts)
        if force or _read(site / _STAMP) != stamp:
            _make(root, site, solutions, stamp, parts)
        if not _repository(root).get("url"):
            course_archive.write(root, site, solutions=solutions)
    return site


def _page_parts() -> tuple[str, ...]:
    """What pages can be given to check answers: "python", and beside it "editor" and "pictures"."""
    every = {"python": runtime.PARTS, "editor": editor.PARTS, "pictures": runtime.PICTURES}
    try:  # at once: a source that has one of them may have all
        runtime.fetch([part for parts in every.values() for part in parts])
        return tuple(every)
    except RuntimeMissingError as error:
        found = tuple(name for name, parts in every.items() if runtime.held(parts))
        without = "this site's pages check no answers"
        if "python" in found:
            lacking = " and ".join(name for name in every if name not in found)
            without = f"this site's pages go without {lacking}"
        print(f"Note: {without}. {error}", file=sys.stderr)
        return found if "python" in found else ()


def prune(site: Path) -> None:
    """Take out of a built site what no page of it loads.

    Parameters
    ----------
    site : Path
        A folder that Jupyter Book built.
    """
    static = site / "_static"
    # The theme's debugging aids and templates, then its catalogues: of use at build only.
    for unused in [*static.rglob("*.map"), *static.glob("*.html")]:
        unused.unlink()
    shutil.rmtree(static / "locales", ignore_errors=True)
    for folder in sorted((path for path in static.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def main(arguments: Sequence[str] | None = None) -> int:
    """What `make book` calls; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m setup.book_site",
        description="Build the book and serve it on this machine.",
    )
    parser.add_argument("--solutions", action="store_true", help="the self-study edition")
    parser.add_argument("--force", action="store_true", help="build even if nothing changed")
    parser.add_argument(
        "--no-page", action="store_true", help="leave out what checks answers in the page"
    )
    parser.add_argument("--no-serve", action="store_true", help="only build")
    parser.add_argument("--port", type=int, default=8000, help="port to serve on (8000)")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        site = build(solutions=options.solutions, force=options.force, python=not options.no_page)
        seconds = time.perf_counter() - start
        print(f"Built {_shown(site)} in {seconds:.1f} s ({_megabytes(site):.1f} MB).", flush=True)
        if not options.no_serve:
            serve(site, options.port)
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


def _make(root: Path, site: Path, solutions: bool, stamp: str, parts: Sequence[str]) -> None:
    """Build beside the last good site, and take its place at the end."""
    workshop = root / "_build" / f"making-{site.name}"
    shutil.rmtree(workshop, ignore_errors=True)
    workshop.mkdir()
    try:
        made = run_jupyter_book(root, workshop, solutions=solutions, parts=parts)
        prune(made)
        if parts:
            page_site.write(made, parts)
        _lead_on(made, root)
        (made / _STAMP).write_text(stamp, encoding="utf-8")
        if site.exists():
            site.rename(workshop / "replaced")
        made.rename(site)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)


def _lead_on(site: Path, root: Path) -> None:
    """A page at the site's address that leads to the first one, in words, too.

    Jupyter Book's own is a bare instruction to browsers, without a language or a title.
    """
    title = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))["title"]
    first = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))["root"] + ".html"
    (site / "index.html").write_text(
        f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{html.escape(title)}</title>
<meta http-equiv="refresh" content="0; url={first}">
</head>
<body><main><h1><a href="{first}">{html.escape(title)}</a></h1></main></body>
</html>
""",
        encoding="utf-8",
    )


def _repository(root: Path) -> dict[str, str]:
    """Where the course is published, as `_config.yml` has it; empty where that names no place."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    return config.get("repository") or {}


def _config(root: Path, solutions: bool, builder: str, parts: Sequence[str]) -> str:
    """`_config.yml` with what follows from it: title of the edition, address of the repository."""
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    sphinx = config["sphinx"]["config"]
    # Jupyter Book looks for them beside the configuration that it is given, which lies elsewhere.
    extensions = config["sphinx"]["local_extensions"]
    config["sphinx"]["local_extensions"] = {one: str(root / at) for one, at in extensions.items()}
    repository = _repository(root)
    # Jupyter Book would put these into html_theme_options, which this configuration replaces.
    sphinx["html_theme_options"]["repository_url"] = repository.get("url") or ""
    sphinx["html_theme_options"]["repository_branch"] = repository.get("branch") or "main"
    sphinx["course_page"] = list(parts)
    if solutions:
        sphinx["html_title"] = f"{sphinx['html_title']} · self-study edition"
    if builder == "epub":
        sphinx["version"] = __version__
        sphinx["epub_show_urls"] = "no"
        # Sphinx's own package of the pages is thrown away: see setup/ebook.py.
        sphinx["suppress_warnings"] = [*sphinx["suppress_warnings"], "epub.unknown_project_files"]
    return yaml.safe_dump(config, allow_unicode=True, sort_keys=False)


def _contents(root: Path, solutions: bool) -> str:
    """`_toc.yml`; for self-study, with each exercise page followed by its solution."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))
    if solutions:
        for part in contents["parts"]:
            for chapter in part["chapters"]:
                chapter["sections"] = [
                    page
                    for section in chapter.get("sections", [])
                    for page in _with_solution(root, section)
                ]
                if not chapter["sections"]:
                    del chapter["sections"]
    return yaml.safe_dump(contents, allow_unicode=True, sort_keys=False)


def _with_solution(root: Path, section: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield section
    if section["file"].startswith("exercises/"):
        page = "solutions/" + section["file"].removeprefix("exercises/")
        if not (root / f"{page}.ipynb").exists():
            raise BuildError(f"{page}.ipynb does not exist: the exercise has no solution to show")
        yield {"file": page, "title": "Solutions"}


def run_jupyter_book(
    root: Path,
    workshop: Path,
    *,
    solutions: bool = False,
    builder: str = "html",
    parts: Sequence[str] = (),
) -> Path:
    """Build the pages in a folder of their own.

    Parameters
    ----------
    root : Path
        The course's folder.
    workshop : Path
        An empty folder.
    solutions : bool
        Whether each exercise is followed by its solution.
    builder : str
        Sphinx's name of a form: "html", "singlehtml" for one page, "epub" for e-readers.
    parts : sequence of str
        What pages get to check answers, as `course_page.site.write` takes it.

    Returns
    -------
    Path
        Where the pages are, in the workshop.

    Raises
    ------
    BuildError
        At an error or a warning; names each.
    """
    (workshop / "_config.yml").write_text(
        _config(root, solutions, builder, parts), encoding="utf-8"
    )
    (workshop / "_toc.yml").write_text(_contents(root, solutions), encoding="utf-8")
    command = [sys.executable, "-c", _JUPYTER_BOOK, "build", str(root)]
    command += ["--config", str(workshop / "_config.yml"), "--toc", str(workshop / "_toc.yml")]
    command += ["--path-output", str(workshop), "-W", "-n", "--keep-going", "-q"]
    if builder != "html":
        command += ["--builder", "custom", "--custom-builder", builder]
    result = subprocess.run(
        command,
        cwd=root,
        env={**os.environ, **_IMPORTS_THIS, "PYTHONWARNINGS": "ignore", "NO_COLOR": "1"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        errors="replace",
    )
    if result.returncode:
        lines = _COLOR.sub("", result.stdout).replace(f"{root}/", "").splitlines()
        faults = [line for line in lines if _WARNING.search(line)]
        report = "\n".join(faults or lines[-40:])
        raise BuildError(
            f"The book was not built: fix these, then build again.\n{report}\n"
            f"(the whole report: {_keep_log(root, lines)})"
        )
    return workshop / "_build" / builder


def _keep_log(root: Path, lines: list[str]) -> str:
    log = root / "_build" / "book.log"
    log.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return log.relative_to(root).as_posix()


def _digest(root: Path, solutions: bool, parts: Sequence[str]) -> str:
    """What a build depends on, as one hash: sources by content, tools by version."""
    digest = hashlib.sha256()
    for name in (*_SOURCES, *(("solutions",) if solutions else ())):
        top = root / name
        files = sorted(top.rglob("*")) if top.is_dir() else [top]
        for file in files:
            relative = file.relative_to(root)
            if file.is_file() and not any(
                p.startswith((".", "__pycache__")) for p in relative.parts
            ):
                digest.update(f"{relative.as_posix()}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    digest.update(" ".join(parts).encode())
    if parts:
        digest.update(archive.version().encode())
    for tool in _TOOLS:
        digest.update(f"{tool} {importlib.metadata.version(tool)}\n".encode())
    return digest.hexdigest()


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.exists() else ""


def _shown(path: Path) -> str:
    return str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)


def _megabytes(site: Path) -> float:
    return sum(path.stat().st_size for path in site.rglob("*") if path.is_file()) / 1e6


if __name__ == "__main__":
    sys.exit(main())
