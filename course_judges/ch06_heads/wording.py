"""How findings of chapter 06 tell the numbers of a run."""

from __future__ import annotations

import numpy as np

from course_judges.judging import Evidence
from course_judges.wording import number
from course_tasks.answers import Array

MASK_ADDED = "You added the mask to the scores as numbers: 1 where a position sees, 0 where not."
MASK_OF_ONES = (
    "What should be hidden has a score that is 1 less, and is still seen. A mask that is added "
    "holds 0 and −inf; `scaled_dot_product_attention` adds every mask that is not of type bool."
)


def shape(evidence: Evidence, value: str) -> str:
    """The shapes of yours and of the right one."""
    return f"Yours has shape {evidence.yours(value).shape}; expected {evidence.right(value).shape}."


def largest_gap(evidence: Evidence, value: str, position: int | None = None) -> str:
    """Where an answer (B, T, …) of the right shape is furthest off, and by how much; of one
    position if one is given.
    """
    mine, right = evidence.yours(value), evidence.right(value)
    gap = np.abs(mine.astype(float) - right)
    gap = np.nan_to_num(gap, nan=np.inf)
    if position is not None:
        gap[:, np.arange(gap.shape[1]) != position] = -1
    index = np.unravel_index(int(gap.argmax()), gap.shape)
    b, t, c = (int(i) for i in index)
    return (
        f"In sample {b}, position {t}, channel {c} you have {number(mine[b, t, c])}; "
        f"expected {number(right[b, t, c])}."
    )


def origin(labels: Array, entry: float) -> tuple[int, ...] | None:
    """Where an entry stood in an input whose entries all differ; None if it is not from there."""
    places = np.argwhere(labels == np.float32(entry))
    return tuple(int(i) for i in places[0]) if len(places) else None


def rows_of_view(evidence: Evidence) -> str:
    """Which positions the rows of a head hold when (B, T, C) is cut into (B, H, T, D) directly."""
    T, H = evidence.number("T"), evidence.number("H")
    last = (H - 1) * T // H
    return (
        f"With T = {T} and H = {H}, row 1 of head 0 then holds position {1 // H}, "
        f"and row 0 of head {H - 1} holds position {last}."
    )
