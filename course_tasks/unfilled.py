"""A placeholder in a new task for something that is still to be written."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from course_tasks.errors import UnfilledTaskError


def unfilled(module: str, sentence: str) -> Callable[..., Any]:
    """Make a placeholder for an answer, a claim or words that nobody has written yet.

    Parameters
    ----------
    module : str
        The `__name__` of the module that holds it.
    sentence : str
        Says what to write there.

    Returns
    -------
    callable
        Takes anything, and raises an UnfilledTaskError with both.
    """

    def raises(*_: Any, **__: Any) -> Any:
        raise UnfilledTaskError(f"{module}: {sentence}")

    return raises
