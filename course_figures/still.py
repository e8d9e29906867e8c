"""Small pieces of SVG and HTML for the still form of a figure.

Everything is drawn in currentColor, with opacity for strength, so that one stored picture serves a
light page, a dark page and paper.
"""

from __future__ import annotations

import html
import math
import re
import textwrap
from collections.abc import Sequence

SMALLEST_LETTERS = 9
"""Pixels. Where a page is so narrow that letters would get smaller, the picture scrolls instead."""


def escape(text: str) -> str:
    """Text that may stand between tags and in attributes; white space is made visible."""
    return html.escape(visible(text), quote=True)


def visible(symbol: str) -> str:
    """A symbol as a reader sees it: space and line break get a sign of their own."""
    return {" ": "␣", "\n": "↵", "\t": "⇥"}.get(symbol, symbol)


def visible_all(text: str) -> str:
    """A text whose white space a reader sees, between other words."""
    return "".join(map(visible, text))


def number(value: float, digits: int = 2) -> str:
    """A number as figures write it: a real minus, no trailing zeros, ∞ and NaN in words."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    text = f"{value:.{digits}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text in ("-0", "") else text.replace("-", "−")


def picture(width: float, height: float, alt: str, parts: Sequence[str]) -> str:
    """An SVG that shrinks with the page.

    Parameters
    ----------
    width, height : float
        Size in pixels where there is room.
    alt : str
        What it shows, in words.
    parts : sequence of str
        Elements, back to front.

    Returns
    -------
    str
        Markup.
    """
    drawn = "".join(parts)
    sizes = map(float, re.findall(r'<text[^>]* font-size="([\d.]+)"', drawn))
    least = math.ceil(width * SMALLEST_LETTERS / min(sizes, default=13))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" role="img" '
        f'aria-label="{html.escape(alt, quote=True)}" font-family="sans-serif" font-size="13" '
        f'style="width:100%;min-width:{least}px;max-width:{width:g}px;height:auto" '
        f'fill="currentColor">'
        f"{drawn}</svg>"
    )


def text(x: float, y: float, content: str, anchor: str = "middle", size: float = 13) -> str:
    """A line of text; y is its middle."""
    return (
        f'<text x="{x:g}" y="{y + size * 0.35:g}" font-size="{size:g}" '
        f'text-anchor="{anchor}">{escape(content)}</text>'
    )


def cell(x: float, y: float, size: float, strength: float, content: str = "") -> str:
    """A square whose area says how strong it is, from 0 to 1, with text above it if given."""
    strength = min(max(strength, 0.0), 1.0) if math.isfinite(strength) else 0.0
    return (
        f'<rect x="{x:g}" y="{y:g}" width="{size - 1:g}" height="{size - 1:g}" rx="2" '
        f'fill-opacity="{0.04 + 0.36 * strength:.3g}"/>'
    ) + (text(x + size / 2, y + size / 2, content, size=min(12, size * 0.36)) if content else "")


def message(words: str) -> str:
    """A picture of a state that cannot be drawn: what is wrong with it."""
    lines = textwrap.wrap(words, 80)
    parts = [text(0, 14 + 20 * i, line, anchor="start") for i, line in enumerate(lines)]
    return picture(560, 8 + 20 * len(lines), words, parts)


def caption(title: str, words: str) -> str:
    """What stands under a still picture: the figure's name and what it shows."""
    note = "<noscript> With JavaScript switched on, it answers to you.</noscript>"
    return f"<figcaption><b>{html.escape(title)}.</b> {html.escape(words)}{note}</figcaption>"
