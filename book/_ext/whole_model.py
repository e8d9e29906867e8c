"""The drawing of the whole model, as a page of one chapter shows it: in a wide and a narrow layout.

Each part of the model has a chapter and leads to it; the part of the page's own chapter is lit, and
those that are still to come are dashed.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass

WIDE = (720, 218)
NARROW = (360, 394)
"""Sizes of the two layouts in pixels: the second is for phones, with letters as large."""

WIDTHS = {1: 67, 2: 58, 7: 63, 9: 100, 11: 102}
"""Pixels that a chapter's label takes in every font, where its frame is just wide enough."""


@dataclass(frozen=True)
class Stop:
    """One chapter, and what it adds to the whole.

    Attributes
    ----------
    page : str
        The page's name as Sphinx has it.
    part : str
        What the drawing calls the part.
    words : str
        What the part does, in one or two sentences.
    """

    page: str
    part: str
    words: str

    @property
    def number(self) -> str:
        """The chapter's number: "05" of "book/05-head"."""
        return self.page.rpartition("/")[2][:2]


def layouts(stops: Sequence[Stop], place: int, address: Callable[[str], str | None]) -> str:
    """Both layouts, of which a page shows the one that fits its width.

    Parameters
    ----------
    stops : sequence of Stop
        Every chapter in its order.
    place : int
        The index of the page's own chapter among them.
    address : callable
        From a page's name to its address as seen from here; None for a page that there is not.

    Returns
    -------
    str
        Two SVG elements, for an SVG around them.
    """
    artist = _Artist(stops, place, address)
    return f"{_layout('wide', WIDE, _wide(artist))}{_layout('narrow', NARROW, _narrow(artist))}"


