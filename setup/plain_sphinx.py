"""Builds the same pages without Jupyter Book, with the newest Sphinx, and says what differs.

Jupyter Book 1 gets repairs alone, and so does the Sphinx that it asks for. What it does for this
book is little: it reads `_config.yml` and `_toc.yml`. This module does that by itself, so that the
day on which the book has to leave costs a day. `python -m setup.plain_sphinx --beside SITE` builds
with whatever Sphinx its interpreter has and prints a report in Markdown; `--packages` prints what
to install for it. GitHub runs it every night.
"""

from __future__ import annotations

import argparse
import difflib
import importlib.metadata
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from bs4 import BeautifulSoup

from course_lib.errors import CourseError

ROOT = Path(__file__).resolve().parents[1]

PACKAGES = (
    "sphinx>=9",
    "myst-nb",
    "sphinx-book-theme",
    "sphinx-external-toc",
    "sphinx-togglebutton",
    "sphinx-copybutton",
    "sphinx-design",
    "sphinxcontrib-bibtex",
    "brotli",  # newer themes bring their fonts compressed alone
)
"""Instead of Jupyter Book, in their newest versions, beside what else the book needs."""

LEFT = ("jupyter_book", "sphinx_comments", "sphinx_jupyterbook_latex")
"""Extensions that come with Jupyter Book; no page of this book needs them."""

MOST_LISTED = 20

_HEADING, _READ = re.compile(r"^## (.*)$"), "To read"


class PlainBuildError(CourseError):
    """Sphinx made no page."""


def packages(root: Path = ROOT) -> list[str]:
    """What to install: `PACKAGES`, and what requirements.txt has under *To read*."""
    found, reading = [], False
    for line in (root / "requirements.txt").read_text(encoding="utf-8").splitlines():
        heading = _HEADING.match(line)
        reading = heading[1].startswith(_READ) if heading else reading
        requirement = line.partition("#")[0].strip()
        if reading and requirement and not requirement.startswith("jupyter-book"):
            found.append(requirement)
    return [*PACKAGES, *found]


def configuration(root: Path = ROOT) -> dict[str, Any]:
    """The names of a `conf.py`, from `_config.yml`.

    Parameters
    ----------
    root : Path
        The course's folder.

    Returns
    -------
    dict
        What Sphinx and its extensions are told, without Jupyter Book's own settings.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    sphinx = dict(config["sphinx"]["config"])
    sphinx["extensions"] = [one for one in sphinx["extensions"] if one not in LEFT]
    # Sphinx looks for these beside `conf.py`, which is not written into the course.
    if "html_static_path" in sphinx:
        sphinx["html_static_path"] = [str(root / one) for one in sphinx["html_static_path"]]
    if "html_favicon" in sphinx:
        sphinx["html_favicon"] = str(root / sphinx["html_favicon"])
    parse = config["parse"]
    return {
        "project": config["title"],
        "author": config["author"],
        "copyright": config["copyright"],
        "exclude_patterns": config["exclude_patterns"],
        "external_toc_path": str(root / "_toc.yml"),
        "external_toc_exclude_missing": config["only_build_toc_files"],
        "nb_execution_mode": config["execute"]["execute_notebooks"],
        "myst_enable_extensions": parse["myst_enable_extensions"],
        "myst_dmath_double_inline": parse["myst_dmath_double_inline"],
        "bibtex_bibfiles": [str(root / one) for one in config["bibtex_bibfiles"]],
        "html_baseurl": config["html"]["baseurl"],
        "html_theme": "sphinx_book_theme",
        "numfig": True,  # as Jupyter Book has it
    } | sphinx


def build(root: Path, site: Path) -> list[str]:
    """Build the pages with this interpreter's Sphinx.

    Parameters
    ----------
    root : Path
        The course's folder.
    site : Path
        Where the pages go.

    Returns
    -------
    list of str
        Sphinx's warnings, one a line.

    Raises
    ------
    PlainBuildError
        If it ends without a page; with its last lines.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    extensions = {str(root / at) for at in config["sphinx"]["local_extensions"].values()}
    with tempfile.TemporaryDirectory() as folder:
        workshop = Path(folder)
        (workshop / "conf.py").write_text(
            f"import sys\nsys.path[:0] = {sorted(extensions)!r}\n"
            f"globals().update({configuration(root)!r})\n",
            encoding="utf-8",
        )
        warnings = workshop / "warnings.txt"
        command = [sys.executable, "-m", "sphinx", "-b", "html", "-n", "--keep-going", "-q"]
        command += ["-c", folder, "-d", str(workshop / "doctrees"), "-w", str(warnings)]
        made = subprocess.run(
            [*command, str(root), str(site)],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root), "NO_COLOR": "1"},
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if not any(site.rglob("*.html")):
            last = "\n".join(f"{made.stdout}\n{made.stderr}".strip().splitlines()[-15:])
            raise PlainBuildError(f"Sphinx made no page. Its last lines:\n{last}")
        lines = warnings.read_text(encoding="utf-8").splitlines() if warnings.exists() else []
        return [line.replace(f"{root}/", "") for line in lines if line.strip()]


