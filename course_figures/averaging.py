"""Weights that the reader edits, and the averages they make: the figure of chapter 01."""

from __future__ import annotations

from typing import Any

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Array, Choice, Flag, Number, Texts
from course_lib.errors import ShapeError

MOST_POSITIONS = 12
"""Beyond this a phone cannot show the numbers in the cells."""


def _running_mean(T: int) -> np.ndarray:
    triangle = np.tril(np.ones((T, T)))
    return triangle / triangle.sum(axis=1, keepdims=True)  # (T, T) / (T, 1) → (T, T)


class Averaging(Figure):
    """T numbers, a (T, T) matrix of weights, and their product.

    The reader edits the weights, or in the other view the scores, on which the mask and the
    softmax follow.

    Parameters
    ----------
    values : (T,) float
        One channel of one sequence; 2 to 12 positions, finite.
    matrix : (T, T) float
        Weights, used in the view "weights": row t makes output t. Any finite numbers; the running
        mean if left out.
    scores : (T, T) float
        Used in the view "scores", before mask and softmax. Finite; zeros if left out.
    mode : "weights" | "scores"
        Which of the two the outputs are computed from.
    masked : bool
        In the view "scores": −∞ for s > t before the softmax.
    row : int
        The row that is looked at, 0 … T − 1.
    labels : list of str
        Names of the T positions; their numbers if left out.

    Raises
    ------
    ShapeError
        If the sizes T differ, or `values` is no row.
    FigureError
        If a number is not finite, or T is not 2 to 12.
    """

    title = "Averaging"

    values = Array("T", finite=True, default=[4, 0, 6, 7, 0, 8, 0, 7])
    matrix = Array("T", "T", finite=True, default=_running_mean(8))
    scores = Array("T", "T", finite=True, default=np.zeros((8, 8)))
    mode = Choice("weights", "scores")
    masked = Flag(True)
    row = Number(3, 0, MOST_POSITIONS - 1, whole=True)
    labels = Texts()

    def __init__(self, values: Any = None, **state: Any) -> None:
        if values is not None:
            values = type(self).values.validate(self, values)
            T = len(values)
            state = {
                "matrix": _running_mean(T),
                "scores": np.zeros((T, T)),
                "row": min(3, max(T - 1, 0)),
                **state,
                "values": values,
            }
        super().__init__(**state)

    def check(self) -> None:
        """Refuse sizes that do not go together."""
        T = len(self.values)
        if not 2 <= T <= MOST_POSITIONS:
            raise FigureError(
                f"Averaging.values has {T} positions: give 2 to {MOST_POSITIONS}, as in x[0, :8, 0]"
            )
        for name in ("matrix", "scores"):
            shape = getattr(self, name).shape
            if shape != (T, T):
                raise ShapeError(
                    f"Averaging.{name} has shape {shape} beside {T} values: give ({T}, {T}), "
                    "and change both at once with change(…)"
                )
        if self.labels and len(self.labels) != T:
            raise FigureError(f"Averaging.labels has {len(self.labels)} names: give {T}, or none")
        if self.row >= T:
            raise FigureError(f"Averaging.row is {self.row}: give 0 to {T - 1}")

    @computed
    def weights(self) -> np.ndarray:
        """(T, T) float: what the values are multiplied with; in "scores", the softmax of them."""
        if self.mode == "weights":
            return self.matrix.astype(np.float64)
        scores = self.scores.astype(np.float64)
        if self.masked:
            scores = np.where(np.tri(len(scores), dtype=bool), scores, -np.inf)
        raised = np.exp(scores - scores.max(axis=1, keepdims=True))  # (T, T)
        return raised / raised.sum(axis=1, keepdims=True)  # (T, T) / (T, 1) → (T, T)

    @computed
    def outputs(self) -> np.ndarray:
        """(T,) float: weights @ values."""
        return self.weights @ self.values.astype(np.float64)  # (T, T) @ (T,) → (T,)

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        T, row = len(self.values), self.weights[self.row]
        made = {
            "weights": f"A {T} by {T} matrix of weights",
            "scores": f"A {T} by {T} matrix of scores{', masked,' if self.masked else ''} and its "
            "softmax",
        }[self.mode]
        fed = [str(s) for s in np.flatnonzero(row)]
        seen = f"is fed by positions {', '.join(fed)}" if fed else "is fed by no position"
        return (
            f"{made} times a column of {T} values gives {T} outputs. Output {self.row} {seen}; its "
            f"weights add up to {still.number(row.sum())}, and it is "
            f"{still.number(self.outputs[self.row])}."
        )

    def still(self) -> str:
        """Weights, values and outputs side by side."""
        T, size, left, top = len(self.values), 34, 30, 30
        weights, outputs = self.weights, self.outputs
        largest = max(1.0, float(np.abs(weights).max()))
        labels = self.labels or [str(t) for t in range(T)]
        columns = left + T * size
        parts = [
            still.text(left + T * size / 2, 10, "weights"),
            still.text(columns + 55, 10, "values"),
            still.text(columns + 150, 10, "outputs"),
            still.text(columns + 20, top + T * size / 2, "×", size=18),
            still.text(columns + 104, top + T * size / 2, "=", size=18),
        ]
        for t in range(T):
            y = top + t * size
            parts.append(still.text(left - 12, y + size / 2, labels[t], size=11))
            parts += [
                still.cell(
                    left + s * size,
                    y,
                    size,
                    abs(weights[t, s]) / largest,
                    still.number(weights[t, s]),
                )
                for s in range(T)
            ]
            parts.append(still.text(columns + 55, y + size / 2, still.number(self.values[t])))
            parts.append(still.text(columns + 150, y + size / 2, still.number(outputs[t])))
        y = top + self.row * size
        parts.append(
            f'<rect x="{left - 2}" y="{y - 2}" width="{T * size + 3}" height="{size + 3}" rx="3" '
            'fill="none" stroke="currentColor" stroke-width="2"/>'
        )
        return still.picture(columns + 200, top + T * size + 6, self.alt, parts)
