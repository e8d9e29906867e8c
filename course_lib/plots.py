"""One style for still figures: readable on a light page, a dark page and on paper.

A picture leaves this module twice. The book's pages take inline SVG whose text and axes have the
colour of the page's own text, so that one stored output serves both themes. Viewers that strip
drawings out of HTML, as GitHub does, take pixels. Lines and areas use `PALETTE`, mid tones that
keep a contrast of at least 3:1 on white and on near-black.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import math
import re
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import LinearSegmentedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text
from PIL import Image

from course_lib.mime import PAGE_HTML, PIXELS

PALETTE = ("#2f7fd1", "#d1651d", "#2b9348", "#b5489f", "#8a7a12", "#c9413f", "#1a8f9c", "#7d6bd6")
"""Line colours, in the order in which they are used; neighbours differ in lightness as well as in
hue.
"""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""One marker for each colour, because colour is never the only sign."""

_WEIGHT, _PLUS, _MINUS = PALETTE[3], PALETTE[6], PALETTE[5]

WEIGHTS: dict[str, Any] = {
    "cmap": LinearSegmentedColormap.from_list("weights", [_WEIGHT + "00", _WEIGHT + "a6"]),
    "vmin": 0,
    "vmax": 1,
}
"""How `heatmap` draws weights: nothing for 0, and for 1 the colour that they have in all figures.
The page shows through, so that numbers in a cell can be read in the colour of the page's own text.
"""

AMOUNTS = LinearSegmentedColormap.from_list("amounts", [PALETTE[7] + "00", PALETTE[7] + "a6"])
"""A colour map for what is neither a weight nor of both signs: nothing for the least value."""

SIGNED = LinearSegmentedColormap.from_list(
    "signed",
    [(0, _MINUS + "a6"), (0.5, _MINUS + "00"), (0.5, _PLUS + "00"), (1, _PLUS + "a6")],
)
"""A colour map for values of both signs, with nothing for 0, and the colours of all figures."""

# A phone takes longer to lay out a larger SVG than to show the same picture as pixels.
LARGEST_SVG_BYTES = 150_000

SMALLEST_LETTERS = 9
"""Pixels. Where a page is so narrow that letters would get smaller, the picture scrolls instead."""

# Half as many again as the page has, for displays with smaller ones.
_PIXELS_AN_INCH = 150
_COLORS = 128  # of a picture as pixels, which makes it a third of the size

# matplotlib draws text and axes in this colour; it is then replaced by CSS's `currentColor`, which
# is the colour of the page's own text.
INK = "#010203"

# Written once, at the root of a picture, and not with each of its texts.
_FONTS = "'DejaVu Sans', Verdana, sans-serif"
_SANS = re.compile(r"; font-family: 'DejaVu Sans',[^;\"]*sans-serif(?=[;\"])")

_ID = re.compile(r'\bid="([^"]+)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^")]+)')

_STYLE: Any = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "grid.color": "#808080",
    "grid.alpha": 0.3,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11.5,
    "axes.labelsize": 10.5,
    "font.size": 10,
    "xtick.labelsize": 10,
    "ytick.labelsize": 10,
    "legend.fontsize": 10,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "lines.markersize": 5,
    "font.family": "sans-serif",
    # Text is stored as text and not as outlines: it is smaller, can be found, and follows the
    # theme.
    "svg.fonttype": "none",
    "axes.prop_cycle": cycler(color=PALETTE),
}


@dataclass(frozen=True)
class Picture:
    """A finished still figure, as a notebook and a page show it.

    Attributes
    ----------
    markup : str
        HTML: an inline `<svg>`, or an `<img>` that holds pixels where the SVG would be heavy.
    alt : str
        What the picture shows, in words.
    png : bytes
        The picture as pixels, on white because pixels cannot follow a theme.
    width : int
        Pixels of a page that it is wide where there is room.
    """

    markup: str
    alt: str
    png: bytes
    width: int

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, str], dict[str, Any]]:
        pixels = base64.b64encode(self.png).decode("ascii")
        forms = {
            PAGE_HTML: self.markup.replace(_address(self.png), PIXELS),
            "image/png": pixels,
            "text/plain": f"Figure: {self.alt}",
        }
        return forms, {"image/png": {"width": self.width}}


