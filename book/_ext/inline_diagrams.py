"""A Sphinx extension: hand-drawn diagrams become part of the page's HTML.

A chapter embeds a diagram as `![what it shows](_assets/diagrams/NAME.svg)`, which every reader of
notebooks understands. As a picture of its own, though, an SVG follows the system's theme and not
the page's, and its text can be neither selected nor searched. So HTML pages get the drawing itself.
Its style then reaches only its own elements, its ids carry the file's name, and what it says for a
dark system is said for a dark page.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.errors import ExtensionError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

FOLDER = "_assets/diagrams/"
"""Pictures below a folder of this name are diagrams."""

_SVG = "{http://www.w3.org/2000/svg}"
_DARK_SYSTEM = re.compile(r"@media\s*\(\s*prefers-color-scheme\s*:\s*dark\s*\)\s*$")
_DARK_PAGE = 'html[data-theme="dark"]'


class DiagramError(ExtensionError):
    """A diagram cannot be put into a page."""


def inline(svg: str, name: str, alt: str) -> str:
    """A diagram as a part of a page.

    Parameters
    ----------
    svg : str
        The file's text: one `svg` element with a `viewBox`.
    name : str
        What sets this diagram apart from all others of the page: the file's name.
    alt : str
        What the diagram shows, in a sentence or two, for readers who do not see it.

    Returns
    -------
    str
        A `div` with the drawing. It is never wider than its `viewBox`.

    Raises
    ------
    DiagramError
        If the text is not such a file, the words are missing, or the style holds a rule that
        cannot be kept to the diagram.
    """
    if not alt.strip():
        raise DiagramError(f"diagram {name}: say in the image's brackets what it shows")
    try:
        root = ET.fromstring(svg)
    except ET.ParseError as error:
        raise DiagramError(f"diagram {name} is not well-formed XML: {error}") from error
    if root.tag != f"{_SVG}svg" or len(root.get("viewBox", "").split()) != 4:
        raise DiagramError(f"diagram {name}: its root must be an svg element with a viewBox")
    for title in root.findall(f"{_SVG}title"):
        root.remove(title)  # browsers show it as a hint over the whole drawing; `alt` says more
    own = f"diagram-{name}"
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        for key, value in element.attrib.items():
            element.set(key, _renamed(key, value, own))
        if element.tag == "style":
            rules = _kept_to(element.text or "", name)
            element.text = re.sub(r"url\(#", f"url(#{own}-", rules)
    width = root.get("viewBox", "").split()[2]
    root.attrib.update(
        {"id": own, "role": "img", "aria-label": alt, "style": f"max-width: {width}px"}
    )
    # `alt` names it, and what names it by another element would come first.
    for other in ("width", "height", "aria-labelledby", "aria-describedby"):
        root.attrib.pop(other, None)
    # Where it is wider than a phone it scrolls inside its frame, which keys must reach, too.
    drawing = ET.tostring(root, encoding="unicode")
    return f'<div class="diagram" role="group" tabindex="0" aria-label="Diagram">{drawing}</div>'


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("doctree-resolved", _replace)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _replace(app: Sphinx, doctree: nodes.document, _page: str) -> None:
    """Put the drawings of one page where its images stand."""
    if app.builder.format != "html":
        return
    for image in list(doctree.findall(nodes.image)):
        if FOLDER not in image["uri"] or not image["uri"].endswith(".svg"):
            continue
        file = Path(app.srcdir) / image["uri"]
        markup = inline(file.read_text(encoding="utf-8"), file.stem, image.get("alt", ""))
        paragraph = image.parent
        if not isinstance(paragraph, nodes.paragraph) or len(paragraph) != 1:
            raise DiagramError(f"diagram {file.stem} must be in a paragraph of its own")
        paragraph.replace_self(nodes.raw("", markup, format="html"))


def _renamed(key: str, value: str, own: str) -> str:
    """An attribute's value with the ids in it made the diagram's own."""
    if key == "id":
        return f"{own}-{value}"
    if key == "href" and value.startswith("#"):
        return f"#{own}-{value[1:]}"
    return re.sub(r"url\(#", f"url(#{own}-", value)


def _kept_to(style: str, name: str) -> str:
    """The rules of a style sheet, for elements of one diagram alone."""
    own = f"#diagram-{name}"
    kept = []
    for head, body in _blocks(re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL), name):
        if _DARK_SYSTEM.match(head):
            kept += [_rule(f"{_DARK_PAGE} {own}", *rule) for rule in _blocks(body, name)]
        elif head.startswith("@"):
            raise DiagramError(
                f"diagram {name}: its style has {head!r}; of such rules only "
                "@media (prefers-color-scheme: dark) is understood"
            )
        else:
            kept.append(_rule(own, head, body))
    return "\n".join(kept)


def _rule(scope: str, selectors: str, declarations: str) -> str:
    each = ", ".join(f"{scope} {one.strip()}" for one in selectors.split(","))
    return f"{each} {{ {declarations.strip()} }}"


def _blocks(style: str, name: str) -> Iterator[tuple[str, str]]:
    """What stands before each pair of braces, and within it."""
    at = 0
    while style[at:].strip():
        begin = style.find("{", at)
        end, depth = begin + 1, 1
        while begin >= 0 and depth and end < len(style):
            depth += {"{": 1, "}": -1}.get(style[end], 0)
            end += 1
        if begin < 0 or depth or not style[at:begin].strip():
            raise DiagramError(f"diagram {name}: its style breaks off at {style[at:].strip()!r}")
        yield style[at:begin].strip(), style[begin + 1 : end - 1]
        at = end
