"""Makes the book for e-readers: one EPUB 3 file, from the same sources as its pages.

`python -m setup.ebook` is what `make epub` calls. As on paper, still pictures stand in place of
figures that answer, and hints are unfolded. Sphinx writes the pages; the package around them, with
its contents by parts and chapters, is made here, because Sphinx takes a book's first page to stand
in the folder of all others and says nothing of drawings and formulas.
"""

from __future__ import annotations

import html
import os
import re
import sys
import time
import uuid
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from course_lib import __version__
from course_lib.errors import CourseError
from setup import book_site, one_file
from setup.ebook_pages import SUFFIX, Leaf, leaf, whole

NAME = "averages-to-transformers.epub"

_FOLDER = "EPUB"
_FONT = "_static/math/STIXTwoMath.woff"
_VARIABLE = re.compile(r"var\((--[\w-]+)\)")
_KINDS = {
    ".xhtml": "application/xhtml+xml",
    ".css": "text/css",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".jpeg": "image/jpeg",
    ".woff": "font/woff",
}
_WORDS = (
    "This is the book for e-readers. On its pages in a browser, the figures answer to you; here "
    "they are still pictures. The exercises are notebooks, which grade themselves where you run "
    "them; here you can read them."
)


class EbookError(CourseError):
    """The book for e-readers could not be made."""


@dataclass(frozen=True)
class Entry:
    """A line of the table of contents.

    Attributes
    ----------
    title : str
        As `_toc.yml` has it; empty if the page says it.
    page : str
        The page's name; empty for a part of the book.
    below : tuple of Entry
        What belongs to it.
    """

    title: str
    page: str
    below: tuple[Entry, ...] = ()

    def pages(self) -> Iterator[str]:
        """The page, and all below it."""
        if self.page:
            yield self.page
        for one in self.below:
            yield from one.pages()


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
    EbookError
        If a link leads nowhere, or a page shows a file that there is not.
    """
    toc, config = (
        yaml.safe_load((Path(root) / name).read_text(encoding="utf-8"))
        for name in ("_toc.yml", "_config.yml")
    )
    return one_file.make(
        root, NAME, "epub", lambda pages, to: _pack(book_files(pages, contents(toc), config), to)
    )


def contents(toc: Mapping[str, Any]) -> list[Entry]:
    """The table of contents of `_toc.yml`, the first page first."""
    parts = [
        Entry(part.get("caption", ""), "", tuple(map(_entry, part["chapters"])))
        for part in toc.get("parts", ())
    ]
    return [Entry("", toc["root"]), *map(_entry, toc.get("chapters", ())), *parts]


def book_files(
    pages: Path, parts: Sequence[Entry], config: Mapping[str, Any]
) -> dict[str, str | bytes]:
    """Every file of the book.

    Parameters
    ----------
    pages : Path
        The folder that Sphinx's builder `epub` wrote to.
    parts : sequence of Entry
        The table of contents.
    config : mapping
        `_config.yml`: title, author and copyright.

    Returns
    -------
    dict of str to str or bytes
        Content by the file's place in the package.

    Raises
    ------
    EbookError
        If a link leads nowhere, or a page shows a file that there is not.
    """
    names = [name for part in parts for name in part.pages()]
    leaves = {
        name: leaf(
            (pages / (name + SUFFIX)).read_text(encoding="utf-8"), name, set(names).__contains__
        )
        for name in names
    }
    _check(leaves)
    files: dict[str, str | bytes] = {
        "cover.svg": _cover(config),
        "cover.xhtml": whole(
            config["title"],
            '<p class="cover"><img src="cover.svg" alt="Cover"/></p>',
            "cover",
            "cover",
        ),
        "title.xhtml": _title_page(config),
        "contents.xhtml": _contents_page(parts, leaves),
        "book.css": _style(pages),
    }
    if (pages / _FONT).exists():
        files["STIXTwoMath.woff"] = (pages / _FONT).read_bytes()
    for name, one in leaves.items():
        files[name + SUFFIX] = one.markup
        files |= one.pictures
        for file in one.files:
            if not (pages / file).is_file():
                raise EbookError(f"{name} shows {file}, which is not a file of the book")
            files[file] = (pages / file).read_bytes()
    files["book.opf"] = _package(files, leaves, config)
    return files


def main() -> int:
    """What `make epub` calls; returns the exit code."""
    return one_file.report(make)


def _entry(line: Mapping[str, Any]) -> Entry:
    return Entry(line.get("title", ""), line["file"], tuple(map(_entry, line.get("sections", ()))))


def _check(leaves: Mapping[str, Leaf]) -> None:
    """Refuse links that lead nowhere."""
    astray = [
        f"{name} → {there}#{place}"
        for name, one in leaves.items()
        for there, place in one.links
        if place and place not in leaves[there].places
    ]
    if astray:
        raise EbookError(f"links that lead nowhere: {', '.join(astray[:20])}")


def _contents_page(parts: Sequence[Entry], leaves: Mapping[str, Leaf]) -> str:
    """The table of contents, as a page and for the e-reader's own."""
    lines = "".join(_line(one, leaves) for one in parts)
    marks = (
        ("cover", "cover.xhtml", "Cover"),
        ("titlepage", "title.xhtml", "Title page"),
        ("bodymatter", next(iter(leaves)) + SUFFIX, "Beginning"),
    )
    places = "".join(
        f'<li><a epub:type="{kind}" href="{file}">{words}</a></li>' for kind, file, words in marks
    )
    return whole(
        "Contents",
        f'<nav epub:type="toc" id="toc"><h1>Contents</h1><ol>{lines}</ol></nav>'
        f'<nav epub:type="landmarks" hidden=""><ol>{places}</ol></nav>',
        "contents",
    )


