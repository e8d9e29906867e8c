"""Heads as shapes: what view, transpose and reshape do to the cells of a tensor, and to memory."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_figures import still
from course_figures.base import Figure, computed
from course_figures.errors import FigureError
from course_figures.traits import Choice, Number

WIDEST = 8
"""The largest C = H · D: as many cells as a phone shows side by side."""


@dataclass(frozen=True)
class Stage:
    """The tensor after one operation.

    Attributes
    ----------
    key : str
        Which stage it is: "x", "view", "split", "heads", "transposed" or "merged".
    code : str
        The operation that led here.
    sizes : tuple of str
        Names of the sizes, outermost first.
    source : int array of shape `sizes`
        Which number of x each cell holds, counted through x row by row: 0 … B·T·C − 1. Its strides
        are those of the tensor.
    belongs : int array of shape `sizes`
        Which number of x each cell holds if every step is right.
    copied : bool
        Whether the operation wrote the numbers to new memory.
    """

    key: str
    code: str
    sizes: tuple[str, ...]
    source: np.ndarray
    belongs: np.ndarray
    copied: bool = False

    @property
    def strides(self) -> tuple[int, ...]:
        """How many numbers further on in memory the next index of each size lies."""
        return tuple(step // self.source.itemsize for step in self.source.strides)

    @property
    def contiguous(self) -> bool:
        """Whether memory holds the numbers in the order of the indices."""
        return bool(self.source.flags.c_contiguous)

    @property
    def wrong(self) -> np.ndarray:
        """True where a cell holds another number than belongs there."""
        return self.source != self.belongs


def stages(
    batch: int, time: int, heads: int, head_size: int, split: str, merge: str
) -> list[Stage]:
    """Every stage of x on its way into heads and back.

    Parameters
    ----------
    batch, time, heads, head_size : int
        B, T, H, D; x is (B, T, C) with C = H · D.
    split : "transpose" | "view"
        x.view(B, T, H, D).transpose(1, 2), or x.view(B, H, T, D), which is a mistake.
    merge : "transpose" | "view"
        y.transpose(1, 2).reshape(B, T, C), or y.view(B, T, C), which is a mistake.

    Returns
    -------
    list of Stage
        The heads themselves leave each number where it is, as if each position looked at itself
        alone, and write their answer to new memory, as a matrix product does.
    """
    B, T, H, D = batch, time, heads, head_size
    C = H * D
    now: np.ndarray
    x = np.arange(B * T * C).reshape(B, T, C)
    by_time = x.reshape(B, T, H, D)
    by_head = by_time.transpose(0, 2, 1, 3)  # (B, T, H, D) → (B, H, T, D)
    four, headed = ("B", "T", "H", "D"), ("B", "H", "T", "D")
    route = [Stage("x", "x", ("B", "T", "C"), x, x)]
    if split == "transpose":
        route.append(Stage("view", ".view(B, T, H, D)", four, by_time, by_time))
        now, code = by_head, ".transpose(1, 2)"
    else:
        now, code = x.reshape(B, H, T, D), ".view(B, H, T, D)"
    route.append(Stage("split", code, headed, now, by_head))
    now = now.copy()
    route.append(Stage("heads", "y = heads(…)", headed, now, by_head, copied=True))
    if merge == "transpose":
        now = now.transpose(0, 2, 1, 3)  # (B, H, T, D) → (B, T, H, D)
        route.append(Stage("transposed", ".transpose(1, 2)", four, now, by_time))
        code, copied = ".reshape(B, T, C)", T > 1 and H > 1
    else:
        code, copied = ".view(B, T, C)", False
    now = now.reshape(B, T, C)  # (B, T, H, D) → (B, T, C), or (B, H, T, D) → (B, T, C)
    return [*route, Stage("merged", code, ("B", "T", "C"), now, x, copied)]


class HeadShapes(Figure):
    """A tensor on its way into heads and back, cell by cell.

    Every cell carries the indices (b, t, c) that it had in x, and is marked where it stands in a
    head or at a position where it does not belong.

    Parameters
    ----------
    batch, time, heads, head_size : int
        B from 1 to 2, T from 1 to 4, H and D from 1 to 4 with H · D of at most 8.
    split, merge : "transpose" | "view"
        The right way or view alone: see `stages`.
    stage : str
        Which stage is shown: "x", "view", "split", "heads", "transposed" or "merged". A route by
        view alone has no "view" or no "transposed"; the next stage stands in for it.
    selected : int
        The number of x that is followed, counted row by row from 0.

    Raises
    ------
    FigureError
        If a value is outside these bounds.
    """

    title = "Heads as shapes"

    batch = Number(2, 1, 2, whole=True)
    time = Number(3, 1, 4, whole=True)
    heads = Number(2, 1, 4, whole=True)
    head_size = Number(2, 1, 4, whole=True)
    split = Choice("transpose", "view")
    merge = Choice("transpose", "view")
    stage = Choice("x", "view", "split", "heads", "transposed", "merged")
    selected = Number(0, 0, 2 * 4 * WIDEST - 1, whole=True)

    def check(self) -> None:
        """Refuse sizes that do not fit, and a number that x does not have."""
        C = self.heads * self.head_size
        if C > WIDEST:
            raise FigureError(
                f"HeadShapes: heads · head_size = {C}: give at most {WIDEST} channels, such as "
                f"head_size = {WIDEST // self.heads}"
            )
        if self.selected >= self.batch * self.time * C:
            raise FigureError(
                f"HeadShapes.selected is {self.selected}, and x has "
                f"{self.batch * self.time * C} numbers: give one from 0 on"
            )

    @computed
    def stages(self) -> list[Stage]:
        """The route of the present state."""
        return stages(self.batch, self.time, self.heads, self.head_size, self.split, self.merge)

    @computed
    def current(self) -> Stage:
        """The stage that is shown."""
        route = {stage.key: stage for stage in self.stages}
        stand_in = {"view": "split", "transposed": "merged"}
        return route.get(self.stage) or route[stand_in[self.stage]]

    @computed
    def alt(self) -> str:
        """What the figure shows now, in words."""
        now = self.current
        shape = ", ".join(map(str, now.source.shape))
        order = "in the order of memory" if now.contiguous else "no longer in the order of memory"
        wrong, total = int(now.wrong.sum()), now.source.size
        if wrong:
            place = "place" if len(now.sizes) == 3 else "head or position"
            verdict = f"{wrong} of {total} cells are in a wrong {place}"
        else:
            verdict = f"all {total} cells are where they belong"
        return (
            f"After {now.code}: shape ({', '.join(now.sizes)}) = ({shape}), strides "
            f"({', '.join(map(str, now.strides))}), {order}; {verdict}."
        )

    def still(self) -> str:
        """Every cell of the present stage with the indices that it had in x."""
        now, C, side = self.current, self.heads * self.head_size, 44
        source = now.source if now.source.ndim == 4 else now.source[:, None]
        wrong = now.wrong if now.wrong.ndim == 4 else now.wrong[:, None]
        B, frames, rows, columns = source.shape
        width, height = columns * side + 24, rows * side + 40
        parts = []
        for b, frame in np.ndindex(B, frames):
            left, top = 8 + frame * width, 8 + b * height
            place = f"{now.sizes[1].lower()} = {frame}"
            label = f"b = {b}" if now.source.ndim == 3 else f"b = {b}, {place}"
            parts.append(still.text(left, top + 10, label, "start", 12))
            for i, j in np.ndindex(rows, columns):
                number = int(source[b, frame, i, j])
                where = np.unravel_index(number, (self.batch, self.time, C))
                head = int(where[2]) // self.head_size
                mark = "×" if wrong[b, frame, i, j] else ""
                x, y = left + j * side, top + 22 + i * side
                parts.append(still.cell(x, y, side, 0.1 + head * 0.2, mark))
                parts.append(still.text(x + 22, y + 34, " ".join(map(str, where)), size=10))
        return still.picture(16 + frames * width, 16 + B * height, self.alt, parts)
