"""The blocks of 07/find-fault by name: what is sound, and what can be wrong with a block."""

from __future__ import annotations

import numpy as np

from course_tasks.ch07_block.suspects import BlockBehavior

_FEATURES, _SEQUENCE, _BATCH = (0, 0, 1), (0, 1, 0), (1, 1, 0)

# Rows: places before, the same, later ones are heard; columns: samples alike.
_PAST = ((0, 0, 0), (0, 1, 0), (0, 1, 0))
_EVERYTHING = ((0, 1, 0), (0, 1, 0), (0, 1, 0))
_SAMPLES = ((0, 0, 0), (0, 1, 1), (0, 0, 0))


def _form(
    hears: tuple[tuple[int, ...], ...] = _PAST,
    over: tuple[tuple[int, ...], ...] = (_FEATURES, _FEATURES),
    carries: tuple[float, float] = (1.0, 1.0),
    *,
    before: bool = True,
) -> BlockBehavior:
    return BlockBehavior(
        np.array(hears, dtype=bool),
        np.array(over, dtype=bool),
        np.array(carries),
        np.array(before),
    )


FORMS: dict[str, BlockBehavior] = {
    "sound": _form(),
    "no mask": _form(_EVERYTHING),
    "norm over the sequence": _form(over=(_SEQUENCE, _SEQUENCE)),
    "norm over the batch": _form(over=(_FEATURES, _BATCH)),
    "batch for time": _form(_SAMPLES),
    "no residual": _form(carries=(0.0, 0.0)),
    "residual twice": _form(carries=(1.0, 2.0)),
    "post-norm": _form(before=False),
}
"""Name to block. The order in which they are shown is drawn anew each time."""
