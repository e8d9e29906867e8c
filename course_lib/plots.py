"""One style for still figures: readable on a light page, a dark page and on paper.

A picture leaves this module as inline SVG whose text and axes take the colour of the page's own
text, so that one stored output serves both themes. Lines and areas use `PALETTE`, mid tones that
keep a contrast of at least 3:1 on white and on near-black.
"""

from __future__ import annotations

import base64
import hashlib
import html
import io
import re
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

PALETTE = ("#2f7fd1", "#d1651d", "#2b9348", "#b5489f", "#8a7a12", "#c9413f", "#1a8f9c", "#7d6bd6")
"""Line colours, in the order in which they are used; neighbours differ in lightness as well as in
hue.
"""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
"""One marker for each colour, because colour is never the only sign."""

# A phone takes longer to lay out a larger SVG than to show the same picture as pixels.
LARGEST_SVG_BYTES = 150_000

# matplotlib draws text and axes in this colour; it is then replaced by CSS's `currentColor`, which
# is the colour of the page's own text.
_INK = "#010203"

_ID = re.compile(r'\bid="([^"]+)"')
_REFERENCE = re.compile(r'(url\(#|href="#)([^")]+)')

_STYLE: Any = {
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "axes.titlecolor": _INK,
    "text.color": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "grid.color": "#808080",
    "grid.alpha": 0.3,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 11,
    "axes.labelsize": 10,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
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
    """

    markup: str
    alt: str

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        return {"text/html": self.markup, "text/plain": f"Figure: {self.alt}"}


def figure(
    width: float = 6.4, height: float = 3.4, rows: int = 1, columns: int = 1, **subplots: Any
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
        if len(svg.encode()) > LARGEST_SVG_BYTES:
            return Picture(_pixels(drawing, alt), alt)
    return Picture(_inline(svg, alt), alt)


def heatmap(
    ax: Axes,
    values: Any,
    *,
    rows: list[str],
    columns: list[str],
    cmap: str = "viridis",
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
    cmap : str
        Colour map; the default keeps its order in grey.
    **imshow
        Passed on to `Axes.imshow`.

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
    for ax in drawing.axes:
        title = ax.get_title(loc="center")
        if title:
            ax.set_title("", loc="center")
            ax.set_title(title, loc="left", fontsize=_STYLE["axes.titlesize"])
    for legend in drawing.findobj(Legend):
        legend.set_frame_on(False)
    for text in drawing.findobj(Text):
        if to_hex(text.get_color()) == "#000000":
            text.set_color(_INK)


def _svg(drawing: Figure) -> str:
    FigureCanvasSVG(drawing)
    drawing.draw_without_rendering()  # computes the layout now, so that two calls draw alike
    buffer = io.StringIO()
    drawing.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _inline(svg: str, alt: str) -> str:
    """Make ids unique on the page, ink the page's, and the picture one that screen readers
    announce.
    """
    # matplotlib derives some ids from memory addresses, which differ from run to run. Numbers in
    # the order of appearance do not.
    names = {name: str(i) for i, name in enumerate(dict.fromkeys(_ID.findall(svg)))}
    svg = _ID.sub(lambda m: f'id="{names[m[1]]}"', svg)
    svg = _REFERENCE.sub(lambda m: m[1] + names[m[2]], svg)
    prefix = f"p{hashlib.sha256((alt + svg).encode()).hexdigest()[:8]}-"
    svg = _ID.sub(rf'id="{prefix}\1"', svg)
    svg = _REFERENCE.sub(rf"\1{prefix}\2", svg)
    svg = svg.replace(_INK, "currentColor")
    # A style element would change every picture on the page, so the root element below has it.
    svg = re.sub(r"<(metadata|style)\b.*?</\1>\s*", "", svg, flags=re.DOTALL)
    # A width in points would overflow a phone's screen. The view box alone keeps the proportions.
    opening = re.search(r"<svg[^>]*>", svg)
    assert opening is not None
    view_box = re.search(r'viewBox="[^"]+"', opening.group())
    width = re.search(r'width="([\d.]+)pt"', opening.group())
    assert view_box is not None
    assert width is not None
    pixels = round(float(width.group(1)) * 100 / 72)
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'{view_box.group()} role="img" aria-label="{html.escape(alt, quote=True)}" '
        f'style="width:100%;max-width:{pixels}px;height:auto;'
        'stroke-linejoin:round;stroke-linecap:butt">'
    )
    body = re.sub(r"[ \t]*\n\s*", "\n", svg[opening.end() :]).strip()
    return f'<div class="still-figure">{head}{body}</div>'


def _pixels(drawing: Figure, alt: str) -> str:
    """The picture as pixels, on white because pixels cannot follow the theme."""
    with mpl.rc_context(_STYLE):
        buffer = io.BytesIO()
        drawing.savefig(
            buffer, format="png", dpi=160, facecolor="white", metadata={"Software": None}
        )
    data = base64.b64encode(buffer.getvalue()).decode("ascii")
    width = round(drawing.get_figwidth() * 100)
    return (
        f'<div class="still-figure"><img alt="{html.escape(alt, quote=True)}" class="dark-light" '
        f'style="width:100%;max-width:{width}px;height:auto" '
        f'src="data:image/png;base64,{data}"></div>'
    )
