"""Judges 14/last-seen."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from course_judges.judging import Evidence, Part, Step, Task, matches, mistake
from course_judges.wording import listed, unwrapped
from course_tasks.verdict import Section

_SECTION = Section("14-pointers", "Where a symbol stood last")


def last_seen(tokens: Tensor) -> Tensor:
    """A right answer to 14/last-seen: (B, T) int → (B, T) int."""
    T = tokens.shape[1]
    same = tokens[:, :, None] == tokens[:, None, :]  # the places of the same symbol (B, T, T)
    before = same.tril(diagonal=-1)  # the places before (B, T, T)
    places = torch.where(before, torch.arange(T), -1)  # their numbers (B, T, T): −1 elsewhere
    return places.amax(dim=-1)  # your places (B, T)


def _never_seen(evidence: Evidence) -> bool:
    """True if symbols that come for the first time, and no others, are right."""
    if not evidence.comparable("places"):
        return False
    first = evidence.right("places") < 0
    mine = evidence.yours("places") < 0
    return bool(np.array_equal(mine, first))


def _first_row(evidence: Evidence) -> str:
    tokens = evidence.inputs["tokens"][0]
    mine, right = evidence.yours("places")[0], evidence.right("places")[0]
    return unwrapped(f"""For the symbols {listed(tokens)} your places are {listed(mine)}; they
    should be {listed(right)}.""")


@mistake(
    "You return the first place of a symbol, not the last one before each position.",
    lambda e: f"{_first_row(e)} `argmax` of equal values takes the first of them.",
)
def _first_not_last(tokens: Tensor) -> Tensor:
    before = (tokens[:, :, None] == tokens[:, None, :]).tril(diagonal=-1)
    return torch.where(before.any(dim=-1), before.int().argmax(dim=-1), -1)


_PARTS = (
    Part(
        "A symbol that comes for the first time is told from one that came before.", 1, _never_seen
    ),
    Part("The place is that of the last time.", 1, matches("places")),
)

TASK = Task(
    "Where a symbol stood last",
    last_seen,
    _SECTION,
    _PARTS,
    steps={
        "the places of the same symbol": Step("Only a place with the same symbol counts."),
        "the places before": Step("A position doesn't see itself, nor what comes after it."),
        "their numbers": Step("Where a symbol comes for the first time, its place is −1."),
        "your places": Step("The last place is the largest."),
    },
)
