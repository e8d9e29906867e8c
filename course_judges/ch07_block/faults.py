"""The blocks of 07/find-fault by name: a correct one, and seven with a fault."""

from __future__ import annotations

import math

import numpy as np

from course_tasks.ch07_block.suspects import BlockBehavior

_FEATURES, _SEQUENCE, _BATCH = (0, 0, 1), (0, 1, 0), (1, 1, 0)

# For each fault there is one block that shows it only faintly: outputs change by a few tenths. This
# is much more than rounding, but less than a tolerance that is far too wide.
_FAINT = math.exp(-3)  # by this a mask of −3 multiplies a weight before the softmax
_TOO_STRONG = 1.05

# Rows: whether a position reads later positions, itself, earlier ones, and whether the first
# position reads later ones. Columns: later samples, the same sample, earlier ones.
_PAST = ((0, 0, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0))
# An inspector that looks at the first position only doesn't notice this.
_EVERYTHING = ((0, _FAINT, 0), (0, 1, 0), (0, 1, 0), (0, 0, 0))
# Samples look in one direction only, so an inspector that changes a single sample misses one of
# these.
_EARLIER_SAMPLES = ((0, 0, 0), (0, 1, _FAINT), (0, 0, 0), (0, 0, 0))
_LATER_SAMPLES = ((0, 0, 0), (_FAINT, 1, 0), (0, 0, 0), (0, 0, 0))


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


EARLIER = "weak attention to earlier samples"
LATER = "no residual, weak attention to later samples"

FORMS: dict[str, BlockBehavior] = {
    "sound": _form(),
    "mask of −3": _form(_EVERYTHING),
    "norm over the sequence": _form(over=(_SEQUENCE, _SEQUENCE)),
    "norm over the batch": _form(over=(_FEATURES, _BATCH)),
    EARLIER: _form(_EARLIER_SAMPLES),
    LATER: _form(_LATER_SAMPLES, carries=(0.0, 0.0)),
    "residual times 1.05": _form(carries=(1.0, _TOO_STRONG)),
    "post-norm": _form(before=False),
}
"""Name to block. Each check draws the order in which they are shown."""

FAINT = {
    "future": frozenset({"mask of −3"}),
    "batch": frozenset({EARLIER, LATER}),
    "stream": frozenset({"residual times 1.05"}),
}
"""For each fault, the blocks in which a tolerance of 1 hides it."""

FAINTISH = frozenset({"norm over the batch"})
"""Blocks whose fault a tolerance of 1 hides in some draws."""