class _Artist:
    """Draws parts, each in the state that it has on the page of one chapter."""

    def __init__(
        self, stops: Sequence[Stop], place: int, address: Callable[[str], str | None]
    ) -> None:
        self.stops = stops
        self.place = place
        self.address = address

    def part(self, number: int, *shapes: str) -> str:
        """The part of a chapter, counted from 1, as a link to it."""
        target = self.address(self.stops[number - 1].page)
        if target is None:
            return self.seen_from(number, *shapes)
        state = self.state(number)
        current = ' aria-current="page"' if state == "lit" else ""
        inner = "".join(shapes)
        return f'<a class="{state}" href="{html.escape(target)}"{current}>{inner}</a>'

    def seen_from(self, number: int, *shapes: str) -> str:
        """What is known from a chapter on, without a link to it."""
        return f'<g class="{self.state(number)}">{"".join(shapes)}</g>'

    def state(self, number: int) -> str:
        """Whether the part of a chapter is known by now, lit, or still ahead."""
        at = number - 1
        return "lit" if at == self.place else "ahead" if at > self.place else "known"

    def label(self, number: int, x: float, y: float, anchor: str = "start") -> str:
        """Number and name of a part; y is the line on which it stands."""
        stop = self.stops[number - 1]
        words = f"{stop.number} {stop.part}"
        return _text(x, y, words, anchor, "name", WIDTHS.get(number))

    def block(self, x: float, y: float, width: float) -> str:
        """A block, 134 high, with the residual stream through it 16 below its top."""
        stream = y + 16
        heads, width_of_heads = x + 8, 252
        forward, width_of_forward = x + width - 74, 64
        down, up = heads + 30, heads + width_of_heads - 12
        return "".join(
            (
                self.part(
                    7,
                    _box(x + 4, y - 4, width, 132, "behind"),
                    _box(x, y, width, 132),
                    _path(f"M{x} {stream}H{x + width}", "stream"),
                    _path(f"M{down} {stream}v14m0 0l-4 -6h8z", "arrow"),
                    _path(f"M{up} {y + 30}V{stream + 7}", "arrow"),
                    _plus(up, stream),
                    _path(f"M{forward + 14} {stream}V{y + 72}m0 0l-4 -6h8z", "arrow"),
                    _path(f"M{forward + 50} {y + 72}V{stream + 7}", "arrow"),
                    _plus(forward + 50, stream),
                    _box(forward, y + 72, width_of_forward, 40, "inner"),
                    _text(forward + 32, y + 89, "feed-", "middle"),
                    _text(forward + 32, y + 104, "forward", "middle"),
                    self.label(7, x + width - 8, y + 126, "end"),
                ),
                self.part(
                    6,
                    _box(heads, y + 30, width_of_heads, 96),
                    self.label(6, heads + 8, y + 45),
                ),
                self.part(
                    5,
                    _box(heads + 11, y + 48, width_of_heads - 16, 72, "behind"),
                    _box(heads + 8, y + 51, width_of_heads - 16, 72),
                    self.label(5, heads + 16, y + 66),
                ),
                self.part(
                    2,
                    _box(heads + 11, y + 72, 104, 47, "halo"),
                    _cells(heads + 13, y + 76, "score"),
                    self.label(2, heads + 52, y + 102),
                ),
                _path(f"M{heads + 116} {y + 97}h10m0 0l-6 -4v8z", "arrow"),
                self.part(
                    1,
                    _box(heads + 127, y + 72, 116, 47, "halo"),
                    _cells(heads + 130, y + 76, "weight"),
                    self.label(1, heads + 169, y + 102),
                ),
            )
        )

    def text(self, x: float, y: float) -> str:
        """Five symbols, 80 wide and 24 high, with their name below."""
        tiles = [
            _box(x + 16 * i, y, 15, 24, "tile") + _text(x + 16 * i + 7.5, y + 17, symbol, "middle")
            for i, symbol in enumerate("to␣be")
        ]
        return self.part(3, *tiles, self.label(3, x + 40, y + 42, "middle"))

    def table(self, x: float, y: float, label: tuple[float, float, str]) -> str:
        """Rows of numbers, 54 wide and 36 high, with the name where `label` says."""
        across, down, anchor = label
        shares = (3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6, 2, 6, 4)
        cells = [
            f'<rect class="entry" x="{x + 9 * (i % 6):g}" y="{y + 9 * (i // 6):g}" width="8" '
            f'height="8" fill-opacity="{share / 12:.2f}"/>'
            for i, share in enumerate(shares)
        ]
        return self.part(
            4,
            _box(x - 3, y - 3, 59, 41),
            *cells,
            self.label(4, across, down, anchor),
            _text(across, down + 16, "symbol +", anchor),
            _text(across, down + 31, "position", anchor),
        )

    def logits(self, x: float, y: float, label: tuple[float, float, str]) -> str:
        """Five bars, the first lit as the largest, 40 wide and 38 high."""
        bars = "".join(
            f'<rect class="bar" x="{x:g}" y="{y + 8 * i:g}" width="{width}" height="6"/>'
            for i, width in enumerate((40, 12, 26, 8, 4))
        )
        return self.seen_from(4, bars, _text(*label[:2], "logits", label[2], "name"))

    def letter(self, x: float, y: float, label: tuple[float, float, str]) -> str:
        """The next symbol."""
        across, down, anchor = label
        return self.seen_from(
            4,
            _box(x, y, 22, 28, "tile"),
            _text(x + 11, y + 18, ",", "middle", "symbol"),
            _text(across, down, "next", anchor, "name"),
            _text(across, down + 15, "symbol", anchor, "name"),
        )

    def chips(self, x: float, y: float, width: float, columns: int) -> str:
        """What the last chapters do with the whole, 26 high."""
        gap = 6
        wide = (width - gap * (columns - 1)) / columns
        parts = []
        for i, number in enumerate(range(9, len(self.stops) + 1)):
            left = x + (i % columns) * (wide + gap)
            top = y + (i // columns) * 32
            label = self.label(number, left + wide / 2, top + 18, "middle")
            parts.append(self.part(number, _box(left, top, wide, 26), label))
        return "".join(parts)


def _wide(artist: _Artist) -> str:
    return "".join(
        (
            artist.part(8, _box(2, 22, 716, 158), artist.label(8, 8, 15)),
            _path("M96 52h14m0 0l-6 -4v8z", "arrow"),
            _path("M174 52h16", "stream"),
            _path("M564 52h18", "stream"),
            _path("M592 52l-11 -7v14z", "stream-tip"),
            _path("M640 52h14m0 0l-6 -4v8z", "arrow"),
            artist.text(12, 40),
            artist.table(117, 34, (144, 92, "middle")),
            artist.block(190, 36, 366),
            artist.logits(597, 33, (617, 92, "middle")),
            artist.letter(670, 38, (681, 92, "middle")),
            artist.chips(2, 188, 716, 5),
        )
    )


def _narrow(artist: _Artist) -> str:
    return "".join(
        (
            artist.part(8, _box(1, 22, 358, 300), artist.label(8, 6, 15)),
            _path("M96 50h14m0 0l-6 -4v8z", "arrow"),
            _path("M144 72V100H7V134H12", "stream"),
            _path("M348 134H353V296H350", "stream"),
            _path("M338 296l11 -7v14z", "stream-tip"),
            _path("M286 296h-12m0 0l6 -4v8z", "arrow"),
            artist.text(12, 38),
            artist.table(117, 32, (184, 42, "start")),
            artist.block(12, 118, 336),
            artist.logits(292, 277, (312, 270, "middle")),
            artist.letter(246, 282, (238, 292, "end")),
            artist.chips(1, 332, 358, 3),
        )
    )


def _layout(name: str, size: tuple[int, int], parts: str) -> str:
    return f'<svg class="{name}" viewBox="0 0 {size[0]} {size[1]}">{parts}</svg>'


def _box(x: float, y: float, width: float, height: float, kind: str = "frame") -> str:
    return (
        f'<rect class="{kind}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="4"/>'
    )


def _text(
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    kind: str = "",
    wide: float | None = None,
) -> str:
    own = f' class="{kind}"' if kind else ""
    if wide is not None:
        own += f' textLength="{wide:g}" lengthAdjust="spacingAndGlyphs"'
    return f'<text{own} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{html.escape(words)}</text>'


def _path(d: str, kind: str) -> str:
    return f'<path class="{kind}" d="{d}"/>'


def _plus(x: float, y: float) -> str:
    return (
        f'<circle class="plus" cx="{x:g}" cy="{y:g}" r="7"/>'
        f'<path class="plus" d="M{x - 4:g} {y:g}h8m-4 -4v8"/>'
    )


def _cells(x: float, y: float, role: str) -> str:
    """A lower triangle of five rows: scores are outlined diamonds, weights filled ones."""
    drawn = []
    for t in range(5):
        for s in range(t + 1):
            left, top = x + 8 * s + 4, y + 8 * t + 4
            share = 1 if role == "score" else round(0.35 + 0.65 / (t + 1), 2)
            drawn.append(
                f'<path class="{role}" d="M{left:g} {top - 3.6:g}l3.6 3.6l-3.6 3.6l-3.6 -3.6z" '
                f'opacity="{share}"/>'
            )
    return "".join(drawn)
