"""Whether targets follow their inputs and count once, for every task with windows."""

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
    """Maps each token to the one after it; no token occurs twice."""
    return dict(zip(tokens[:-1].tolist(), tokens[1:].tolist(), strict=True))


def not_the_next_token(
    inputs: str, targets: str, tokens: str
) -> Callable[[Evidence], Finding | None]:
    """A property: every target that counts must be the token after its input."""

    def ask(evidence: Evidence) -> Finding | None:
        x, y = evidence.yours(inputs), evidence.yours(targets)
        after = successors(evidence.inputs[tokens])
        for a, b in zip(x.flat, y.flat, strict=True):
            right = after.get(int(a))
            if right is not None and int(b) not in (right, IGNORED):
                return Finding(
                    "not-the-next-token",
                    "One of your targets isn't the token that follows its input.",
                    f"Your input {int(a)} has the target {int(b)}, but in the text {int(a)} is "
                    f"followed by {right}.",
                    TARGET,
                )
        return None

    return ask


def held_for_ignored(evidence: Evidence, value: str) -> set[int]:
    """The numbers that are where −100 belongs; none if a target that counts is wrong."""
    mine, right = evidence.yours(value), evidence.right(value)
    counted = right != IGNORED
    if mine.shape != right.shape or not np.array_equal(mine[counted], right[counted]):
        return set()
    return set(mine[~counted].tolist())


def row(values: Array) -> str:
    """A row of numbers as a finding shows it."""
    return " ".join(f"{value:g}" for value in values).replace("-", "−")


def targets_once(value: str, tokens: str) -> Callable[[Evidence], bool]:
    """A claim: every token but the first is a target that counts exactly once."""

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
                said = f"is counted {counts[token]} times" if counts[token] else "is missing"
                return Finding(
                    "not-counted-once",
                    f"One of the targets {said}, but each should count once.",
                    f"It is {token}, at position {place(evidence, token)} of the tokens.",
                    ONCE,
                )
        return None

    return ask


def place(evidence: Evidence, token: int) -> int:
    """The position of a token in the text."""
    return int(np.flatnonzero(evidence.inputs["tokens"] == token)[0])
