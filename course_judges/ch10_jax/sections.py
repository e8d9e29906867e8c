"""The sections of chapter 10 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("10-jax", heading)


PURE = _section("Functions that are transformed")
KEYS = _section("Keys for randomness")
HEAD = _section("A head as a function")
HEADS = _section("Heads without a loop")
TRAVEL = _section("Parameters travel")
STEP = _section("A training step")
MASK = _section("Masks and NaN gradients")
TRACED = _section("Static and traced")
