"""Makes the book for paper: one PDF, from the same sources as its pages.

`python -m setup.paper` is what `make pdf` calls. It prints what a page shows before anything is
clicked: still pictures in place of figures that answer, hints unfolded, and without the code that a
page folds away.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

from course_lib.errors import CourseError
from setup import book_site, chromium

BUILDER = "singlehtml"
"""Of Sphinx: the whole book as one page."""

NAME = "averages-to-transformers.pdf"


class PaperError(CourseError):
    """The book for paper could not be made."""


def make(root: str | Path = book_site.ROOT) -> Path:
    """Make the book as one file.

    Parameters
    ----------
    root : path
        The course's folder, with `_config.yml` and `_toc.yml`.

    Returns
    -------
    Path
        The file, in `_build`.

    Raises
    ------
    PaperError
        If Jupyter Book reports an error, a link leads nowhere, or there is no browser to print
        with.
    """
    root = Path(root).resolve()
    workshop = root / "_build" / "making-pdf"
    shutil.rmtree(workshop, ignore_errors=True)
    workshop.mkdir(parents=True)
    made = root / "_build" / NAME
    try:
        pages = _build(root, workshop)
        # Sphinx leaves it where the first page is, and its styles where the folder begins.
        print_pdf(shutil.move(pages / "book" / "index.html", pages / "whole.html"), made)
    finally:
        shutil.rmtree(workshop, ignore_errors=True)
    return made


def print_pdf(page: Path, to: Path) -> None:
    """Print one page that holds the whole book, with an outline and working links.

    Parameters
    ----------
    page : Path
        HTML, as Sphinx's `singlehtml` makes it.
    to : Path
        The PDF; a file of that name is replaced.

    Raises
    ------
    PaperError
        If a link within the book leads nowhere, or there is no browser.
    """
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError as error:
        raise PaperError("printing needs Playwright for Python: pip install playwright") from error
    with sync_playwright() as playwright:
        try:
            browser = chromium.launch(playwright)
        except Error as error:
            raise PaperError(
                "printing needs Chromium: install it (sudo apt-get install chromium), "
                f"or run `playwright install chromium`. {error}"
            ) from error
        opened = browser.new_page(color_scheme="light")
        opened.goto(page.as_uri(), wait_until="load", timeout=300_000)
        missing = opened.evaluate(script())
        if missing:
            raise PaperError(f"links that lead nowhere: {', '.join(missing[:20])}")
        opened.add_style_tag(path=_beside("paper.css"))
        opened.emulate_media(media="print")
        opened.pdf(
            path=to,
            format="A4",
            margin=dict.fromkeys(("top", "bottom", "left", "right"), "18mm"),
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template='<span style="font-size:8px;width:100%;text-align:center" '
            'class="pageNumber"></span>',
            outline=True,
            tagged=True,
        )
        browser.close()


def script() -> str:
    """What makes a page of paper of a page on a screen: a function in JavaScript."""
    return _beside("paper.js").read_text(encoding="utf-8")


def main() -> int:
    """What `make pdf` calls; returns the exit code."""
    start = time.perf_counter()
    try:
        made = make()
    except CourseError as error:
        print(error, file=sys.stderr)
        return 1
    size, seconds = made.stat().st_size / 1e6, time.perf_counter() - start
    print(f"Made {made} in {seconds:.0f} s ({size:.1f} MB).")
    return 0


def _beside(name: str) -> Path:
    return Path(__file__).with_name(name)


def _build(root: Path, workshop: Path) -> Path:
    """The folder in which Sphinx's builder has left the book."""
    (workshop / "_config.yml").write_text(book_site.config_of(root, False), encoding="utf-8")
    (workshop / "_toc.yml").write_text(book_site.contents_of(root, False), encoding="utf-8")
    command = [sys.executable, "-c", book_site.JUPYTER_BOOK, "build", str(root)]
    command += ["--config", str(workshop / "_config.yml"), "--toc", str(workshop / "_toc.yml")]
    command += ["--path-output", str(workshop), "--builder", "custom"]
    command += ["--custom-builder", BUILDER, "-q"]
    result = subprocess.run(
        command, cwd=root, capture_output=True, encoding="utf-8", errors="replace", check=False
    )
    pages = workshop / "_build" / BUILDER
    if result.returncode or not pages.exists():
        said = (result.stdout + result.stderr).strip()
        raise PaperError(f"The book was not made:\n{said[-3000:]}")
    return pages


if __name__ == "__main__":
    sys.exit(main())