def _line(entry: Entry, leaves: Mapping[str, Leaf]) -> str:
    below = "".join(_line(one, leaves) for one in entry.below)
    if entry.page:
        page = leaves[entry.page]
        address = html.escape(entry.page + SUFFIX)
        below = (
            "".join(
                f'<li><a href="{address}#{html.escape(place)}">{html.escape(title)}</a></li>'
                for place, title in page.sections
            )
            + below
        )
        words = f'<a href="{address}">{html.escape(entry.title or page.title)}</a>'
    else:
        words = f"<span>{html.escape(entry.title or 'Chapters')}</span>"
    return f"<li>{words}{f'<ol>{below}</ol>' if below else ''}</li>"


def _title_page(config: Mapping[str, Any]) -> str:
    title, author, rights = (html.escape(config[key]) for key in ("title", "author", "copyright"))
    return whole(
        config["title"],
        f"<h1>{title}</h1><p>{author}</p><p>Version {__version__}</p><p>© {rights}</p>"
        f"<p>{_WORDS}</p>",
        "title",
        "titlepage",
    )


def _cover(config: Mapping[str, Any]) -> str:
    """A triangle of weights, as chapter 01 has it, below the title."""
    squares = "".join(
        f'<rect x="{90 + 54 * s}" y="{330 + 54 * t}" width="50" height="50" rx="4" '
        f'fill="#a23a8c" fill-opacity="{1 / (t + 1) if s <= t else 0.05:.2f}"/>'
        for t in range(8)
        for s in range(8)
    )
    words = config["title"].split()
    half = (len(words) + 1) // 2
    lines = [" ".join(words[:half]), " ".join(words[half:])]
    title = "".join(
        f'<text x="300" y="{150 + 62 * i}" font-size="46" font-weight="bold">'
        f"{html.escape(line)}</text>"
        for i, line in enumerate(lines)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 900" width="600" height="900" '
        'font-family="sans-serif" fill="#1f2328" text-anchor="middle">'
        f"<title>{html.escape(config['title'])}</title>"
        f'<rect width="600" height="900" fill="#ffffff"/>{title}{squares}'
        f'<text x="300" y="822" font-size="22">Version {__version__}</text>'
        f'<text x="300" y="856" font-size="20">{html.escape(config["copyright"])}</text></svg>\n'
    )


