"""What several tasks of chapter 06 say in the same words, with the numbers of a run."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from course_judges.judging import Evidence
from course_judges.wording import listed, numbers_apart
from course_tasks.answers import Array

MASK_ADDED = (
    "You added the mask to the scores as numbers, 1 where a position may look and 0 elsewhere."
)
MASK_OF_ONES = (
    "This makes hidden scores only 1 lower than the others, so they still count. A mask that is "
    "added should hold 0 and −inf. `scaled_dot_product_attention` adds every mask that isn't "
    "boolean."
)
MASKS_DIFFER = (
    "`masked_fill` hides where its mask is True, but `scaled_dot_product_attention` shows what is "
    "True."
)
INTERLEAVED = "You interleaved the channels of the heads, but those of one head belong together."
DEALT_OUT = (
    "You dealt the channels out to the heads in turn, but those of one head belong together."
)
MOVED_BY_VIEW = (
    "You moved the heads before time by `view` or `reshape` alone, which moves no entry."
)


def shape(evidence: Evidence, value: str) -> str:
    """Your shape and the right one."""
    return f"Your shape is {evidence.yours(value).shape} instead of {evidence.right(value).shape}."


def largest_gap(evidence: Evidence, value: str, position: int | None = None) -> str:
    """Where an answer (B, T, …) of the right shape is farthest off, and by how much; only at one
    position if it is given.
    """
    mine, right = evidence.yours(value), evidence.right(value)
    gap = np.abs(mine.astype(float) - right)
    gap = np.nan_to_num(gap, nan=np.inf)
    if position is not None:
        gap[:, np.arange(gap.shape[1]) != position] = -1
    index = np.unravel_index(int(gap.argmax()), gap.shape)
    b, t, c = (int(i) for i in index)
    yours, wanted = numbers_apart(float(mine[index]), float(right[index]))
    return f"In sample {b}, position {t}, channel {c}, you have {yours} instead of {wanted}."


def origin(labels: Array, entry: float) -> tuple[int, ...] | None:
    """Where an entry was in an input whose entries all differ; None if it isn't from there."""
    places = np.argwhere(labels == np.float32(entry))
    return tuple(int(i) for i in places[0]) if len(places) else None


def rows_of_view(evidence: Evidence) -> str:
    """Which positions the rows of a head hold when (B, T, C) is cut into (B, H, T, D) directly."""
    T, H = evidence.number("T"), evidence.number("H")
    last = (H - 1) * T // H
    return (
        f"With T = {T} and H = {H}, row 1 of head 0 then comes from position {1 // H}, "
        f"and row 0 of head {H - 1} from position {last}."
    )


def places(labels: Array, entries: Array) -> Array | None:
    """(N, axes) Where entries were in labels that all differ; None if one isn't from there."""
    flat = labels.ravel()
    order = np.argsort(flat)
    at = np.searchsorted(flat, entries.ravel(), sorter=order).clip(max=flat.size - 1)
    found = order[at]
    if not (flat[found] == entries.ravel()).all():
        return None
    return np.stack(np.unravel_index(found, labels.shape), axis=-1)


def axes_apart(labels: Array, mine: Array, right: Array, names: tuple[str, ...]) -> str:
    """Along which axes of the labels, by name, entries are in the wrong place: "entries come from
    the right samples everywhere, but from other heads."
    """
    if mine.shape != right.shape:
        return ""
    came, wanted = places(labels, mine), places(labels, right)
    if came is None or wanted is None:
        return ""
    off = (came != wanted).any(axis=0)
    if not off.any():
        return ""
    if off.all():
        return f"entries come from other {joined(names)}."
    bad, good = (
        [name for name, wrong in zip(names, off, strict=True) if bool(wrong) is which]
        for which in (True, False)
    )
    told = f"entries come from the right {joined(good)} everywhere, but from other "
    told += f"{joined(bad)}."
    if len(bad) == 1:
        axis = names.index(bad[0])
        pairs = {(int(w), int(c)) for w, c in zip(wanted[:, axis], came[:, axis], strict=True)}
        if len(pairs) == len({one for one, _ in pairs}) <= 10:
            met = [str(other) for _, other in sorted(pairs)]
            told += f" You have {bad[0]} {', '.join(met)} "
            told += f"instead of {listed(one for one, _ in sorted(pairs))}."
    return told


def joined(names: Sequence[str]) -> str:
    """ "samples, positions and heads"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else list(names))