def figure(
    width: float = 5.4, height: float = 3.4, rows: int = 1, columns: int = 1, **subplots: Any
) -> tuple[Figure, Any]:
    """An empty figure in the style of the course.

    Parameters
    ----------
    width, height : float
        Size in inches at 100 pixels an inch; the page scales it down where it is narrower.
    rows, columns : int
        Grid of axes.
    **subplots
        Passed on to `matplotlib.figure.Figure.subplots` (`sharex`, `width_ratios`, …).

    Returns
    -------
    (Figure, Axes or ndarray of Axes)
        As `matplotlib.pyplot.subplots`, without pyplot's list of open figures.
    """
    with mpl.rc_context(_STYLE):
        drawing = Figure(figsize=(width, height), layout="constrained")
        axes = drawing.subplots(rows, columns, **subplots)
    return drawing, axes


def show(drawing: Figure, alt: str) -> Picture:
    """Turn a figure into a picture for the page.

    Parameters
    ----------
    drawing : Figure
        Made by `figure`.
    alt : str
        What the picture shows, as a sentence that stands in for it; read aloud by screen readers.

    Returns
    -------
    Picture
        Leave it as the last expression of a cell.

    Raises
    ------
    ValueError
        If `alt` is empty: a picture without words is lost on some readers.
    """
    if not alt.strip():
        raise ValueError("alt is empty: say in a sentence what the picture shows")
    _settle(drawing)
    with mpl.rc_context({**_STYLE, "svg.hashsalt": alt}):
        svg = _svg(drawing)
        pixels = png(drawing)
    width = round(drawing.get_figwidth() * 100)
    heavy = len(svg.encode()) > LARGEST_SVG_BYTES
    markup = _image(pixels, width, alt) if heavy else _inline(svg, width, alt)
    return Picture(markup, alt, pixels, width)


def png(drawing: Figure) -> bytes:
    """A figure as few bytes of pixels, on white.

    Parameters
    ----------
    drawing : Figure
        Any figure of matplotlib.

    Returns
    -------
    bytes
        A PNG with half as many pixels again as the figure has on a page.
    """
    drawn, small = io.BytesIO(), io.BytesIO()
    drawing.savefig(drawn, format="png", dpi=_PIXELS_AN_INCH, facecolor="white")
    picture = Image.open(drawn).convert("RGB")
    picture = picture.quantize(_COLORS, dither=Image.Dither.NONE)
    picture.save(small, format="PNG", optimize=True)
    return small.getvalue()


def heatmap(
    ax: Axes,
    values: Any,
    *,
    rows: list[str],
    columns: list[str],
    cmap: LinearSegmentedColormap = AMOUNTS,
    **imshow: Any,
) -> Any:
    """Draw a matrix as coloured cells with its rows and columns named.

    Parameters
    ----------
    ax : Axes
        Where to draw.
    values : (R, K) array
        The matrix; row 0 is at the top, as it is printed.
    rows, columns : list of str
        R and K labels.
    cmap : LinearSegmentedColormap
        Colour map, such as `AMOUNTS` or `SIGNED`; the page shows through where there is little.
    **imshow
        Passed on to `Axes.imshow`; `**WEIGHTS` where the values are weights.

    Returns
    -------
    AxesImage
        For a colour bar.
    """
    image = ax.imshow(values, cmap=cmap, **imshow)
    ax.set_xticks(range(len(columns)), columns)
    ax.set_yticks(range(len(rows)), rows)
    ax.grid(False)
    ax.tick_params(length=0)
    return image


