"""Judges 06/tiny-heads: as many heads as channels."""

from __future__ import annotations

from course_judges import observations
from course_judges.ch06_heads.sections import LIST
from course_judges.observations import as_perplexity, exchanged, in_bits

RANGES = {
    "shakespeare": {"heads_1": (2.42, 2.477), "heads_32": (2.285, 2.364)},
    "play": {"heads_1": (2.351, 2.412), "heads_32": (2.16, 2.249)},
}

_bits = in_bits(RANGES, "heads_1", "heads_32")
_perplexity = as_perplexity(RANGES, "heads_1", "heads_32")
_exchanged = exchanged(RANGES, "heads_1", "heads_32")


TASK = observations.experiment(
    "As many heads as channels", RANGES, LIST, {"heads_1": 2, "heads_32": 2}
)
