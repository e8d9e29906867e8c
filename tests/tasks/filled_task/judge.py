"""Judges 14/last-seen."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from course_judges.judging import Evidence, Part, Task, matches, mistake
from course_judges.wording import listed, unwrapped
from course_tasks.verdict import Section

_SECTION = Section("14-pointers", "Where a symbol stood last")


def _places(tokens: Tensor, diagonal: int) -> Tensor:
    """(B, T, T) the place s where it holds the symbol of t and may be seen, −1 elsewhere."""
    T = tokens.shape[1]
    same = (tokens[:, :, None] == tokens[:, None, :]).tril(diagonal)
    return torch.where(same, torch.arange(T), -1)


def last_seen(tokens: Tensor) -> Tensor:
    """A right answer to 14/last-seen: (B, T) int → (B, T) int."""
    return _places(tokens, -1).amax(dim=-1)


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


@mistake("Every position finds itself.", _first_row)
def _diagonal_included(tokens: Tensor) -> Tensor:
    return _places(tokens, 0).amax(dim=-1)


@mistake(
    "You return the first place of a symbol, not the last one before each position.",
    lambda e: f"{_first_row(e)} `argmax` of equal values takes the first of them.",
)
def _first_not_last(tokens: Tensor) -> Tensor:
    same = _places(tokens, -1) >= 0
    return torch.where(same.any(-1), same.int().argmax(dim=-1), -1)


@mistake(
    "You look ahead: a position finds a place that comes after it.",
    lambda e: f"{_first_row(e)} Position 0 has nothing before it, so its place is −1.",
)
def _looks_ahead(tokens: Tensor) -> Tensor:
    T = tokens.shape[1]
    others = ~torch.eye(T, dtype=torch.bool)
    same = (tokens[:, :, None] == tokens[:, None, :]) & others
    return torch.where(same, torch.arange(T), -1).amax(dim=-1)


_PARTS = (
    Part(
        "A symbol that comes for the first time is told from one that came before.", 1, _never_seen
    ),
    Part("The place is that of the last time.", 1, matches("places")),
)

TASK = Task("Where a symbol stood last", last_seen, _SECTION, _PARTS)
