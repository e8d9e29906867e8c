"""Whether targets follow their inputs and count once, asked of every task with windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from course_judges.ch03_text.sections import ONCE, TARGET
from course_judges.judging import Evidence
from course_tasks.answers import Array
from course_tasks.verdict import Finding

IGNORED = -100


def successors(tokens: Array) -> dict[int, int]:
    """Token to the token after it; tokens do not repeat."""
    return dict(zip(tokens[:-1].tolist(), tokens[1:].tolist(), strict=True))


def not_the_next_token(
    inputs: str, targets: str, tokens: str
) -> Callable[[Evidence], Finding | None]:
    """A property: where inputs are right, a counted target must be the token after its input."""

    def ask(evidence: Evidence) -> Finding | None:
        x, y = evidence.yours(inputs), evidence.yours(targets)
        after = successors(evidence.inputs[tokens])
        for a, b in zip(x.flat, y.flat, strict=True):
            right = after.get(int(a))
            if right is not None and int(b) not in (right, IGNORED):
                return Finding(
                    "not-the-next-token",
                    "A target is not the token that follows its input.",
                    f"Your input {int(a)} has the target {int(b)}; in the text, {int(a)} is "
                    f"followed by {right}.",
                    TARGET,
                )
        return None

    return ask


def row(values: Array) -> str:
    """A row of numbers as a finding shows it."""
    return " ".join("−100" if value == IGNORED else f"{value:g}" for value in values)


def targets_once(value: str, tokens: str) -> Callable[[Evidence], bool]:
    """A claim: every token but the first is a target that counts, and counts once."""

    def holds(evidence: Evidence) -> bool:
        y = evidence.yours(value)
        counted = sorted(y[y != IGNORED].astype(int).tolist())
        return counted == sorted(evidence.inputs[tokens][1:].tolist())

    return holds


def counted_otherwise(value: str) -> Callable[[Evidence], Finding | None]:
    """A property: which target is missing, or counts more than once."""

    def ask(evidence: Evidence) -> Finding | None:
        y = evidence.yours(value)
        counts = Counter(y[y != IGNORED].astype(int).tolist())
        for token in evidence.inputs["tokens"][1:].tolist():
            if counts[token] != 1:
                return Finding(
                    "not-counted-once",
                    f"A target counts {counts[token]} times; every one should count once.",
                    f"It is {token}, at position {place(evidence, token)} of the tokens.",
                    ONCE,
                )
        return None

    return ask


def place(evidence: Evidence, token: int) -> int:
    """Where a token stands in the text."""
    return int(np.flatnonzero(evidence.inputs["tokens"] == token)[0])
