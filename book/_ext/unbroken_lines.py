"""A Sphinx extension: no line of the text ends where a reader would stumble.

On a phone a line holds forty characters, and many of them would end between a number and its
percent sign, within "T = 8", or in the middle of `n = 1`; and browsers put what follows a formula
on a new line, even if it is a comma. Some computed values are pasted as "62%", beside a "62 %" in
the text, and a page writes one of the two. So spaces that belong to a number do not break, and a
short piece of code, a range or a shape in brackets, or a formula and the punctuation at it, stays
on one line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform

if TYPE_CHECKING:
    from sphinx.application import Sphinx

UNBROKEN = "unbroken"
"""The class of what stays on one line; the course's style sheet knows it."""

SHORT = 18
"""Characters that a piece of code may have that stays on one line."""

_SPACE = "\N{NO-BREAK SPACE}"
_TIGHT = re.compile(r"(?<=\d)%(?![\dA-F]{2})")  # not "%20", a character of an address
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[kMG]B\b|ms\b|µs\b|s\b))")
_UNIT_BEHIND = re.compile(r"^ (?=(?:%|[kMG]B\b|ms\b|µs\b|s\b))")
_PRODUCT = re.compile(r"(?<=\d) ([×·]) (?=\d)")
_SIZE = re.compile(r"\b([A-Za-zα-ω]) ([=≈<>≤≥]) (?=[\d−])")
_RANGE = r"\([\d−][\d.,]*(?:–| to )[\d−][\d.,]*\)"
_SHAPE = r"\((?:[A-Z\d][A-Z\d·/]*, ?)+(?:[A-Z\d][A-Z\d·/]*)?\)"
_BRACKETS = re.compile(f"({_RANGE}|{_SHAPE})")
_OPENING = re.compile(r"[(\[“‘]+$")
_CLOSING = re.compile(r"^[,.;:!?)\]”’]+")


def unbroken(text: str, before: str = "") -> str:
    """A text whose numbers keep their units, and its equations their two sides.

    Parameters
    ----------
    text : str
        Any piece of a paragraph.
    before : str
        What stands before it, such as a number that is set in another way.

    Returns
    -------
    str
        The same text with other spaces.
    """
    if before[-1:].isdigit():
        text = _UNIT_BEHIND.sub(_SPACE, text)
    text = _TIGHT.sub(f"{_SPACE}%", _UNIT.sub(_SPACE, text))
    text = _PRODUCT.sub(rf"{_SPACE}\1{_SPACE}", text)
    return _SIZE.sub(rf"\1{_SPACE}\2{_SPACE}", text)


def keep_together(tree: nodes.Element) -> None:
    """Hold together what belongs together in every paragraph of a tree.

    Parameters
    ----------
    tree : nodes.Element
        A page's tree, in which everything has its place; it is changed.
    """
    for code in tree.findall(nodes.literal):
        if len(code.astext()) <= SHORT:
            code["classes"].append(UNBROKEN)
    for outer in list(tree.findall(_is_prose)):
        outer.children = list(_held(outer.children))
        for inner in outer.children:
            inner.parent = outer


class UnbrokenLines(SphinxPostTransform):
    """Go over a page when references and pasted numbers are in it."""

    default_priority = 900

    def run(self, **_: Any) -> None:
        """Change the page's tree."""
        keep_together(self.document)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension with Sphinx."""
    app.add_post_transform(UnbrokenLines)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def _is_prose(node: nodes.Node) -> bool:
    """Whether a reader reads what it holds as text: no code, no formula, no HTML."""
    other = (nodes.literal, nodes.math, nodes.FixedTextElement, nodes.Invisible)
    return isinstance(node, nodes.TextElement) and not isinstance(node, other)


def _held(parts: list[nodes.Node]) -> Iterator[nodes.Node]:
    """The parts of a paragraph; a formula and the punctuation that touches it are one of them."""
    before = ""
    for place, part in enumerate(parts):
        text = part.astext()
        if isinstance(part, nodes.math):
            opening = _OPENING.search(before) if place and _is_text(parts[place - 1]) else None
            behind = parts[place + 1] if place + 1 < len(parts) else None
            closing = _CLOSING.match(behind.astext()) if _is_text(behind) else None
            if opening or closing:
                yield nodes.inline(
                    "",
                    "",
                    *([nodes.Text(opening.group())] if opening else []),
                    part,
                    *([nodes.Text(closing.group())] if closing else []),
                    classes=[UNBROKEN],
                )
            else:
                yield part
        elif _is_text(part):
            if place and isinstance(parts[place - 1], nodes.math):
                text = _CLOSING.sub("", text)
            if place + 1 < len(parts) and isinstance(parts[place + 1], nodes.math):
                text = _OPENING.sub("", text)
            yield from _whole_brackets(unbroken(text, before))
        else:
            yield part
        before = part.astext()


def _whole_brackets(text: str) -> Iterator[nodes.Node]:
    """A text as nodes, with ranges and shapes on one line: "(1.35–1.44)", "(B, T, C)"."""
    for place, piece in enumerate(_BRACKETS.split(text)):
        if place % 2:
            yield nodes.inline("", piece, classes=[UNBROKEN])
        elif piece:
            yield nodes.Text(piece)


def _is_text(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.Text)