def _style(pages: Path) -> str:
    """The one style sheet; a color is written where it is used, for readers without variables."""
    own = Path(__file__).with_name("ebook.css").read_text(encoding="utf-8")
    colors = dict(re.findall(r"(--[\w-]+):\s*([^;]+);", own))
    drawings = _light((pages / "_static" / "you_are_here.css").read_text(encoding="utf-8"))
    colors |= dict(re.findall(r"(--[\w-]+):\s*([^;]+);", drawings))
    text = f"{drawings}\n{own}"
    return _VARIABLE.sub(lambda found: colors.get(found[1], found[0]), text)


def _light(style: str) -> str:
    """A style sheet without the colors of a dark page."""
    return re.sub(r'html\[data-theme="dark"\] \{[^}]*\}', "", style)


def _package(
    files: Mapping[str, str | bytes], leaves: Mapping[str, Leaf], config: Mapping[str, Any]
) -> str:
    """The package's own description of itself."""
    title, author, rights = (html.escape(config[key]) for key in ("title", "author", "copyright"))
    # One name for all copies of a release, wherever they are made.
    name = uuid.uuid5(uuid.NAMESPACE_OID, f"{config['title']} {__version__}")
    since = int(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    modified = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(since))
    numbers = {file: f"f{number}" for number, file in enumerate(files)}
    items = []
    for file, number in numbers.items():
        has = (
            set(leaves[file.removesuffix(SUFFIX)].has)
            if file.removesuffix(SUFFIX) in leaves
            else set()
        )
        has |= {"contents.xhtml": {"nav"}, "cover.svg": {"cover-image"}}.get(file, set())
        kind = _KINDS[Path(file).suffix]
        properties = f' properties="{" ".join(sorted(has))}"' if has else ""
        items.append(
            f'<item id="{number}" href="{html.escape(file)}" media-type="{kind}"{properties}/>'
        )
    order = ["cover.xhtml", "title.xhtml", "contents.xhtml", *(one + SUFFIX for one in leaves)]
    spine = "".join(f'<itemref idref="{numbers[file]}"/>' for file in order)
    access = "".join(
        f'<meta property="schema:{name}">{value}</meta>'
        for name, value in (
            ("accessMode", "textual"),
            ("accessMode", "visual"),
            ("accessModeSufficient", "textual"),
            ("accessibilityFeature", "MathML"),
            ("accessibilityFeature", "alternativeText"),
            ("accessibilityFeature", "tableOfContents"),
            ("accessibilityHazard", "none"),
            (
                "accessibilitySummary",
                "Pictures have descriptions, formulas are MathML, and headings are nested.",
            ),
        )
    )
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<package xmlns="http://www.idpf.org/2007/opf" version="3.0" unique-identifier="name" '
        'xml:lang="en"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f'<dc:identifier id="name">urn:uuid:{name}</dc:identifier><dc:title>{title}</dc:title>'
        f"<dc:creator>{author}</dc:creator><dc:language>en</dc:language><dc:rights>{rights}</dc:rights>"
        f'<meta property="dcterms:modified">{modified}</meta>{access}</metadata>'
        f"<manifest>{''.join(items)}</manifest><spine>{spine}</spine></package>\n"
    )


def _pack(files: Mapping[str, str | bytes], to: Path) -> None:
    """Write the package; the file that says what it is comes first and is not compressed."""
    container = (
        '<?xml version="1.0" encoding="utf-8"?>\n'
        '<container version="1.0" xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        f'<rootfiles><rootfile full-path="{_FOLDER}/book.opf" '
        'media-type="application/oebps-package+xml"/></rootfiles></container>\n'
    )
    with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/epub+zip", zipfile.ZIP_STORED)
        package.writestr("META-INF/container.xml", container)
        for name, content in files.items():
            package.writestr(f"{_FOLDER}/{name}", content)


if __name__ == "__main__":
    sys.exit(main())
