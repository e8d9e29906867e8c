"""Whether targets follow their inputs and count once, for every task with windows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np

from course_judges.ch03_text.sections import ONCE, TARGET
from course_judges.judging import Evidence
from course_judges.wording import listed
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


def begins(x: Array, tokens: Array) -> list[int]:
    """Where in the text each row of inputs begins; an empty list if a row is no stretch of it. No
    token occurs twice.
    """
    text = tokens.tolist()
    if x.ndim != 2 or not x.size:
        return []
    places = [text.index(first) if first in text else -1 for first in x[:, 0].tolist()]
    stretches = [text[at : at + x.shape[1]] for at in places]
    return places if stretches == x.tolist() else []


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
    """A property: which targets are missing or count more than once, and where."""

    def ask(evidence: Evidence) -> Finding | None:
        y = evidence.yours(value)
        counts = Counter(y[y != IGNORED].astype(int).tolist())
        targets = evidence.inputs["tokens"][1:].tolist()
        missing = [token for token in targets if not counts[token]]
        wrong = missing or [token for token in targets if counts[token] > 1]
        if not wrong:
            return None
        said = "missing" if missing else "counted more than once"
        which = "One" if len(wrong) == 1 else str(len(wrong))
        return Finding(
            "not-counted-once",
            f"{which} of the {len(targets)} targets {'is' if len(wrong) == 1 else 'are'} {said}, "
            "but each should count once.",
            f"{_at_positions(evidence, wrong)}{_row_beside(evidence, value, wrong)}",
            ONCE,
        )

    return ask


def _at_positions(evidence: Evidence, some: list[int]) -> str:
    places = [place(evidence, token) for token in some]
    if len(some) > 1:
        return f"In the text, they are at positions {listed(places)}."
    last = len(evidence.inputs["tokens"]) - 1
    at = "the end" if places[0] == last else f"position {places[0]}"
    return f"It is {some[0]}, the token at {at} of the text."


def _row_beside(evidence: Evidence, value: str, some: list[int]) -> str:
    """The first wrong row of targets in which one of these is or belongs, beside the right one;
    empty if the shapes differ.
    """
    mine, right = evidence.yours(value), evidence.right(value)
    if mine.shape != right.shape:
        return ""
    off = (mine != right) & (np.isin(mine, some) | np.isin(right, some))
    at = tuple(int(i) for i in np.argwhere(off.any(axis=-1))[0])
    name = f"Row {at[0]}" if len(at) == 1 else f"In step {at[0]}, row {at[1]}"
    return f" {name} of your targets is `{row(mine[at])}` instead of `{row(right[at])}`."


def place(evidence: Evidence, token: int) -> int:
    """The position of a token in the text."""
    return int(np.flatnonzero(evidence.inputs["tokens"] == token)[0])
