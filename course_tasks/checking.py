"""`check`: what a student calls under a task.

It asks, and others judge. At the desk, that is the package `course_judges`, if it is installed. In
a graded run, it is a process that never runs student code, so that a check in the notebook only
says that the task is recorded.
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

# By name instead of an import, since this has to work without the judges.
_AT_DESK = "course_judges.at_desk"


@dataclass(frozen=True)
class Recorded:
    """What `check` returns in a graded run, in which answers are judged elsewhere."""

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
        Gives the same inputs again; by default they are new in each call.
    examples : sequence of Example, optional
        Of a task whose judge is only on the grader's machine. The answer is tried on these, and
        nothing else is checked here.

    Returns
    -------
    Verdict
        Points and findings; an exception of the answer is a finding, too.

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
            f"{task} cannot be judged here, because the package course_judges is not installed. "
            "Install the course as its README says"
        ) from error
    verdict: Verdict = at_desk.judge_at_desk(task, answer, seed)
    return verdict
