"""Makes of a page of the book one that an e-reader shows: XHTML in which nothing waits for a click.

Sphinx writes HTML with XML's file name. What comes from a notebook (a drawing, a formula, the
state of a figure) is well-formed for a browser and not for an XML parser. Here a page is read as
browsers read it, what only a click or a script makes sense of is taken out, as it is for paper, and
the rest is written as XML.
"""

from __future__ import annotations

import base64
import hashlib
import html
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from urllib.parse import unquote

from bs4 import BeautifulSoup, Comment, Tag

from setup import only_on_screen

SUFFIX = ".xhtml"

# HTML reads names without regard to case; in XML, SVG has them as they stand here.
_SVG_NAMES = {
    name.lower(): name
    for name in """
        clipPath clipPathUnits gradientTransform gradientUnits lengthAdjust linearGradient
        markerHeight markerUnits markerWidth pathLength patternContentUnits patternTransform
        patternUnits preserveAspectRatio radialGradient refX refY spreadMethod textLength
        textPath viewBox
    """.split()  # noqa: SIM905
}
_NAMESPACES = {
    "svg": "http://www.w3.org/2000/svg",
    "math": "http://www.w3.org/1998/Math/MathML",
}
_PICTURE = re.compile(r"data:image/(?P<kind>png|jpeg);base64,(?P<bytes>.+)", re.DOTALL)
_OTHER_MACHINE = re.compile(r"[a-z][a-z+.-]*:", re.IGNORECASE)


@dataclass
class Leaf:
    """A page of the book for e-readers.

    Attributes
    ----------
    name : str
        Where it stands in the book, without a suffix: "book/01-averages".
    title : str
        Its first heading.
    sections : list of (str, str)
        Address within the page and title of each section below it.
    markup : str
        XHTML, complete.
    places : set of str
        Everything in it that a link may lead to.
    links : list of (str, str)
        Path and place within it (or nothing) of every page of the book that it leads to.
    pictures : dict of str to bytes
        Pictures that stood in the page as text, by their place in the book.
    files : set of str
        Other files that it shows, by their place beside Sphinx's pages.
    has : set of str
        "svg" and "mathml", as far as it holds them.
    """

    name: str
    title: str = ""
    sections: list[tuple[str, str]] = field(default_factory=list)
    markup: str = ""
    places: set[str] = field(default_factory=set)
    links: list[tuple[str, str]] = field(default_factory=list)
    pictures: dict[str, bytes] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)
    has: set[str] = field(default_factory=set)


def leaf(page: str, name: str, is_page: Callable[[str], bool]) -> Leaf:
    """One page as an e-reader takes it.

    Parameters
    ----------
    page : str
        As Sphinx's builder `epub` writes it.
    name : str
        Its name, "book/01-averages".
    is_page : callable
        Whether there is a page of a name. A link to a file of another kind, such as a notebook,
        becomes plain words.

    Returns
    -------
    Leaf
        The page. Figures are their still pictures, what was folded is open.
    """
    soup = BeautifulSoup(page, "html.parser")
    body = soup.select_one("div.body") or soup
    made = Leaf(name)
    for comment in body.find_all(string=lambda text: isinstance(text, Comment)):
        comment.extract()
    for one in body.select(only_on_screen.SELECTOR):
        one.decompose()
    _draw_wide(body)
    for figure in body.select(".course-figure-mount"):
        figure.unwrap()
    for fold in body.select("details"):
        _open(fold)
    for cell in body.select("div.cell, div.cell_input, div.cell_output"):
        if not cell.get_text(strip=True) and not cell.select_one("img, svg"):
            cell.decompose()
    _respell(soup, body)
    _move_pictures(body, made)
    _lead(body, made, is_page)
    heading = body.select_one("h1")
    made.title = _words(heading) if heading else name
    made.sections = [
        (str(section["id"]), _words(section.h2)) for section in body.select("section[id]:has(> h2)")
    ]
    made.places = {str(one["id"]) for one in body.select("[id]")}
    made.has = {
        kind for kind, tag in (("svg", "svg"), ("mathml", "math")) if body.find(tag) is not None
    }
    made.markup = whole(made.title, body.decode_contents(), name)
    return made


