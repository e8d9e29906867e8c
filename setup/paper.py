"""Makes the book for paper: one PDF, from the same sources as its pages.

`python -m setup.paper` is what `make pdf` calls. It prints what a page shows before anything is
clicked: still pictures in place of figures that answer, hints unfolded, and without the code that a
page folds away.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from course_lib.errors import CourseError
from setup import book_site, chromium, one_file, only_on_screen

if TYPE_CHECKING:
    from playwright.sync_api import Page

NAME = "averages-to-transformers.pdf"

_OBJECT = re.compile(rb"\n(\d+) 0 obj\n(<<.*?)\nendobj", re.DOTALL)
_SCRIPT = re.compile(r"\.js(\?.*)?$")

NUMBER_CONTENTS = """numbers => {
  for (const line of document.querySelectorAll('.paper-contents p')) {
    const place = line.querySelector('a').getAttribute('href').slice(1);
    if (!(place in numbers)) throw new Error(`${place} is on no page`);
    line.querySelector('span').textContent = numbers[place];
  }
}"""
"""Puts into each line of the contents the number of the page that it leads to: in JavaScript."""


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
        # Scripts would put figures that answer, with their buttons, in place of still pictures.
        opened.route(_SCRIPT, lambda route: route.abort())
        opened.goto(page.as_uri(), wait_until="load", timeout=300_000)
        missing = opened.evaluate(script())
        if missing:
            raise PaperError(f"links that lead nowhere: {', '.join(missing[:20])}")
        opened.add_style_tag(path=_beside("paper.css"))
        opened.emulate_media(media="print")
        # Where a chapter begins is known only once the book is printed, so it is printed twice.
        opened.evaluate(NUMBER_CONTENTS, page_numbers(_printed(opened)))
        printed = _printed(opened)
        browser.close()
    lacking = untagged(printed)
    if lacking:
        raise PaperError(f"a screen reader could not read this PDF: {'; '.join(lacking)}")
    to.write_bytes(printed)


def page_numbers(printed: bytes) -> dict[str, int]:
    """On which page each place of a PDF is that a link leads to.

    Parameters
    ----------
    printed : bytes
        A PDF as Chromium writes it: places have names, and only pages' content is compressed.

    Returns
    -------
    dict of str to int
        The page's number, from 1, by the place's name.

    Raises
    ------
    PaperError
        If the file is written in another way.
    """
    objects = dict(_OBJECT.findall(printed))
    root = re.search(rb"/Type /Catalog\n/Pages (\d+) 0 R\n/Dests (\d+) 0 R", printed)
    if root is None:
        raise PaperError("the printed book has no list of places that links lead to")
    order = {page: number for number, page in enumerate(_leaves(objects, root[1]), start=1)}
    places = re.findall(rb"/(\S+) \[(\d+) 0 R /XYZ", objects[root[2]])
    return {_name(place): order[page] for place, page in places}


def untagged(printed: bytes) -> list[str]:
    """What a screen reader would miss in a PDF.

    Parameters
    ----------
    printed : bytes
        A PDF as Chromium writes it, with `tagged` and `outline`.

    Returns
    -------
    list of str
        In words: no tags, language, title or outline, or pictures without an alternative.
    """
    objects = dict(_OBJECT.findall(printed))
    catalog = next((one for one in objects.values() if b"/Type /Catalog" in one), b"")
    wanted = {
        b"/Marked true": "its text has no tags",
        b"/StructTreeRoot": "its tags have no tree",
        b"/Lang": "it names no language",
        b"/Outlines": "it has no outline",
    }
    lacking = [words for mark, words in wanted.items() if mark not in catalog]
    if not re.search(rb"/Title \(.+\)", printed):
        lacking.append("it has no title")
    pictures = [one for one in objects.values() if re.search(rb"/S /Figure\b", one)]
    bare = sum(b"/Alt" not in one for one in pictures)
    if bare:
        lacking.append(f"{bare} of {len(pictures)} pictures have no alternative")
    return lacking


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


def _printed(page: Page) -> bytes:
    return page.pdf(
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


def _leaves(objects: dict[bytes, bytes], node: bytes) -> Iterator[bytes]:
    """The pages below a node of a PDF's tree of pages, in their order."""
    below = re.search(rb"/Kids \[([^\]]*)\]", objects[node])
    if below is None:
        yield node
    else:
        for one in re.findall(rb"(\d+) 0 R", below[1]):
            yield from _leaves(objects, one)


def _name(written: bytes) -> str:
    """A name of a PDF as text: what is not a plain letter stands there as #41."""
    return re.sub(
        rb"#([0-9A-F]{2})", lambda found: bytes.fromhex(found[1].decode()), written
    ).decode()


def _beside(name: str) -> Path:
    return Path(__file__).with_name(name)


if __name__ == "__main__":
    sys.exit(main())
