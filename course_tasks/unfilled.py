"""What stands in a new task where something is still to be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course_tasks.errors import UnfilledTaskError


def unfilled(sentence: str) -> Callable[..., Any]:
    """Stand for an answer, a claim or words that nobody has written yet.

    Parameters
    ----------
    sentence : str
        What is to be written, and where.

    Returns
    -------
    callable
        Takes anything, and raises an UnfilledTaskError with the sentence.
    """

    def raises(*_: Any, **__: Any) -> Any:
        raise UnfilledTaskError(sentence)

    return raises