def _settle(drawing: Figure) -> None:
    """Give what was added after `figure` (titles, legends, annotations) the style, too.

    matplotlib reads its settings when a thing is made, and a global change of them would reach
    every other figure of the process.
    """
    size = _STYLE["axes.titlesize"]
    if drawing.get_suptitle():
        drawing.suptitle(drawing.get_suptitle(), x=0.01, ha="left", fontsize=size, wrap=True)
    for ax in drawing.axes:
        title = ax.get_title(loc="center")
        if title:
            ax.set_title("", loc="center")
            ax.set_title(title, loc="left", fontsize=size)
        ax.set_title(ax.get_title(loc="left"), loc="left", wrap=True)
    for legend in drawing.findobj(Legend):
        legend.set_frame_on(False)
    for text in drawing.findobj(Text):
        if to_hex(text.get_color()) == "#000000":
            text.set_color(INK)


def _svg(drawing: Figure) -> str:
    FigureCanvasSVG(drawing)
    drawing.draw_without_rendering()  # computes the layout now, so that two calls draw alike
    buffer = io.StringIO()
    drawing.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _inline(svg: str, width: int, alt: str) -> str:
    """Make ids unique on the page, ink the page's, and the picture one that screen readers
    announce.
    """
    # matplotlib derives some ids from memory addresses, which differ from run to run. Numbers in
    # the order of appearance do not.
    names = {name: str(i) for i, name in enumerate(dict.fromkeys(_ID.findall(svg)))}
    # Images that are alike get the same id from matplotlib: the first keeps it.
    unseen = dict.fromkeys(names, True)
    svg = _ID.sub(lambda m: f'id="{names[m[1]]}"' if unseen.pop(m[1], None) else "", svg)
    svg = _REFERENCE.sub(lambda m: m[1] + names[m[2]], svg)
    prefix = f"p{hashlib.sha256((alt + svg).encode()).hexdigest()[:8]}-"
    svg = _ID.sub(rf'id="{prefix}\1"', svg)
    svg = _REFERENCE.sub(rf"\1{prefix}\2", svg)
    svg = _SANS.sub("", svg.replace(INK, "currentColor"))
    # A style element would change every picture on the page, so the root element below has it.
    svg = re.sub(r"<(metadata|style)\b.*?</\1>\s*", "", svg, flags=re.DOTALL)
    # A width in points would overflow a phone's screen. The view box alone keeps the proportions.
    opening = re.search(r"<svg[^>]*>", svg)
    assert opening is not None
    view_box = re.search(r'viewBox="0 0 ([\d.]+) [^"]+"', opening.group())
    assert view_box is not None
    least = width * SMALLEST_LETTERS / _smallest_letters(svg, width / float(view_box[1]))
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{view_box.group()} role="img" aria-label="{html.escape(alt, quote=True)}" '
        f'style="width:100%;min-width:{math.ceil(least)}px;max-width:{width}px;height:auto;'
        f'font-family:{_FONTS};stroke-linejoin:round;stroke-linecap:butt">'
    )
    body = re.sub(r"[ \t]*\n\s*", "\n", svg[opening.end() :]).strip()
    return f'<div class="still-figure">{head}{body}</div>'


def _smallest_letters(svg: str, scale: float) -> float:
    """Pixels that the smallest line of text is high; what is raised or lowered in it is smaller."""
    sizes = re.findall(r"<text[^>]*\bfont(?:-size)?: ?([\d.]+)px", svg)
    lines = [match for match in re.findall(r"(?s)<text.*?</text>", svg) if "<tspan" in match]
    sizes += [max(re.findall(r"font(?:-size)?: ?([\d.]+)px", line), key=float) for line in lines]
    return min(map(float, sizes), default=SMALLEST_LETTERS) * scale


def _image(png: bytes, width: int, alt: str) -> str:
    """The picture as pixels, for a page."""
    return (
        f'<div class="still-figure"><img alt="{html.escape(alt, quote=True)}" class="dark-light" '
        f'style="width:100%;max-width:{width}px;height:auto" src="{_address(png)}"/></div>'
    )


def _address(png: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(png).decode('ascii')}"
