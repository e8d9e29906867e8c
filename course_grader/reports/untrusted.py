"""What came out of student code, made fit to be shown: no tag, no script, nothing without end.

Text is cut and freed of control characters, HTML and SVG that a cell displayed become text, a
picture is a PNG or none. What students write as text stays Markdown, so that formulas can be read,
but no tag in it is one, no picture is fetched, and links are text: one click in a page of Jupyter's
is made with the rights of whoever is logged in there.

What takes long to show is bounded here, too. Programs that color code need time that grows with the
square of a line's length, and formgrader serves nobody else meanwhile.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nbformat import NotebookNode

# A picture of a course's size has some 100 kB; a page with dozens of them still opens.
MOST_PICTURE_BYTES = 2 * 2**20
MOST_CHARACTERS_OF_AN_OUTPUT = 20_000

# Lines of code have some 100 characters. A line of 20,000 can take 17 s to color.
MOST_CHARACTERS_OF_A_LINE = 500

# Of all pictures of a page together, and so of each: a browser holds four bytes a pixel, whatever
# the file's own size is. A figure of a course has half a million.
MOST_PIXELS = 25_000_000

_PNG = b"\x89PNG\r\n\x1a\n"
# Parts of a PNG that draw it. Others hold further frames, profiles and texts that unfold.
_DRAWING = frozenset((b"IHDR", b"PLTE", b"tRNS", b"gAMA", b"sRGB", b"pHYs", b"IDAT", b"IEND"))
_HEADER_BYTES, _AROUND_A_PART = 13, 12

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]")
# Where Markdown, or a page that shows it, would begin a tag, a link, a picture or a program. Each
# is matched as it is written: to see that the rest is harmless, nothing has to be decoded.
_LIVE = re.compile(
    r"<(?=[A-Za-z/!?])"  # a tag, or a link between angle brackets
    r"|!(?=\[)"  # a picture: what is left of it is a link
    r"|\](?=[(:\[])"  # where a link leads, in its place or further down
    r"|https?:(?=//)|www(?=\.)"  # a link without any brackets
    # the language of a block of code: mermaid draws, links and fetches, others take very long
    r"|(?:`{3,}+|~{3,}+)[^\S\n]*+(?=\S)|[`~][^\S\n]*(?=mermaid)"
    # what of TeX makes links, loads code or sets attributes
    r"|\\(?=(?:href|url|require|csname|class|cssId|style|data|unicode|mmlToken|bbox)(?![A-Za-z]))",
    re.IGNORECASE,
)
# Control characters, those that turn the direction of reading, and halves of pairs.
_CONTROL = re.compile(
    "[\\x00-\\x08\\x0b-\\x1f\\x7f-\\x9f\\u202a-\\u202e\\u2066-\\u2069\\ud800-\\udfff]"
)
ZERO_WIDTH_SPACE = "\N{ZERO WIDTH SPACE}"
"""Put between two signs, it keeps Markdown from reading them as one, and cannot be seen."""


def made_output(kind: str, **fields: Any) -> NotebookNode:
    """An output of a notebook.

    Not by nbformat's `new_output`, which takes a millisecond to look each one up in its schema: the
    notebook that they end in is checked as a whole.
    """
    from nbformat.notebooknode import NotebookNode

    if "data" in fields:
        fields = {"metadata": NotebookNode(), **fields, "data": NotebookNode(fields["data"])}
    return NotebookNode(output_type=kind, **fields)


def safe_output(output: Mapping[str, Any]) -> Iterator[Any]:
    """A student's output without anything that a browser would run."""
    kind = output.get("output_type")
    if kind == "stream":
        name = "stderr" if output.get("name") == "stderr" else "stdout"
        yield made_output("stream", name=name, text=plain(output.get("text")))
    elif kind == "error":
        lines = output.get("traceback")
        lines = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
        yield made_output(
            "error",
            ename=plain(output.get("ename")),
            evalue=plain(output.get("evalue")),
            traceback=plain("\n".join(lines)).split("\n") if lines else [],
        )
    elif kind in ("display_data", "execute_result"):
        data = output.get("data")
        shown = safe_data(data) if isinstance(data, dict) else {}
        if shown:
            yield made_output("display_data", data=shown)


def safe_data(data: Mapping[str, Any]) -> dict[str, str]:
    """Of what a cell displayed: a PNG if it is one, and not too large; or else its plain text."""
    picture = data.get("image/png")
    if isinstance(picture, str) and len(picture) * 3 // 4 <= MOST_PICTURE_BYTES:
        try:
            raw = base64.b64decode("".join(picture.split()), validate=True)
        except (binascii.Error, ValueError):
            raw = b""
        drawn = drawing(raw)
        if drawn and math.prod(picture_size(drawn)) <= MOST_PIXELS:
            return {"image/png": base64.b64encode(drawn).decode(), "text/plain": "a picture"}
        if drawn:
            return {"text/plain": too_large(*picture_size(drawn))}
    for kind in ("text/plain", "text/markdown", "text/html"):
        if isinstance(data.get(kind), str):
            return {"text/plain": plain(data[kind])}
    return {}


def drawing(png: bytes) -> bytes:
    """A PNG without anything that does not draw its one picture; empty if it is none.

    So its header says how much a browser has to hold for it.
    """
    if not png.startswith(_PNG):
        return b""
    parts, at = [_PNG], len(_PNG)
    while at + _AROUND_A_PART <= len(png):
        length = int.from_bytes(png[at : at + 4], "big")
        kind, end = png[at + 4 : at + 8], at + _AROUND_A_PART + length
        if end > len(png) or (len(parts) == 1) != (kind == b"IHDR"):
            return b""
        if kind == b"IHDR" and length != _HEADER_BYTES:
            return b""
        if kind in _DRAWING:
            parts.append(png[at:end])
        if kind == b"IEND":
            return b"".join(parts)
        at = end
    return b""


def picture_size(drawn: bytes) -> tuple[int, int]:
    """Width and height, in pixels, of what `drawing` returned."""
    return int.from_bytes(drawn[16:20], "big"), int.from_bytes(drawn[20:24], "big")


def too_large(width: int, height: int) -> str:
    """What stands in place of a picture that a page does not show."""
    return (
        f"(a picture of {width:,} × {height:,} pixels, not shown: the pictures of a page have "
        f"{MOST_PIXELS:,} together at most)"
    )


def plain(text: Any) -> str:
    """Text of bounded length, without control characters."""
    words = text if isinstance(text, str) else ""
    if len(words) > MOST_CHARACTERS_OF_AN_OUTPUT:
        words = words[:MOST_CHARACTERS_OF_AN_OUTPUT] + "\n… (cut)"
    words = _ANSI.sub("", words).replace("\r\n", "\n").replace("\r", "\n")
    return _CONTROL.sub("", words)


def code(source: str) -> str:
    """A student's code for pages that color it: no line of it is endless."""
    return "\n".join(map(_cut, plain(source).split("\n")))


def _cut(line: str) -> str:
    if len(line) <= MOST_CHARACTERS_OF_A_LINE:
        return line
    return line[:MOST_CHARACTERS_OF_A_LINE] + " … (cut)"


def on_one_line(text: str) -> str:
    """Text for a line of a list."""
    return " ".join(plain(text).split())


def inert(markdown: str) -> str:
    """Markdown of a student in which nothing runs, is fetched, or leads anywhere.

    It reads the same. A space without width does it, in prose and in code alike: Jupyter and
    nbconvert read Markdown differently, and there is no parser to agree with about which is which.
    """
    return _LIVE.sub(lambda found: found.group() + ZERO_WIDTH_SPACE, plain(markdown))
