"""A Sphinx extension: what the search box knows, one entry for each section of the site.

When all pages are written, their sections are read: title, text and code, without outputs, folded
checks and scripts. They become one script, which a page loads when its search box is first used;
a script and no data, because a page that lies in a folder may load nothing else. MiniSearch (MIT)
ranks them in the page: BM25 with weights, beginnings of words and misspellings. It is fetched as
what runs Python in a page is; where it is not to be had, the theme's own search is all there is.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bs4 import BeautifulSoup, Tag

from course_page import runtime
from course_page.errors import RuntimeMissingError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "search"
"""Where the scripts are, among the static files."""

INDEX, RANKING = "sections.js", "minisearch.js"

PARTS = (
    runtime.of_npm(
        "minisearch",
        "7.2.0",
        "dist/umd/index.js",
        86_348,
        "03c27931eb603af1d3358579e9885eafdb6a2f5fa9929557b3e77d7e99d06d03",
        name=RANKING,
    ),
)
"""What ranks."""

WORDS = Path(__file__).resolve().parents[1] / "section_words.toml"
"""What learners call sections who do not know their titles."""

KINDS = (
    ("exercises/", "exercise"),
    ("solutions/", "solution"),
    ("book/field-guide", "field guide"),
    ("book/glossary", "glossary"),
    ("book/gallery", "figure"),
    ("book/instructor", "for instructors"),
    ("book/distribution", "for instructors"),
    ("book/private-tasks", "for instructors"),
    ("book/where-it-runs", "for instructors"),
    ("book/privacy", "for instructors"),
)
"""What a result is called by where its page is; else a page with a number is a chapter."""

_DROPPED = (
    "script, style, nav, .headerlink, .cell_output, .checks, .check-mark, .copybtn, figcaption, "
    ".notebook-buttons, .task-badges, .recorded-verdicts, .tag_assertion, .path-picture, "
    ".linked-listing, .references, .citation, .prev-next-area, .guide-facts, .guide-label, "
    ".guide-words, .guide-filter, .guess-fold, .guess-number"
)
_UNSEEN = ("search.html", "genindex.html", "index.html")  # at the site's root
_MOST_TEXT, _MOST_CODE = 1_300, 450  # letters of a section: what it is about stands first
# A comment of the library's that has lines of its own, as half of what it weighs is.
_COMMENT = re.compile(r"^[ \t]*/\*\*?(?!!)(?:[^*]|\*(?!/))*\*/[ \t]*\n", re.MULTILINE)


@dataclass(frozen=True)
class Section:
    """A place that a search may lead to.

    Attributes
    ----------
    page, anchor : str
        Its address: the page from the site's root, and the id of the section in it.
    kind : str
        "chapter", "exercise", "field guide", "glossary", …
    title : str
        Its heading.
    inside : str
        The page's title; the same as `title` for the beginning of a page.
    text, code : str
        What it says, without the sections inside it, and the code of its cells.
    """

    page: str
    anchor: str
    kind: str
    title: str
    inside: str
    text: str
    code: str

    @property
    def address(self) -> str:
        """The page with the id of the section in it."""
        return f"{self.page}#{self.anchor}"


def kind_of(page: str) -> str:
    """What a page is, by its address."""
    for start, kind in KINDS:
        if page.startswith(start):
            return kind
    return "chapter" if re.match(r"book/\d\d-", page) else "page"


def sections(page: str, markup: str) -> Iterator[Section]:
    """The sections of a page, and the terms of a glossary, in their order.

    Parameters
    ----------
    page : str
        Its address from the site's root.
    markup : str
        Its HTML.

    Yields
    ------
    Section
    """
    article = BeautifulSoup(markup, "html.parser").select_one("article")
    if article is None:
        return
    for unseen in article.select(_DROPPED):
        unseen.decompose()
    title = article.find("h1")
    inside = _words(title) if title else page
    kind = kind_of(page)
    for term in article.select("dl.glossary dt[id]"):
        said = term.find_next_sibling("dd")
        yield Section(
            page, str(term["id"]), kind, _words(term), inside, _words(said) if said else "", ""
        )
        for read in filter(None, (term, said)):
            read.decompose()
    # The innermost first, so that a section's text is its own.
    found = []
    for section in reversed(article.select("section[id]")):
        heading = section.find(re.compile("^h[1-6]$"))
        if heading is None:
            continue
        name = _words(heading)
        heading.decompose()
        code = " ".join(_words(one) for one in section.select("div.highlight"))
        for one in section.select("div.highlight"):
            one.decompose()
        text = _words(section)[:_MOST_TEXT]
        found.append(Section(page, str(section["id"]), kind, name, inside, text, code[:_MOST_CODE]))
        section.decompose()
    yield from reversed(found)


def script(found: Sequence[Section], words: Mapping[str, Sequence[str]]) -> str:
    """The script that hands the sections to the search box.

    Parameters
    ----------
    found : sequence of Section
        All of the site.
    words : mapping of str to sequence of str
        Address of a section to what learners call it. A section may be on its way to another
        page: words for one that there is not say nothing here, and a test names them.

    Returns
    -------
    str
        A classic script that sets `courseSections`.
    """
    rows = [
        [
            *(s.page, s.anchor, s.kind, s.title, s.inside, s.text, s.code),
            "; ".join(words.get(s.address, ())),
        ]
        for s in found
    ]
    data = json.dumps(rows, ensure_ascii=False, separators=(",", ":"))
    return f"globalThis.courseSections = {data};\n"


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("builder-inited", _take_ranking)
    app.connect("build-finished", _write, priority=700)  # before pages lose what is theirs alone
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _take_ranking(app: Sphinx) -> None:
    """Put the library among the static files, and the box into every page."""
    if app.builder.name != "html":
        return
    if not app.config.course_page and not runtime.held(PARTS):
        return  # nothing is fetched for this site, or it could not be a moment ago
    try:
        place = runtime.fetch(PARTS, quiet=True)[RANKING]
    except RuntimeMissingError:
        return  # the note of `setup.book_site` says what could not be fetched
    static = Path(app.doctreedir).parent / "search_scripts"
    file = static / FOLDER / RANKING
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(_COMMENT.sub("", place.read_text(encoding="utf-8")), encoding="utf-8")
    app.config.html_static_path.append(str(static))
    app.add_js_file("word_stem.js", loading_method="defer")
    app.add_js_file("search_box.js", loading_method="defer")


def _write(app: Sphinx, error: Exception | None) -> None:
    site = Path(app.outdir)
    folder = site / "_static" / FOLDER
    if error is not None or app.builder.name != "html" or not (folder / RANKING).is_file():
        return
    import field_guide

    found = [
        section
        for docname in sorted(app.env.found_docs)
        if (file := site / f"{docname}.html").is_file()
        for section in sections(f"{docname}.html", file.read_text(encoding="utf-8"))
    ]
    words = {
        f"{field_guide.PAGE}.html#{entry.name}": entry.words for entry in field_guide.read()
    } | tomllib.loads(WORDS.read_text(encoding="utf-8"))
    (folder / INDEX).write_text(script(found, words), encoding="utf-8")


def _words(element: Tag) -> str:
    text = " ".join(element.get_text(" ").split())
    return re.sub(r" (?=[.,;:!?)\]])|(?<=[(\[]) ", "", text)
