"""The sections of chapter 04 that a finding sends its reader back to."""

from __future__ import annotations

from course_tasks.verdict import Section


def _section(heading: str) -> Section:
    return Section("04-bigram", heading)


COUNTING = _section("Counting pairs")
SHARES = _section("From counts to probabilities")
GUESS = _section("How good is a guess?")
UNSEEN = _section("Pairs that never occurred")
TABLE = _section("The same as a table of logits")
START = _section("Where a model starts")
FLAT = _section("One loss for a batch of guesses")
STEP = _section("One step down the slope")
WRITING = _section("Writing with it")
