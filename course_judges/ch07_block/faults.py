"""The blocks of 07/find-fault by name: what is sound, and what can be wrong with a block."""

from __future__ import annotations

import math

import numpy as np

from course_tasks.ch07_block.suspects import BlockBehavior

_FEATURES, _SEQUENCE, _BATCH = (0, 0, 1), (0, 1, 0), (1, 1, 0)

# One block of each fault shows it faintly: outputs move by tenths, which is much more than rounding
# and less than a tolerance that is far too wide.
_FAINT = math.exp(-3)  # what a mask of −3 leaves of a weight
_TOO_STRONG = 1.05

# Rows: later places, the same, places before are heard, and later ones by the first place of all;
# columns: later samples, the same, before.
_PAST = ((0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0))
# Whoever watches the first position alone sees nothing of it.
_EVERYTHING = ((0, _FAINT, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0))
_SAMPLES = ((0, 0, 0), (0, 1, _FAINT), (0, 0, 0), (0, 0, 0))


def _form(
    hears: tuple[tuple[float, ...], ...] = _PAST,
    over: tuple[tuple[int, ...], ...] = (_FEATURES, _FEATURES),
    carries: tuple[float, float] = (1.0, 1.0),
    *,
    before: bool = True,
) -> BlockBehavior:
    return BlockBehavior(
        np.array(hears, dtype=float),
        np.array(over, dtype=bool),
        np.array(carries),
        np.array(before),
    )


FORMS: dict[str, BlockBehavior] = {
    "sound": _form(),
    "mask of −3": _form(_EVERYTHING),
    "norm over the sequence": _form(over=(_SEQUENCE, _SEQUENCE)),
    "norm over the batch": _form(over=(_FEATURES, _BATCH)),
    "faint batch for time": _form(_SAMPLES),
    "no residual": _form(carries=(0.0, 0.0)),
    "residual times 1.05": _form(carries=(1.0, _TOO_STRONG)),
    "post-norm": _form(before=False),
}
"""Name to block. The order in which they are shown is drawn anew each time."""

FAINT = frozenset({"mask of −3", "faint batch for time", "residual times 1.05"})
"""Blocks whose fault a tolerance of 1 hides."""

FAINTISH = frozenset({"norm over the batch"})
"""Blocks whose fault a tolerance of 1 hides in some draws."""
