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
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

_DROPPED_TAGS = {"script", "style", "nav", "svg", "figcaption"}
_DROPPED_CLASSES = {
    *("headerlink", "cell_output", "checks", "check-mark", "copybtn", "notebook-buttons"),
    *("task-badges", "recorded-verdicts", "tag_assertion", "linked-listing", "references"),
    *("citation", "prev-next-area", "guide-facts", "guide-label", "guide-words", "guide-filter"),
    *("guess-fold", "guess-number"),
}
_VOID = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
    *("track", "wbr"),
}
_MOST_TEXT, _MOST_CODE = 1_300, 450  # letters of a section: what it is about stands first
_HEADING = re.compile("h[1-6]")
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
    reader = _Reader()
    reader.feed(markup)
    reader.close()
    inside = _words(reader.title) or page
    kind = kind_of(page)
    for term in reader.terms:
        yield Section(page, term.anchor, kind, _words(term.heading), inside, _words(term.text), "")
    for part in reader.parts:
        if part.heading:
            name, text = _words(part.heading), _words(part.text)[:_MOST_TEXT]
            code = " ".join(_words(block) for block in part.code)[:_MOST_CODE]
            yield Section(page, part.anchor, kind, name, inside, text, code)


@dataclass
class _Part:
    """What a reader has gathered of a section, or of a term of a glossary: pieces of text."""

    anchor: str
    heading: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    code: list[list[str]] = field(default_factory=list)


class _Reader(HTMLParser):
    """Reads a page's article once, without a tree of it: a site has nine million letters.

    Attributes
    ----------
    title : list of str
        Pieces of its first heading of the first level.
    parts : list of _Part
        Its sections in their order. One without a heading belongs to the section around it.
    terms : list of _Part
        The terms of its glossary, with what they mean as text.
    """

    def __init__(self) -> None:
        super().__init__()
        self.title: list[str] = []
        self.parts: list[_Part] = []
        self.terms: list[_Part] = []
        # Open elements: the name of each, and where text goes inside it. None: nowhere.
        self._open: list[tuple[str, list[str] | None]] = []
        self._sections: list[tuple[int, _Part]] = []  # the open ones: how deep each stands
        self._glossary = 0  # how deep the open list of terms stands
        self._read = False  # the article is over

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID or self._read or not (self._open or tag == "article"):
            return
        into = self._open[-1][1] if self._open else []
        if into is not None:
            named = dict(attrs)
            into = self._into(tag, named, set((named.get("class") or "").split()), into)
        self._open.append((tag, into))

    def _into(
        self, tag: str, named: dict[str, str | None], classes: set[str], around: list[str]
    ) -> list[str] | None:
        """Where the text of an element goes that is being opened."""
        if tag in _DROPPED_TAGS or not classes.isdisjoint(_DROPPED_CLASSES):
            return None
        anchor = named.get("id")
        if tag == "section" and anchor:
            part = _Part(anchor)
            self._sections.append((len(self._open), part))
            self.parts.append(part)
            return part.text
        if tag == "dl" and "glossary" in classes:
            self._glossary = len(self._open)
        elif tag == "dt" and self._glossary and anchor:
            self.terms.append(_Part(anchor))
            return self.terms[-1].heading
        elif tag == "dd" and self._glossary and self.terms and not self.terms[-1].text:
            return self.terms[-1].text
        if not self._sections:
            return around
        part = self._sections[-1][1]
        if tag == "div" and "highlight" in classes:
            part.code.append([])
            return part.code[-1]
        if _HEADING.fullmatch(tag) and not part.heading:
            if tag == "h1" and not self.title:
                self.title = part.heading
            return part.heading
        return around

    def handle_endtag(self, tag: str) -> None:
        if tag not in (name for name, _ in self._open):
            return
        while self._open.pop()[0] != tag:  # what was left open ends with what is around it
            pass
        depth = len(self._open)
        while self._sections and self._sections[-1][0] >= depth:
            _, part = self._sections.pop()
            if not part.heading and self._sections:
                self._sections[-1][1].text += part.text
                self._sections[-1][1].code += part.code
        if depth <= self._glossary:
            self._glossary = 0
        self._read = not self._open

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1][1] is not None:
            self._open[-1][1].append(data)


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


def _words(pieces: Sequence[str]) -> str:
    text = " ".join(" ".join(pieces).split())
    return re.sub(r" (?=[.,;:!?)\]])|(?<=[(\[]) ", "", text)
