"""Makes the book for paper: one PDF, from the same sources as its pages.

`python -m setup.paper` is what `make pdf` calls. It prints what a page shows before anything is
clicked: still pictures in place of figures that answer, hints unfolded, and without the code that a
page folds away.
"""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from course_lib.errors import CourseError
from setup import book_site, chromium, one_file, only_on_screen

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
    BuildError
        If Jupyter Book reports an error or a warning.
    PaperError
        If a link leads nowhere, or there is no browser to print with.
    """
    return one_file.make(root, NAME, "singlehtml", _print)


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
    change = _beside("paper.js").read_text(encoding="utf-8")
    return f"() => (\n{change}\n)({json.dumps(only_on_screen.SELECTOR)})"


def main() -> int:
    """What `make pdf` calls; returns the exit code."""
    return one_file.report(make)


def _print(pages: Path, to: Path) -> None:
    # Sphinx leaves it where the first page is, and its styles where the folder begins.
    print_pdf(shutil.move(pages / "book" / "index.html", pages / "whole.html"), to)


def _beside(name: str) -> Path:
    return Path(__file__).with_name(name)


if __name__ == "__main__":
    sys.exit(main())
