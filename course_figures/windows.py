"""A text, its windows, and what each position is asked: the figure of chapter 03."""

from __future__ import annotations

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Array, Number, Text, Texts
from course_lib.errors import CorpusTooShortError, UnknownSymbolError

MOST_SYMBOLS = 300
MOST_ROWS = 4
MOST_POSITIONS = 16

_TEXT = "Attend to me, good friends, and I shall tell\nWhat letter follows every letter well."


class Windows(Figure):
    """A text as tokens, B windows of T tokens cut from it, and their targets, shifted by one.

    Parameters
    ----------
    text : str
        What is cut; 3 to 300 symbols.
    symbols : list of str
        The vocabulary: token i is symbols[i]. The symbols of the text in order if left out.
    block_size : int
        T, tokens in a window; 2 to 16, and less than the text has.
    starts : (B,) int
        Where each window begins; 1 to 4 of them.
    row, column : int
        The target that is looked at: 0 ≤ row < B, 0 ≤ column < T.

    Raises
    ------
    UnknownSymbolError
        If the text holds a symbol that `symbols` does not.
    CorpusTooShortError
        If a window and its last target do not fit into the text.
    FigureError
        If another value is out of its range.
    """

    title = "Windows and targets"

    text = Text(_TEXT, most=MOST_SYMBOLS)
    symbols = Texts()
    block_size = Number(8, 2, MOST_POSITIONS, whole=True)
    starts = Array("B", kind="int", default=[0, 14, 51])
    row = Number(0, 0, MOST_ROWS - 1, whole=True)
    column = Number(4, 0, MOST_POSITIONS - 1, whole=True)

    def check(self) -> None:
        """Refuse a text that cannot be encoded or is too short, and windows that leave it."""
        self.tokens  # noqa: B018  (encoding the text is the check)
        T, most = self.block_size, len(self.text) - self.block_size - 1
        if most < 0:
            raise CorpusTooShortError(
                f"Windows.text has {len(self.text)} symbols, and a window of {T} with its last "
                f"target takes {T + 1}: give a longer text or a smaller block_size"
            )
        if not 1 <= len(self.starts) <= MOST_ROWS:
            raise FigureError(
                f"Windows.starts has {len(self.starts)} places: give 1 to {MOST_ROWS}"
            )
        if self.starts.min() < 0 or self.starts.max() > most:
            raise CorpusTooShortError(
                f"Windows.starts is {self.starts.tolist()}: give places from 0 to {most}, "
                "so that each window and its last target lie in the text"
            )
        if self.row >= len(self.starts) or self.column >= T:
            raise FigureError(
                f"Windows.row, .column are {self.row}, {self.column}: give a row below "
                f"{len(self.starts)} and a column below {T}"
            )

    @property
    def vocabulary(self) -> list[str]:
        """The symbols, in the order of their tokens."""
        return self.symbols or sorted(set(self.text))

    @property
    def tokens(self) -> np.ndarray:
        """(N,) int: the text as tokens."""
        known = {symbol: token for token, symbol in enumerate(self.vocabulary)}
        for place, symbol in enumerate(self.text):
            if symbol not in known:
                raise UnknownSymbolError(
                    f"Windows.text holds {symbol!r} at place {place}, which is none of the "
                    f"{len(known)} symbols: remove it, or leave symbols out"
                )
        return np.array([known[symbol] for symbol in self.text], dtype=np.int64)

    @computed
    def inputs(self) -> np.ndarray:
        """(B, T) int: the windows."""
        return self._cut(0)

    @computed
    def targets(self) -> np.ndarray:
        """(B, T) int: for each input token the one after it."""
        return self._cut(1)

    def _cut(self, shift: int) -> np.ndarray:
        places = self.starts[:, None] + np.arange(self.block_size) + shift  # (B, 1) + (T,) → (B, T)
        return self.tokens[places]

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        start = int(self.starts[self.row])
        seen = self.text[start : start + self.column + 1]
        target = self.text[start + self.column + 1]
        return (
            f"A text of {len(self.text)} symbols, cut into {len(self.starts)} windows of "
            f"{self.block_size}. In row {self.row}, position {self.column}, a model sees "
            f"“{still.visible_all(seen)}” and is asked for “{still.visible(target)}”."
        )

    def still(self) -> str:
        """The inputs and the targets, each as a table of symbols over tokens."""
        size, B, T = 30, len(self.starts), self.block_size
        parts = []
        for k, (name, table) in enumerate([("inputs x", self.inputs), ("targets y", self.targets)]):
            left = 10 + k * (T * size + 40)
            parts.append(still.text(left + T * size / 2, 12, f"{name}  ({B}, {T})"))
            for b in range(B):
                for t in range(T):
                    seen = b == self.row and (t <= self.column if k == 0 else t == self.column)
                    x, y = left + t * size, 28 + b * (size + 16)
                    symbol = self.vocabulary[table[b, t]]
                    parts.append(still.cell(x, y, size, float(seen), still.visible(symbol)))
                    parts.append(still.text(x + size / 2, y + size + 6, str(table[b, t]), size=9))
        return still.picture(2 * (T * size + 30), 36 + B * (size + 16), self.alt, parts)