def differences(site: Path, beside: Path) -> Iterator[tuple[str, str]]:
    """What a reader of one site would see otherwise in the other.

    Parameters
    ----------
    site, beside : Path
        Two built sites.

    Yields
    ------
    str, str
        A page, and what is another there: its absence, or the first lines of text that differ.
    """
    pages = [
        {path.relative_to(one).as_posix() for path in one.rglob("*.html")} for one in (site, beside)
    ]
    for page in sorted(pages[1] - pages[0]):
        yield page, "is missing"
    for page in sorted(pages[0] - pages[1]):
        yield page, "is there in addition"
    for page in sorted(pages[0] & pages[1]):
        now, before = (_text(one / page) for one in (site, beside))
        changed = [
            line
            for line in difflib.unified_diff(before, now, lineterm="", n=0)
            if line[:1] in "+-" and not line.startswith(("+++", "---"))
        ]
        if changed:
            shown = " ".join(f"`{line[:90]}`" for line in changed[:2])
            yield page, f"{len(changed)} lines of text differ: {shown}"


def report(
    warnings: Sequence[str], found: Sequence[tuple[str, str]], used: Mapping[str, str]
) -> str:
    """The report, in Markdown."""
    lines = ["## The book with plain Sphinx", ""]
    lines += [", ".join(f"{name} {version}" for name, version in used.items()), ""]
    lines += [f"{len(warnings)} warnings, {len(found)} pages that differ."]
    for title, listed in (
        ("Warnings", [f"`{one[:200]}`" for one in warnings]),
        ("Pages", [f"{page} {what}" for page, what in found]),
    ):
        if listed:
            lines += ["", f"### {title}", "", *(f"- {one}" for one in listed[:MOST_LISTED])]
        if len(listed) > MOST_LISTED:
            lines += [f"- and {len(listed) - MOST_LISTED} more"]
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    """What GitHub calls every night; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m setup.plain_sphinx",
        description="Build the book without Jupyter Book, and say what differs.",
    )
    parser.add_argument("--packages", action="store_true", help="print what to install, and stop")
    parser.add_argument(
        "--beside", type=Path, default=ROOT / "_build/html", help="the site that is compared with"
    )
    parser.add_argument("--keep", type=Path, help="a folder for the pages, which else are removed")
    options = parser.parse_args(arguments)
    if options.packages:
        print("\n".join(packages()))
        return 0
    used = {
        name: importlib.metadata.version(name)
        for name in ("sphinx", "myst-nb", "sphinx-book-theme", "sphinx-external-toc")
    }
    with tempfile.TemporaryDirectory() as folder:
        site = options.keep or Path(folder)
        try:
            warnings = build(ROOT, site)
        except PlainBuildError as error:
            print(error, file=sys.stderr)
            return 1
        print(report(warnings, list(differences(site, options.beside)), used), end="")
    return 0


def _text(page: Path) -> list[str]:
    """Lines of text of a page's article; what is made anew by each build is left out."""
    soup = BeautifulSoup(page.read_text(encoding="utf-8"), "html.parser")
    article = soup.find("article") or soup
    for one in article.find_all(["script", "style", "svg"]):
        one.decompose()
    lines = (" ".join(line.split()) for line in article.get_text("\n").splitlines())
    return [line for line in lines if line]


if __name__ == "__main__":
    sys.exit(main())