def whole(title: str, body: str, name: str, kind: str = "") -> str:
    """A page's XHTML around its body.

    Parameters
    ----------
    title : str
        Plain text.
    body : str
        XHTML.
    name : str
        Where the page stands in the book, without a suffix.
    kind : str
        What kind of page it is, in the words of EPUB's vocabulary ("titlepage"); may be empty.

    Returns
    -------
    str
        The page, which takes its style from "book.css" beside the first page.
    """
    up = "../" * name.count("/")
    meaning = f' epub:type="{kind}"' if kind else ""
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<!DOCTYPE html>\n'
        '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops" '
        f'xml:lang="en" lang="en"><head><meta charset="utf-8"/><title>{html.escape(title)}</title>'
        f'<link rel="stylesheet" type="text/css" href="{up}book.css"/></head>'
        f"<body{meaning}>{body}</body></html>\n"
    )


def _draw_wide(body: Tag) -> None:
    """Of drawings with two layouts, keep the one for a page that is wider than a phone."""
    for drawing in body.select("svg:has(> svg.wide)"):
        drawing.select_one("svg.narrow").decompose()
        layout = drawing.select_one("svg.wide")
        drawing["viewbox"] = layout["viewbox"]
        layout.unwrap()
    for one in body.select("svg .narrow"):
        one.decompose()


def _open(fold: Tag) -> None:
    """Show what a page unfolds at a click: few e-readers do."""
    fold.name = "div"
    fold["class"] = [*fold.get_attribute_list("class"), "unfolded"]
    fold["class"] = [one for one in fold["class"] if one]
    for attribute in ("open", "name"):
        del fold[attribute]
    if fold.summary is not None:
        fold.summary.name = "div"
        fold.div["class"] = ["unfolded-title"]


def _respell(soup: BeautifulSoup, body: Tag) -> None:
    """Names and namespaces as XML has them, and names of links in drawings."""
    for tag, namespace in _NAMESPACES.items():
        for outer in body.find_all(tag):
            outer["xmlns"] = namespace
    for formula in body.find_all("math"):
        for one in formula.find_all(True):
            _restyle(soup, one)
    for drawing in body.find_all("svg"):
        for one in [drawing, *drawing.find_all(True)]:
            one.name = _SVG_NAMES.get(one.name, one.name)
            for attribute in [key for key in one.attrs if key in _SVG_NAMES]:
                one[_SVG_NAMES[attribute]] = one.attrs.pop(attribute)
        if drawing.get("role") == "group":  # of a drawing, EPUB knows other roles alone
            del drawing["role"]
        if drawing.find(lambda one: "xlink:href" in one.attrs):
            drawing["xmlns:xlink"] = "http://www.w3.org/1999/xlink"
        for link in drawing.find_all("a"):
            title = soup.new_tag("title")
            title.string = _words(link, " ")
            link.insert(0, title)


def _restyle(soup: BeautifulSoup, one: Tag) -> None:
    """Sizes that browsers take from any element of a formula, where MathML 3 has them."""
    sizes = {key: one.attrs.pop(key) for key in ("displaystyle", "scriptlevel") if key in one.attrs}
    if sizes and one.name == "mstyle":
        one.attrs |= sizes
    elif sizes:
        one.wrap(soup.new_tag("mstyle", attrs=sizes))


def _move_pictures(body: Tag, made: Leaf) -> None:
    """Pictures within the page's text become files, which every e-reader shows."""
    for image in body.find_all("img"):
        source = str(image.get("src", ""))
        found = _PICTURE.fullmatch(source)
        if found:
            content = base64.b64decode(found["bytes"])
            path = f"pictures/{hashlib.sha256(content).hexdigest()[:16]}.{found['kind']}"
            made.pictures[path] = content
        else:
            path = _place(made.name, source)
            made.files.add(path)
        image["src"] = posixpath.relpath(path, posixpath.dirname(made.name))


def _lead(body: Tag, made: Leaf, is_page: Callable[[str], bool]) -> None:
    """Let links lead to pages of the book; those to other files of the course become words."""
    for link in body.find_all("a", href=True):
        address = str(link["href"])
        if _OTHER_MACHINE.match(address):
            continue
        path, _, place = address.partition("#")
        there, end = (
            posixpath.splitext(_place(made.name, unquote(path))) if path else (made.name, SUFFIX)
        )
        if end not in (SUFFIX, ".html") or not is_page(there):
            link.unwrap()
            continue
        made.links.append((there, unquote(place)))
        if path:
            relative = posixpath.relpath(there + SUFFIX, posixpath.dirname(made.name))
            link["href"] = relative + (f"#{place}" if place else "")


def _words(element: Tag, between: str = "") -> str:
    """What an element says, on one line."""
    return " ".join(element.get_text(between).split())


def _place(name: str, address: str) -> str:
    """Where a relative address of a page leads, from the book's own folder."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), address.partition("?")[0]))
