"""Which symbol follows which, and writing with it: the figure of chapter 04."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Array, Number, Text, Texts
from course_lib.errors import ShapeError

MOST_SYMBOLS = 128
LEVELS = 6
"""Steps of strength in the still picture: one path for each keeps it small."""

_SENTENCE = "the cat that chased the birds sat in the sun, and the birds sang to the cat"


def _pairs(text: str) -> tuple[np.ndarray, list[str]]:
    symbols = sorted(set(text))
    counts = np.zeros((len(symbols), len(symbols)))
    for first, second in pairwise(text):
        counts[symbols.index(first), symbols.index(second)] += 1
    return counts, symbols


class BigramTable(Figure):
    """The (V, V) table of pairs as a heat map; rows can be searched, looked at and drawn from.

    Parameters
    ----------
    counts : (V, V) float
        counts[i, j]: how often symbol j followed symbol i. Not negative; V is 2 to 128. The pairs
        of one English sentence if left out.
    symbols : list of str
        The V symbols, each a single character.
    smoothing : float
        k, which is added to every count; 0 to 100.
    row : int
        The current symbol, 0 … V − 1.
    text : str
        What has been written so far, at most 5,000 symbols.
    seed : int
        Fixes what is drawn.

    Raises
    ------
    ShapeError
        If `counts` is not (V, V), V being the number of symbols.
    FigureError
        If a count is negative or not finite, a symbol is not single, or `row` is no symbol.
    """

    title = "Table of pairs"

    counts = Array("V", "V", finite=True, default=_pairs(_SENTENCE)[0])
    symbols = Texts(_pairs(_SENTENCE)[1], single=True)
    smoothing = Number(0.0, 0, 100)
    row = Number(0, 0, MOST_SYMBOLS - 1, whole=True)
    text = Text("", most=5000)
    seed = Number(1, 0, 2**31 - 1, whole=True)

    def __init__(self, counts: Any = None, symbols: Any = None, **state: Any) -> None:
        if (counts is None) != (symbols is None):
            raise FigureError("BigramTable got counts or symbols alone: give both, or none")
        if counts is not None:
            state = {"counts": counts, "symbols": list(symbols), **state}
        super().__init__(**state)

    def check(self) -> None:
        """Refuse counts that are none, and symbols that do not go with them."""
        V = len(self.symbols)
        if self.counts.shape != (V, V) or not 2 <= V <= MOST_SYMBOLS:
            raise ShapeError(
                f"BigramTable.counts has shape {self.counts.shape} beside {V} symbols: "
                f"give (V, V) and V symbols, V from 2 to {MOST_SYMBOLS}"
            )
        if self.counts.min() < 0:
            raise FigureError(
                f"BigramTable.counts holds {self.counts.min():g}: give counts, not negative"
            )
        if self.row >= V:
            raise FigureError(f"BigramTable.row is {self.row}: give 0 to {V - 1}")

    @computed
    def probabilities(self) -> np.ndarray:
        """(V, V) float: rows divided by their sums, with k added; NaN where a row holds nothing."""
        raised = self.counts.astype(np.float64) + self.smoothing
        with np.errstate(invalid="ignore"):
            return raised / raised.sum(axis=1, keepdims=True)  # (V, V) / (V, 1) → (V, V)

    def likeliest(self, most: int = 5) -> list[tuple[str, float]]:
        """Symbols that follow the current one, with their probabilities, likeliest first."""
        row = np.nan_to_num(self.probabilities[self.row])
        order = np.argsort(-row, kind="stable")[:most]
        return [(self.symbols[j], float(row[j])) for j in order if row[j] > 0]

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        V = len(self.symbols)
        follow = ", ".join(f"“{still.visible(s)}” {p:.0%}" for s, p in self.likeliest(3))
        follow = f"the likeliest are {follow}" if follow else "nothing has been seen"
        return (
            f"A table of {V} by {V} pairs of symbols; the darker a cell, the likelier the column's "
            f"symbol follows the row's. After “{still.visible(self.symbols[self.row])}” {follow}."
        )

    def still(self) -> str:
        """The table in a few steps of strength, and the likeliest symbols of the current row."""
        V = len(self.symbols)
        size = max(5, min(16, 420 // V))
        left, top = 24, 24
        level = np.ceil(np.sqrt(np.nan_to_num(self.probabilities)) * LEVELS).astype(int)
        parts = []
        for step in range(1, LEVELS + 1):
            cells = "".join(
                f"M{left + j * size} {top + i * size}h{size}v{size}h-{size}z"
                for i, j in np.argwhere(level == step)
            )
            if cells:
                parts.append(f'<path d="{cells}" fill-opacity="{step / LEVELS:.2f}"/>')
        for i, symbol in enumerate(self.symbols):
            shown = still.visible(symbol)
            place, small = (i + 0.5) * size, min(11, size + 2)
            parts.append(still.text(left - 8, top + place, shown, size=small))
            parts.append(still.text(left + place, top - 8, shown, size=small))
        across, side = V * size, left + V * size + 30
        parts.append(
            f'<rect x="{left}" y="{top + self.row * size}" width="{across}" height="{size}" '
            'fill="none" stroke="currentColor" stroke-width="1.5"/>'
        )
        title = f"after “{still.visible(self.symbols[self.row])}”"
        parts.append(still.text(side, top, title, anchor="start"))
        for k, (symbol, p) in enumerate(self.likeliest(8)):
            y = top + 24 + 20 * k
            parts.append(still.text(side + 6, y, still.visible(symbol)))
            width = 100 * p
            parts.append(
                f'<rect x="{side + 20}" y="{y - 7}" width="{width:.1f}" height="14" '
                'fill-opacity="0.4"/>'
            )
            parts.append(still.text(side + 26 + width, y, f"{p:.1%}", anchor="start", size=11))
        return still.picture(side + 180, top + across + 6, self.alt, parts)
