"""What a problem is that both our tasks and `torch-judge` have."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Answer = Callable[..., Any]


@dataclass(frozen=True)
class Problem:
    """What both have.

    Attributes
    ----------
    ours, theirs : str
        The names of the task and of the problem.
    for_us, for_them : callable (answer) -> object
        Bring an answer into the form of either.
    right, wrong : mapping of str to answer
    """

    ours: str
    theirs: str
    for_us: Callable[[Answer], Any]
    for_them: Callable[[Answer], Any]
    right: dict[str, Answer]
    wrong: dict[str, Answer]
