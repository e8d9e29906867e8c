"""What a task asks of a submission, and what the answers to it earn.

Only a process with limits, which never held student code, draws inputs and judges answers; see
`examination`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from course_grader.assignment import Check
from course_grader.outcome import TaskOutcome
from course_lib.errors import CourseError

if TYPE_CHECKING:
    from course_tasks.probing import Inputs


def draw(seeds: Mapping[str, int]) -> dict[str, Inputs]:
    """For each task the inputs of its seed, with what only the judge may see."""
    import numpy as np

    from course_judges.catalogue import inputs

    return {task: inputs(task, np.random.default_rng(seed)) for task, seed in seeds.items()}


def as_shown(drawn: Mapping[str, Inputs]) -> dict[str, bytes]:
    """The inputs of each task as they leave for the sandbox: without what the probe keeps back."""
    from course_tasks import catalogue
    from course_tasks.answers import arrays_to_bytes

    return {
        task: arrays_to_bytes(catalogue.probe(task).shown(inputs)) for task, inputs in drawn.items()
    }


def lacking(tasks: Sequence[str]) -> tuple[str, ...]:
    """Packages that answers to these tasks are written with, and that are not installed here."""
    from course_tasks import catalogue

    return tuple(sorted({name for task in tasks for name in catalogue.missing(task)}))


def judge_all(
    asked: list[tuple[Check, bytes, str]], inputs: Mapping[str, Inputs], book: str
) -> tuple[TaskOutcome, ...]:
    """The verdicts on a submission's answers; no evidence, no points, and the reason.

    Parameters
    ----------
    asked : list of (Check, bytes, str)
        Each with its answers, or with why there are none.
    inputs : mapping of str to Inputs
        For each task, from `draw`: those on which the answers were given.
    book : str
        Address of the published book; empty: no links.
    """
    return tuple(_judge_one(check, answers, why, inputs, book) for check, answers, why in asked)


def _judge_one(
    check: Check, data: bytes, why: str, inputs: Mapping[str, Inputs], book: str
) -> TaskOutcome:
    from course_judges import catalogue as judges
    from course_judges.judging import judge
    from course_tasks import catalogue
    from course_tasks.answers import Answers

    assert check.task is not None
    task, probe = judges.task(check.task), catalogue.probe(check.task)
    out_of = float(check.points if check.points is not None else task.points)
    if not data:
        why = why or "no answer came"
        return TaskOutcome(check.grade_id, check.task, 0.0, out_of, reason=why, title=task.title)
    try:
        verdict = judge(check.task, task, probe, inputs[check.task], Answers.from_bytes(data))
    except CourseError as error:
        return TaskOutcome(check.grade_id, check.task, 0.0, out_of, reason=str(error))
    return TaskOutcome(
        check.grade_id,
        check.task,
        min(float(verdict.points), out_of),
        out_of,
        verdict.to_json(),
        verdict.to_html(book),
    )
