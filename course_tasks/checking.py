"""`check`: what a student calls under a task.

It asks, and others judge: at the desk the package `course_judges`, where it is installed; in a
graded run a process that never held student code, so that a check there only says that it will be
asked.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from course_tasks.errors import JudgesMissingError

if TYPE_CHECKING:
    from course_tasks.given_examples import Example
    from course_tasks.verdict import Verdict

# By name, not by an import: what asks must work where nothing that judges may be.
_AT_DESK = "course_judges.at_desk"


@dataclass(frozen=True)
class Recorded:
    """What `check` gives in a graded run: the question is asked, and judged elsewhere."""

    task: str

    def __str__(self) -> str:
        return f"{self.task}: recorded"


def check(
    task: str,
    answer: Any,
    *,
    seed: int | None = None,
    examples: Sequence[Example] | None = None,
) -> Verdict:
    """Check an answer: run it on fresh inputs, compare, and say what was found.

    Parameters
    ----------
    task : str
        As the notebook names it, for example "01/window".
    answer : object
        Your function or class.
    seed : int, optional
        Draws the same inputs again; by default they are new in each call.
    examples : sequence of Example, optional
        Of a task whose judge is on the grader's machine alone: the answer is tried on these, and
        nothing else is known of it here.

    Returns
    -------
    Verdict
        Points and findings; never an exception for what the answer does.

    Raises
    ------
    UnknownTaskError
        If no task has this name.
    JudgesMissingError
        If the package that knows what is right is not installed here.
    """
    if examples is not None:
        from course_tasks.given_examples import check_by_examples

        return check_by_examples(task, answer, examples)
    try:
        at_desk = importlib.import_module(_AT_DESK)
    except ModuleNotFoundError as error:
        if error.name != _AT_DESK.partition(".")[0]:
            raise
        raise JudgesMissingError(
            f"{task} cannot be judged here: the package course_judges is not installed. "
            "Install the course as its README says"
        ) from error
    verdict: Verdict = at_desk.judge_at_desk(task, answer, seed)
    return verdict
