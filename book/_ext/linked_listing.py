"""A Sphinx extension: every line of a marked listing leads to the chapter that explains it.

A line of Python that ends with `# chapter 05` opens the part of that chapter, which reaches to the
next such line. A page shows the number before every line, as a link, and leaves the marks out;
GitHub, JupyterLab and the script itself keep them as comments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from docutils import nodes

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_MARK = re.compile(r"(?P<before>.*?)(?P<sign>  # |, )chapter (?P<chapter>\d\d)$")
_CHAPTER = re.compile(r"(?:.*/)?(?P<chapter>\d\d)-[^/]*$")
_INSIDE = re.compile(r"(?s)(?P<head>.*?<pre[^>]*>(?:<span></span>)?)(?P<code>.*)(?P<foot></pre>.*)")


def divide(source: str) -> tuple[str, list[str]]:
    """A listing without its marks, and the chapter of each line.

    Parameters
    ----------
    source : str
        A program, some of whose lines end with a mark.

    Returns
    -------
    source : str
        As many lines, none with a mark.
    chapters : list of str
        Of each line: "05", for example; "" of an empty line and of those before the first mark.
    """
    lines, chapters, current = [], [], ""
    for line in source.splitlines():
        if found := _MARK.fullmatch(line):
            line, current = found["before"], found["chapter"]
        lines.append(line)
        chapters.append(current if line.strip() else "")
    return "\n".join(lines), chapters


def with_links(highlighted: str, chapters: list[str], addresses: Mapping[str, str]) -> str:
    """What Pygments made of a listing, with a link before each line.

    Parameters
    ----------
    highlighted : str
        A `<pre>` with one line of HTML for each line of the listing.
    chapters : list of str
        As `divide` returns them.
    addresses : mapping of str to str
        Where each chapter is.

    Returns
    -------
    str
        The number is written where a chapter's part begins; below it, a dot stands for it.
    """
    found = _INSIDE.fullmatch(highlighted)
    lines = found["code"].rstrip("\n").split("\n") if found else []
    if not found or len(lines) != len(chapters):
        raise ValueError(f"{len(chapters)} lines of a listing became {len(lines)} of HTML")
    shown, before = [], ""
    for line, chapter in zip(lines, chapters, strict=True):
        link = '<span class="listing-chapter"></span>'
        if chapter:
            text, hidden = (chapter, "") if chapter != before else ("·", ' tabindex="-1"')
            link = (
                f'<a class="listing-chapter" href="{addresses[chapter]}"{hidden} '
                f'aria-label="chapter {chapter}" title="chapter {chapter}">{text}</a>'
            )
            before = chapter
        shown.append(link + line)
    return found["head"] + "\n".join(shown) + "\n" + found["foot"]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.connect("doctree-resolved", _link_all)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _link_all(app: Sphinx, document: nodes.document, name: str) -> None:
    highlighter = getattr(app.builder, "highlighter", None)
    if app.builder.format != "html" or highlighter is None:
        return
    pages = {found["chapter"]: page for page in app.env.found_docs
             if page.startswith("book/") and (found := _CHAPTER.fullmatch(page))}  # fmt: skip
    for block in list(document.findall(nodes.literal_block)):
        source, chapters = divide(block.astext())
        if not any(chapters):
            continue
        addresses = {
            # Of a page itself, Sphinx gives an empty address.
            chapter: app.builder.get_relative_uri(name, pages[chapter])
            or app.builder.get_target_uri(name).rpartition("/")[2]
            for chapter in set(chapters) - {""}
        }
        highlighted = highlighter.highlight_block(source, "python", linenos=False)
        linked = with_links(highlighted, chapters, addresses)
        page = f'<div class="highlight-python notranslate linked-listing">{linked}</div>'
        block.replace_self(nodes.raw("", page, format="html"))
