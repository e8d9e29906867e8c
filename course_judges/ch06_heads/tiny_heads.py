"""Judges 06/tiny-heads: as many heads as channels."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch06_heads.sections import LIST
from course_judges.observations import as_perplexity, exchanged, in_bits, measured_otherwise

RANGES = {
    "shakespeare": {"heads_1": (2.42, 2.477), "heads_32": (2.285, 2.364)},
    "play": {"heads_1": (2.351, 2.412), "heads_32": (2.16, 2.249)},
}

SLIPS = {
    "first-evaluation": {
        "shakespeare": {"heads_1": (2.735, 2.828), "heads_32": (2.667, 2.764)},
        "play": {"heads_1": (2.696, 2.787), "heads_32": (2.65, 2.735)},
    },
    "default-rate": {
        "shakespeare": {"heads_1": (2.575, 2.647), "heads_32": (2.525, 2.614)},
        "play": {"heads_1": (2.55, 2.625), "heads_32": (2.498, 2.57)},
    },
}

_first_evaluation = measured_otherwise(
    RANGES,
    "You probably took the first evaluation instead of the last.",
    "`fit` evaluates ten times, for the first time after only 40 of the 400 steps. The task "
    "asks for the last one, `history.evaluations[-1].loss`.",
    SLIPS["first-evaluation"],
)

_default_rate = measured_otherwise(
    RANGES,
    "You probably left the learning rate out.",
    "The default of `fit` is 0.001, and with it the model is far from done after 400 steps. "
    "The task asks for `lr=0.01`.",
    SLIPS["default-rate"],
)


_bits = in_bits(RANGES, "heads_1", "heads_32")
_perplexity = as_perplexity(RANGES, "heads_1", "heads_32")
_exchanged = exchanged(RANGES, "heads_1", "heads_32")


TASK = observations.experiment(
    "As many heads as channels", RANGES, LIST, {"heads_1": 2, "heads_32": 2}
)
