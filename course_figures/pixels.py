"""A figure's still picture as pixels, for viewers of notebooks that show no drawing in HTML.

It reads what `course_figures.still` and the figures write: rectangles, paths of straight lines,
polylines and lines of text, in currentColor.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from typing import Any

from course_figures.errors import FigureError

INK = "#1f2328"
"""What currentColor is, on white."""

_SVG = "{http://www.w3.org/2000/svg}"
_COMMAND = re.compile(r"([MmLlHhVvZz])([^A-Za-z]*)")
_ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def png(svg: str) -> tuple[bytes, int]:
    """Draw a still picture on white.

    Parameters
    ----------
    svg : str
        As `still.picture` makes it.

    Returns
    -------
    bytes
        A PNG.
    int
        Pixels of a page that it is wide where there is room.

    Raises
    ------
    FigureError
        If the picture holds what this module cannot draw.
    """
    from matplotlib.figure import Figure

    from course_lib import plots

    root = ET.fromstring(svg)
    width, height = map(float, root.get("viewBox", "").split()[2:])
    drawing = Figure(figsize=(width / 100, height / 100))
    ax = drawing.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    for order, element in enumerate(root):
        _draw(ax, element.tag.removeprefix(_SVG), element, order)
    return plots.png(drawing), round(width)


def points(path: str) -> list[list[tuple[float, float]]]:
    """The lines of a path of straight pieces, each from its start to its end.

    Raises
    ------
    FigureError
        If the path has a curve.
    """
    if re.search(r"[^MmLlHhVvZz\d\s.,eE+-]", path):
        raise FigureError(f"a path of a still picture has more than straight lines: {path[:40]!r}")
    lines: list[list[tuple[float, float]]] = []
    x = y = 0.0
    for command, rest in _COMMAND.findall(path):
        numbers = [float(n) for n in re.findall(r"[-+]?(?:\d*\.\d+|\d+\.?)(?:e[-+]?\d+)?", rest)]
        if command in "Zz":
            lines[-1].append(lines[-1][0])
            x, y = lines[-1][0]
            continue
        step = 1 if command in "HhVv" else 2
        for n in range(0, len(numbers), step):
            along, beside = (x, y) if command.islower() else (0.0, 0.0)
            if command in "Hh":
                x = along + numbers[n]
            elif command in "Vv":
                y = beside + numbers[n]
            else:
                x, y = along + numbers[n], beside + numbers[n + 1]
            if command in "Mm" and n == 0:
                lines.append([])
            lines[-1].append((x, y))
    return lines


def _draw(ax: Any, tag: str, element: ET.Element, order: int) -> None:
    """Put one element into the picture, above those before it."""
    from matplotlib.patches import Polygon

    number = {key: float(element.get(key, 0)) for key in ("x", "y", "width", "height")}
    if tag == "text":
        size = float(element.get("font-size", 13)) * 0.72  # 100 pixels are 72 points
        align = _ALIGNED[element.get("text-anchor", "start")]
        said = (element.text or "").replace("$", r"\$")  # a dollar would begin an equation
        at = (number["x"], number["y"])
        ax.text(*at, said, fontsize=size, ha=align, va="baseline", color=INK, zorder=order)
        return
    if tag == "rect":
        (x, y), (w, h) = (number["x"], number["y"]), (number["width"], number["height"])
        lines = [[(x, y), (x + w, y), (x + w, y + h), (x, y + h), (x, y)]]
    elif tag == "path":
        lines = points(element.get("d", ""))
    elif tag == "polyline":
        places = [float(n) for n in re.split(r"[\s,]+", element.get("points", "").strip())]
        lines = [list(zip(places[::2], places[1::2], strict=True))]
    else:
        raise FigureError(
            f"a still picture has a {tag}: pixels.py draws text, rect, path, polyline"
        )
    style = _style(element.attrib)
    for line in lines:
        ax.add_patch(Polygon(line, closed=line[0] == line[-1], zorder=order, **style))


def _style(said: Mapping[str, str]) -> dict[str, Any]:
    """What an element says of its colors, as matplotlib takes it."""
    from matplotlib.colors import to_rgba

    def ink(which: str, otherwise: str) -> Any:
        if said.get(which, otherwise) == "none":
            return "none"
        return to_rgba(INK, float(said.get(f"{which}-opacity", 1)))

    width = float(said.get("stroke-width", 1)) * 0.72
    style = {"facecolor": ink("fill", INK), "edgecolor": ink("stroke", "none"), "linewidth": width}
    if said.get("stroke-dasharray"):  # empty: a line without gaps
        dashes = [float(n) * 0.72 / width for n in re.split(r"[\s,]+", said["stroke-dasharray"])]
        style["linestyle"] = (0, dashes if len(dashes) > 1 else dashes * 2)
    return style
